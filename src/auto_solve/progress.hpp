#pragma once

/// How far each column of a solve has got, over all attempts.

#include "krylov/run.hpp"
#include "solver/krylov.hpp"
#include "solver/solve.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace solver {

/// The caller's callback is told of iterations numbered on over all attempts, and of columns as the caller knows them.
class Progress {
public:
    Progress(std::size_t columns, const KrylovOptions& options) : options_(options), used_(columns), stopped_(columns) {
        report_.results.resize(columns);
        for (std::size_t j = 0; j < columns; ++j) left_.push_back(static_cast<std::int64_t>(j));
    }

    /// Columns that are still to be solved.
    const std::vector<std::int64_t>& left() const { return left_; }

    template <class IsDone>
    void leave_if(const IsDone& is_done) {
        std::erase_if(left_, is_done);
    }

    SolveResult& result(std::int64_t column) { return report_.results[static_cast<std::size_t>(column)]; }
    const std::vector<SolveResult>& results() const { return report_.results; }
    const std::vector<Attempt>& attempts() const { return report_.attempts; }

    /// On the columns that are left; there until the next one begins.
    Attempt& begin_attempt() {
        Attempt& attempt = report_.attempts.emplace_back();
        attempt.columns = left_;
        return attempt;
    }

    /// Adds the results of an attempt on the columns that are left.
    void finish(Attempt& attempt) {
        has_begun_ = true;
        for (std::size_t i = 0; i < left_.size(); ++i) add(attempt.results[i], left_[i]);
        leave_if([&](std::int64_t column) {
            const SolveResult& of = result(column);
            const bool hopeless = of.status == SolveStatus::non_finite && of.iterations == 0;  // Inf or NaN in A, b or x
            return of.status == SolveStatus::converged || hopeless || has_stopped(column);
        });
    }

    /// Whether an attempt was made: not before is anything known of x.
    bool has_begun() const { return has_begun_; }

    /// Whether something is left to solve, and iterations to do it by. An attempt is made even where no iteration is allowed,
    /// for x may be good already.
    bool has_more_to_do(std::int64_t max_iterations) const {
        return !left_.empty() && !(has_begun_ && most_used() >= max_iterations);
    }

    /// Iterations in all, of the column that is left and has made most.
    std::int64_t most_used() const {
        std::int64_t most = 0;
        for (const std::int64_t column : left_) most = std::max(most, used_[column]);
        return most;
    }

    /// Of an iteration of an attempt: whether the caller wants its column to go on.
    bool goes_on(Attempt& attempt, const Iteration& iteration) {
        const std::int64_t column = left_[iteration.column];
        if (iteration.column == 0) watch(attempt, iteration);
        if (options_.callback && !is_repeated(iteration)) stopped_[column] = !ask_caller(renumbered(iteration, column));
        return !stopped_[column];
    }

    bool has_stopped(std::int64_t column) const { return stopped_[column]; }

    /// Whether what was thrown came from the callback: it is no refusal, and goes through.
    bool is_callers_turn() const { return is_callers_turn_; }

    SolveReport take_report() { return std::move(report_); }

private:
    bool ask_caller(const Iteration& iteration) {
        is_callers_turn_ = true;
        const bool goes_on = options_.callback(iteration);
        is_callers_turn_ = false;
        return goes_on;
    }

    static void watch(Attempt& attempt, const Iteration& iteration) {
        if (iteration.number == 0) attempt.initial_residual = attempt.least_residual = iteration.recursive_residual;
        attempt.least_residual = std::min(attempt.least_residual, iteration.recursive_residual);
    }

    /// The first record of a later attempt is where the one before ended.
    bool is_repeated(const Iteration& iteration) const { return iteration.number == 0 && has_begun_; }

    Iteration renumbered(Iteration iteration, std::int64_t column) const {
        iteration.column = column;
        iteration.number += used_[column];
        return iteration;
    }

    void add(SolveResult& part, std::int64_t column) {
        SolveResult& whole = result(column);
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

    const KrylovOptions& options_;
    SolveReport report_;
    std::vector<std::int64_t> left_;
    std::vector<std::int64_t> used_;  ///< iterations of each column
    std::vector<bool> stopped_;       ///< columns, by the callback
    bool has_begun_ = false;
    bool is_callers_turn_ = false;
};

}  // namespace solver
