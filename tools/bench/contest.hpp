#pragma once

/// Competitors timed in turn.
///
/// Google Benchmark finishes one benchmark before it starts the next, or shuffles repetitions at random; ratios then compare
/// different minutes of a noisy machine. Here every repetition times every competitor, A B C A B C ..., so that a ratio
/// compares neighbours in time.

#include "tools/page/residual_panels.hpp"
#include "tools/page/ulp_histogram.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace solver::bench {

/// The residuals of a solve, relative to b.
struct Residuals {
    std::vector<page::ResidualPoint> believed;  ///< by the recursion
    std::vector<page::ResidualPoint> truth;     ///< where it was computed, and of the solution
};

/// One way to compute something.
struct Competitor {
    std::string name;
    int threads = 1;                                     ///< 0: on a CUDA device
    double bytes = 0;                                    ///< compulsory traffic of one call
    double operations = 0;                               ///< of floating point, where the contest's rate counts these instead
    bool must_be_exact = false;                          ///< its error must be 0
    std::function<void()> run = {};                      ///< one whole computation
    std::function<double()> error = {};                  ///< of the last result, in ulp, at most over its elements; not timed
    std::function<std::vector<double>()> details = {};   ///< the contest's further errors, asked for after error; not timed
    std::function<void()> leave = [] {};                 ///< gives the processors back after a turn; not timed
    std::function<std::string()> remark = {};            ///< on the last result; not timed
    std::function<page::UlpHistogram()> histogram = {};  ///< of one more result, asked for once
    std::function<Residuals()> residuals = {};           ///< of one more solve, asked for once
    std::function<double()> turn = {};  ///< instead of run: a whole turn by a clock of its own; returns seconds a call
};

/// How long to go on.
struct Effort {
    int repetitions = 0;    ///< 0: until every median is stable, or the time limit
    double time_limit = 5;  ///< seconds for one contest, repetitions == 0 only; at least three repetitions are made
};

/// What one competitor needed and how wrong it was.
struct Timing {
    std::vector<double> seconds;  ///< a call, one for each repetition
    double error = 0;             ///< the largest of all repetitions
    std::vector<double> details;  ///< the largest further errors of all repetitions

    double median() const;
    /// Half the width of the 95 % confidence interval of the median (by order statistics), relative to it. Of fewer than six
    /// there is none: less than 95 % lie between the least and the largest.
    std::optional<double> uncertainty() const;
};

/// The median over the repetitions of other's time by this one's: above 1, this one is faster.
double speed_ratio(const Timing& timing, const Timing& other);

/// The names of those that must have no error and have one.
std::vector<std::string> inexact(std::span<const Competitor> competitors, std::span<const Timing> timings);

/// Runs the contest. Each turn is one call that is not timed, for what a competitor finds in the caches is its own (calls above
/// 0.1 s go without), then calls for a millisecond or more, timed together.
std::vector<Timing> compete(std::span<const Competitor> competitors, const Effort& effort);

}  // namespace solver::bench
