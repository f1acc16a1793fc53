#pragma once

/// Matchings of most rows, whatever the weights.

#include "preparation/matching.hpp"

#include <cstdint>
#include <vector>

namespace solver::preparation {

/// Which row each column has and which column each row has; unmatched where there is none.
struct Pairs {
    static constexpr std::int32_t unmatched = -1;

    std::vector<std::int32_t> row_of;
    std::vector<std::int32_t> column_of;

    explicit Pairs(std::int32_t n) : row_of(static_cast<std::size_t>(n), unmatched), column_of(row_of) {}

    void match(std::int32_t row, std::int32_t column) {
        row_of[column] = row;
        column_of[row] = column;
    }
};

/// Matches as many further rows as possible (Hopcroft, Karp, SIAM J. Comput. 2(4), 1973): at most some sqrt(rows) passes over
/// the entries. Rows and columns matched before stay so, not always with each other.
void match_most_rows(const WeightedGraph& graph, Pairs& pairs);

}  // namespace solver::preparation
