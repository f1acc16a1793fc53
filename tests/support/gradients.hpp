#pragma once

/// A least-squares problem that stands for an elliptic one.

#include "solver/csr_matrix.hpp"

#include <cstdint>
#include <tuple>
#include <vector>

namespace solver::testing {

/// x_(i, j) - x_(i-1, j) and x_(i, j) - x_(i, j-1) of a grid of n x n points, x = 0 outside of it: the normal equations are
/// those of a Laplacian, the condition number is of the order of n.
inline CsrMatrix<double> gradients(std::int32_t n) {
    std::vector<Entry<double>> entries;
    for (std::int32_t row = 0; row < n * n; ++row)
        for (const auto& [difference, neighbour, is_there] :
             {std::tuple{2 * row, row - n, row >= n}, std::tuple{2 * row + 1, row - 1, row % n > 0}}) {
            entries.push_back({difference, row, 1});
            if (is_there) entries.push_back({difference, neighbour, -1});
        }
    return csr_from_entries<double>(2 * n * n, n * n, entries);
}

}  // namespace solver::testing
