#pragma once

/// Incomplete factors L U ~ A whose pattern follows the numbers: a threshold and a limit on the length of rows.

#include "preconditioner/lu_factors.hpp"
#include "solver/preconditioner.hpp"
#include "solver/preparation.hpp"

#include <cstdint>
#include <memory>

namespace solver {

/// p, the most entries that ILUT keeps in a row of L, and in a row of U beside the diagonal: `fill_factor` times the mean
/// number of entries of a row of A, rounded up.
template <class T>
std::int64_t longest_ilut_row(const CsrView<T>& a, double fill_factor);

/// ILUT(tau, p) of a matrix in the order it has (Saad, Numer. Linear Algebra Appl. 1(4), 1994; Iterative Methods for Sparse
/// Linear Systems, 2nd ed., sec. 10.4), tau = options.drop_tolerance, p = longest_ilut_row(a, options.fill_factor). Row by row,
/// with w the row of A and norm the mean magnitude of its stored entries:
///  - for k < i in rising order where w_k is not zero: if |w_k| < tau norm, w_k = 0; else l_ik = RN(w_k / u_kk) and
///    w_j = RN(w_j - RN(l_ik u_kj)) for all j > k in U's row k;
///  - of the w_j right of the diagonal, those with |w_j| < tau norm are dropped; of the l and of the w_j the p largest in
///    magnitude are kept each, of equal ones those of the lower columns; zeros are never kept;
///  - the diagonal is always kept; where |u_ii| <= 4096 u norm, u the unit roundoff, it becomes (1e-4 + tau) norm, with its
///  sign
///    (Saad's remedy; 1 in a row of zeros).
/// Every operation is rounded as written and in this order, so the factors are the same on every machine. tau = 0 and p = n
/// give the complete factors.
///
/// Throws InvalidArgument where an entry is or becomes Inf or NaN (the row is named, counted from 1), where tau or the fill
/// factor is negative or not a number, and, before it starts, where L and U could take more than options.memory_limit.
template <class T>
IluFactors<T> factor_ilut(const CsrView<T>& a, const PreconditionerOptions& options);

/// factor_ilut of the prepared matrix as a preconditioner of A. preparation: prepare(a, Ordering::amd). Measured on the 65
/// smaller of the real square matrices at hand (compensated, residual 1e-10): with tau = 1e-3 and fill factor 10, BiCGStab
/// converges on 64, with columns in natural order on 61 in twice the time; fill factor 5: 64 in two thirds of the time, but
/// with up to six times the iterations on the hard ones; fill factor 3: 62; tau = 1e-2: 63, in less than half the time.
template <class T>
std::unique_ptr<Preconditioner<T>> make_ilut(const CsrView<T>& a, const Preparation& preparation,
                                             const PreconditionerOptions& options, const Device& device);

/// Of each block of options.block_of_row alone.
template <class T>
std::unique_ptr<Preconditioner<T>> make_ilut_within_blocks(const CsrView<T>& a, const PreconditionerOptions& options,
                                                           const Device& device);

}  // namespace solver
