#pragma once

/// Diffusion that common methods find hard: -div(K grad u) = f on a grid of points with Dirichlet boundaries that are already
/// eliminated. All matrices are symmetric to the bit and positive definite.

#include "solver/csr_matrix.hpp"

#include <cstdint>

namespace solver::matrices {

/// K = diag(1000, 1) on n x n points by 5 points: 2002, -1000 along x, -1 along y. Strong couplings along the grid's rows
/// alone.
CsrMatrix<double> anisotropic(std::int64_t n);

/// K = Q diag(1000, 1) Q', Q the rotation by the angle whose cosine is 4/5 and sine 3/5 (36.87 degrees), on n x n points by
/// bilinear finite elements: 9 points, times 150, which makes all entries integers. Entries of both signs off the diagonal.
CsrMatrix<double> anisotropic_rotated(std::int64_t n);

/// K = k I with k = 10^4 and 10^-4 in turn on a chequerboard of 8 x 8 x 8 blocks, whatever n is, on n x n x n points by finite
/// volumes: 7 points, two neighbours coupled by the harmonic mean of their k, a boundary by the k of its point.
CsrMatrix<double> jumping_blocks(std::int64_t n);

/// K = k I on n x n x n points by finite volumes, 7 points, with k = 1 in about half of all blocks of 4 x 4 x 4 points, and
/// 10^-4, 10^-3, ..., 10^4, drawn at random, in each of the others.
CsrMatrix<double> jumping_random(std::int64_t n);

}  // namespace solver::matrices
