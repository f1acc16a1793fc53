#include "solver/solve.hpp"

#include "auto_solve/guaranteed.hpp"
#include "auto_solve/pair_as_double.hpp"
#include "auto_solve/repeated_solve.hpp"
#include "auto_solve/system_solver.hpp"
#include "auto_solve/vectors_on_device.hpp"
#include "core/floating_point_guard.hpp"
#include "core/names.hpp"
#include "krylov/on_device.hpp"
#include "preconditioner/ilu0.hpp"
#include "solver/error.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <typeinfo>
#include <utility>
#include <vector>

namespace solver {
namespace {

template <class T>
SolveReport solve_unknowns(const SpmvPlan<T>& a, std::vector<Unknown<T>>& unknowns, const SolveOptions& options,
                           SystemSolver<T>& solver) {
    if (options.guarantee != Guarantee::none) return solve_with_guarantee<T>(a, unknowns, options);
    SolveReport report;
    if (suit_device<T>(a, unknowns)) {
        const VectorsOnDevice<T> there(a.device(), unknowns);
        report = solver.solve_compatible_parts(there.unknowns());
        there.bring_back();
    } else {
        report = solver.solve_compatible_parts(unknowns);
    }
    for (std::size_t j = 0; j < unknowns.size(); ++j) round_to_double(a, unknowns[j], options.iteration, report.results[j]);
    return report;
}

/// Messages count rows of the real form (complex.hpp): for whoever thinks in complex numbers. Those of blocks and of coarse
/// levels count their own.
std::string with_rows_explained(std::string message) {
    const auto says = [&](std::string_view words) { return message.find(words) != std::string::npos; };
    if (says("counted from 1") && !says("complex") && !says("count from 1 here") && !says("on level"))
        message += "; of those counted here 2i - 1 and 2i are number i of the complex matrix";
    return message;
}

template <class T>
SolveReport solve_checked(const SpmvPlan<T>& a, std::vector<Unknown<T>> unknowns, const SolveOptions& options,
                          SystemSolver<T>& solver) {
    const cpu::FloatingPointGuard guard;
    if (!options.iteration.complex_scalars) return solve_unknowns(a, unknowns, options, solver);
    try {
        SolveReport report = solve_unknowns(a, unknowns, options, solver);
        report.obstacle = with_rows_explained(std::move(report.obstacle));
        for (Attempt& attempt : report.attempts) attempt.refusal = with_rows_explained(std::move(attempt.refusal));
        for (SolutionProof& proof : report.proofs) proof.reason = with_rows_explained(std::move(proof.reason));
        return report;
    } catch (const InvalidArgument& error) {
        const std::type_info& kind = typeid(error);  // others are the caller's, or count no rows
        if (kind != typeid(InvalidArgument) && kind != typeid(UnusableRow)) throw;
        throw InvalidArgument(with_rows_explained(error.what()));
    }
}

template <class T>
SolveReport solve_checked(const SpmvPlan<T>& a, std::vector<Unknown<T>> unknowns, const SolveOptions& options) {
    SystemSolver<T> solver(a, options);
    return solve_checked<T>(a, std::move(unknowns), options, solver);
}

constexpr Name<CostProfile> cost_profile_names[] = {
    {CostProfile::automatic, "auto"}, {CostProfile::processor, "processor"}, {CostProfile::gpu, "gpu"}};

}  // namespace

std::string_view to_string(CostProfile profile) {
    return name_of(profile, cost_profile_names, "solve: there is no cost profile");
}

CostProfile cost_profile_from_text(std::string_view text) { return value_of(text, cost_profile_names, "cost profile"); }

std::string_view method_name(const Attempt& attempt) { return attempt.least_squares ? "lsmr" : to_string(attempt.method); }

template <class T>
SolveReport solve(const SpmvPlan<T>& a, std::span<const T> b, std::span<T> x, std::span<T> x_low, const SolveOptions& options) {
    return solve_checked<T>(a, {checked_unknown(a, b, x, x_low, options.iteration)}, options);
}

template <class T>
SolveReport solve(const SpmvPlan<T>& a, const DenseMatrix<T>& b, DenseMatrix<T>& x, DenseMatrix<T>* x_low,
                  const SolveOptions& options) {
    return solve_checked<T>(a, checked_unknowns(a, b, x, x_low, options.iteration), options);
}

SolveReport RepeatedSolve::solve(std::span<const double> b, std::span<double> x) {
    return solve_checked<double>(a_, {checked_unknown(a_, b, x, {}, options_.iteration)}, options_, solver_);
}

template <class T>
SolveReport cuda::solve(const solver::SpmvPlan<T>& a, const SolveTask<T>& task, const SolveOptions& options, Stream stream) {
    return solve_checked<T>(a, unknowns_on_device(a, task, options.iteration, stream, "solve"), options);
}

template SolveReport solve(const SpmvPlan<float>&, std::span<const float>, std::span<float>, std::span<float>,
                           const SolveOptions&);
template SolveReport solve(const SpmvPlan<double>&, std::span<const double>, std::span<double>, std::span<double>,
                           const SolveOptions&);
template SolveReport solve(const SpmvPlan<float>&, const DenseMatrix<float>&, DenseMatrix<float>&, DenseMatrix<float>*,
                           const SolveOptions&);
template SolveReport solve(const SpmvPlan<double>&, const DenseMatrix<double>&, DenseMatrix<double>&, DenseMatrix<double>*,
                           const SolveOptions&);

template SolveReport cuda::solve(const solver::SpmvPlan<float>&, const SolveTask<float>&, const SolveOptions&, Stream);
template SolveReport cuda::solve(const solver::SpmvPlan<double>&, const SolveTask<double>&, const SolveOptions&, Stream);

}  // namespace solver
