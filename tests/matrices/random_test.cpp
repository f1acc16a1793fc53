#include "matrices/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace solver::matrices {
namespace {

constexpr int draws = 100'000;

/// What a draw gives: n numbers evenly spread over an interval leave at its ends, and between their mean and its middle, no
/// more than these (seven standard deviations of the mean; the ends with a probability of exp(-10)).
template <class Draw>
void expect_evenly_spread(double low, double high, Draw draw) {
    double least = high, largest = low, mean = 0;
    for (int i = 0; i < draws; ++i) {
        const double number = draw();
        ASSERT_GE(number, low);
        ASSERT_LT(number, high);
        least = std::min(least, number);
        largest = std::max(largest, number);
        mean += number / draws;
    }
    const double width = high - low;
    EXPECT_LT(least, low + 10 * width / draws);
    EXPECT_GT(largest, high - 10 * width / draws);
    EXPECT_NEAR(mean, (low + high) / 2, 7 * width / std::sqrt(12.0 * draws));
}

TEST(Random, FillsTheRangesThatItSays) {
    Random random(7);
    expect_evenly_spread(0, 1, [&] { return random.uniform(); });
    expect_evenly_spread(-1, 1, [&] { return random.signed_uniform(); });
}

TEST(Random, NumbersHaveTheDigitsThatItSays) {
    Random random(8);
    for (int i = 0; i < 1000; ++i) {
        const double once = random.uniform() * 0x1p53, both = random.signed_uniform() * 0x1p52;
        EXPECT_EQ(once, std::floor(once));
        EXPECT_EQ(both, std::floor(both));
    }
}

TEST(Random, ChoosesEachOfAFewAboutAsOften) {
    Random random(9);
    int heads = 0, counts[3] = {0, 0, 0};
    for (int i = 0; i < draws; ++i) {
        heads += random.coin() ? 1 : 0;
        const std::int64_t chosen = random.below(3);
        ASSERT_TRUE(chosen >= 0 && chosen < 3);
        ++counts[chosen];
    }
    const double seven_deviations = 7 * std::sqrt(draws / 4.0);
    EXPECT_NEAR(heads, draws / 2.0, seven_deviations);
    for (const int count : counts) EXPECT_NEAR(count, draws / 3.0, seven_deviations);
}

}  // namespace
}  // namespace solver::matrices
