#pragma once

/// Weighted bipartite matching of rows with columns.

#include "solver/preparation.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace solver::preparation {

/// The entries that may be matched: row i has the columns, sorted, and weights row_offsets[i] <= k < row_offsets[i + 1].
struct WeightedGraph {
    std::vector<std::int64_t> row_offsets{0};
    std::vector<std::int32_t> columns;
    std::vector<std::int32_t> weights;

    std::int32_t rows() const { return static_cast<std::int32_t>(row_offsets.size()) - 1; }
};

/// How many entries a search for the best matching may look at.
inline std::int64_t affordable_steps(const WeightedGraph& graph) {
    constexpr std::int64_t least = 30'000'000;  // a second or two: most steps miss the caches
    constexpr std::int64_t per_entry = 5;
    return std::max(least, per_entry * static_cast<std::int64_t>(graph.columns.size()));
}

inline constexpr std::int64_t no_steps = -1;

/// A matching of most rows, as many rows as columns; where all rows can be matched within so many steps, the one with the
/// greatest sum of weights.
Transversal maximum_weight_matching(const WeightedGraph& graph, std::int64_t steps);

}  // namespace solver::preparation
