#include "preparation/cardinality.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace solver::preparation {
namespace {

WeightedGraph graph_of(const std::vector<std::vector<std::int32_t>>& rows) {
    WeightedGraph graph;
    graph.row_offsets = {0};
    for (const auto& columns : rows) {
        graph.columns.insert(graph.columns.end(), columns.begin(), columns.end());
        graph.row_offsets.push_back(static_cast<std::int64_t>(graph.columns.size()));
    }
    graph.weights.assign(graph.columns.size(), 0);
    return graph;
}

/// Every row has a column of its own that it has an entry in. Returns how many rows have one.
int checked_size(const std::vector<std::vector<std::int32_t>>& rows, const Pairs& pairs) {
    int size = 0;
    for (std::int32_t row = 0; row < static_cast<std::int32_t>(rows.size()); ++row) {
        const std::int32_t column = pairs.column_of[row];
        if (column == Pairs::unmatched) continue;
        ++size;
        EXPECT_EQ(pairs.row_of[column], row);
        EXPECT_NE(std::find(rows[row].begin(), rows[row].end(), column), rows[row].end());
    }
    EXPECT_EQ(std::count(pairs.row_of.begin(), pairs.row_of.end(), Pairs::unmatched), std::ssize(rows) - size);
    return size;
}

/// By trying everything: `taken` has a bit for every column that an earlier row has.
int most_rows(const std::vector<std::vector<std::int32_t>>& rows, std::size_t row = 0, unsigned taken = 0) {
    if (row == rows.size()) return 0;
    int most = most_rows(rows, row + 1, taken);
    for (const std::int32_t column : rows[row])
        if ((taken >> column & 1) == 0) most = std::max(most, 1 + most_rows(rows, row + 1, taken | 1u << column));
    return most;
}

/// The one path from the free row to the free column passes through every row.
TEST(MatchMostRows, FollowsPathsThroughAllRows) {
    for (const std::int32_t n : {1, 2, 3, 50}) {
        std::vector<std::vector<std::int32_t>> rows{{0}};
        Pairs pairs(n);
        for (std::int32_t row = 1; row < n; ++row) {
            rows.push_back({row - 1, row});
            pairs.match(row, row - 1);
        }
        match_most_rows(graph_of(rows), pairs);
        EXPECT_EQ(checked_size(rows, pairs), n);
    }
}

/// From nothing, and from rows matched with the first free column that they come to.
TEST(MatchMostRows, MatchesAsManyRowsAsCanBe) {
    constexpr std::int32_t n = 7;
    std::mt19937_64 random(1);
    for (int trial = 0; trial < 500; ++trial) {
        std::vector<std::vector<std::int32_t>> rows(n);
        for (auto& columns : rows)
            for (std::int32_t column = 0; column < n; ++column)
                if (random() % 100 < 22) columns.push_back(column);
        Pairs pairs(n), begun(n);
        for (std::int32_t row = 0; row < n; ++row)
            for (const std::int32_t column : rows[row])
                if (begun.row_of[column] == Pairs::unmatched && begun.column_of[row] == Pairs::unmatched)
                    begun.match(row, column);
        const WeightedGraph graph = graph_of(rows);
        match_most_rows(graph, pairs);
        match_most_rows(graph, begun);
        EXPECT_EQ(checked_size(rows, pairs), most_rows(rows)) << trial;
        EXPECT_EQ(checked_size(rows, begun), most_rows(rows)) << trial;
    }
}

}  // namespace
}  // namespace solver::preparation
