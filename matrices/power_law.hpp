#pragma once

#include "solver/csr_matrix.hpp"

#include <cstdint>

namespace solver::matrices {

/// n rows of lengths like those of social networks and the web: beside the diagonal, the k-th longest row (k = 1, 2, ...) has
/// about 2 + n / (4 k) entries in columns spread at random, hence one of n / 4. The rows come in random order. Off-diagonal
/// entries are multiples of 2^-20 in (-1, 1); the diagonal exceeds the sum of their magnitudes by one.
CsrMatrix<double> power_law(std::int64_t n);

/// How many entries power_law(n) has at most.
std::int64_t power_law_entries(std::int64_t n);

}  // namespace solver::matrices
