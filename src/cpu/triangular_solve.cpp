#include "cpu/triangular_solve.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/triangular_solve.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include "cpu/row_sum-inl.hpp"

#ifndef SOLVER_CPU_TRIANGULAR_SOLVE_ONCE
#define SOLVER_CPU_TRIANGULAR_SOLVE_ONCE
namespace solver::cpu {

/// Where the entries beside the diagonal of a row are: first <= k < last; and where the diagonal is.
struct TriangleRow {
    std::int64_t first;
    std::int64_t last;
    std::int64_t diagonal;
};

/// Sorted columns put the diagonal last in a lower triangle and first in an upper one.
template <class T>
TriangleRow triangle_row(const CsrRows<T>& rows, std::int64_t row, Triangle triangle, Diagonal diagonal) {
    const std::int64_t length = rows.length(row);
    if (diagonal == Diagonal::unit) return {0, length, 0};
    return triangle == Triangle::lower ? TriangleRow{0, length - 1, length - 1} : TriangleRow{1, length, 0};
}

template <class T>
TriangleRow triangle_row(const DenseRows<T>& rows, std::int64_t row, Triangle triangle, Diagonal) {
    return triangle == Triangle::lower ? TriangleRow{0, row, row} : TriangleRow{row + 1, rows.length(row), row};
}

}  // namespace solver::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace solver::HWY_NAMESPACE {

using cpu::CsrRows;
using cpu::DenseRows;

/// A short row is summed faster by one chain than in lanes that have to be merged.
inline constexpr std::int64_t shortest_row_in_lanes = 32;

template <class Acc, class Rows, class T>
HWY_INLINE typename Acc::Scalar sum_solved(const Rows& rows, std::int64_t start, std::int64_t first, std::int64_t last,
                                           const RowTask<T>& task) {
    if (last - first >= shortest_row_in_lanes) return sum_entries<Acc>(rows, start, first, last, task);
    typename Acc::Scalar sum;
    for (std::int64_t k = first; k < last; ++k) {
        const auto entry = rows.entry(k);
        sum.add_product(entry.value(start), task.x[entry.column(start)]);
    }
    return sum;
}

template <class Acc, class Rows, class T>
void substitute(const Rows& rows, std::int64_t n, Triangle triangle, Diagonal diagonal, const T* b, T* x) {
    const RowTask<T> task{.alpha = -1, .x = x, .beta = 1, .y_in = b, .y = x};
    for (std::int64_t step = 0; step < n; ++step) {
        const std::int64_t row = triangle == Triangle::lower ? step : n - 1 - step;
        const std::int64_t start = rows.start(row);
        const auto [first, last, pivot] = cpu::triangle_row(rows, row, triangle, diagonal);
        const auto sum = sum_solved<Acc>(rows, start, first, last, task);
        const T numerator = round_row(combine(sum, task, row), rows, start, first, last, task, row);
        x[row] = diagonal == Diagonal::unit ? numerator : canonical(div_rn(numerator, rows.entry(pivot).value(start)));
    }
}

template <class Rows, class T>
void substitute_in(const Rows& rows, std::int64_t n, Triangle triangle, Diagonal diagonal, const T* b, T* x,
                   Accuracy accuracy) {
    with_lanes<T, row_lanes>(
        accuracy, [&](auto lanes) { substitute<typename decltype(lanes)::type>(rows, n, triangle, diagonal, b, x); });
}

void substitute_csr_double(const CsrView<double>& a, Triangle triangle, Diagonal diagonal, const double* b, double* x,
                           Accuracy accuracy) {
    substitute_in(CsrRows<double>(a), a.rows, triangle, diagonal, b, x, accuracy);
}
void substitute_csr_float(const CsrView<float>& a, Triangle triangle, Diagonal diagonal, const float* b, float* x,
                          Accuracy accuracy) {
    substitute_in(CsrRows<float>(a), a.rows, triangle, diagonal, b, x, accuracy);
}
void substitute_dense_double(const DenseView<double>& a, Triangle triangle, Diagonal diagonal, const double* b, double* x,
                             Accuracy accuracy) {
    substitute_in(DenseRows<double>(a), a.rows, triangle, diagonal, b, x, accuracy);
}
void substitute_dense_float(const DenseView<float>& a, Triangle triangle, Diagonal diagonal, const float* b, float* x,
                            Accuracy accuracy) {
    substitute_in(DenseRows<float>(a), a.rows, triangle, diagonal, b, x, accuracy);
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace solver::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace solver {

HWY_EXPORT(substitute_csr_double);
HWY_EXPORT(substitute_csr_float);
HWY_EXPORT(substitute_dense_double);
HWY_EXPORT(substitute_dense_float);

namespace cpu {

void solve_triangle(const CsrView<double>& a, Triangle triangle, Diagonal diagonal, const double* b, double* x,
                    Accuracy accuracy) {
    HWY_DYNAMIC_DISPATCH(substitute_csr_double)(a, triangle, diagonal, b, x, accuracy);
}
void solve_triangle(const CsrView<float>& a, Triangle triangle, Diagonal diagonal, const float* b, float* x,
                    Accuracy accuracy) {
    HWY_DYNAMIC_DISPATCH(substitute_csr_float)(a, triangle, diagonal, b, x, accuracy);
}
void solve_triangle(const DenseView<double>& a, Triangle triangle, Diagonal diagonal, const double* b, double* x,
                    Accuracy accuracy) {
    HWY_DYNAMIC_DISPATCH(substitute_dense_double)(a, triangle, diagonal, b, x, accuracy);
}
void solve_triangle(const DenseView<float>& a, Triangle triangle, Diagonal diagonal, const float* b, float* x,
                    Accuracy accuracy) {
    HWY_DYNAMIC_DISPATCH(substitute_dense_float)(a, triangle, diagonal, b, x, accuracy);
}

}  // namespace cpu
}  // namespace solver
#endif  // HWY_ONCE
