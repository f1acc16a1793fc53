#pragma once

#include "solver/csr_matrix.hpp"

#include <cstdint>

namespace solver::matrices {

/// n rows of 15 to 40 entries in columns spread at random (n < 40: at most n). One row in twenty, drawn at random, cancels: the
/// sum of its entries has a condition number sum |a_ij| / |sum a_ij| of 1e20 to 1e60, even in the logarithm, made as by
/// Algorithm 6.1 (GenDot) of Ogita, Rump, Oishi, SIAM J. Sci. Comput. 26(6), 2005, with a vector of ones. The entries of the
/// others are multiples of 2^-52 in (-1, 1). Fewer than 15 rows do not cancel.
CsrMatrix<double> cancelling(std::int64_t n);

/// How many entries cancelling(n) has at most.
constexpr std::int64_t cancelling_entries(std::int64_t n) { return 40 * n; }

}  // namespace solver::matrices
