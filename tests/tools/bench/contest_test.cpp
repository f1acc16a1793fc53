// What is timed how often, and what is made of the times.

#include "contest.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

namespace {

using namespace solver::bench;
using ::testing::ElementsAre;
using ::testing::Ge;

Timing timing_of(std::vector<double> seconds) { return {.seconds = std::move(seconds), .error = 0, .details = {}}; }

TEST(Timing, HasTheMedianInTheMiddle) {
    EXPECT_EQ(timing_of({7}).median(), 7);
    EXPECT_EQ(timing_of({3, 1}).median(), 2);
    EXPECT_EQ(timing_of({9, 1, 2}).median(), 2);
    EXPECT_EQ(timing_of({4, 1, 9, 3}).median(), 3.5);
    EXPECT_EQ(timing_of({1, 1, 1, 9, 9}).median(), 1);
}

/// How likely the median of what n samples are drawn from lies between the samples of these ranks: how likely between `low` and
/// `high` - 1 of n coins show heads.
double coverage(int n, int low, int high) {
    double sum = 0;
    for (int heads = low; heads < high; ++heads)
        sum += std::exp(std::lgamma(n + 1.0) - std::lgamma(heads + 1.0) - std::lgamma(n - heads + 1.0) - n * std::log(2.0));
    return sum;
}

/// Of the samples 1, 2, ..., n the interval's ends are their ranks, as far from either end.
TEST(Timing, IsUncertainByAnIntervalThatHoldsTheMedianOf95Percent) {
    for (const int n : {6, 10, 15, 30, 100, 1000}) {
        std::vector<double> samples;
        for (int i = 0; i < n; ++i) samples.push_back(1 + (i * 7) % n);
        const Timing timing = timing_of(samples);
        const double width = 2 * timing.uncertainty().value() * timing.median();
        const int low = static_cast<int>(std::lround((n + 1 - width) / 2)), high = n + 1 - low;
        EXPECT_NEAR(width, high - low, 1e-9);
        EXPECT_GE(coverage(n, low, high), 0.95) << n;
        EXPECT_LT(coverage(n, low + 2, high - 2), 0.95) << n << ": wider than it has to be";
    }
    EXPECT_LT(coverage(5, 1, 5), 0.95) << "not even between the least and the largest";
    EXPECT_FALSE(timing_of({1, 2, 3, 4, 5}).uncertainty());
    EXPECT_FALSE(timing_of({5}).uncertainty());
}

TEST(SpeedRatio, IsTheMedianOfTheRatiosOfNeighboursInTime) {
    EXPECT_EQ(speed_ratio(timing_of({1, 2, 4}), timing_of({8, 6, 4})), 3);
    EXPECT_EQ(speed_ratio(timing_of({4}), timing_of({1})), 0.25);
}

TEST(Inexact, AreThoseThatMustHaveNoErrorAndHaveOne) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    std::vector<Competitor> competitors;
    std::vector<Timing> timings;
    for (const auto& [name, must_be_exact, error] :
         {std::tuple("fast", false, 1.0), std::tuple("exact", true, 0.0), std::tuple("wrong", true, 0x1p-30),
          std::tuple("other", false, nan), std::tuple("no number", true, nan)}) {
        competitors.push_back({.name = name, .must_be_exact = must_be_exact});
        timings.push_back({.seconds = {1}, .error = error, .details = {}});
    }
    EXPECT_THAT(inexact(competitors, timings), ElementsAre("wrong", "no number"));
    EXPECT_TRUE(inexact(std::span(competitors).first(2), std::span(timings).first(2)).empty());
}

/// A competitor whose turns last as long as it says, and are written down.
Competitor dictated(std::string name, std::vector<double> seconds, std::vector<double> errors, std::string& log) {
    Competitor competitor{.name = name};
    competitor.turn = [name, seconds, &log, i = std::size_t{0}]() mutable {
        log += name;
        return seconds[i++ % seconds.size()];
    };
    competitor.leave = [&log] { log += '.'; };
    competitor.error = [errors, i = std::size_t{0}]() mutable { return errors[i++ % errors.size()]; };
    return competitor;
}

TEST(Compete, GivesEverybodyTurnsInTurnAndKeepsTheLargestErrors) {
    std::string log;
    std::vector<Competitor> competitors{dictated("A", {9, 1, 2, 3}, {0, 5, 2}, log),
                                        dictated("B", {8, 4, 5, 6}, {3, 1, 1}, log)};
    competitors[1].details = [i = 0]() mutable { return ++i == 2 ? std::vector{1.0, 7.0} : std::vector{2.0, 3.0}; };
    const std::vector<Timing> timings = compete(competitors, {.repetitions = 3});
    EXPECT_EQ(log, "A.B.A.B.A.B.A.B.");  // the first of each warms up
    ASSERT_EQ(timings.size(), 2u);
    EXPECT_THAT(timings[0].seconds, ElementsAre(1, 2, 3));
    EXPECT_THAT(timings[1].seconds, ElementsAre(4, 5, 6));
    EXPECT_EQ(timings[0].error, 5);
    EXPECT_EQ(timings[1].error, 3);
    EXPECT_TRUE(timings[0].details.empty());
    EXPECT_THAT(timings[1].details, ElementsAre(2, 7));
}

/// Whatever the other repetitions gave.
TEST(Compete, TakesAnErrorThatIsNoNumberForTheLargest) {
    std::string log;
    const double nan = std::numeric_limits<double>::quiet_NaN();
    std::vector<Competitor> competitors{dictated("A", {1}, {0, nan, 2}, log)};
    competitors[0].details = [nan, i = 0]() mutable { return std::vector{++i == 2 ? nan : 1.0}; };
    const std::vector<Timing> timings = compete(competitors, {.repetitions = 3});
    EXPECT_TRUE(std::isnan(timings[0].error));
    EXPECT_TRUE(std::isnan(timings[0].details.at(0)));
}

TEST(Compete, GoesOnUntilMediansAreStableOrTheTimeIsUp) {
    std::string log;
    const auto repetitions = [&](std::vector<double> seconds, double time_limit) {
        const std::vector competitors{dictated("A", std::move(seconds), {0}, log)};
        return compete(competitors, {.repetitions = 0, .time_limit = time_limit}).front().seconds.size();
    };
    EXPECT_EQ(repetitions({1, 100}, 0), 3u);         // at least these
    EXPECT_LT(repetitions({1, 1.001}, 3600), 100u);  // stable at once
    EXPECT_GT(repetitions({1, 100}, 0.2), 20u);      // never stable
    EXPECT_GT(repetitions({1, 1.05}, 0.2), 20u);     // nor this
}

TEST(Compete, TimesACallAsLongAsItTakes) {
    constexpr double least = 2e-3;
    int calls = 0;
    Competitor sleeper{.name = "sleeper"};
    sleeper.run = [&] {
        ++calls;
        std::this_thread::sleep_for(std::chrono::duration<double>(least));
    };
    sleeper.error = [] { return 0.0; };
    const std::vector competitors{sleeper};
    const std::vector<Timing> timings = compete(competitors, {.repetitions = 2});
    EXPECT_THAT(timings.front().seconds, ElementsAre(Ge(least), Ge(least)));
    EXPECT_GE(calls, 1 + 2);
}

/// Far below the clock's resolution, and still not a second a call: calls are timed together.
TEST(Compete, TimesCallsOfNextToNothingTogether) {
    std::int64_t calls = 0;
    Competitor counter{.name = "counter"};
    counter.run = [&] { ++calls; };
    counter.error = [] { return 0.0; };
    const std::vector competitors{counter};
    const std::vector<Timing> timings = compete(competitors, {.repetitions = 1});
    EXPECT_GT(calls, 100);
    EXPECT_LT(timings.front().seconds.at(0), 1e-5);
}

}  // namespace
