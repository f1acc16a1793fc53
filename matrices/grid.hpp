#pragma once

/// Matrices whose rows are the points of a grid, numbered row by row, with Dirichlet boundaries that are already eliminated.

#include "matrices/row_by_row.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace solver::matrices {

struct Neighbour {
    std::array<int, 3> offset;  // along x, y, z
    double value;
};

/// The matrix whose row at the point (x, y, z) has stencil(x, y, z), as far as it lies within the grid.
template <class Stencil>
CsrMatrix<double> on_grid(std::int64_t nx, std::int64_t ny, std::int64_t nz, std::int64_t points_in_stencil,
                          const Stencil& stencil) {
    const std::int64_t points = nx * ny * nz;
    CsrMatrix<double> matrix = empty_matrix(points, points * points_in_stencil);
    const auto inside = [](std::int64_t i, std::int64_t count) { return 0 <= i && i < count; };
    std::vector<RowEntry> row;
    for (std::int64_t z = 0; z < nz; ++z) {
        for (std::int64_t y = 0; y < ny; ++y) {
            for (std::int64_t x = 0; x < nx; ++x) {
                row.clear();
                for (const auto& [offset, value] : stencil(x, y, z)) {
                    const std::int64_t i = x + offset[0], j = y + offset[1], k = z + offset[2];
                    if (inside(i, nx) && inside(j, ny) && inside(k, nz))
                        row.push_back({static_cast<std::int32_t>((k * ny + j) * nx + i), value});
                }
                append_row(matrix, row);
            }
        }
    }
    return matrix;
}

}  // namespace solver::matrices
