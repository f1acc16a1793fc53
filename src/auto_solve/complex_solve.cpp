#include "core/floating_point_guard.hpp"
#include "guarantee/norms.hpp"
#include "solver/complex.hpp"
#include "solver/cuda/memory.hpp"
#include "solver/cuda/solve.hpp"
#include "solver/error.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace solver {
namespace {

template <class T>
void require_order(const char* name, std::size_t length, const SpmvPlan<std::complex<T>>& a) {
    if (static_cast<std::int64_t>(length) == a.rows()) return;
    throw DimensionMismatch(fmt::format("solve: {} has {} elements, A is {} x {}; {} needs {}", name, length, a.rows(),
                                        a.columns(), name, a.rows()));
}

/// The bound that counts for complex numbers in the place of that of their parts, x + x_low.
template <class T>
void tell_of_moduli(SolutionProof& proof, std::span<const T> x, std::span<const T> x_low) {
    if (proof.bounds.empty()) return;
    const cpu::FloatingPointGuard guard;
    std::vector<double> whole(x.begin(), x.end());
    for (std::size_t i = 0; i < x_low.size(); ++i) whole[i] = guarantee::sum_in_range(x[i], x_low[i]);
    proof.error_bound = complex_error_bound(proof.bounds, whole);
}

SolveOptions with_complex_scalars(SolveOptions options) {
    options.iteration.complex_scalars = true;
    return options;
}

template <class T>
SolveReport solve_vector(const SpmvPlan<std::complex<T>>& a, std::span<const std::complex<T>> b, std::span<std::complex<T>> x,
                         std::span<std::complex<T>> x_low, const SolveOptions& options) {
    require_order("b", b.size(), a);
    require_order("x", x.size(), a);
    if (!x_low.empty()) require_order("x_low", x_low.size(), a);
    SolveReport report = solve<T>(a.real(), real_view(b), real_view(x), real_view(x_low), with_complex_scalars(options));
    for (SolutionProof& proof : report.proofs) tell_of_moduli<T>(proof, real_view(x), real_view(x_low));
    return report;
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
    for (std::size_t j = 0; j < report.proofs.size(); ++j) {
        const auto column = [&](const DenseMatrix<T>& of) {
            return of.values.empty() ? std::span<const T>() : std::span<const T>(of.values).subspan(j * of.rows, of.rows);
        };
        tell_of_moduli<T>(report.proofs[j], column(real_x), column(real_low));
    }
    copy_parts(real_x, x);
    if (x_low != nullptr) copy_parts(real_low, *x_low);
    return report;
}

/// n numbers of the device's, from the j-th n on; none from where there are none.
template <class T>
std::vector<T> fetched(const Device& device, const T* from, std::size_t n, std::size_t j, cuda::Stream stream) {
    if (from == nullptr) return {};
    std::vector<T> found(n);
    cuda::detail::copy_to_host(device.index(), found.data(), from + j * n, static_cast<std::int64_t>(n * sizeof(T)), stream);
    return found;
}

template <class T>
SolveReport solve_on_device(const SpmvPlan<std::complex<T>>& a, const cuda::SolveTask<std::complex<T>>& task,
                            const SolveOptions& options, cuda::Stream stream) {
    const cuda::SolveTask<T> parts{reinterpret_cast<const T*>(task.b), reinterpret_cast<T*>(task.x),
                                   reinterpret_cast<T*>(task.x_low), task.columns};
    SolveReport report = cuda::solve(a.real(), parts, with_complex_scalars(options), stream);
    for (std::size_t j = 0; j < report.proofs.size(); ++j) {
        if (report.proofs[j].bounds.empty()) continue;
        const auto column = [&](const T* of) {
            return fetched(a.device(), of, static_cast<std::size_t>(2 * a.rows()), j, stream);
        };
        tell_of_moduli<T>(report.proofs[j], column(parts.x), column(parts.x_low));
    }
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

template <>
SolveReport cuda::solve(const solver::SpmvPlan<std::complex<double>>& a, const SolveTask<std::complex<double>>& task,
                        const SolveOptions& options, Stream stream) {
    return solve_on_device(a, task, options, stream);
}
template <>
SolveReport cuda::solve(const solver::SpmvPlan<std::complex<float>>& a, const SolveTask<std::complex<float>>& task,
                        const SolveOptions& options, Stream stream) {
    return solve_on_device(a, task, options, stream);
}

}  // namespace solver
