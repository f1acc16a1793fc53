#include "tools/solver/errors.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace solver::command {
namespace {

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

TEST(Errors, NaNIsWorseThanAnyNumber) {
    EXPECT_TRUE(is_worse(2, 1));
    EXPECT_FALSE(is_worse(1, 2));
    EXPECT_FALSE(is_worse(1, 1));
    EXPECT_TRUE(is_worse(nan_value, inf));
    EXPECT_FALSE(is_worse(inf, nan_value));
    EXPECT_FALSE(is_worse(nan_value, nan_value));
}

TEST(Errors, ANaNStaysWhereverItStands) {
    for (std::size_t place = 0; place < 3; ++place) {
        std::vector<double> x{1, 1.5, 0.75};
        x[place] = nan_value;
        EXPECT_TRUE(std::isnan(largest_distance(x, std::vector<double>(x.size(), 1)))) << place;
        EXPECT_TRUE(std::isnan(relative_distance(x, std::vector<double>{1, 2, 4}))) << place;
        EXPECT_TRUE(std::isnan(relative_distance(std::vector<double>{1, 2, 4}, x))) << place;
    }
}

TEST(Errors, AreTheLargestOfAllElements) {
    EXPECT_EQ(largest_distance(std::vector<double>{1, 0.5, 1.25}, std::vector<double>(3, 1)), 0.5);
    EXPECT_EQ(largest_distance(std::vector<double>{1, inf, 3}, std::vector<double>(3, 1)), inf);
    EXPECT_EQ(relative_distance(std::vector<double>{1, 2, -3}, std::vector<double>{1, 3, -4}), 0.25);
    EXPECT_EQ(relative_distance(std::vector<double>{0}, std::vector<double>{0}), 0);
}

}  // namespace
}  // namespace solver::command
