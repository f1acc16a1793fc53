#include "solver/numeric/bounds.hpp"

#include <gtest/gtest.h>

namespace solver {
namespace {

TEST(Bounds, GammaIsNuOverOneMinusNu) {
    EXPECT_EQ(gamma<double>(0), 0);
    EXPECT_EQ(gamma<float>(1 << 23), 1);  // n u = 1/2
    EXPECT_EQ(gamma<float>(1 << 24), std::numeric_limits<double>::infinity());
    EXPECT_GT(gamma<double>(1), unit_roundoff<double>);
}

TEST(Bounds, StateTheContractsOfTheAccuracyModes) {
    constexpr double u = unit_roundoff<float>;
    constexpr double eta = smallest_subnormal<float>;
    EXPECT_EQ(fast_bound<float>(100, 7), gamma<float>(100) * 7 + 100 * eta);
    EXPECT_EQ(compensated_bound<float>(10, 100, 7, -3), u * 3 + gamma<float>(10) * gamma<float>(10) * 7 + 100 * eta);
    EXPECT_EQ(exact_bound<float>(-3), u * 3 + eta);
    EXPECT_EQ(fast_norm_bound<float>(10), gamma<float>(10) / 2 + 2 * u);
    EXPECT_EQ(compensated_norm_bound<float>(10), 2 * u + gamma<float>(10) * gamma<float>(10));
}

}  // namespace
}  // namespace solver
