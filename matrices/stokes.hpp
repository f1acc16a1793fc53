#pragma once

#include "solver/csr_matrix.hpp"

#include <cstdint>

namespace solver::matrices {

/// Slow flow in a closed box, -Laplace u + grad p = f, div u = 0, of n x n cells by the marker-and-cell scheme (Harlow, Welch,
/// Phys. Fluids 8, 1965): velocities u, v on the inner faces, pressures p at the centres, 3 n^2 - 2 n unknowns in this order,
/// each field row by row. Walls do not slip: a velocity along a wall, half a cell away from it, is mirrored with its sign
/// changed. With p times h and all times h^2 the entries are 4 or 5 and +-1, and the matrix is symmetric to the bit: (A G; G'
/// C).
///
/// C is zero, without stored entries, except for its last one, -1, which fixes the constant that p would be free to have: the
/// columns of G' sum to zero, hence the sum of all continuity equations says what the last pressure is. Nonsingular and
/// indefinite: 2 n (n - 1) positive and n^2 negative eigenvalues.
CsrMatrix<double> stokes2d(std::int64_t n);

/// How many entries stokes2d has at most, for this many rows.
constexpr std::int64_t stokes2d_entries(std::int64_t rows) { return 7 * rows; }

}  // namespace solver::matrices
