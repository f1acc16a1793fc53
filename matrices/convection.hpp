#pragma once

/// Convection and diffusion, -eps Laplace u + w . grad u, on n x n x n points of (-1, 1)^3 with Dirichlet boundaries that are
/// already eliminated, in the helical wind w = (y (1 - x^2), -x (1 - y^2), 1/2), which is free of divergence and at most 1 in
/// every direction. Its strength is the cell Peclet number P = h / (2 eps), the same for every n, so that the whole problem's
/// grows with n. Unsymmetric M-matrices.

#include "solver/csr_matrix.hpp"

#include <cstdint>

namespace solver::matrices {

/// P = 1/8, central differences: along x, -1 - P w_x and -1 + P w_x.
CsrMatrix<double> convection_weak(std::int64_t n);

/// P = 1, as much as central differences bear without oscillations.
CsrMatrix<double> convection_medium(std::int64_t n);

/// P = 128, first-order upwind: along x, -1 - 2 P max(w_x, 0) and -1 - 2 P max(-w_x, 0).
CsrMatrix<double> convection_strong(std::int64_t n);

}  // namespace solver::matrices
