#pragma once

/// Orders with little fill.

#include "solver/preparation.hpp"
#include "solver/views.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace solver::preparation {

struct FillOrder {
    std::vector<std::int32_t> order;  ///< which row and column comes k-th
    FillPrediction fill;
};

/// Whether AMD would take every row for a dense one, which it leaves where it is. The first short row, of most matrices the
/// first row of all, settles it.
template <class RowLength>
bool has_only_long_rows(std::int64_t rows, const RowLength& row_length) {
    const double longest_short = std::max(16.0, 10 * std::sqrt(static_cast<double>(rows)));  // AMD_DEFAULT_DENSE
    for (std::int64_t i = 0; i < rows; ++i)
        if (static_cast<double>(row_length(i) - 1) <= longest_short) return false;
    return true;
}

template <class T>
bool has_only_long_rows(const CsrView<T>& a) {
    return has_only_long_rows(a.rows, [&](std::int64_t row) { return a.row_length(row); });
}

/// AMD's answer there, whose factors are taken to be full.
FillOrder natural_order(std::int64_t rows);

/// AMD on the pattern of B + B^T. Row i of B has the columns offsets[i] <= k < offsets[i + 1], sorted.
FillOrder approximate_minimum_degree(const std::vector<std::int32_t>& offsets, const std::vector<std::int32_t>& columns);

/// An order of columns for elimination whose pivots may come from any row (COLAMD: Davis, Gilbert, Larimore, Ng, ACM TOMS
/// 30(3), 2004). Column j of B has the rows rows[k], offsets[j] <= k < offsets[j + 1].
std::vector<std::int32_t> order_of_columns(const std::vector<std::int32_t>& offsets, std::vector<std::int32_t> rows);

}  // namespace solver::preparation
