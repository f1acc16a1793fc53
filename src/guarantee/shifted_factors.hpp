#pragma once

/// A certificate of a symmetric positive definite matrix, and a bound of its least eigenvalue.

#include "preconditioner/lu_factors.hpp"
#include "solver/guarantee.hpp"
#include "solver/preconditioner.hpp"
#include "solver/preparation.hpp"
#include "solver/views.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace solver::guarantee {

/// D A D has no eigenvalue below `at_least`, which is positive; D = diag(2^exponents).
struct LeastEigenvalue {
    std::vector<std::int32_t> exponents;
    double at_least;
};

/// A is symmetric to the bit, with a positive diagonal; `inverse` solves with it approximately; `preparation` has the order in
/// which its factors fill in little.
///
/// C = D A D, D = diag(2^k) such that 1/2 <= c_ii <= 2, s > 0, and C' is C - s I rounded: |C - s I - C'| <= u (2 + s) I.
/// Factors L U of C', computed with the diagonal as pivots, have L U = C' - E, |E| <= diag(gamma_k) |L| |U| (factor_bound.hpp).
/// Let H be U's diagonal and U = H L^T + F. Where H > 0, C' - L F - E = L H L^T is positive semidefinite. All of these are
/// symmetric but L F and E, whose sum then is, too: its 2-norm is at most its largest row sum. So the least eigenvalue of C is
/// at least s - delta, delta = max (|L| |F| 1 + diag(gamma_k) |L| |U| 1) + u (2 + s), with what underflow adds. (Rump, BIT 46,
/// 2006, has the idea, and the bound for Cholesky's factors.)
///
/// s is half of the least eigenvalue, estimated by inverse iteration, rounded down to a power of two, and a quarter of that
/// where this fails. Nothing where A is not positive definite, or nearly. Throws ResourceLimit where factors exceed the memory
/// limit.
std::optional<LeastEigenvalue> find_least_eigenvalue(const CsrView<double>& a, const Preparation& preparation,
                                                     const Preconditioner<double>& inverse, std::int64_t memory_limit);

/// A certificate of A with A^-1 = D_c B^-1 D_r, D_r and D_c the powers of two with these exponents, ||B^-1||_2 <= 1 / least:
/// |A^-1 r|_i <= 2^(c_i) ||D_r r||_2 / least, and ||D_r r||_2 <= n^(1/2) max |D_r r|.
Certificate certificate_by_norm(const char* reason, std::span<const std::int32_t> row_exponents,
                                std::span<const std::int32_t> column_exponents, double least);

/// By the least eigenvalue of D A D. Unproven where it is not found, and throws what find_least_eigenvalue throws.
Certificate certificate_by_shift(const CsrView<double>& a, const Preparation& preparation,
                                 const Preconditioner<double>& inverse, std::int64_t memory_limit);

/// At least delta, infinite where it is not finite: how far the least eigenvalue of C may be below s, given the factors of C'
/// and s.
double error_of_shifted_factors_above(const IluFactors<double>& factors, double shift);

}  // namespace solver::guarantee
