#include "auto_solve/convergence_monitor.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace solver {
namespace {

Iteration at(std::int64_t number, double residual) { return {.number = number, .recursive_residual = residual}; }

/// The iteration at which a solve is given up whose residual falls by the same factor in each, or -1.
std::int64_t given_up_at(double first, double factor, double tolerance, std::int64_t share) {
    ConvergenceMonitor monitor(GiveUp::when_too_slow, tolerance, share);
    for (std::int64_t i = 0; i <= 2 * share; ++i)
        if (monitor.gives_up(at(i, first * std::pow(factor, static_cast<double>(i))))) return i;
    return -1;
}

TEST(ConvergenceMonitor, LetsThroughWhatIsDoneWithinTheShare) {
    EXPECT_EQ(given_up_at(1, 0.5, 0x1p-32, 33), -1) << "32 halvings";
    EXPECT_EQ(given_up_at(1, 0.5, 0x1p-32, 31), 4);
}

TEST(ConvergenceMonitor, CountsFromTheFirstResidual) {
    EXPECT_EQ(given_up_at(0x1p-20, 0.5, 0x1p-32, 13), -1) << "12 halvings are left from a good initial guess";
    EXPECT_EQ(given_up_at(0x1p-20, 0.999, 0x1p-32, 32), 4) << "and digits that were there before do not count";
}

TEST(ConvergenceMonitor, WaitsForAnEighthOfTheShare) {
    EXPECT_EQ(given_up_at(1, 1, 1e-10, 128), 16);
    EXPECT_EQ(given_up_at(1, 1, 1e-10, 8000), 1024);
    EXPECT_EQ(ConvergenceMonitor(GiveUp::when_too_slow, 1e-10, 8000).next_check(0), 1024);
    EXPECT_EQ(ConvergenceMonitor(GiveUp::when_too_slow, 1e-10, 10).next_check(0), 4);
    EXPECT_EQ(ConvergenceMonitor(GiveUp::when_too_slow, 1e-10, 10).next_check(4), 8);
}

TEST(ConvergenceMonitor, JudgesByTheLeastResidualSoFar) {
    ConvergenceMonitor monitor(GiveUp::when_too_slow, 0x1p-8, 8);
    EXPECT_FALSE(monitor.gives_up(at(0, 1)));
    EXPECT_FALSE(monitor.gives_up(at(2, 0x1p-5)));
    EXPECT_FALSE(monitor.gives_up(at(4, 2))) << "a peak, not a failure";
}

TEST(ConvergenceMonitor, GivesUpWhatDoesNotHalveInHalfOfItsIterations) {
    ConvergenceMonitor stuck(GiveUp::when_stuck, 1e-10, 1 << 20), falling = stuck;
    std::int64_t given_up = 0;
    for (std::int64_t i = 0; i <= 5000; ++i) {
        EXPECT_FALSE(falling.gives_up(at(i, 1 / static_cast<double>(i > 0 ? i : 1)))) << i << ": a factor 2 in every half";
        if (given_up == 0 && stuck.gives_up(at(i, std::pow(static_cast<double>(i + 1), -0.9)))) given_up = i;
    }
    EXPECT_EQ(given_up, 1024);
}

TEST(ConvergenceMonitor, NeverGivesUpWhereNotAskedTo) {
    ConvergenceMonitor monitor(GiveUp::never, 1e-10, 4);
    for (std::int64_t i = 0; i <= 5000; ++i) EXPECT_FALSE(monitor.gives_up(at(i, 1)));
    EXPECT_GT(monitor.next_check(0), std::int64_t{1} << 62);
}

}  // namespace
}  // namespace solver
