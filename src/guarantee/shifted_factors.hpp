#pragma once

/// A certificate of a symmetric positive definite matrix.

#include "preconditioner/lu_factors.hpp"
#include "solver/guarantee.hpp"
#include "solver/preconditioner.hpp"
#include "solver/preparation.hpp"
#include "solver/views.hpp"

#include <cstdint>

namespace solver::guarantee {

/// A is symmetric to the bit, with a positive diagonal; `inverse` solves with it approximately; `preparation` has the order in
/// which its factors fill in little.
///
/// C = D A D, D = diag(2^k) such that 1/2 <= c_ii <= 2, s > 0, and C' is C - s I rounded: |C - s I - C'| <= u (2 + s) I.
/// Factors L U of C', computed with the diagonal as pivots, have L U = C' - E, |E| <= diag(gamma_k) |L| |U| (factor_bound.hpp).
/// Let H be U's diagonal and U = H L^T + F. Where H > 0, C' - L F - E = L H L^T is positive semidefinite. All of these are
/// symmetric but L F and E, whose sum then is, too: its 2-norm is at most its largest row sum. So the least eigenvalue of C is
/// at least s - delta, delta = max (|L| |F| 1 + diag(gamma_k) |L| |U| 1) + u (2 + s), with what underflow adds. Where that is
/// positive, |A^-1 r|_i = |D C^-1 D r|_i <= 2^(k_i) ||D r||_2 / (s - delta), and ||D r||_2 <= n^(1/2) max |D r|. (Rump, BIT 46,
/// 2006, has the idea, and the bound for Cholesky's factors.)
///
/// s is half of the least eigenvalue, estimated by inverse iteration, rounded down to a power of two, and a quarter of that
/// where this fails. Unproven where A is not positive definite, or nearly. Throws ResourceLimit where factors exceed the
/// memory limit.
Certificate certificate_by_shift(const CsrView<double>& a, const Preparation& preparation,
                                 const Preconditioner<double>& inverse, std::int64_t memory_limit);

/// At least delta, infinite where it is not finite: how far the least eigenvalue of C may be below s, given the factors of C'
/// and s.
double error_of_shifted_factors_above(const IluFactors<double>& factors, double shift);

}  // namespace solver::guarantee
