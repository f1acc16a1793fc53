#pragma once

/// One attempt after another, each from where the last one stopped.

#include "auto_solve/iterates.hpp"
#include "auto_solve/ladder.hpp"
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

/// Whether a solve will be done in time, judged after 4, 8, 16, ... iterations by the digits gained so far.
class Pace {
public:
    bool is_hopeless(const Iteration& iteration, double tolerance, std::int64_t share) {
        if (iteration.number == 0) first_ = iteration.recursive_residual;
        least_ = iteration.number == 0 ? first_ : std::min(least_, iteration.recursive_residual);
        if (iteration.number < 4 || !std::has_single_bit(static_cast<std::uint64_t>(iteration.number))) return false;
        const double needed = std::log2(first_ / tolerance);
        const double gained = std::log2(first_ / least_);
        return static_cast<double>(iteration.number) * needed > static_cast<double>(share) * gained;
    }

private:
    double first_ = 1;
    double least_ = 1;
};

/// Attempt after attempt on the columns that are left, each from the x that the one before reached.
template <class T>
class Climb {
public:
    Climb(Iterates<T>& iterates, const SolveOptions& options)
        : iterates_(iterates), options_(options), used_(iterates.columns()), stopped_(iterates.columns()) {
        report_.results.resize(iterates.columns());
        for (std::size_t j = 0; j < iterates.columns(); ++j) left_.push_back(static_cast<std::int64_t>(j));
    }

    /// Up a ladder, until nothing is left, the ladder ends or a column has made so many iterations in all.
    template <class System>
    void up(System& system, Ladder& ladder, std::int64_t max_iterations) {
        const std::size_t first = report_.attempts.size();
        while (!left_.empty() && !is_spent(max_iterations)) {
            const std::optional<Rung> rung = ladder.next(std::span<const Attempt>(report_.attempts).subspan(first));
            if (!rung) break;
            attempt(system, *rung, max_iterations);
        }
    }

    /// After the last ladder.
    SolveReport report() {
        for (std::size_t j = 0; j < report_.results.size(); ++j) {
            SolveResult& result = report_.results[j];
            result.relative_residual = iterates_.restore_best(static_cast<std::int64_t>(j), result.relative_residual);
        }
        return std::move(report_);
    }

private:
    using Clock = std::chrono::steady_clock;

    static double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

    /// An attempt is made even where no iteration is allowed, for x may be good already.
    bool is_spent(std::int64_t max_iterations) const { return has_begun_ && most_used() >= max_iterations; }

    std::int64_t most_used() const {
        std::int64_t most = 0;
        for (const std::int64_t column : left_) most = std::max(most, used_[column]);
        return most;
    }

    template <class System>
    void attempt(System& system, const Rung& rung, std::int64_t max_iterations) {
        Attempt& attempt = report_.attempts.emplace_back();
        attempt.preconditioner = rung.preconditioner;
        attempt.mixed = System::is_mixed;
        attempt.columns = left_;
        const auto start = Clock::now();
        try {
            system.precondition(attempt.preconditioner);
            attempt.setup_seconds = seconds_since(start);
            attempt.results = system.run(iterates_.chosen(left_), options_for(rung, max_iterations), pauses_for(rung));
        } catch (const Error& error) {
            if (options_.preconditioner && !System::is_mixed) throw;
            attempt.refusal = error.what();
            attempt.setup_seconds = seconds_since(start);
            return;
        }
        attempt.solve_seconds = seconds_since(start) - attempt.setup_seconds;
        attempt.factor_entries = system.preconditioner().factor_entries();
        attempt.factor_hash = system.preconditioner().factor_hash();
        finish(attempt);
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
        for (const std::int64_t column : left_)
            iterates_.start_over_if_too_large(column, report_.results[column].relative_residual);
    }

    /// Iterations are numbered on over all attempts, and columns as the caller knows them.
    BicgstabOptions options_for(const Rung& rung, std::int64_t max_iterations) {
        BicgstabOptions options = options_.iteration;
        options.max_iterations = std::min(rung.share, max_iterations - most_used());
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

    /// The pace is judged after powers of two, the caller's callback asked as he wants.
    Pauses pauses_for(const Rung& rung) const {
        Pauses asked = pauses_of(options_.iteration);
        if (!rung.on_track) return asked;
        return [asked](std::int64_t iteration) {
            const auto power = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(iteration) + 1));
            return std::min(asked(iteration), power);
        };
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
    std::vector<std::int64_t> left_;  ///< columns that have not converged
    std::vector<std::int64_t> used_;  ///< iterations of each column
    std::vector<bool> stopped_;       ///< columns, by the callback
    bool has_begun_ = false;
};

}  // namespace solver
