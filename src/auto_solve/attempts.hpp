#pragma once

/// One attempt after another, each from where the last one stopped.

#include "auto_solve/convergence_monitor.hpp"
#include "auto_solve/fallback_schedule.hpp"
#include "auto_solve/iterates.hpp"
#include "auto_solve/least_squares_search.hpp"
#include "auto_solve/method_choice.hpp"
#include "auto_solve/progress.hpp"
#include "auto_solve/solutions_of_factors.hpp"
#include "core/elapsed.hpp"
#include "krylov/run.hpp"
#include "solver/error.hpp"
#include "solver/solve.hpp"

#include <algorithm>
#include <cstdint>
#include <future>
#include <iterator>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace solver {

/// Attempt after attempt on the columns that are left, each from the x that the one before reached.
template <class T>
class Attempts {
public:
    /// With least squares of what nothing solves, if wanted, where the choice of methods and preconditioners is automatic.
    Attempts(Iterates<T>& iterates, const SolveOptions& options, bool wants_least_squares = false)
        : iterates_(iterates),
          options_(options),
          progress_(iterates.columns(), options.iteration),
          factors_(iterates, options.iteration.accuracy),
          search_(progress_, iterates, factors_, options, wants_least_squares) {}

    Attempts(const Attempts&) = delete;
    Attempts& operator=(const Attempts&) = delete;

    /// Along a schedule, until nothing is left to solve, the schedule ends or a column has made so many iterations in all.
    template <class System>
    void run(System& system, FallbackSchedule& schedule, MethodChoice& method, std::int64_t max_iterations) {
        std::vector<Attempt> judged;
        bool was_singular = false;  // when the last attempt was chosen
        while (has_more_to_do(max_iterations)) {
            const bool looks_at_singular = was_singular && schedule.has_solution_for_some_b_only(judged);
            if (!looks_at_singular && !knows_a_solution() && stood_still())
                search_.look_at_what_is_stuck(system, max_iterations);
            if (!has_more_to_do(max_iterations)) break;
            const std::optional<Candidate> candidate = schedule.next(judged);  // which may order A
            const bool is_singular = schedule.has_solution_for_some_b_only(judged);
            const bool is_time = was_singular || !candidate || knows_a_solution();
            if (is_singular && is_time) search_.look_at_singular(system, max_iterations);
            if (!options_.preconditioner) take_what_factors_found();
            if (!candidate || ends_with_least_residual_ || !has_more_to_do(max_iterations)) break;
            was_singular = is_singular;
            judged.push_back(attempt_with_a_look(system, *candidate, method, max_iterations));
        }
        if (!System::is_mixed && !options_.preconditioner) run_last_resorts(system, method, max_iterations);
        if constexpr (!System::is_mixed) search_.refute(system, schedule);
    }

    /// Whether something is left to solve, and iterations to do it by.
    bool has_more_to_do(std::int64_t max_iterations) const { return progress_.has_more_to_do(max_iterations); }

    std::int64_t columns_left() const { return std::ssize(progress_.left()); }

    /// After the last schedule. Throws InvalidArgument where nothing could be tried: then nothing is known of x.
    SolveReport report() {
        if (!progress_.has_begun() && !progress_.attempts().empty())
            throw InvalidArgument("solve: nothing could be tried; the last refusal was: " +
                                  progress_.attempts().back().refusal);
        for (std::int64_t column = 0; column < std::ssize(progress_.results()); ++column) {
            SolveResult& result = progress_.result(column);
            result.status = status_of_all(result, progress_.has_stopped(column));
        }
        take_what_factors_found();
        for (std::int64_t column = 0; column < std::ssize(progress_.results()); ++column) {
            SolveResult& result = progress_.result(column);
            if (result.status != SolveStatus::converged && !search_.has_found(column))
                factors_.take_at_limit(column, progress_);
            if (!search_.has_found(column) && !factors_.is_taken(column))
                result.relative_residual = iterates_.restore_best(column, result.relative_residual);
        }
        SolveReport report = progress_.take_report();
        report.obstacle = factors_.obstacle(report.results);
        return report;
    }

    /// Whether what has not converged is least squares, as nothing solves a singular A. Of what report() told.
    bool ends_with_least_squares(const SolveReport& report) const {
        for (std::int64_t column = 0; column < std::ssize(report.results); ++column)
            if (report.results[column].status != SolveStatus::converged && !search_.has_found(column)) return false;
        return search_.has_found();
    }

private:
    /// Without a preconditioner where all that the schedule has was refused, as minres refuses what is not symmetric; then what
    /// nothing has solved, and not for rounding x, by IDR(4) from the initial guess: it goes on where others break down, as on
    /// singular patterns, where what they added from the null space is in the way.
    template <class System>
    void run_last_resorts(System& system, MethodChoice& method, std::int64_t max_iterations) {
        if (!progress_.has_begun() && has_more_to_do(max_iterations))
            attempt(system, without_preconditioner(), method, max_iterations);
        take_what_factors_found();
        progress_.leave_if([&](std::int64_t column) { return factors_.has_reached_limit(column); });
        if (options_.method || !has_more_to_do(max_iterations)) return;
        for (const std::int64_t column : progress_.left())
            iterates_.start_over(column, progress_.result(column).relative_residual);
        MethodChoice idr(KrylovMethod::idr);
        attempt(system, without_preconditioner(), idr, max_iterations);
    }

    /// Until it is not to be repeated. Where it may take long, and is stuck, least squares are looked for before it goes on
    /// with what is left of its share, as long as that is not too slow where others are to come. Returns its last part.
    template <class System>
    Attempt attempt_with_a_look(System& system, Candidate candidate, MethodChoice& method, std::int64_t max_iterations) {
        const bool may_look = candidate.give_up == GiveUp::never && search_.template may_look_if_stuck<System>();
        if (may_look) candidate.give_up = GiveUp::for_a_look;
        is_stuck_ = false;
        const std::int64_t before = progress_.most_used();
        Attempt last = attempt_until_not_repeated(system, candidate, method, max_iterations);
        if (is_least_ && options_.method) return judged_by_its_method(system, candidate, method, max_iterations);
        if (!is_stuck_) return last;
        candidate.give_up = candidate.is_last() ? GiveUp::never : GiveUp::when_too_slow;
        candidate.share -= progress_.most_used() - before;
        search_.look_at_what_is_stuck(system, max_iterations);
        if (candidate.share > 0 && has_more_to_do(max_iterations))
            last = attempt_until_not_repeated(system, candidate, method, max_iterations);
        return last;
    }

    /// MINRES by name that stands still: by going on it tells the least residual, below which nothing else gets, from a look at
    /// an eigenvalue near zero, whose component the next steps find.
    template <class System>
    Attempt judged_by_its_method(System& system, Candidate candidate, MethodChoice& method, std::int64_t max_iterations) {
        constexpr std::int64_t some_steps = 100;
        constexpr double nothing = 1 - 0x1p-10;
        is_least_ = false;
        if (progress_.left().size() != 1 || !has_more_to_do(max_iterations)) return progress_.attempts().back();
        const SolveResult& result = progress_.result(progress_.left().front());
        const double before = result.relative_residual;
        candidate.share = progress_.most_used() + some_steps;
        candidate.give_up = GiveUp::never;
        if (result.status != SolveStatus::stagnated) attempt_until_not_repeated(system, candidate, method, max_iterations);
        ends_with_least_residual_ = result.relative_residual > nothing * before;
        return progress_.attempts().back();
    }

    template <class System>
    Attempt attempt_until_not_repeated(System& system, const Candidate& candidate, MethodChoice& method,
                                       std::int64_t max_iterations) {
        do attempt(system, candidate, method, max_iterations);
        while (progress_.attempts().back().repeated && has_more_to_do(max_iterations));
        return progress_.attempts().back();
    }

    bool stood_still() const {
        return is_stuck_ || is_least_ || std::ranges::any_of(progress_.attempts(), [](const Attempt& attempt) {
                   return !attempt.mixed && !attempt.results.empty() &&
                          attempt.results.front().status == SolveStatus::stagnated;
               });
    }

    bool knows_a_solution() const { return factors_.has_any_of(progress_.left()); }

    void take_what_factors_found() {
        progress_.leave_if([&](std::int64_t column) { return factors_.take(column, progress_); });
    }

    static Candidate without_preconditioner() { return {PreconditionerKind::none, Candidate::no_limit, GiveUp::when_stuck}; }

    /// What ended for want of iterations while more were allowed was given up by the schedule: nothing made it fall.
    SolveStatus status_of_all(const SolveResult& result, bool stopped) const {
        const bool more_allowed = result.iterations < options_.iteration.max_iterations && !stopped;
        return result.status == SolveStatus::iteration_limit && more_allowed ? SolveStatus::stagnated : result.status;
    }

    template <class System>
    void attempt(System& system, const Candidate& candidate, MethodChoice& method, std::int64_t max_iterations) {
        Attempt& attempt = progress_.begin_attempt();
        attempt.preconditioner = candidate.preconditioner;
        attempt.mixed = System::is_mixed;
        const std::vector<std::int64_t>& left = progress_.left();
        const Elapsed elapsed;
        std::future<std::uint64_t> factor_hash;
        std::once_flag is_asked;
        const auto ask_for_hash = [&] { std::call_once(is_asked, [&] { factor_hash = system.factor_hash(); }); };
        try {
            system.precondition(attempt.preconditioner);
            attempt.setup_seconds = elapsed.seconds();
            attempt.method = method.with(system.preconditioner(), attempt.preconditioner);
            check_symmetry(attempt.method, method.may_take_for_symmetric(system.preconditioner(), attempt.preconditioner));
            // Asked for at the first pause, when a device has all that it needs: what is freed before waits for whatever runs.
            const auto pauses = [&, wanted = pauses_for(candidate)](std::int64_t iteration) {
                ask_for_hash();
                return wanted(iteration);
            };
            if (progress_.has_begun())
                for (const std::int64_t column : left) iterates_.keep_pair(column, progress_.result(column).relative_residual);
            attempt.results =
                system.run(iterates_.chosen(left), options_for(candidate, attempt, max_iterations), pauses, attempt.method);
        } catch (const Error& error) {
            if (progress_.is_callers_turn() || (options_.preconditioner && !System::is_mixed)) throw;
            attempt.refusal = error.what();
            attempt.setup_seconds = elapsed.seconds();
            return;
        }
        attempt.solve_seconds = elapsed.seconds() - attempt.setup_seconds;
        attempt.factor_entries = system.preconditioner().factor_entries();
        attempt.pivot_ratio = system.preconditioner().pivot_ratio();
        ask_for_hash();
        attempt.factor_hash = factor_hash.get();
        attempt.levels = system.preconditioner().levels();
        for (const SolveResult& result : attempt.results)
            attempt.repeated = method.is_refuted_by(attempt.method, result.status) || attempt.repeated;
        // MINRES's residuals fall in every step, unless they are the least.
        const bool always_falls = attempt.method == KrylovMethod::minres && !System::is_mixed;
        is_least_ = is_least_ || (always_falls && plateau_.stands_still());
        progress_.finish(attempt);
        if constexpr (!System::is_mixed)
            if (attempt.preconditioner == PreconditionerKind::klu) leave_what_rounding_limits(system.preconditioner());
        for (const std::int64_t column : left)
            iterates_.start_over_if_too_large(column, progress_.result(column).relative_residual);
    }

    void leave_what_rounding_limits(const Preconditioner<T>& inverse) {
        progress_.leave_if([&](std::int64_t column) {
            const SolveResult& result = progress_.result(column);
            if (factors_.is_final(column, result, inverse)) return true;
            factors_.find(column, result, inverse);
            return !factors_.is_nearly_singular(inverse) && factors_.take(column, progress_);
        });
    }

    KrylovOptions options_for(const Candidate& candidate, Attempt& attempt, std::int64_t max_iterations) {
        KrylovOptions options = options_.iteration;
        options.max_iterations = std::min(candidate.share, max_iterations - progress_.most_used());
        std::vector<ConvergenceMonitor> monitors;
        for (const std::int64_t column : progress_.left()) monitors.push_back(monitor_of(candidate, column));
        const bool may_be_stuck = candidate.give_up == GiveUp::for_a_look;
        options.callback = [this, &attempt, monitors, may_be_stuck](const Iteration& iteration) mutable {
            if (iteration.column == 0) plateau_.see(iteration);
            const bool is_wanted = progress_.goes_on(attempt, iteration);
            const bool gives_up = monitors[iteration.column].gives_up(iteration);
            is_stuck_ = is_stuck_ || (gives_up && may_be_stuck);
            return !gives_up && is_wanted;
        };
        return options;
    }

    /// The rate is judged when the monitor wants, the caller's callback asked as he wants.
    Pauses pauses_for(const Candidate& candidate) const {
        Pauses asked = pauses_of(options_.iteration);
        return [asked, monitor = monitor_of(candidate, progress_.left().front())](std::int64_t iteration) {
            return std::min(asked(iteration), monitor.next_check(iteration));
        };
    }

    /// When it judges is the same for every column.
    ConvergenceMonitor monitor_of(const Candidate& candidate, std::int64_t column) const {
        return {candidate.give_up, iterates_.tolerance(column), candidate.share, candidate.is_out_of_reach};
    }

    Iterates<T>& iterates_;
    const SolveOptions& options_;
    Progress progress_;
    SolutionsOfFactors<T> factors_;
    LeastSquaresSearch<T> search_;
    bool is_stuck_ = false;                  ///< an attempt that may go on after a look
    bool is_least_ = false;                  ///< the residual of an attempt, as it seems
    bool ends_with_least_residual_ = false;  ///< by the method that the caller wants
    PlateauWatch plateau_;                   ///< of the first column of an attempt
};

}  // namespace solver
