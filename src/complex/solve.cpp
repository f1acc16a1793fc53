#include "solver/complex.hpp"
#include "solver/error.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <utility>

namespace solver {
namespace {

template <class T>
void require_length(const char* name, std::size_t length, const SpmvPlan<std::complex<T>>& a) {
    if (static_cast<std::int64_t>(length) == a.rows()) return;
    throw DimensionMismatch(fmt::format("solve: {} has {} elements, A is {} x {}; {} needs {}", name, length, a.rows(),
                                        a.columns(), name, a.rows()));
}

SolveOptions with_complex_scalars(SolveOptions options) {
    options.iteration.complex_scalars = true;
    return options;
}

template <class T>
SolveReport solve_vector(const SpmvPlan<std::complex<T>>& a, std::span<const std::complex<T>> b, std::span<std::complex<T>> x,
                         std::span<std::complex<T>> x_low, const SolveOptions& options) {
    require_length("b", b.size(), a);
    require_length("x", x.size(), a);
    if (!x_low.empty()) require_length("x_low", x_low.size(), a);
    return solve<T>(a.real(), real_view(b), real_view(x), real_view(x_low), with_complex_scalars(options));
}

/// The columns as real ones of twice the length.
template <class T>
DenseMatrix<T> real_columns(const DenseMatrix<std::complex<T>>& z) {
    const std::span<const T> parts = real_view(std::span<const std::complex<T>>(z.values));
    return {2 * z.rows, z.columns, {parts.begin(), parts.end()}};
}

template <class T>
void copy_parts(const DenseMatrix<T>& from, DenseMatrix<std::complex<T>>& to) {
    std::copy(from.values.begin(), from.values.end(), real_view(std::span<std::complex<T>>(to.values)).begin());
}

template <class T>
SolveReport solve_columns(const SpmvPlan<std::complex<T>>& a, const DenseMatrix<std::complex<T>>& b,
                          DenseMatrix<std::complex<T>>& x, DenseMatrix<std::complex<T>>* x_low, const SolveOptions& options) {
    DenseMatrix<T> real_x = real_columns(x);
    DenseMatrix<T> real_low = x_low != nullptr ? real_columns(*x_low) : DenseMatrix<T>();
    SolveReport report =
        solve<T>(a.real(), real_columns(b), real_x, x_low != nullptr ? &real_low : nullptr, with_complex_scalars(options));
    copy_parts(real_x, x);
    if (x_low != nullptr) copy_parts(real_low, *x_low);
    return report;
}

}  // namespace

template <>
SolveReport solve(const SpmvPlan<std::complex<double>>& a, std::span<const std::complex<double>> b,
                  std::span<std::complex<double>> x, std::span<std::complex<double>> x_low, const SolveOptions& options) {
    return solve_vector<double>(a, b, x, x_low, options);
}
template <>
SolveReport solve(const SpmvPlan<std::complex<float>>& a, std::span<const std::complex<float>> b,
                  std::span<std::complex<float>> x, std::span<std::complex<float>> x_low, const SolveOptions& options) {
    return solve_vector<float>(a, b, x, x_low, options);
}
template <>
SolveReport solve(const SpmvPlan<std::complex<double>>& a, const DenseMatrix<std::complex<double>>& b,
                  DenseMatrix<std::complex<double>>& x, DenseMatrix<std::complex<double>>* x_low, const SolveOptions& options) {
    return solve_columns<double>(a, b, x, x_low, options);
}
template <>
SolveReport solve(const SpmvPlan<std::complex<float>>& a, const DenseMatrix<std::complex<float>>& b,
                  DenseMatrix<std::complex<float>>& x, DenseMatrix<std::complex<float>>* x_low, const SolveOptions& options) {
    return solve_columns<float>(a, b, x, x_low, options);
}

}  // namespace solver
