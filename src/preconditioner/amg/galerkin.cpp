#include "preconditioner/amg/galerkin.hpp"

#include "core/multigrid/sorted_row.hpp"
#include "cpu/elementwise.hpp"
#include "preconditioner/amg/row_accumulator.hpp"
#include "solver/numeric/rounding.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace solver::amg {
namespace {

template <class V, class T>
class GalerkinRows {
public:
    GalerkinRows(const CsrView<V>& r, const CsrView<T>& a, const CsrView<V>& p)
        : r_(r), a_(a), p_(p), restricted_(a.columns), row_(p.columns) {}

    void add_row(std::int64_t i, std::vector<std::int32_t>& columns, std::vector<double>& values) {
        const std::int64_t end = r_.row_offsets[i + 1];
        for (std::int64_t k = r_.row_offsets[i]; k < end; ++k) {
            prefetch(a_, r_.column_indices[std::min(k + ahead, end - 1)]);
            add_multiple(r_.values[k], a_, r_.column_indices[k], restricted_);
        }
        for (std::int64_t k = 0; k < restricted_.size(); ++k) {
            prefetch(p_, restricted_.column(std::min(k + ahead, restricted_.size() - 1)));
            add_multiple(restricted_.value(k), p_, restricted_.column(k), row_);
        }
        restricted_.clear();
        if (row_.size() == 0) row_.add(static_cast<std::int32_t>(i), 1);
        row_.move_to(columns, values);
    }

private:
    static constexpr std::int64_t ahead = 6;  // rows of which nobody else knows that they are next

    template <class U>
    static void prefetch(const CsrView<U>& matrix, std::int64_t row) {
        const std::int64_t begin = matrix.row_offsets[row];
        __builtin_prefetch(matrix.column_indices.data() + begin);
        __builtin_prefetch(matrix.values.data() + begin);
    }

    template <class U>
    static void add_multiple(double factor, const CsrView<U>& matrix, std::int64_t row, RowAccumulator& sum) {
        const std::int64_t begin = matrix.row_offsets[row], length = matrix.row_length(row);
        sum.add_multiple(factor, matrix.column_indices.subspan(begin, length), matrix.values.subspan(begin, length));
    }

    CsrView<V> r_;
    CsrView<T> a_;
    CsrView<V> p_;
    RowAccumulator restricted_;  // r_I A
    RowAccumulator row_;
};

}  // namespace

template <class V, class T>
std::optional<CsrMatrix<double>> galerkin_product(const CsrView<V>& r, const CsrView<T>& a, const CsrView<V>& p,
                                                  const Device& device, std::int64_t most_entries) {
    return make_rows<double>(
        r.rows, p.columns, device, [&] { return GalerkinRows<V, T>(r, a, p); }, most_entries);
}

void mirror_upper_triangle(CsrMatrix<double>& a, const Device& device) {
    const CsrView<double> view = a.view();
    cpu::for_each_range(a.rows, device, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) mirror_row(view, a.values.data(), i);
    });
}

template std::optional<CsrMatrix<double>> galerkin_product(const CsrView<float>&, const CsrView<float>&, const CsrView<float>&,
                                                           const Device&, std::int64_t);
template std::optional<CsrMatrix<double>> galerkin_product(const CsrView<float>&, const CsrView<double>&, const CsrView<float>&,
                                                           const Device&, std::int64_t);
template std::optional<CsrMatrix<double>> galerkin_product(const CsrView<double>&, const CsrView<double>&,
                                                           const CsrView<double>&, const Device&, std::int64_t);

}  // namespace solver::amg
