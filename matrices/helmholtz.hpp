#pragma once

#include "solver/csr_matrix.hpp"

#include <complex>

namespace solver::matrices {

/// Sound at one frequency in a square of n x n points with ten points a wavelength: -Laplace u - k^2 u by the 5-point stencil,
/// k h = 5/8, with absorbing edges du/dn = i k u (Engquist, Majda, Math. Comp. 31, 1977), taken one-sidedly. Complex
/// symmetric, not Hermitian, indefinite.
CsrMatrix<std::complex<double>> helmholtz(std::int64_t n);

}  // namespace solver::matrices
