#include "solver/bicgstab.hpp"

#include "bicgstab/solve.hpp"
#include "cpu/floating_point_guard.hpp"
#include "cpu/solver_backend.hpp"
#include "solver/error.hpp"

#include <fmt/format.h>

namespace solver {
namespace {

template <class T>
void check_arguments(const CsrView<T>& a, std::span<const T> b, std::span<const T> x, std::span<const T> x_low,
                     const BicgstabOptions& options) {
    if (a.rows != a.columns)
        throw DimensionMismatch(fmt::format("bicgstab: A is {} x {}, but must be square", a.rows, a.columns));
    const auto n = static_cast<std::size_t>(a.rows);
    if (b.size() != n)
        throw DimensionMismatch(fmt::format("bicgstab: b has {} elements, A is {} x {}; b needs {}", b.size(), n, n, n));
    if (x.size() != n)
        throw DimensionMismatch(fmt::format("bicgstab: x has {} elements, A is {} x {}; x needs {}", x.size(), n, n, n));
    if (!x_low.empty() && x_low.size() != n)
        throw DimensionMismatch(
            fmt::format("bicgstab: x_low has {} elements, x {}; x_low must be as long, or empty", x_low.size(), n));
    if (!(options.tolerance > 0))
        throw InvalidArgument(fmt::format("bicgstab: the tolerance is {}, but must be positive", options.tolerance));
    if (options.max_iterations < 0)
        throw InvalidArgument(fmt::format("bicgstab: max_iterations is {}, but must not be negative", options.max_iterations));
}

}  // namespace

std::string_view to_string(SolveStatus status) {
    switch (status) {
        case SolveStatus::converged:
            return "converged";
        case SolveStatus::iteration_limit:
            return "iteration limit";
        case SolveStatus::breakdown:
            return "breakdown";
        case SolveStatus::stagnated:
            return "stagnated";
        case SolveStatus::non_finite:
            return "non-finite";
    }
    throw InvalidArgument(fmt::format("bicgstab: there is no status number {}", static_cast<int>(status)));
}

template <class T>
SolveResult bicgstab(const SpmvPlan<T>& a, const Preconditioner<T>& m, std::span<const T> b, std::span<T> x, std::span<T> x_low,
                     const BicgstabOptions& options) {
    const cpu::FloatingPointGuard guard;
    check_arguments<T>(a.matrix(), b, x, x_low, options);
    CpuSolverBackend<T> backend(a, m, b, options.accuracy);
    BicgstabSolve solve(backend, options, !x_low.empty());
    SolveResult result = solve.run(x);
    solve.store_solution(x, x_low);
    return result;
}

template SolveResult bicgstab(const SpmvPlan<float>&, const Preconditioner<float>&, std::span<const float>, std::span<float>,
                              std::span<float>, const BicgstabOptions&);
template SolveResult bicgstab(const SpmvPlan<double>&, const Preconditioner<double>&, std::span<const double>,
                              std::span<double>, std::span<double>, const BicgstabOptions&);

}  // namespace solver
