#pragma once

/// Which column of a matrix depends on those before it.

#include "solver/csr_matrix.hpp"

#include <vector>

namespace solver::guarantee {

/// v with v_k = -1 and v_j = 0 for j > k such that B v is nearly 0, for the first column k that elimination with partial
/// pivoting leaves nearly nothing of: below 2^-30 times its largest entry. Empty where there is none, and where so many
/// operations do not suffice. `by_columns` is B^T by rows, its entries near 1 or smaller. Nothing is proven: entries are
/// rounded as they come.
std::vector<double> first_dependence(const CsrMatrix<double>& by_columns, double most_operations);

}  // namespace solver::guarantee
