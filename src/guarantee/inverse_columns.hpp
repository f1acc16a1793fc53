#pragma once

/// A certificate from an approximate inverse, column by column.

#include "solver/guarantee.hpp"
#include "solver/preconditioner.hpp"
#include "solver/preparation.hpp"
#include "solver/spmv.hpp"

namespace solver::guarantee {

/// `inverse` solves with A approximately; it is applied to every column of the identity. D = diag(2^k) are the row exponents of
/// the preparation, y_j an approximate solution of A y = D^-1 e_j, g_j = e_j - D A y_j. Where alpha = max ||g_j||_1 < 1: with D
/// A Y = I - G is A^-1 = Y (I - G)^-1 D, so |A^-1 r|_i <= max_j |y_ij| ||D r||_1 / (1 - alpha). Unproven where alpha is 1 or
/// more.
Certificate certificate_by_inverse(const SpmvPlan<double>& a, const Preparation& preparation,
                                   const Preconditioner<double>& inverse);

}  // namespace solver::guarantee
