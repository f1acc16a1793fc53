#include "preconditioner/amg/prolongator.hpp"

#include "preconditioner/amg/row_accumulator.hpp"
#include "solver/numeric/rounding.hpp"

#include <cstdint>
#include <vector>

namespace solver::amg {
namespace {

template <class V, class T>
class SmoothedRows {
public:
    SmoothedRows(const SmoothedRow<CsrView<T>>& smoothed, std::int64_t columns, std::int64_t begin)
        : smoothed_(smoothed), row_(columns), begin_(begin) {}

    void add_row(std::int64_t after_begin, std::vector<std::int32_t>& columns, std::vector<V>& values) {
        const std::int64_t i = begin_ + after_begin;
        smoothed_.for_each_term(i, [&](std::int32_t j, double factor) { add_multiple(factor, j); });
        if (row_.size() > most_aggregates_of_a_row * smoothed_.tentative.columns_per_aggregate) {
            row_.clear();
            add_multiple(1, i);
        }
        row_.move_to(columns, values);
    }

private:
    void add_multiple(double factor, std::int64_t of_row) {
        smoothed_.tentative.for_each_entry(of_row, [&](std::int32_t column, double t) { row_.add(column, mul_rn(factor, t)); });
    }

    SmoothedRow<CsrView<T>> smoothed_;
    RowAccumulator row_;
    std::int64_t begin_;
};

}  // namespace

template <class V, class T>
CsrMatrix<V> smoothed_rows(const SmoothedRow<CsrView<T>>& smoothed, std::int64_t columns, std::int64_t begin, std::int64_t end,
                           const Device& device) {
    return make_rows<V>(end - begin, columns, device, [&] { return SmoothedRows<V, T>(smoothed, columns, begin); }).value();
}

template <class V, class T>
CsrMatrix<V> smoothed_prolongator(const CsrView<T>& a, const Graph& strong, const TentativeProlongator& tentative,
                                  const Device& device) {
    return smoothed_rows<V, T>({a, strong.view(), tentative.view()}, tentative.columns(), 0, a.rows, device);
}

template CsrMatrix<float> smoothed_rows(const SmoothedRow<CsrView<float>>&, std::int64_t, std::int64_t, std::int64_t,
                                        const Device&);
template CsrMatrix<float> smoothed_rows(const SmoothedRow<CsrView<double>>&, std::int64_t, std::int64_t, std::int64_t,
                                        const Device&);
template CsrMatrix<double> smoothed_rows(const SmoothedRow<CsrView<double>>&, std::int64_t, std::int64_t, std::int64_t,
                                         const Device&);

template CsrMatrix<float> smoothed_prolongator(const CsrView<float>&, const Graph&, const TentativeProlongator&, const Device&);
template CsrMatrix<float> smoothed_prolongator(const CsrView<double>&, const Graph&, const TentativeProlongator&,
                                               const Device&);
template CsrMatrix<double> smoothed_prolongator(const CsrView<double>&, const Graph&, const TentativeProlongator&,
                                                const Device&);

}  // namespace solver::amg
