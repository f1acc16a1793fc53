#include "cpu/level_schedule.hpp"

#include "solver/csr_matrix.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace solver::cpu {
namespace {

/// Row i of n depends on up to `longest` rows of the blocks of `width` rows before its own; its diagonal is i + 1.
CsrMatrix<double> lower_triangle(std::int32_t n, std::int32_t width, std::int32_t longest) {
    std::mt19937_64 random(1);
    std::vector<Entry<double>> entries;
    for (std::int32_t i = 0; i < n; ++i) {
        entries.push_back({i, i, i + 1.0});
        const std::int32_t before = i / width * width;
        if (before == 0) continue;
        entries.push_back({i, before - 1, 1.0});
        for (std::uint64_t k = random() % longest; k > 0; --k)
            entries.push_back({i, static_cast<std::int32_t>(random() % before), 1.0});
    }
    return csr_from_entries<double>(n, n, entries);
}

TEST(LevelSchedule, HoldsEveryRowAfterThoseItDependsOn) {
    const CsrMatrix<double> a = lower_triangle(5000, 600, 9);
    const auto schedule = schedule_levels(a.view(), Triangle::lower, Diagonal::stored, 2);
    ASSERT_NE(schedule, nullptr);
    std::vector<std::int64_t> level_of(5000, -1);
    for (std::size_t level = 0; level + 1 < schedule->level_offsets.size(); ++level)
        for (std::int64_t place = schedule->level_offsets[level]; place < schedule->level_offsets[level + 1]; ++place) {
            const std::int32_t row = schedule->order[place];
            EXPECT_EQ(level_of[row], -1) << "twice";
            level_of[row] = static_cast<std::int64_t>(level);
            EXPECT_EQ(schedule->pivots[place], row + 1);
            EXPECT_EQ(schedule->row_offsets[place + 1] - schedule->row_offsets[place], a.view().row_length(row) - 1);
            for (std::int64_t k = schedule->row_offsets[place]; k < schedule->row_offsets[place + 1]; ++k) {
                const std::int64_t other = level_of[schedule->column_indices[k]];
                EXPECT_TRUE(other >= 0 && other < level_of[row]);
            }
        }
    EXPECT_EQ(schedule->level_offsets.size(), 9U + 1);
}

TEST(LevelSchedule, SharesWideLevelsOutInChunksThatFollowOneAnother) {
    const CsrMatrix<double> a = lower_triangle(60000, 12000, 9);
    const auto schedule = schedule_levels(a.view(), Triangle::lower, Diagonal::stored, 2);
    ASSERT_NE(schedule, nullptr);
    std::int64_t place = 0, done = 0;
    for (const LevelChunk& chunk : schedule->chunks) {
        EXPECT_EQ(chunk.first_place, place);
        EXPECT_LT(chunk.first_place, chunk.last_place);
        EXPECT_LE(chunk.chunks_before, done);
        EXPECT_GE(chunk.first_place, schedule->level_offsets[chunk.first_level]);
        EXPECT_LE(chunk.last_place, schedule->level_offsets[chunk.last_level]);
        const bool begins_level = chunk.first_place == schedule->level_offsets[chunk.first_level];
        EXPECT_EQ(chunk.chunks_before == done, begins_level);
        place = chunk.last_place;
        ++done;
    }
    EXPECT_EQ(place, 60000);
    EXPECT_EQ(schedule->chunks.size(), schedule->threads == 1 ? 1U : 20U);
}

/// Rows 2i and 2i + 1 are equally long and depend on one row each of the same pairs, as in the real form of a complex triangle.
TEST(LevelSchedule, KeepsPairsOfRowsSideBySide) {
    const std::int32_t n = 30001;
    const CsrMatrix<double> a = lower_triangle(n, 6000, 9);
    std::vector<Entry<double>> entries;
    for (std::int32_t i = 0; i < n; ++i)
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
            for (const std::int32_t j = a.column_indices[k]; const std::int32_t part : {0, 1})
                if (j != i) entries.push_back({2 * i + part, 2 * j + (j + part) % 2, 1.0});
    const CsrMatrix<double> pairs = csr_from_entries<double>(2 * n, 2 * n, entries);
    const auto schedule = schedule_levels(pairs.view(), Triangle::lower, Diagonal::unit, 2);
    ASSERT_NE(schedule, nullptr);
    for (std::int64_t place = 0; place < 2 * n; place += 2) {
        EXPECT_EQ(schedule->order[place] % 2, 0);
        EXPECT_EQ(schedule->order[place + 1], schedule->order[place] + 1);
    }
    for (const std::int64_t begin : schedule->level_offsets) EXPECT_EQ(begin % 2, 0);
    for (const LevelChunk& chunk : schedule->chunks) EXPECT_EQ(chunk.first_place % 2, 0);
}

TEST(LevelSchedule, IsNotMadeForNarrowLevels) {
    EXPECT_EQ(schedule_levels(lower_triangle(1000, 15, 3).view(), Triangle::lower, Diagonal::stored, 2), nullptr);
    EXPECT_NE(schedule_levels(lower_triangle(1000, 17, 3).view(), Triangle::lower, Diagonal::stored, 2), nullptr);
}

TEST(LevelSchedule, OfLittleWorkIsOneChunk) {
    const auto schedule = schedule_levels(lower_triangle(1000, 500, 3).view(), Triangle::lower, Diagonal::stored, 2);
    ASSERT_NE(schedule, nullptr);
    EXPECT_EQ(schedule->threads, 1);
    EXPECT_EQ(schedule->chunks.size(), 1U);
}

}  // namespace
}  // namespace solver::cpu
