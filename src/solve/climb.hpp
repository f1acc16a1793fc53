#pragma once

/// One attempt after another, each from where the last one stopped.

#include "solve/ladder.hpp"
#include "solver/error.hpp"
#include "solver/solve.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace solver {

/// Whether a solve will be done in time, judged after 8, 16, 32, ... iterations by the digits gained so far.
class Pace {
public:
    bool is_hopeless(const Iteration& iteration, double tolerance, std::int64_t share) {
        if (iteration.number == 0) first_ = iteration.recursive_residual;
        least_ = iteration.number == 0 ? first_ : std::min(least_, iteration.recursive_residual);
        if (iteration.number < 8 || !std::has_single_bit(static_cast<std::uint64_t>(iteration.number))) return false;
        const double needed = std::log2(first_ / tolerance);
        const double gained = std::log2(first_ / least_);
        return static_cast<double>(iteration.number) * needed > static_cast<double>(share) * gained;
    }

private:
    double first_ = 1;
    double least_ = 1;
};

/// Climbs a ladder with a System: something that can make_preconditioner(kind), precondition the solve with it and
/// run(columns, options) from the present x of these columns, that starts over where x has grown so large that it cannot be
/// held to the tolerance, and in the end restores the x with the least residual seen.
template <class System>
class Climb {
public:
    Climb(System& system, Ladder& ladder, const SolveOptions& options)
        : system_(system), ladder_(ladder), options_(options), used_(system.columns()), stopped_(system.columns()) {
        report_.results.resize(system.columns());
        for (std::size_t j = 0; j < system.columns(); ++j) left_.push_back(static_cast<std::int64_t>(j));
    }

    SolveReport run() {
        while (!left_.empty()) {
            const std::optional<Rung> rung = ladder_.next(report_.attempts);
            if (!rung) break;
            attempt(*rung);
        }
        for (std::size_t j = 0; j < report_.results.size(); ++j) {
            SolveResult& result = report_.results[j];
            result.relative_residual = system_.restore_best(static_cast<std::int64_t>(j), result.relative_residual);
        }
        return std::move(report_);
    }

private:
    using Clock = std::chrono::steady_clock;

    static double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

    void attempt(const Rung& rung) {
        Attempt& attempt = report_.attempts.emplace_back();
        attempt.preconditioner = rung.preconditioner;
        attempt.columns = left_;
        if (!precondition(attempt)) return;
        const auto start = Clock::now();
        attempt.results = system_.run(left_, options_for(rung));
        attempt.solve_seconds = seconds_since(start);
        for (std::size_t i = 0; i < left_.size(); ++i) add(attempt.results[i], left_[i]);
        std::erase_if(left_, [&](std::int64_t column) {
            const SolveResult& result = report_.results[column];
            const bool hopeless =
                result.status == SolveStatus::non_finite && result.iterations == 0;  // Inf or NaN in A, b or x
            return result.status == SolveStatus::converged || hopeless || stopped_[column] ||
                   used_[column] >= options_.iteration.max_iterations;
        });
        for (const std::int64_t column : left_)
            system_.start_over_if_too_large(column, report_.results[column].relative_residual);
    }

    /// False where there is no such preconditioner for this matrix and another may be tried.
    bool precondition(Attempt& attempt) {
        const auto start = Clock::now();
        try {
            system_.precondition(attempt.preconditioner);
        } catch (const Error& error) {
            if (options_.preconditioner) throw;
            attempt.refusal = error.what();
        }
        attempt.setup_seconds = seconds_since(start);
        if (!attempt.refusal.empty()) return false;
        attempt.factor_entries = system_.preconditioner().factor_entries();
        attempt.factor_hash = system_.preconditioner().factor_hash();
        return true;
    }

    /// Iterations are numbered on over all attempts, and columns as the caller knows them.
    BicgstabOptions options_for(const Rung& rung) {
        BicgstabOptions options = options_.iteration;
        std::int64_t most_used = 0;
        for (const std::int64_t column : left_) most_used = std::max(most_used, used_[column]);
        options.max_iterations = std::min(rung.share, options.max_iterations - most_used);
        if (!options.callback && !rung.on_track) return options;
        options.callback = [this, rung, pace = std::vector<Pace>(left_.size())](const Iteration& iteration) mutable {
            const std::int64_t column = left_[iteration.column];
            if (options_.iteration.callback && !is_repeated(iteration))
                stopped_[column] = !options_.iteration.callback(renumbered(iteration, column));
            return !stopped_[column] &&
                   !(rung.on_track && pace[iteration.column].is_hopeless(iteration, options_.iteration.tolerance, rung.share));
        };
        return options;
    }

    /// The first record of a later attempt is where the one before ended.
    bool is_repeated(const Iteration& iteration) const { return iteration.number == 0 && report_.attempts.size() > 1; }

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

    System& system_;
    Ladder& ladder_;
    const SolveOptions& options_;
    SolveReport report_;
    std::vector<std::int64_t> left_;  ///< columns that have not converged
    std::vector<std::int64_t> used_;  ///< iterations of each column
    std::vector<bool> stopped_;       ///< columns, by the callback
};

}  // namespace solver
