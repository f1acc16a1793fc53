#include "auto_solve/reach.hpp"

#include "solver/csr_matrix.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace solver {
namespace {

/// Its entries, all 1.
CsrMatrix<double> graph(std::int64_t rows, const std::vector<std::pair<std::int32_t, std::int32_t>>& places) {
    std::vector<Entry<double>> entries;
    for (const auto& [i, j] : places) entries.push_back({i, j, 1});
    return csr_from_entries<double>(rows, rows, entries);
}

CsrMatrix<double> path(std::int32_t rows) {
    std::vector<std::pair<std::int32_t, std::int32_t>> places;
    for (std::int32_t i = 0; i + 1 < rows; ++i) places.insert(places.end(), {{i, i}, {i, i + 1}, {i + 1, i}});
    return graph(rows, places);
}

TEST(Reach, IsTheDistanceOfTheFarthestRow) {
    const CsrMatrix<double> a = path(10);
    EXPECT_TRUE(has_rows_beyond(a.view(), 0));
    EXPECT_TRUE(has_rows_beyond(a.view(), 8));
    EXPECT_FALSE(has_rows_beyond(a.view(), 9));
    EXPECT_FALSE(has_rows_beyond(a.view(), 1000));
}

TEST(Reach, TakesTheShortestWay) {
    const CsrMatrix<double> ring = graph(6, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 0}, {0, 5}, {5, 4}, {4, 3}});
    EXPECT_TRUE(has_rows_beyond(ring.view(), 2));
    EXPECT_FALSE(has_rows_beyond(ring.view(), 3));
}

TEST(Reach, GoesFromRowsToColumns) {
    const CsrMatrix<double> one_way = graph(4, {{1, 0}, {2, 1}, {3, 2}});
    EXPECT_FALSE(has_rows_beyond(one_way.view(), 0)) << "row 0 has no entry";
    EXPECT_TRUE(has_rows_beyond(transpose(one_way.view()).view(), 2));
}

TEST(Reach, LeavesOutWhatHangsTogetherWithNothing) {
    EXPECT_FALSE(has_rows_beyond(graph(5, {{0, 1}, {1, 0}, {3, 4}}).view(), 1));
    EXPECT_FALSE(has_rows_beyond(CsrMatrix<double>{0, 0, {0}, {}, {}}.view(), 0));
}

// Wide rings, which threads share, on a grid: the farthest row lies in the opposite corner.
TEST(Reach, IsTheSameForEveryNumberOfThreads) {
    constexpr std::int32_t width = 20000, height = 12;
    std::vector<std::pair<std::int32_t, std::int32_t>> places;
    for (std::int32_t j = 1; j < width; ++j) places.push_back({0, j});
    for (std::int32_t i = 1; i < height; ++i)
        for (std::int32_t j = 0; j < width; ++j) {
            places.push_back({(i - 1) * width + j, i * width + j});
            places.push_back({(i - 1) * width + j, i * width + (j + 1) % width});
        }
    const CsrMatrix<double> a = graph(width * height, places);
    for (const int threads : {1, 2, 5}) {
        EXPECT_TRUE(has_rows_beyond(a.view(), height - 2, Device::cpu(threads)));
        EXPECT_FALSE(has_rows_beyond(a.view(), height, Device::cpu(threads)));
    }
}

}  // namespace
}  // namespace solver
