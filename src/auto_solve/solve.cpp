#include "solver/solve.hpp"

#include "auto_solve/attempts.hpp"
#include "auto_solve/fallback_schedule.hpp"
#include "auto_solve/iterates.hpp"
#include "auto_solve/matrix_facts.hpp"
#include "auto_solve/obstacle.hpp"
#include "auto_solve/reach.hpp"
#include "auto_solve/system.hpp"
#include "krylov/on_device.hpp"
#include "krylov/run.hpp"
#include "preparation/fill_estimate.hpp"
#include "solver/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace solver {
namespace {

CostProfile chosen(CostProfile wanted, const Device& device) {
    if (wanted != CostProfile::automatic) return wanted;
    return device.kind() == Device::Kind::cuda ? CostProfile::gpu : CostProfile::processor;
}

/// has_rows_beyond of A, which answers the same question once.
template <class T>
std::function<bool(std::int64_t)> reach_of(const SpmvPlan<T>& a) {
    return [&a, steps = std::make_shared<std::int64_t>(-1), answer = std::make_shared<bool>()](std::int64_t asked) {
        if (asked != *steps) *answer = has_rows_beyond(a.matrix(), asked);
        *steps = asked;
        return *answer;
    };
}

/// Makes attempts with the iteration in V, for at most so many iterations. The schedule is that of the least relative
/// tolerance.
template <class V, class T>
void attempt_in(Attempts<T>& attempts, const SpmvPlan<T>& a, std::optional<Preparation>& preparation,
                const SolveOptions& options, double tolerance, std::int64_t max_iterations) {
    System<T, V> system(a, preparation, options);
    const MatrixFacts facts = options.preconditioner && options.method ? MatrixFacts{} : facts_of(a);
    MethodChoice method(options.method, facts.may_be_positive_definite());
    if (options.preconditioner) {
        FallbackSchedule only(*options.preconditioner);
        return attempts.run(system, only, method, max_iterations);
    }
    FallbackSchedule schedule({.matrix = facts,
                               .tolerance = tolerance,
                               .fill_factor = options.factors.fill_factor,
                               .conjugate_gradients = method.with(true) == KrylovMethod::cg,
                               .profile = chosen(options.profile, a.device()),
                               .has_rows_beyond = reach_of(a),
                               .fill_estimate = [&] { return preparation::estimate_fill(a.matrix()); },
                               .preparation = [&]() -> const Preparation& { return system.preparation(); }});
    attempts.run(system, schedule, method, max_iterations);
}

template <class T>
SolveReport solve_unknowns(const SpmvPlan<T>& a, std::vector<Unknown<T>> unknowns, const SolveOptions& options) {
    Iterates<T> iterates(a, std::move(unknowns), options.iteration);
    Attempts<T> attempts(iterates, options);
    std::optional<Preparation> preparation;
    const double tolerance = iterates.least_tolerance();
    const std::int64_t limit = options.iteration.max_iterations;
    if (options.mixed) {
        if constexpr (!std::is_same_v<T, double>)
            throw InvalidArgument("solve: mixed precision iterates in single and holds x in double; give A, b and x in double");
        else
            attempt_in<float>(attempts, a, preparation, options, tolerance, (limit + 1) / 2);
    }
    attempt_in<T>(attempts, a, preparation, options, tolerance, limit);
    SolveReport report = attempts.report();
    report.profile = chosen(options.profile, a.device());
    const auto is_solved = [](const SolveResult& result) { return result.status == SolveStatus::converged; };
    if (!std::ranges::all_of(report.results, is_solved)) report.obstacle = obstacle(a, report.attempts);
    return report;
}

constexpr std::array profiles{CostProfile::automatic, CostProfile::processor, CostProfile::gpu};

}  // namespace

std::string_view to_string(CostProfile profile) {
    switch (profile) {
        case CostProfile::automatic:
            return "auto";
        case CostProfile::processor:
            return "processor";
        case CostProfile::gpu:
            return "gpu";
    }
    throw InvalidArgument(fmt::format("solve: there is no cost profile number {}", static_cast<int>(profile)));
}

CostProfile cost_profile_from_text(std::string_view text) {
    for (const CostProfile profile : profiles)
        if (text == to_string(profile)) return profile;
    throw InvalidArgument(fmt::format("cost profile '{}' is not known; choose auto, processor or gpu", text));
}

template <class T>
SolveReport solve(const SpmvPlan<T>& a, std::span<const T> b, std::span<T> x, std::span<T> x_low, const SolveOptions& options) {
    return solve_unknowns<T>(a, {checked_unknown(a, b, x, x_low, options.iteration)}, options);
}

template <class T>
SolveReport solve(const SpmvPlan<T>& a, const DenseMatrix<T>& b, DenseMatrix<T>& x, DenseMatrix<T>* x_low,
                  const SolveOptions& options) {
    return solve_unknowns<T>(a, checked_unknowns(a, b, x, x_low, options.iteration), options);
}

template <class T>
SolveReport cuda::solve(const solver::SpmvPlan<T>& a, const SolveTask<T>& task, const SolveOptions& options, Stream stream) {
    return solve_unknowns<T>(a, unknowns_on_device(a, task, options.iteration, stream, "solve"), options);
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
