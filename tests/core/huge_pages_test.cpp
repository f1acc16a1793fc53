#include "core/huge_pages.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace solver {
namespace {

/// Around whole huge pages of 2 MiB, and fewer of them than threads.
TEST(HugePages, ZerosAreZerosWhoeverAsksForTheMemory) {
    constexpr std::int64_t page = std::int64_t{1} << 21;
    for (const int threads : {1, 2, 3, 7})
        for (const std::int64_t size :
             {std::int64_t{0}, std::int64_t{1}, page - 1, page + 1, 2 * page, 2 * page + 1, 5 * page - 1}) {
            const std::vector<char> vector = zeros<char>(size, threads);
            ASSERT_EQ(std::ssize(vector), size);
            EXPECT_EQ(std::count(vector.begin(), vector.end(), 0), size) << threads << " threads";
        }
}

TEST(HugePages, ResizingFillsWithZerosWhatUsedMemoryHeld) {
    constexpr std::int64_t size = std::int64_t{3} << 20;
    std::vector<std::int32_t>(size, 7);  // most likely in the memory that comes next
    std::vector<std::int32_t> vector;
    resize_in_huge_pages(vector, size, 2);
    EXPECT_EQ(std::count(vector.begin(), vector.end(), 0), size);
}

}  // namespace
}  // namespace solver
