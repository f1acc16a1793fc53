#include "preparation/nearer.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace solver::preparation {
namespace {

/// Ties with both limits, columns that cannot be reached (-1) and that nothing has reached yet, beginnings and ends anywhere.
TEST(FirstNearer, IsTheOneThatALoopFinds) {
    constexpr std::int64_t far = std::numeric_limits<std::int64_t>::max();
    std::mt19937_64 random(1);
    int found = 0;
    for (int trial = 0; trial < 20'000; ++trial) {
        const auto n = static_cast<std::int64_t>(random() % 40);
        std::vector<std::int64_t> v, distance;
        std::vector<std::int32_t> w;
        for (std::int64_t k = 0; k < n; ++k) {
            v.push_back(static_cast<std::int64_t>(random() % 8) - 4);
            w.push_back(static_cast<std::int32_t>(random() % 8) - 4);
            distance.push_back(random() % 4 == 0 ? far : random() % 2 == 0 ? -1 : static_cast<std::int64_t>(random() % 12));
        }
        const auto row = static_cast<std::int64_t>(random() % 30), nearest = random() % 5 == 0 ? far : row - 2;
        const auto begin = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n + 1));
        std::int64_t expected = begin;
        while (expected < n &&
               !(row + v[expected] - w[expected] < nearest && row + v[expected] - w[expected] < distance[expected]))
            ++expected;
        found += expected < n ? 1 : 0;
        ASSERT_EQ(first_nearer(row, v.data(), w.data(), distance.data(), nearest, begin, n), expected);
    }
    EXPECT_GT(found, 1000);
}

}  // namespace
}  // namespace solver::preparation
