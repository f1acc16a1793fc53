#include "auto_solve/system_solver.hpp"

#include "auto_solve/attempts.hpp"
#include "auto_solve/compatible_part.hpp"
#include "auto_solve/fallback_schedule.hpp"
#include "auto_solve/fetched_rows.hpp"
#include "auto_solve/iterates.hpp"
#include "auto_solve/matrix_facts.hpp"
#include "auto_solve/obstacle.hpp"
#include "auto_solve/profile.hpp"
#include "auto_solve/reach.hpp"
#include "auto_solve/row_equilibration.hpp"
#include "cuda/spmv.hpp"
#include "preparation/fill_estimate.hpp"
#include "solver/error.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <future>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

namespace solver {
namespace {

using preparation::IsEnough;

/// By the device that has A.
template <class T>
bool has_rows_beyond(const SpmvPlan<T>& a, std::int64_t steps) {
    if (a.on_device() != nullptr && a.dense() == nullptr) return a.on_device()->has_rows_beyond(steps);
    return has_rows_beyond(a.matrix(), steps, a.device());
}

/// Of a matrix that the caller has on a device, few rows come to the host.
template <class T>
FillPrediction estimate_fill(const SpmvPlan<T>& a, const IsEnough& is_enough) {
    if (a.on_device() == nullptr || a.on_device()->is_a_copy()) return preparation::estimate_fill(a.matrix(), is_enough);
    cuda::FetchedRows<T> rows(a.on_device()->matrix());
    return preparation::estimate_fill(rows, is_enough);
}

/// What such a matrix is nearly always given next where it is large; nothing if that is not known, as for several right-hand
/// sides, where the length of a trial depends on the estimate.
std::optional<PreconditionerKind> likely_preconditioner(const MatrixFacts& facts, std::int64_t columns) {
    if (facts.suits_multigrid()) return columns == 1 ? std::optional(PreconditionerKind::amg) : std::nullopt;
    if (facts.may_be_saddle_point()) return PreconditionerKind::schur;
    return std::nullopt;
}

/// By the host, while this preconditioner is made: what cannot be made is told of when it is wanted.
template <class T, class V>
FillPrediction estimate_fill_beside(PreconditionerKind likely, const SpmvPlan<T>& a, System<T, V>& system,
                                    const IsEnough& is_enough) {
    auto estimate = std::async(std::launch::async, [&] { return preparation::estimate_fill(a.matrix(), is_enough); });
    try {
        system.precondition(likely);
    } catch (const Error&) {
    }
    return estimate.get();
}

template <class T, class V>
FillPrediction estimate_fill(const SpmvPlan<T>& a, std::optional<PreconditionerKind> likely, System<T, V>& system,
                             bool in_complex_arithmetic, const IsEnough& is_enough) {
    if (in_complex_arithmetic) {
        const auto converted = [](const FillPrediction& fill) { return preparation::in_complex_arithmetic(fill); };
        return converted(
            estimate_fill(a, likely, system, false, [&](const FillPrediction& least) { return is_enough(converted(least)); }));
    }
    constexpr std::int64_t least_rows = 100'000;  // below, complete factors may be the cheaper choice
    const bool is_host_free = a.on_device() != nullptr && a.on_device()->is_a_copy() && a.dense() == nullptr;
    if (is_host_free && likely && a.rows() >= least_rows) return estimate_fill_beside(*likely, a, system, is_enough);
    return estimate_fill(a, is_enough);
}

/// has_rows_beyond of A, which answers the same question once.
template <class T>
std::function<bool(std::int64_t)> reach_of(const SpmvPlan<T>& a) {
    return [&a, steps = std::make_shared<std::int64_t>(-1), answer = std::make_shared<bool>()](std::int64_t asked) {
        if (asked != *steps) *answer = has_rows_beyond(a, asked);
        *steps = asked;
        return *answer;
    };
}

}  // namespace

template <class T>
template <class V>
void SystemSolver<T>::attempt_in(std::unique_ptr<System<T, V>>& system, Attempts<T>& attempts, Iterates<T>& iterates,
                                 std::int64_t max_iterations) {
    const MatrixFacts& facts = this->facts();
    const bool empty_rows_stand_aside = !options_.preconditioner && facts.empty_rows > 0;
    if (!system || !keeps_) system = std::make_unique<System<T, V>>(a_, preparation_, options_, empty_rows_stand_aside, keeps_);
    MethodChoice method(options_.method, facts, options_.iteration.complex_scalars);
    if (options_.preconditioner) {
        FallbackSchedule only(*options_.preconditioner);
        return attempts.run(*system, only, method, max_iterations);
    }
    const std::int64_t columns = attempts.columns_left();
    FallbackSchedule schedule(
        {.matrix = facts,
         .tolerance = iterates.least_tolerance(),
         .columns = columns,
         .fill_factor = options_.factors.fill_factor,
         .one_product_a_step = method.best() != KrylovMethod::bicgstab,
         .definite_only = needs_definite(method.best()),
         .profile = chosen_profile(options_, a_.device()),
         .least_pivot_ratio = std::min(least_pivot_ratio<T>(a_.rows()), std::sqrt(static_cast<double>(unit_roundoff<T>))),
         .has_rows_beyond = reach_of(a_),
         .begins_at_zero = [&] { return iterates.begin_at_zero(); },
         .fill_estimate =
             [&](const IsEnough& is_enough) {
                 return estimate_fill(a_, likely_preconditioner(facts, columns), *system, options_.iteration.complex_scalars,
                                      is_enough);
             },
         .preparation = [&]() -> const Preparation& { return system->preparation(); }});
    attempts.run(*system, schedule, method, max_iterations);
}

template <class T>
SolveReport SystemSolver<T>::attempt_all(std::vector<Unknown<T>> unknowns, bool wants_least_squares) {
    Iterates<T> iterates(a_, std::move(unknowns), options_.iteration);
    Attempts<T> attempts(iterates, options_, wants_least_squares);
    const std::int64_t limit = options_.iteration.max_iterations;
    if (options_.mixed) {
        if constexpr (!std::is_same_v<T, double>)
            throw InvalidArgument("solve: mixed precision iterates in single and holds x in double; give A, b and x in double");
        else
            attempt_in<float>(mixed_, attempts, iterates, limit - limit / 2);
    }
    if (!options_.mixed || attempts.has_more_to_do(limit)) {
        mixed_.reset();
        attempt_in<T>(system_, attempts, iterates, limit);
    }
    SolveReport report = attempts.report();
    report.profile = chosen_profile(options_, a_.device());
    remember(report.attempts);
    const auto is_solved = [](const SolveResult& result) { return result.status == SolveStatus::converged; };
    if (report.obstacle.empty() && !std::ranges::all_of(report.results, is_solved))
        report.obstacle = obstacle(a_, report.attempts, options_.iteration.complex_scalars);
    if (attempts.ends_with_least_squares(report)) report.obstacle = obstacle_with_least_squares(std::move(report.obstacle));
    return report;
}

template <class T>
SolveReport SystemSolver<T>::solve_compatible_parts(std::vector<Unknown<T>> unknowns) {
    const CompatibleParts<T> parts(a_, facts(), unknowns, options_.iteration);
    SolveReport report = attempt_all(unknowns, true);
    settle_small_rows(unknowns, report);
    if (can_solve_again())
        parts.finish(report, [&](std::size_t column, double tolerance) {
            const std::int64_t left = options_.iteration.max_iterations - report.results[column].iterations;
            return solve_again(unknowns[column], tolerance, left);
        });
    parts.tell(report);
    return report;
}

template <class T>
void SystemSolver<T>::settle_small_rows(std::span<const Unknown<T>> unknowns, SolveReport& report) const {
    const RowFacts facts = facts_ ? RowFacts(*facts_) : row_facts_of(a_);
    solver::settle_small_rows<T>(a_, facts, unknowns, options_, report);
}

template <class T>
const MatrixFacts& SystemSolver<T>::facts() {
    static const MatrixFacts none;
    if (options_.preconditioner && options_.method) return none;
    if (!facts_) facts_ = facts_of(a_);
    return *facts_;
}

template <class T>
void SystemSolver<T>::remember(std::span<const Attempt> attempts) {
    if (attempts.empty()) return;
    method_ = attempts.back().method;
    preconditioner_ = attempts.back().preconditioner;
    for (const SolveResult& result : attempts.back().results) iterations_ = std::max(iterations_, result.iterations);
}

template <class T>
SolveResult SystemSolver<T>::solve_again(const Unknown<T>& unknown, double tolerance, std::int64_t max_iterations) {
    KrylovOptions options = options_.iteration;
    options.tolerance = tolerance;
    options.absolute_tolerance = 0;
    options.max_iterations = max_iterations;
    options.callback = {};
    options.keep_history = false;
    const std::span<const Unknown<T>> unknowns(&unknown, 1);
    return (mixed_ ? mixed_->run(unknowns, options, pauses_of(options), method_)
                   : system_->run(unknowns, options, pauses_of(options), method_))
        .front();
}

template class SystemSolver<float>;
template class SystemSolver<double>;

}  // namespace solver
