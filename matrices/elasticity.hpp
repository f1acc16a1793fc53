#pragma once

#include "solver/csr_matrix.hpp"

#include <cstdint>
#include <vector>

namespace solver::matrices {

/// A square plate in plane stress with Poisson's ratio 1/3, clamped at the side x = 0, of n x n bilinear square elements:
/// symmetric to the bit, positive definite, all entries integers (18 (1 - nu^2)/E times the stiffness, whose element matrix is
/// that of Andreassen et al., Struct. Multidisc. Optim. 43, 2011). 2 n (n + 1) unknowns: the displacement (u, v) of the node
/// at (x, y) = (i, j), i = 1, ..., n, j = 0, ..., n, stands at 2 (j n + i - 1) and the place after.
///
/// The near-null space that a multigrid method may be told are the rigid-body modes (u, v) = (1, 0), (0, 1) and (-y, x): A
/// times each of them vanishes in all rows of nodes with i >= 2, which are not next to the clamped side.
CsrMatrix<double> elasticity2d(std::int64_t n);

/// Those modes, one after another, for PreconditionerOptions::amg.near_null_space.
std::vector<double> elasticity2d_rigid_body_modes(std::int64_t n);

/// How many entries elasticity2d has at most, for this many rows: 9 nodes with 2 displacements in each.
constexpr std::int64_t elasticity2d_entries(std::int64_t rows) { return 18 * rows; }

}  // namespace solver::matrices
