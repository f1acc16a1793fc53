#pragma once

/// Least squares of what nothing solves.

#include "auto_solve/fallback_schedule.hpp"
#include "auto_solve/iterates.hpp"
#include "auto_solve/progress.hpp"
#include "auto_solve/solutions_of_factors.hpp"
#include "core/elapsed.hpp"
#include "solver/error.hpp"
#include "solver/least_squares.hpp"
#include "solver/solve.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace solver {

/// Where nothing solves the system an x of least residual is what iterations with A do not find.
template <class T>
class LeastSquaresSearch {
public:
    /// Only where the choice of methods and preconditioners is automatic, if wanted.
    LeastSquaresSearch(Progress& progress, Iterates<T>& iterates, SolutionsOfFactors<T>& factors, const SolveOptions& options,
                       bool is_wanted)
        : progress_(progress),
          iterates_(iterates),
          factors_(factors),
          options_(options.iteration),
          is_wanted_(is_wanted && options.least_squares && !options.method && !options.preconditioner &&
                     !iterates.holds_pairs()),
          is_found_(iterates.columns()) {}

    template <class System>
    static constexpr bool has_least_squares = requires(System& system, const KrylovOptions& options) {
        system.least_squares({}, {}, 0.0, options);
    };

    /// Whether there may be a look at what is stuck.
    template <class System>
    bool may_look_if_stuck() const {
        return has_least_squares<System> && is_wanted_ && !has_looked_ && !has_looked_at_singular_;
    }

    /// Once, where the residual stood still, or hardly fell, for about as long as the attempts so far; not where rounding x is
    /// what it stands at.
    template <class System>
    void look_at_what_is_stuck(System& system, std::int64_t max_iterations) {
        constexpr std::int64_t some_steps = 200;
        if constexpr (has_least_squares<System>) {
            const auto is_limited = [&](std::int64_t column) { return factors_.has_reached_limit(column); };
            if (std::ranges::all_of(progress_.left(), is_limited) || !may_look_if_stuck<System>()) return;
            has_looked_ = true;
            const std::int64_t steps = 2 * progress_.most_used() + some_steps;
            look(system, steps, static_cast<double>(steps), max_iterations);
            leave_what_is_found();
        }
    }

    /// Once, of an A that is known to be singular: in few steps where a solution is known, in case a smaller x is one, too.
    template <class System>
    void look_at_singular(System& system, std::int64_t max_iterations) {
        constexpr std::int64_t few_steps = 100, many_steps = 2000;
        constexpr double cost_of_factors = 10000;
        if constexpr (has_least_squares<System>) {
            if (!is_wanted_ || progress_.left().empty() || std::exchange(has_looked_at_singular_, true)) return;
            look(system, factors_.has_any_of(progress_.left()) ? few_steps : many_steps, cost_of_factors, max_iterations);
            leave_what_is_found();
        }
    }

    /// What iterations took for least squares of a singular A may be far from the solution of a nearly singular one, as factors
    /// tell that were not tried before. Whatever they find is kept.
    template <class System>
    void refute(System& system, FallbackSchedule& schedule) {
        const auto is_one_of_factors = [](const Attempt& attempt) {
            return attempt.preconditioner == PreconditionerKind::klu && !attempt.least_squares && !attempt.mixed;
        };
        const bool is_tried = std::ranges::any_of(progress_.attempts(), is_one_of_factors);
        if (!has_found() || is_tried || !schedule.may_afford_complete_factors()) return;
        Attempt& attempt = progress_.begin_attempt();
        attempt.preconditioner = PreconditionerKind::klu;
        attempt.columns = found();
        const Elapsed elapsed;
        try {
            system.precondition(attempt.preconditioner);
        } catch (const Error& error) {
            attempt.refusal = error.what();
        }
        attempt.setup_seconds = elapsed.seconds();
        if (!attempt.refusal.empty()) return;
        attempt.factor_entries = system.preconditioner().factor_entries();
        attempt.pivot_ratio = system.preconditioner().pivot_ratio();
        attempt.factor_hash = system.factor_hash().get();
        for (const std::int64_t column : attempt.columns) {
            factors_.find(column, progress_.result(column), system.preconditioner());
            if (factors_.take(column, progress_)) is_found_[column] = false;
            SolveResult& result = attempt.results.emplace_back();
            result.status = SolveStatus::stagnated;
            result.relative_residual = result.recursive_residual = progress_.result(column).relative_residual;
        }
        attempt.solve_seconds = elapsed.seconds() - attempt.setup_seconds;
    }

    bool has_found(std::int64_t column) const { return is_found_[column]; }
    bool has_found() const { return std::ranges::find(is_found_, true) != is_found_.end(); }

private:
    std::vector<std::int64_t> found() const {
        std::vector<std::int64_t> columns;
        for (std::size_t j = 0; j < is_found_.size(); ++j)
            if (is_found_[j]) columns.push_back(static_cast<std::int64_t>(j));
        return columns;
    }

    void leave_what_is_found() {
        progress_.leave_if([&](std::int64_t column) { return has_found(column); });
    }

    /// Twice so many steps at most, and a quarter of the iterations that are left. Where nothing is found, x and what is known
    /// of it stay.
    template <class System>
    void look(System& system, std::int64_t most_steps, double cost_of_factors, std::int64_t max_iterations) {
        Attempt& attempt = progress_.begin_attempt();
        attempt.least_squares = true;
        KrylovOptions options = options_;
        options.max_iterations = std::min(most_steps, (max_iterations - progress_.most_used()) / 8);
        if (options.callback)
            options.callback = [&](const Iteration& iteration) { return progress_.goes_on(attempt, iteration); };
        const Elapsed elapsed;
        const std::vector<std::int64_t> columns = progress_.left();
        const std::vector<SolveResult> before = progress_.has_begun() ? progress_.results() : std::vector<SolveResult>();
        std::vector<bool> is_taken;
        try {
            auto least = system.least_squares(iterates_.chosen(columns), iterates_.guesses(columns), cost_of_factors, options);
            attempt.preconditioner = least.result(0).preconditioner;
            attempt.factor_entries = least.result(0).factor_entries;
            for (std::int64_t j = 0; j < least.columns(); ++j) is_taken.push_back(take(least, j, columns[j], attempt));
        } catch (const Error& error) {
            if (progress_.is_callers_turn()) throw;
            attempt.refusal = error.what();
        }
        attempt.solve_seconds = elapsed.seconds();
        if (!attempt.refusal.empty()) return;
        progress_.finish(attempt);
        for (std::size_t i = 0; i < before.size() && i < columns.size(); ++i)
            if (!is_taken[i]) restore(before[columns[i]], columns[i]);
    }

    /// Whether the x of least residual solves the system, or nothing does.
    template <class Least>
    bool take(Least& least, std::int64_t j, std::int64_t column, Attempt& attempt) {
        const LeastSquaresResult& of_least = least.result(j);
        const double tolerance = iterates_.tolerance(column);
        SolveResult& result = attempt.results.emplace_back();
        result.status = of_least.status == SolveStatus::converged ? SolveStatus::stagnated : of_least.status;
        result.iterations = of_least.iterations;
        result.restarts = of_least.restarts;
        result.relative_residual = result.recursive_residual = of_least.relative_residual;
        result.history = of_least.history;
        iterates_.exchange(column, least.x(j));
        const bool is_solution = of_least.relative_residual <= tolerance;
        const bool is_least = !is_solution && least.is_least(j) && least.is_far_from(tolerance, j) &&
                              of_least.relative_residual > iterates_.rounding(column);
        if (is_solution) result.status = SolveStatus::converged;
        if (is_least && !factors_.has(column)) is_found_[column] = true;
        if (is_solution || is_least) return true;
        if (progress_.has_stopped(column)) result.status = SolveStatus::iteration_limit;
        iterates_.keep_if_best(column, of_least.relative_residual);
        iterates_.exchange(column, least.x(j));
        return false;
    }

    /// What was known of x, which is as it was.
    void restore(const SolveResult& before, std::int64_t column) {
        SolveResult& now = progress_.result(column);
        now.relative_residual = before.relative_residual;
        now.recursive_residual = before.recursive_residual;
        if (!progress_.has_stopped(column)) now.status = before.status;
    }

    Progress& progress_;
    Iterates<T>& iterates_;
    SolutionsOfFactors<T>& factors_;
    const KrylovOptions& options_;
    bool is_wanted_;
    bool has_looked_ = false, has_looked_at_singular_ = false;
    std::vector<bool> is_found_;  ///< columns that nothing solves, whose x is of least residual
};

}  // namespace solver
