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
    SmoothedRows(const CsrView<T>& a, const Graph& strong, const TentativeProlongator& tentative)
        : a_(a), strong_(strong), tentative_(tentative), row_(tentative.columns()) {}

    void add_row(std::int64_t i, std::vector<std::int32_t>& columns, std::vector<V>& values) {
        if (tentative_.is_empty(i)) return;
        const Filtered filtered = filter(i);
        constexpr double damping = 4.0 / 3;
        const double weight =
            filtered.magnitude > 0 ? div_rn(filtered.is_negative ? -damping : damping, filtered.magnitude) : 0;
        add_multiple(add_rn(1.0, -mul_rn(weight, filtered.diagonal)), i);
        for_each_entry(i, [&](std::int32_t j, double value, bool is_strong) {
            if (is_strong && !tentative_.is_empty(j)) add_multiple(-mul_rn(weight, value), j);
        });
        if (row_.size() > most_aggregates * tentative_.columns_per_aggregate()) {
            row_.clear();
            add_multiple(1, i);
        }
        row_.move_to(columns, values);
    }

private:
    static constexpr std::int64_t most_aggregates = 32;

    struct Filtered {
        double diagonal = 0;
        double magnitude = 0;  // of the whole row
        bool is_negative = false;
    };

    void add_multiple(double factor, std::int64_t of_row) {
        tentative_.for_each_entry(of_row, [&](std::int32_t column, double t) { row_.add(column, mul_rn(factor, t)); });
    }

    Filtered filter(std::int64_t i) const {
        Filtered filtered;
        for_each_entry(i, [&](std::int32_t j, double value, bool is_strong) {
            if (is_strong)
                filtered.magnitude = add_rn(filtered.magnitude, magnitude(value));
            else
                filtered.diagonal = add_rn(filtered.diagonal, value);
            if (j == i) filtered.is_negative = value < 0;
        });
        filtered.magnitude = add_rn(filtered.magnitude, magnitude(filtered.diagonal));
        return filtered;
    }

    template <class F>
    void for_each_entry(std::int64_t i, const F& f) const {
        const std::int64_t mine = tentative_.node(i);
        const auto strong = strong_.of(mine);
        std::size_t next = 0;
        for (std::int64_t k = a_.row_offsets[i]; k < a_.row_offsets[i + 1]; ++k) {
            const std::int32_t j = a_.column_indices[k];
            const std::int64_t other = tentative_.node(j);
            while (next < strong.size() && strong[next] < other) ++next;
            const bool is_strong =
                other == mine ? j != i : tentative_.has_vectors() || (next < strong.size() && strong[next] == other);
            f(j, static_cast<double>(a_.values[k]), is_strong);
        }
    }

    CsrView<T> a_;
    const Graph& strong_;
    const TentativeProlongator& tentative_;
    RowAccumulator row_;
};

}  // namespace

template <class V, class T>
CsrMatrix<V> smoothed_prolongator(const CsrView<T>& a, const Graph& strong, const TentativeProlongator& tentative,
                                  const Device& device) {
    return make_rows<V>(a.rows, tentative.columns(), device, [&] { return SmoothedRows<V, T>(a, strong, tentative); }).value();
}

template CsrMatrix<float> smoothed_prolongator(const CsrView<float>&, const Graph&, const TentativeProlongator&, const Device&);
template CsrMatrix<float> smoothed_prolongator(const CsrView<double>&, const Graph&, const TentativeProlongator&,
                                               const Device&);
template CsrMatrix<double> smoothed_prolongator(const CsrView<double>&, const Graph&, const TentativeProlongator&,
                                                const Device&);

}  // namespace solver::amg
