#pragma once

/// Finite differences on a grid of points, numbered row by row, with Dirichlet boundaries that are already eliminated.

#include "solver/csr_matrix.hpp"

#include <cstdint>

namespace solver::matrices {

/// -Laplace u on n x n points by 5 points: 4 and -1.
CsrMatrix<double> poisson2d(std::int64_t n);

/// -Laplace u on n x n x n points by 7 points: 6 and -1.
CsrMatrix<double> poisson3d(std::int64_t n);

/// n x n x n points, each with its 26 neighbours: 26 and -1 (the matrix of the HPCG benchmark).
CsrMatrix<double> stencil27(std::int64_t n);

/// The stencils above with entries drawn at random from [-1, 0), full significands, and the negative sum of all neighbours on
/// the diagonal, of those beyond the boundary too. Unsymmetric.
CsrMatrix<double> poisson2d_random(std::int64_t n);
CsrMatrix<double> poisson3d_random(std::int64_t n);
CsrMatrix<double> stencil27_random(std::int64_t n);

/// -1/200 Laplace u + w . grad u on n x n points of (-1, 1)^2, times 200 h^2, first-order upwind, with the recirculating wind
/// w = (2 y (1 - x^2), -2 x (1 - y^2)) of Elman, Silvester, Wathen, Finite Elements and Fast Iterative Solvers, example 3.1.4.
/// Unsymmetric.
CsrMatrix<double> convection_diffusion(std::int64_t n);

}  // namespace solver::matrices
