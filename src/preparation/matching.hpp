#pragma once

/// Weighted bipartite matching of rows with columns.

#include "solver/preparation.hpp"

#include <cstdint>
#include <vector>

namespace solver::preparation {

/// The entries that may be matched: row i has the columns and weights row_offsets[i] <= k < row_offsets[i + 1].
struct WeightedGraph {
    std::vector<std::int64_t> row_offsets{0};
    std::vector<std::int32_t> columns;
    std::vector<std::int32_t> weights;

    std::int32_t rows() const { return static_cast<std::int32_t>(row_offsets.size()) - 1; }
};

/// The matching of most rows; where all rows can be matched, the one with the greatest sum of weights. As many rows as columns.
Transversal maximum_weight_matching(const WeightedGraph& graph);

}  // namespace solver::preparation
