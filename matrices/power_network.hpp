#pragma once

#include "solver/csr_matrix.hpp"

#include <complex>

namespace solver::matrices {

/// The admittances of a grid of n buses: a line from each bus to the one before, as a feeder has them, and from two in five to
/// one of the hundred before that. A line has a conductance of 1/16 to 1/2 and a susceptance of 2 to 10 times as much; every
/// bus has a small capacity to earth, and bus 0 is held by a source of admittance 100. Complex symmetric. All numbers are
/// multiples of 2^-20, so that the diagonal, minus the sum of a row's lines, is exact.
CsrMatrix<std::complex<double>> power_network(std::int64_t n);

}  // namespace solver::matrices
