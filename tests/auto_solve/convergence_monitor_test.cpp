#include "auto_solve/convergence_monitor.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

namespace solver {
namespace {

Iteration at(std::int64_t number, double residual) { return {.number = number, .recursive_residual = residual}; }

/// The iteration at which a solve is given up whose residual after i iterations is residual(i), or -1.
template <class F>
std::int64_t given_up_at(const F& residual, double tolerance, std::int64_t share) {
    ConvergenceMonitor monitor(GiveUp::when_too_slow, tolerance, share);
    for (std::int64_t i = 0; i <= share; ++i)
        if (monitor.gives_up(at(i, residual(static_cast<double>(i))))) return i;
    return -1;
}

double halving(double i) { return std::exp2(-i); }

TEST(ConvergenceMonitor, LetsThroughWhatIsDoneWithinTheShare) {
    EXPECT_EQ(given_up_at(halving, 0x1p-32, 33), -1) << "32 halvings";
    EXPECT_EQ(given_up_at(halving, 0x1p-32, 31), 7);
}

TEST(ConvergenceMonitor, CountsFromTheFirstResidual) {
    EXPECT_EQ(given_up_at([](double i) { return std::exp2(-20 - i); }, 0x1p-32, 13), -1)
        << "12 halvings are left from a good initial guess";
    EXPECT_EQ(given_up_at([](double i) { return 0x1p-20 * std::pow(0.999, i); }, 0x1p-32, 32), 8)
        << "and digits that were there before do not count";
}

TEST(ConvergenceMonitor, WaitsForAQuarterOfTheShare) {
    const auto given_up = [](std::int64_t share) { return given_up_at([](double) { return 1; }, 1e-10, share); };
    EXPECT_EQ(given_up(8000), 2000);
    EXPECT_EQ(given_up(160), 40);
    EXPECT_EQ(given_up(10), 4) << "no earlier than that";
    const ConvergenceMonitor monitor(GiveUp::when_too_slow, 1e-10, 8000);
    EXPECT_EQ(monitor.next_check(0), 2000);
    EXPECT_EQ(monitor.next_check(1999), 2000);
    EXPECT_EQ(monitor.next_check(2000), 4000);
    EXPECT_EQ(monitor.next_check(5000), 8000);
}

/// As with anisotropic or jumping coefficients: half of the digits at once, then hardly anything. The mean rate would do for
/// long.
TEST(ConvergenceMonitor, SeesAStandstillBehindFastFirstDigits) {
    const auto fast_at_first = [](double i) { return i < 40 ? std::exp2(-0.4 * i) : 0x1p-16 * std::pow(0.9999, i); };
    EXPECT_EQ(given_up_at(fast_at_first, 0x1p-32, 400), 100);
    EXPECT_EQ(given_up_at([](double i) { return i < 450 ? 1 : std::exp2((450 - i) / 8); }, 0x1p-32, 2000), -1)
        << "and this one has begun to fall when it is judged";
}

/// As conjugate gradients do on regular grids: 2^(-i^2 / 2048) takes 256 iterations to 2^-32. At c, a quarter of the share,
/// 32 - c^2 / 2048 halvings are left, and the last quarter made 7/16 c^2 / 2048 of them: at that rate the rest takes 3 c, the
/// rest of the share, for c = 102.4. By the last half it would be 109.2, by the last eighth 99.5.
TEST(ConvergenceMonitor, SeesThatIterationsGatherSpeed) {
    const auto faster_and_faster = [](double i) { return std::exp2(-i * i / 2048); };
    EXPECT_EQ(given_up_at(faster_and_faster, 0x1p-32, 4 * 105), -1);
    EXPECT_EQ(given_up_at(faster_and_faster, 0x1p-32, 4 * 101), 101);
}

/// 2^(-i^2 / 2048) within 300 iterations, as above: at 18, a sixteenth of 300, it is too slow by far.
TEST(ConvergenceMonitor, LooksEarlyAtWhatCannotGatherSpeed) {
    int asked = 0;
    const auto given_up = [&](const auto& residual, std::int64_t share, bool is_out_of_reach) {
        ConvergenceMonitor monitor(GiveUp::when_too_slow, 0x1p-32, share, [&asked, is_out_of_reach] {
            ++asked;
            return is_out_of_reach;
        });
        for (std::int64_t i = 0; i <= share; ++i)
            if (monitor.gives_up(at(i, residual(static_cast<double>(i))))) return i;
        return std::int64_t{-1};
    };
    const auto faster_and_faster = [](double i) { return std::exp2(-i * i / 2048); };
    EXPECT_EQ(given_up(faster_and_faster, 300, true), 18);
    EXPECT_EQ(given_up(faster_and_faster, 200, false), 50);
    EXPECT_EQ(given_up(faster_and_faster, 160, true), 16) << "no earlier than that";
    EXPECT_EQ(given_up(faster_and_faster, 40, true), 10) << "no later than otherwise";
    EXPECT_EQ(asked, 3) << "once each time, and not where the early check is the first of the others";
    EXPECT_EQ(given_up(halving, 300, true), -1) << "it is fast enough";
    EXPECT_EQ(asked, 3);
    const ConvergenceMonitor monitor(GiveUp::when_too_slow, 1e-10, 300, [] { return true; });
    EXPECT_EQ(monitor.next_check(0), 18);
    EXPECT_EQ(monitor.next_check(17), 18);
    EXPECT_EQ(monitor.next_check(18), 75);
    EXPECT_EQ(monitor.next_check(75), 150);
}

TEST(ConvergenceMonitor, JudgesByTheLeastResidualSoFar) {
    ConvergenceMonitor monitor(GiveUp::when_too_slow, 0x1p-8, 8);
    EXPECT_FALSE(monitor.gives_up(at(0, 1)));
    EXPECT_FALSE(monitor.gives_up(at(1, 1)));
    EXPECT_FALSE(monitor.gives_up(at(2, 0.5)));
    EXPECT_FALSE(monitor.gives_up(at(3, 0x1p-5)));
    EXPECT_FALSE(monitor.gives_up(at(4, 2))) << "a peak, not a failure";
}

TEST(ConvergenceMonitor, GivesUpWhatDoesNotHalveInHalfOfItsIterations) {
    for (const auto& [rule, expected] : {std::pair{GiveUp::when_stuck, 1024}, {GiveUp::for_a_look, 256}}) {
        ConvergenceMonitor stuck(rule, 1e-10, 1 << 20), falling = stuck;
        std::int64_t given_up = 0;
        for (std::int64_t i = 0; i <= 5000; ++i) {
            EXPECT_FALSE(falling.gives_up(at(i, 1 / static_cast<double>(i > 0 ? i : 1)))) << i << ": a factor 2 in every half";
            if (given_up == 0 && stuck.gives_up(at(i, std::pow(static_cast<double>(i + 1), -0.9)))) given_up = i;
        }
        EXPECT_EQ(given_up, expected);
    }
}

TEST(PlateauWatch, TellsWhatStandsStillFromWhatHardlyFalls) {
    PlateauWatch plateau;
    const auto stands_still = [&](double lost, std::int64_t falls, std::int64_t last) {
        double residual = 1;
        for (std::int64_t i = 0; i <= last; ++i) plateau.see(at(i, i > falls ? residual *= 1 - lost : residual /= 2));
        return plateau.stands_still();
    };
    EXPECT_TRUE(stands_still(0, 30, 70));
    EXPECT_TRUE(stands_still(0x1p-30, 30, 70));
    EXPECT_FALSE(stands_still(0x1p-24, 30, 70)) << "38 times that make more than 2^-20";
    EXPECT_FALSE(stands_still(0, 40, 70)) << "it still fell after iteration 32";
    EXPECT_TRUE(stands_still(0, 40, 130));
    EXPECT_FALSE(stands_still(0, 0, 15)) << "too few";
}

TEST(ConvergenceMonitor, NeverGivesUpWhereNotAskedTo) {
    ConvergenceMonitor monitor(GiveUp::never, 1e-10, 4);
    for (std::int64_t i = 0; i <= 5000; ++i) EXPECT_FALSE(monitor.gives_up(at(i, 1)));
    EXPECT_GT(monitor.next_check(0), std::int64_t{1} << 62);
}

}  // namespace
}  // namespace solver
