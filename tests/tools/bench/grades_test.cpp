// How errors of dense products are graded.

#include "grades.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace {

using namespace solver;
using namespace solver::bench;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(BenchGrades, AreSlopesOfErrors) {
    EXPECT_NEAR(slope_of({{10, 3}, {1000, 300}}), 1, 1e-15);
    EXPECT_NEAR(slope_of({{10, 4}, {1000, 0.4 * 100}}), 0.5, 1e-15);
    EXPECT_EQ(slope_of({{10, 1}, {1000, 1e-7}}), 0) << "below 1 counts as 1";
    // log y of 0, 1, 5 at log x of 0, 1, 2: (-1 (0 - 2) + 0 + 1 (5 - 2)) / 2
    EXPECT_NEAR(slope_of({{1, 1}, {1024, 1024}, {1024 * 1024, std::exp2(50)}}), 2.5, 1e-14);
}

TEST(BenchGrades, AreGivenByTheWorstInput) {
    const double limit = gamma<double>(64) / 0x1p-53, below = limit * (1 - 1e-12), above = limit * (1 + 1e-12);
    const auto grade = [&](ScaledErrors error) {
        GradedErrors errors;
        errors.errors[Pattern::plain] = {{64, {1, 1, 1}}, {128, {1, 1, 1}}};
        errors.errors[Pattern::blocks][64] = error;
        return errors.grade<double>();
    };
    EXPECT_EQ(grade({below, above, above}), "A");
    EXPECT_EQ(grade({above, below, above}), "B");
    EXPECT_EQ(grade({above, above, below}), "C");
    EXPECT_EQ(grade({above, above, above}), "unsafe");
    EXPECT_EQ(grade({nan, nan, nan}), "unsafe");
}

TEST(BenchGrades, CountSlopesOfEntriesOfOneScaleAlone) {
    GradedErrors errors;
    errors.errors[Pattern::plain] = {{64, {2, 1, 1}}, {128, {3, 1, 1}}};
    errors.errors[Pattern::both] = {{64, {2, 1, 1}}, {128, {4, 1, 1}}};
    errors.errors[Pattern::wide] = {{64, {2, 1, 1}}, {128, {40, 1, 1}}};
    EXPECT_NEAR(errors.slope(), 1, 1e-14);
    EXPECT_EQ(errors.text(Pattern::wide, 128), "40");
    EXPECT_EQ(errors.text(Pattern::inside, 128), "-");
    errors.errors[Pattern::both][128].componentwise = 4.1;
    EXPECT_EQ(errors.grade<double>(), "B") << "grows faster than n";
    errors.errors[Pattern::both][128].componentwise = 3.9;
    EXPECT_EQ(errors.grade<double>(), "A");
}

TEST(BenchGrades, ShowErrorsThatShrink) {
    GradedErrors errors;
    errors.errors[Pattern::plain] = {{64, {8, 1, 1}}, {128, {2, 1, 1}}};
    EXPECT_NEAR(errors.slope(), -2, 1e-14);
    errors.errors[Pattern::both] = {{64, {8, 1, 1}}, {128, {4, 1, 1}}};
    EXPECT_NEAR(errors.slope(), -1, 1e-14) << "of the input where they shrink less";
}

/// The exponents of A's entries: of their scales, and of numbers below 1.
template <class T>
std::pair<int, int> exponents_of(const std::vector<T>& entries) {
    int least = 10000, largest = -10000;
    for (const T entry : entries) {
        least = std::min(least, std::ilogb(entry));
        largest = std::max(largest, std::ilogb(entry));
    }
    return {least, largest};
}

/// 4096 exponents of 601 (61) reach both ends, give or take what a number in [0, 1) takes away.
TEST(BenchGrades, AreGivenOnEntriesOfAllScales) {
    const auto wide = exponents_of(graded_factors<double>(Pattern::wide, 64).a);
    EXPECT_LT(wide.first, -290);
    EXPECT_THAT(wide.second, ::testing::AllOf(::testing::Gt(290), ::testing::Lt(300)));
    const auto in_single = exponents_of(graded_factors<float>(Pattern::wide, 64).b);
    EXPECT_LT(in_single.first, -28);
    EXPECT_THAT(in_single.second, ::testing::AllOf(::testing::Gt(25), ::testing::Lt(30)));
    const auto plain = graded_factors<double>(Pattern::plain, 8), both = graded_factors<double>(Pattern::both, 8);
    const auto outside = graded_factors<double>(Pattern::outside, 8), inside = graded_factors<double>(Pattern::inside, 8);
    const auto blocks = graded_factors<double>(Pattern::blocks, 8);
    for (std::size_t i = 0; i < 64; ++i) {
        const std::size_t row = i % 8, column = i / 8;
        EXPECT_EQ(both.a[i], 2 * plain.a[i] - 1);
        EXPECT_EQ(both.b[i], 2 * plain.b[i] - 1);
        // By powers of two, of the row of A and the column of B, or the other way round and inverse.
        EXPECT_EQ(outside.a[i] / plain.a[i], outside.a[row] / plain.a[row]);
        EXPECT_EQ(outside.b[i] / plain.b[i], outside.b[8 * column] / plain.b[8 * column]);
        EXPECT_EQ(inside.a[i] / plain.a[i], inside.a[8 * column] / plain.a[8 * column]);
        EXPECT_EQ((inside.b[i] / plain.b[i]) * (inside.a[8 * row] / plain.a[8 * row]), 1);
        EXPECT_EQ(blocks.a[i] / plain.a[i], (row < 4) == (column < 4) ? 1 : 0x1p-300);
    }
    EXPECT_NE(outside.a[0] / plain.a[0], outside.a[1] / plain.a[1]);
    EXPECT_NE(inside.a[0] / plain.a[0], inside.a[8] / plain.a[8]);
}

}  // namespace
