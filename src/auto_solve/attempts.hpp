#pragma once

/// One attempt after another, each from where the last one stopped.

#include "auto_solve/convergence_monitor.hpp"
#include "auto_solve/fallback_schedule.hpp"
#include "auto_solve/iterates.hpp"
#include "auto_solve/method_choice.hpp"
#include "auto_solve/obstacle.hpp"
#include "krylov/run.hpp"
#include "solver/error.hpp"
#include "solver/least_squares.hpp"
#include "solver/solve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <future>
#include <iterator>
#include <limits>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
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
          of_factors_(iterates.columns()),
          used_(iterates.columns()),
          stopped_(iterates.columns()),
          may_be_least_squares_(wants_least_squares && options.least_squares && !options.method && !options.preconditioner &&
                                !iterates.holds_pairs()) {
        report_.results.resize(iterates.columns());
        for (std::size_t j = 0; j < iterates.columns(); ++j) left_.push_back(static_cast<std::int64_t>(j));
    }

    /// Along a schedule, until nothing is left to solve, the schedule ends or a column has made so many iterations in all.
    template <class System>
    void run(System& system, FallbackSchedule& schedule, MethodChoice& method, std::int64_t max_iterations) {
        std::vector<Attempt> judged;
        bool was_singular = false;  // when the last attempt was chosen
        while (has_more_to_do(max_iterations)) {
            const bool looks_at_singular = was_singular && schedule.has_solution_for_some_b_only(judged);
            if (!looks_at_singular && !knows_a_solution()) find_least_squares_if_stuck(system, max_iterations);
            if (!has_more_to_do(max_iterations)) break;
            const std::optional<Candidate> candidate = schedule.next(judged);  // which may order A
            const bool is_singular = schedule.has_solution_for_some_b_only(judged);
            const bool is_time = was_singular || !candidate || knows_a_solution();
            find_least_squares_if_singular(system, is_singular && is_time, max_iterations);
            if (!candidate || ends_with_least_residual_ || !has_more_to_do(max_iterations)) break;
            was_singular = is_singular;
            judged.push_back(attempt_with_a_look(system, *candidate, method, max_iterations));
        }
        if (!System::is_mixed && !options_.preconditioner) run_last_resorts(system, method, max_iterations);
        if constexpr (has_least_squares<System>) refute_least_squares(system, schedule);
    }

    /// Whether something is left to solve, and iterations to do it by.
    bool has_more_to_do(std::int64_t max_iterations) const { return !left_.empty() && !is_spent(max_iterations); }

    std::int64_t columns_left() const { return static_cast<std::int64_t>(left_.size()); }

    /// After the last schedule. Throws InvalidArgument where nothing could be tried: then nothing is known of x.
    SolveReport report() {
        if (!has_begun_ && !report_.attempts.empty())
            throw InvalidArgument("solve: nothing could be tried; the last refusal was: " + report_.attempts.back().refusal);
        for (std::size_t j = 0; j < report_.results.size(); ++j) {
            SolveResult& result = report_.results[j];
            result.status = status_of_all(result, stopped_[j]);
            const auto column = static_cast<std::int64_t>(j);
            if (is_among(left_, column)) take_what_factors_found(column);
            if (!is_among(least_squares_, column) && !is_among(refined_, column))
                result.relative_residual = iterates_.restore_best(column, result.relative_residual);
        }
        report_.obstacle = limit_of_rounding();
        return std::move(report_);
    }

    /// Whether what has not converged is least squares, as nothing solves a singular A.
    bool ends_with_least_squares() const { return !least_squares_.empty() && are_all_unsolved(least_squares_); }

private:
    using Clock = std::chrono::steady_clock;

    static constexpr double clearly = 16;  ///< times the tolerance: more than what another x may meet by chance

    /// Without a preconditioner where all that the schedule has was refused, as minres refuses what is not symmetric; then what
    /// nothing has solved by IDR(4) from the initial guess: it goes on where others break down, as on singular patterns, where
    /// what they added from the null space is in the way.
    template <class System>
    void run_last_resorts(System& system, MethodChoice& method, std::int64_t max_iterations) {
        if (!has_begun_ && has_more_to_do(max_iterations)) attempt(system, without_preconditioner(), method, max_iterations);
        if (options_.method || !has_more_to_do(max_iterations)) return;
        for (const std::int64_t column : left_) iterates_.start_over(column, report_.results[column].relative_residual);
        MethodChoice idr(KrylovMethod::idr);
        attempt(system, without_preconditioner(), idr, max_iterations);
    }

    /// Until it is not to be repeated. Where it may take long, and is stuck, least squares are looked for before it goes on
    /// with what is left of its share, as long as that is not too slow where others are to come. Returns its last part.
    template <class System>
    Attempt attempt_with_a_look(System& system, Candidate candidate, MethodChoice& method, std::int64_t max_iterations) {
        const bool may_look = has_least_squares<System> && may_be_least_squares_ && !has_looked_ && !has_looked_at_singular_ &&
                              candidate.give_up == GiveUp::never;
        if (may_look) candidate.give_up = GiveUp::for_a_look;
        is_stuck_ = false;
        const std::int64_t before = most_used();
        Attempt last = attempt_until_not_repeated(system, candidate, method, max_iterations);
        if (is_least_ && options_.method) return judged_by_its_method(system, candidate, method, max_iterations);
        if (!is_stuck_) return last;
        candidate.give_up = candidate.is_last() ? GiveUp::never : GiveUp::when_too_slow;
        candidate.share -= most_used() - before;
        find_least_squares_if_stuck(system, max_iterations);
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
        if (left_.size() != 1 || !has_more_to_do(max_iterations)) return report_.attempts.back();
        const SolveResult& result = report_.results[left_.front()];
        const double before = result.relative_residual;
        candidate.share = most_used() + some_steps;
        candidate.give_up = GiveUp::never;
        if (result.status != SolveStatus::stagnated) attempt_until_not_repeated(system, candidate, method, max_iterations);
        ends_with_least_residual_ = result.relative_residual > nothing * before;
        return report_.attempts.back();
    }

    template <class System>
    Attempt attempt_until_not_repeated(System& system, const Candidate& candidate, MethodChoice& method,
                                       std::int64_t max_iterations) {
        do attempt(system, candidate, method, max_iterations);
        while (report_.attempts.back().repeated && has_more_to_do(max_iterations));
        return report_.attempts.back();
    }

    template <class System>
    static constexpr bool has_least_squares = requires(System& system, const KrylovOptions& options) {
        system.least_squares({}, {}, 0.0, options);
    };

    /// Where nothing solves the system an x of least residual is what iterations with A do not find. It is looked for once
    /// where the residual stood still, or hardly fell, for about as long as the attempts so far; and once where A is known to
    /// be singular.
    template <class System>
    void find_least_squares_if_stuck(System& system, std::int64_t max_iterations) {
        constexpr std::int64_t some_steps = 200;
        if constexpr (has_least_squares<System>) {
            const bool is_stuck = is_stuck_ || stood_still();
            if (!may_be_least_squares_ || left_.empty() || has_looked_at_singular_ || !is_stuck) return;
            if (std::exchange(has_looked_, true)) return;
            const std::int64_t steps = 2 * most_used() + some_steps;
            find_least_squares(system, steps, static_cast<double>(steps), max_iterations);
            leave_least_squares();
        }
    }

    template <class System>
    void find_least_squares_if_singular(System& system, bool is_singular, std::int64_t max_iterations) {
        constexpr std::int64_t few_steps = 100, many_steps = 2000;
        constexpr double cost_of_factors = 10000;
        if constexpr (has_least_squares<System>) {
            if (left_.empty() || options_.preconditioner) return;
            if (may_be_least_squares_ && is_singular && !std::exchange(has_looked_at_singular_, true))
                find_least_squares(system, knows_a_solution() ? few_steps : many_steps, cost_of_factors, max_iterations);
            leave_least_squares();
            std::erase_if(left_, [&](std::int64_t column) { return take_what_factors_found(column); });
        }
    }

    bool stood_still() const {
        return is_least_ || std::ranges::any_of(report_.attempts, [](const Attempt& attempt) {
                   return !attempt.mixed && !attempt.results.empty() &&
                          attempt.results.front().status == SolveStatus::stagnated;
               });
    }

    /// Twice so many steps at most, and a quarter of the iterations that are left. Where nothing is found, x and what is known
    /// of it stay.
    template <class System>
    void find_least_squares(System& system, std::int64_t most_steps, double cost_of_factors, std::int64_t max_iterations) {
        Attempt& attempt = report_.attempts.emplace_back();
        attempt.least_squares = true;
        attempt.columns = left_;
        KrylovOptions options = options_.iteration;
        options.max_iterations = std::min(most_steps, (max_iterations - most_used()) / 8);
        if (options.callback) options.callback = [&](const Iteration& iteration) { return goes_on(attempt, iteration); };
        const auto start = Clock::now();
        const std::vector<std::int64_t> columns = left_;
        const std::vector<SolveResult> before = has_begun_ ? report_.results : std::vector<SolveResult>();
        std::vector<bool> is_taken;
        try {
            auto found = system.least_squares(iterates_.chosen(left_), iterates_.guesses(left_), cost_of_factors, options);
            attempt.preconditioner = found.result(0).preconditioner;
            attempt.factor_entries = found.result(0).factor_entries;
            for (std::int64_t j = 0; j < found.columns(); ++j) is_taken.push_back(take(found, j, attempt));
        } catch (const Error& error) {
            if (is_callers_turn_) throw;
            attempt.refusal = error.what();
        }
        attempt.solve_seconds = seconds_since(start);
        if (!attempt.refusal.empty()) return;
        finish(attempt);
        for (std::size_t i = 0; i < before.size() && i < columns.size(); ++i) {
            const std::int64_t column = columns[i];
            if (!is_taken[i]) restore(before[column], column);
        }
    }

    /// What iterations took for least squares of a singular A may be far from the solution of a nearly singular one, as factors
    /// tell that were not tried before.
    template <class System>
    void refute_least_squares(System& system, FallbackSchedule& schedule) {
        const bool is_tried = std::ranges::any_of(report_.attempts, [](const Attempt& attempt) {
            return attempt.preconditioner == PreconditionerKind::klu && !attempt.least_squares && !attempt.mixed;
        });
        if (least_squares_.empty() || is_tried || !schedule.may_afford_complete_factors()) return;
        Attempt& attempt = report_.attempts.emplace_back();
        attempt.preconditioner = PreconditionerKind::klu;
        attempt.columns = least_squares_;
        const auto start = Clock::now();
        try {
            system.precondition(attempt.preconditioner);
        } catch (const Error& error) {
            attempt.refusal = error.what();
        }
        attempt.setup_seconds = seconds_since(start);
        if (!attempt.refusal.empty()) return;
        attempt.factor_entries = system.preconditioner().factor_entries();
        attempt.pivot_ratio = system.preconditioner().pivot_ratio();
        attempt.factor_hash = system.factor_hash().get();
        std::erase_if(least_squares_, [&](std::int64_t column) {
            refine(column, clearly * iterates_.tolerance(column), system.preconditioner());
            const bool is_refuted = take_what_factors_found(column);
            SolveResult& result = attempt.results.emplace_back();
            result.status = SolveStatus::stagnated;
            result.relative_residual = result.recursive_residual = report_.results[column].relative_residual;
            return is_refuted;
        });
        attempt.solve_seconds = seconds_since(start) - attempt.setup_seconds;
    }

    /// Whether this solves the system, or nothing does.
    template <class Found>
    bool take(Found& found, std::int64_t j, Attempt& attempt) {
        const LeastSquaresResult& of_found = found.result(j);
        const std::int64_t column = left_[j];
        const double tolerance = iterates_.tolerance(column);
        SolveResult& result = attempt.results.emplace_back();
        result.status = of_found.status == SolveStatus::converged ? SolveStatus::stagnated : of_found.status;
        result.iterations = of_found.iterations;
        result.restarts = of_found.restarts;
        result.relative_residual = result.recursive_residual = of_found.relative_residual;
        result.history = of_found.history;
        iterates_.exchange(column, found.x(j));
        const bool is_solution = of_found.relative_residual <= tolerance;
        const bool is_least = !is_solution && found.is_least(j) && found.is_far_from(tolerance, j) &&
                              of_found.relative_residual > iterates_.rounding(column);
        if (is_solution) result.status = SolveStatus::converged;
        if (is_least && !of_factors_[column]) least_squares_.push_back(column);
        if (is_solution || is_least) return true;
        if (stopped_[column]) result.status = SolveStatus::iteration_limit;
        iterates_.keep_if_best(column, of_found.relative_residual);
        iterates_.exchange(column, found.x(j));
        return false;
    }

    /// What was known of x, which is as it was.
    void restore(const SolveResult& before, std::int64_t column) {
        SolveResult& now = report_.results[column];
        now.relative_residual = before.relative_residual;
        now.recursive_residual = before.recursive_residual;
        if (!stopped_[column]) now.status = before.status;
    }

    void leave_least_squares() {
        std::erase_if(left_, [&](std::int64_t column) { return is_among(least_squares_, column); });
    }

    static Candidate without_preconditioner() { return {PreconditionerKind::none, Candidate::no_limit, GiveUp::when_stuck}; }

    /// What ended for want of iterations while more were allowed was given up by the schedule: nothing made it fall.
    SolveStatus status_of_all(const SolveResult& result, bool stopped) const {
        const bool more_allowed = result.iterations < options_.iteration.max_iterations && !stopped;
        return result.status == SolveStatus::iteration_limit && more_allowed ? SolveStatus::stagnated : result.status;
    }

    static double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

    /// An attempt is made even where no iteration is allowed, for x may be good already.
    bool is_spent(std::int64_t max_iterations) const { return has_begun_ && most_used() >= max_iterations; }

    std::int64_t most_used() const {
        std::int64_t most = 0;
        for (const std::int64_t column : left_) most = std::max(most, used_[column]);
        return most;
    }

    template <class System>
    void attempt(System& system, const Candidate& candidate, MethodChoice& method, std::int64_t max_iterations) {
        Attempt& attempt = report_.attempts.emplace_back();
        attempt.preconditioner = candidate.preconditioner;
        attempt.mixed = System::is_mixed;
        attempt.columns = left_;
        const auto start = Clock::now();
        std::future<std::uint64_t> factor_hash;
        std::once_flag is_asked;
        const auto ask_for_hash = [&] { std::call_once(is_asked, [&] { factor_hash = system.factor_hash(); }); };
        try {
            system.precondition(attempt.preconditioner);
            attempt.setup_seconds = seconds_since(start);
            attempt.method = method.with(system.preconditioner(), attempt.preconditioner);
            check_symmetry(attempt.method, method.may_take_for_symmetric(system.preconditioner(), attempt.preconditioner));
            // Asked for at the first pause, when a device has all that it needs: what is freed before waits for whatever runs.
            const auto pauses = [&, wanted = pauses_for(candidate)](std::int64_t iteration) {
                ask_for_hash();
                return wanted(iteration);
            };
            if (has_begun_)
                for (const std::int64_t column : left_) iterates_.keep_pair(column, report_.results[column].relative_residual);
            attempt.results =
                system.run(iterates_.chosen(left_), options_for(candidate, attempt, max_iterations), pauses, attempt.method);
        } catch (const Error& error) {
            if (is_callers_turn_ || (options_.preconditioner && !System::is_mixed)) throw;
            attempt.refusal = error.what();
            attempt.setup_seconds = seconds_since(start);
            return;
        }
        attempt.solve_seconds = seconds_since(start) - attempt.setup_seconds;
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
        finish(attempt);
        if constexpr (!System::is_mixed)
            if (attempt.preconditioner == PreconditionerKind::klu) leave_what_rounding_limits(system.preconditioner());
        for (const std::int64_t column : left_)
            iterates_.start_over_if_too_large(column, report_.results[column].relative_residual);
    }

    void finish(Attempt& attempt) {
        has_begun_ = true;
        for (std::size_t i = 0; i < left_.size(); ++i) add(attempt.results[i], left_[i]);
        std::erase_if(left_, [&](std::int64_t column) {
            const SolveResult& result = report_.results[column];
            const bool hopeless =
                result.status == SolveStatus::non_finite && result.iterations == 0;  // Inf or NaN in A, b or x
            return result.status == SolveStatus::converged || hopeless || stopped_[column];
        });
    }

    /// Where complete factors stagnate at what rounding x comes to, at an x that they would hardly change, nothing else gets
    /// nearer, unless A is nearly singular: any other x that meets the tolerance t lies within ||A^-1|| t ||b|| of the
    /// solution, so that for u ||A|| ||A^-1|| < 1 rounding it comes to as much, less t ||b|| at most. Where that is little more
    /// than the tolerance another x may meet it by chance. Of a nearly singular A a smaller x may: it is looked for.
    void leave_what_rounding_limits(const Preconditioner<T>& inverse) {
        std::erase_if(left_, [&](std::int64_t column) {
            const double aim = iterates_.tolerance(column), clear = clearly * aim;
            const bool is_limited = is_at_limit_of_rounding(column, aim, inverse);
            if (is_limited && !is_among(at_limit_, column)) at_limit_.push_back(column);
            if (is_limited && iterates_.rounding(column) > clear) return true;
            refine(column, clear, inverse);
            return !is_nearly_singular(inverse) && take_what_factors_found(column);
        });
    }

    bool is_at_limit_of_rounding(std::int64_t column, double aim, const Preconditioner<T>& inverse) {
        constexpr double hardly = 0x1p-10;
        const SolveResult& result = report_.results[column];
        const bool may_be = result.status == SolveStatus::stagnated && !is_nearly_singular(inverse);
        if (!may_be || !is_limited_by_rounding(column, result.relative_residual, aim)) return false;
        try {
            return iterates_.estimated_error(column, inverse, options_.iteration.accuracy) <= hardly;
        } catch (const Error&) {  // no memory for a look at it
            return false;
        }
    }

    bool is_nearly_singular(const Preconditioner<T>& inverse) const {
        return inverse.pivot_ratio() < least_pivot_ratio<T>(iterates_.rows());
    }

    bool is_limited_by_rounding(std::int64_t column, double residual, double aim) {
        const double rounding = iterates_.rounding(column);
        return residual <= rounding && rounding > aim;
    }

    /// Finds what complete factors make of b (solve.hpp), if nothing but rounding limits that.
    void refine(std::int64_t column, double aim, const Preconditioner<T>& inverse) {
        constexpr double surely_not_all = 0x1p-20;
        const bool has_iterated = report_.results[column].iterations > 0;
        if (!has_iterated || iterates_.holds_pair(column)) return;
        std::optional<Refined<T>> refined;
        try {
            refined = iterates_.refined(column, inverse, options_.iteration.accuracy);
        } catch (const Error&) {  // no memory for it
            return;
        } catch (const std::bad_alloc&) {
            return;
        }
        if (!(refined->error <= surely_not_all)) return;
        iterates_.exchange(column, refined->x);
        const bool is_limited = is_limited_by_rounding(column, refined->residual, aim);
        iterates_.exchange(column, refined->x);
        if (is_limited) of_factors_[column] = std::move(refined);
    }

    bool knows_a_solution() const {
        return std::ranges::any_of(left_, [&](std::int64_t column) { return of_factors_[column].has_value(); });
    }

    /// Whether x is now what complete factors make of b.
    bool take_what_factors_found(std::int64_t column) {
        if (!of_factors_[column]) return false;
        iterates_.exchange(column, of_factors_[column]->x);
        SolveResult& result = report_.results[column];
        if (!stopped_[column]) result.status = SolveStatus::stagnated;
        result.relative_residual = result.recursive_residual = of_factors_[column]->residual;
        of_factors_[column].reset();
        refined_.push_back(column);
        if (!is_among(at_limit_, column)) at_limit_.push_back(column);
        return true;
    }

    /// Empty unless nothing but rounding is in the way of the columns that have not converged.
    std::string limit_of_rounding() const {
        double most = 0;
        for (const std::int64_t column : at_limit_)
            if (report_.results[column].status != SolveStatus::converged)
                most = std::max(most, report_.results[column].relative_residual);
        if (!(most > 0) || !are_all_unsolved(at_limit_)) return "";
        const char* const precision = std::is_same_v<T, float> ? "single" : "double";
        return fmt::format(
            "to round x to {} precision changes b - A x by about {:.0e} ||b||, more than the tolerance allows, and this x is "
            "as good as that; {} a guarantee says how many digits are right",
            precision, most, most < 1 ? "a larger tolerance can be met, and" : "its residual tells nothing,");
    }

    static bool is_among(const std::vector<std::int64_t>& columns, std::int64_t column) {
        return std::ranges::find(columns, column) != columns.end();
    }

    bool are_all_unsolved(const std::vector<std::int64_t>& columns) const {
        for (std::int64_t j = 0; j < std::ssize(report_.results); ++j)
            if (report_.results[j].status != SolveStatus::converged && !is_among(columns, j)) return false;
        return true;
    }

    /// Iterations are numbered on over all attempts, and columns as the caller knows them.
    KrylovOptions options_for(const Candidate& candidate, Attempt& attempt, std::int64_t max_iterations) {
        KrylovOptions options = options_.iteration;
        options.max_iterations = std::min(candidate.share, max_iterations - most_used());
        std::vector<ConvergenceMonitor> monitors;
        for (const std::int64_t column : left_) monitors.push_back(monitor_of(candidate, column));
        const bool may_be_stuck = candidate.give_up == GiveUp::for_a_look;
        options.callback = [this, &attempt, monitors, may_be_stuck](const Iteration& iteration) mutable {
            const bool is_wanted = goes_on(attempt, iteration);
            const bool gives_up = monitors[iteration.column].gives_up(iteration);
            is_stuck_ = is_stuck_ || (gives_up && may_be_stuck);
            return !gives_up && is_wanted;
        };
        return options;
    }

    /// Whether the caller wants it to.
    bool goes_on(Attempt& attempt, const Iteration& iteration) {
        const std::int64_t column = left_[iteration.column];
        if (iteration.column == 0) watch(attempt, iteration);
        if (options_.iteration.callback && !is_repeated(iteration))
            stopped_[column] = !ask_caller(renumbered(iteration, column));
        return !stopped_[column];
    }

    /// Whether to go on. What the caller's callback throws is no refusal, and goes through.
    bool ask_caller(const Iteration& iteration) {
        is_callers_turn_ = true;
        const bool goes_on = options_.iteration.callback(iteration);
        is_callers_turn_ = false;
        return goes_on;
    }

    void watch(Attempt& attempt, const Iteration& iteration) {
        plateau_.see(iteration);
        if (iteration.number == 0) attempt.initial_residual = attempt.least_residual = iteration.recursive_residual;
        attempt.least_residual = std::min(attempt.least_residual, iteration.recursive_residual);
    }

    /// The rate is judged when the monitor wants, the caller's callback asked as he wants.
    Pauses pauses_for(const Candidate& candidate) const {
        Pauses asked = pauses_of(options_.iteration);
        return [asked, monitor = monitor_of(candidate, left_.front())](std::int64_t iteration) {
            return std::min(asked(iteration), monitor.next_check(iteration));
        };
    }

    /// When it judges is the same for every column.
    ConvergenceMonitor monitor_of(const Candidate& candidate, std::int64_t column) const {
        return {candidate.give_up, iterates_.tolerance(column), candidate.share, candidate.is_out_of_reach};
    }

    /// The first record of a later attempt is where the one before ended.
    bool is_repeated(const Iteration& iteration) const { return iteration.number == 0 && has_begun_; }

    Iteration renumbered(Iteration iteration, std::int64_t column) const {
        iteration.column = column;
        iteration.number += used_[column];
        return iteration;
    }

    void add(SolveResult& part, std::int64_t column) {
        SolveResult& whole = report_.results[column];
        for (const Iteration& iteration : part.history)
            if (iteration.number > 0 || whole.history.empty()) whole.history.push_back(renumbered(iteration, column));
        part.history.clear();
        used_[column] += part.iterations;
        whole.status = part.status;
        whole.relative_residual = part.relative_residual;
        whole.recursive_residual = part.recursive_residual;
        whole.iterations += part.iterations;
        whole.replacements += part.replacements;
        whole.restarts += part.restarts;
    }

    Iterates<T>& iterates_;
    const SolveOptions& options_;
    SolveReport report_;
    std::vector<std::int64_t> left_;                     ///< columns that have not converged
    std::vector<std::int64_t> at_limit_;                 ///< columns that factors brought as near as rounding x leaves them
    std::vector<std::int64_t> refined_;                  ///< of at_limit_ those whose x are what complete factors make of b
    std::vector<std::optional<Refined<T>>> of_factors_;  ///< of columns, what those make of b, where it was not taken
    std::vector<std::int64_t> least_squares_;            ///< columns that nothing solves, and their least squares
    bool is_stuck_ = false;                              ///< an attempt that may go on after a look
    bool is_least_ = false;                              ///< the residual of an attempt, as it seems
    bool ends_with_least_residual_ = false;              ///< by the method that the caller wants
    PlateauWatch plateau_;                               ///< of the first column of an attempt
    bool has_looked_ = false, has_looked_at_singular_ = false;  ///< for least squares
    std::vector<std::int64_t> used_;                            ///< iterations of each column
    std::vector<bool> stopped_;                                 ///< columns, by the callback
    bool may_be_least_squares_;
    bool has_begun_ = false;
    bool is_callers_turn_ = false;
};

}  // namespace solver
