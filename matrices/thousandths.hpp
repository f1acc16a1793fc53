#pragma once

#include "solver/csr_matrix.hpp"

#include <cstdint>

namespace solver::matrices {

/// One row of n entries 0.001. Times a vector of ones it is the sum that Kahan's summation is shown with: adding one by one,
/// single precision makes 991.14 of a million of them.
CsrMatrix<double> thousandths(std::int64_t n);

}  // namespace solver::matrices
