#include "solve_time.hpp"

#include <gtest/gtest.h>

namespace solver::bench {
namespace {

TEST(SecondsAnIteration, AreThoseBehindTheFirstOnes) {
    EXPECT_EQ(seconds_an_iteration(10, 40, 4, 10), 6.0 / 30);
    EXPECT_EQ(seconds_an_iteration(10, 40, 0, 0), 10.0 / 40);
    EXPECT_EQ(seconds_an_iteration(3, 0, 0, 0), 3) << "a solve without iterations";
}

TEST(SecondsAnIteration, AreThoseOfAllWhereTheFirstOnesWereDisturbed) {
    EXPECT_EQ(seconds_an_iteration(10, 40, 11, 10), 10.0 / 40);
    EXPECT_EQ(seconds_an_iteration(10, 40, 10, 10), 10.0 / 40);
}

}  // namespace
}  // namespace solver::bench
