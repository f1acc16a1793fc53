#pragma once

/// A certificate from complete factors.

#include "solver/csr_matrix.hpp"
#include "solver/guarantee.hpp"
#include "solver/preparation.hpp"

#include <cstdint>
#include <vector>

namespace solver::guarantee {

/// L (unit diagonal, not stored) and U were computed from the matrix B that `preparation` makes of A, in double, every entry by
/// at most as many subtractions of products as its row of L has entries, and one division, in any order.
///
/// Then B = L U + E, |E| <= diag(gamma_k) |L| |U|, k one more than the entries of the row of L (Higham, Accuracy and Stability,
/// theorem 9.3; underflow adds at most the smallest normal number a term). An entry of U has no division, one of L a
/// subtraction less: that leaves room for one rounding of b_ij, where it is the sum of several entries of A. Let z >= <U>^-1
/// <L>^-1 diag(gamma_k) |L| |U| 1 and y >= <U>^-1 <L>^-1 1, <.> being the comparison matrix, whose inverse bounds that of a
/// triangular matrix. If max z < 1, B is regular and |B^-1 r| <= p max |r_i| with p = y + z max(y) / (1 - max z): for e = B^-1
/// r is e = (L U)^-1 r - (L U)^-1 E e, so |e| <= y max |r_i| + z max |e_i|, and the maximum of both sides gives max |e_i| <=
/// max(y) max |r_i| / (1 - max z).
///
/// Unproven where max z is 1 or more.
Certificate certificate_by_factors(const CsrMatrix<double>& lower, const CsrMatrix<double>& upper,
                                   const Preparation& preparation);

/// An upper bound of a sum of so many nonnegative terms, products or quotients, added up in any order, from what it was rounded
/// to: n + 4 roundings at most.
double above_sum(double rounded, std::int64_t terms);

/// At least (|A| x + x)_i for a unit triangle A, (|A| x)_i where the diagonal is stored, x >= 0.
std::vector<double> product_above(const CsrMatrix<double>& a, const std::vector<double>& x, bool has_unit_diagonal);

/// At least diag(gamma_k) |L| |U| 1, with what underflow may add: the row sums of |E|.
std::vector<double> error_of_factors_above(const CsrMatrix<double>& lower, const CsrMatrix<double>& upper);

}  // namespace solver::guarantee
