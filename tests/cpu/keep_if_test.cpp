#include "cpu/keep_if.hpp"

#include "matrices/random.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace solver::cpu {
namespace {

constexpr std::int64_t many = 50'000;  // enough for several threads

/// Against one item after another, for any number of threads and for lists of which all, none and some stay.
TEST(KeepIf, LeavesWhatIsKeptInItsOrder) {
    matrices::Random random(1);
    std::vector<std::int64_t> items;
    for (std::int64_t i = 0; i < many; ++i) items.push_back(random.below(1000));
    for (const std::int64_t limit : {0, 1, 500, 999, 1000}) {
        std::vector<std::int64_t> expected;
        for (const std::int64_t item : items)
            if (item < limit) expected.push_back(item);
        for (const int threads : {1, 2, 3, 7}) {
            std::vector<std::int64_t> kept = items;
            keep_if(kept, Device::cpu(threads), [&](std::int64_t item) { return item < limit; });
            EXPECT_EQ(kept, expected) << "below " << limit << ", " << threads << " threads";
        }
    }
}

/// Whole ranges of a thread may stay or go.
TEST(KeepIf, ThinsOutOneEndOfAList) {
    for (const std::int64_t limit : {std::int64_t{0}, many / 3, many - 1, many}) {
        const auto first = numbers_with(many, Device::cpu(3), [&](std::int32_t i) { return i < limit; });
        const auto last = numbers_with(many, Device::cpu(3), [&](std::int32_t i) { return i >= limit; });
        ASSERT_EQ(std::ssize(first), limit);
        ASSERT_EQ(std::ssize(last), many - limit);
        for (std::int64_t i = 0; i < many; ++i) EXPECT_EQ(i < limit ? first[i] : last[i - limit], i);
    }
}

TEST(KeepIf, TakesEmptyLists) {
    std::vector<int> none;
    keep_if(none, Device::cpu(2), [](int) { return true; });
    EXPECT_TRUE(none.empty());
    EXPECT_TRUE(numbers_with(0, Device::cpu(2), [](std::int32_t) { return true; }).empty());
}

}  // namespace
}  // namespace solver::cpu
