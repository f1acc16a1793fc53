#pragma once

/// Places in rows whose columns rise, on host and device.

#include "solver/numeric/rounding.hpp"

#include <cstdint>

namespace solver::amg {

/// The first entry of row i whose column is `column` or more; where the row ends if there is none.
template <class Matrix>
SOLVER_HD std::int64_t place_in_row(const Matrix& a, std::int64_t i, std::int64_t column) {
    std::int64_t low = a.row_offsets[i], high = a.row_offsets[i + 1];
    while (low < high) {
        const std::int64_t middle = low + (high - low) / 2;
        if (a.column_indices[middle] < column)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/// Replaces a_ij by a_ji for j < i, where it is stored, in a matrix of symmetric pattern.
template <class Matrix>
SOLVER_HD void mirror_row(const Matrix& a, double* values, std::int64_t i) {
    for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1] && a.column_indices[k] < i; ++k)
        values[k] = values[place_in_row(a, a.column_indices[k], i)];
}

}  // namespace solver::amg
