#pragma once

/// Orders with little fill.

#include "solver/preparation.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace solver::preparation {

struct FillOrder {
    std::vector<std::int32_t> order;  ///< which row and column comes k-th
    FillPrediction fill;
};

/// AMD on the pattern of B + B^T. Row i of B has the columns offsets[i] <= k < offsets[i + 1], sorted.
FillOrder approximate_minimum_degree(const std::vector<std::int32_t>& offsets, const std::vector<std::int32_t>& columns);

}  // namespace solver::preparation
