#pragma once

/// A certificate from an approximate inverse, column by column.

#include "solver/guarantee.hpp"
#include "solver/preconditioner.hpp"
#include "solver/preparation.hpp"
#include "solver/spmv.hpp"

#include <cstdint>
#include <functional>
#include <span>

namespace solver::guarantee {

/// Makes y + y_low an approximate solution of A y = 2^-k e_j, k the exponent of row j. Both are zero before. Called by several
/// threads at once.
using InverseColumn = std::function<void(std::int64_t j, std::span<double> y, std::span<double> y_low)>;

/// D = diag(2^k) are the row exponents of the preparation, y_j the columns of an approximate inverse of D A, g_j = e_j - D A
/// y_j. Where alpha = max ||g_j||_1 < 1: with D A Y = I - G is A^-1 = Y (I - G)^-1 D, so |A^-1 r|_i <= max_j |y_ij| ||D r||_1 /
/// (1 - alpha). Unproven where alpha is 1 or more.
Certificate certificate_by_inverse(const SpmvPlan<double>& a, const Preparation& preparation, const InverseColumn& column);

/// Columns by `inverse`, which solves with A approximately, refined once.
Certificate certificate_by_inverse(const SpmvPlan<double>& a, const Preparation& preparation,
                                   const Preconditioner<double>& inverse);

}  // namespace solver::guarantee
