#pragma once

/// A certificate from complete factors of A^T A.

#include "solver/csr_matrix.hpp"
#include "solver/guarantee.hpp"
#include "solver/preconditioner.hpp"
#include "solver/preparation.hpp"
#include "solver/views.hpp"

#include <cstdint>
#include <span>

namespace solver::guarantee {

/// M = B^T B as computed: the products of an entry are added in the order of B's rows.
struct NormalEquations {
    CsrMatrix<double> m;
    std::int64_t most_terms = 0;  ///< products of one entry, at most
};
NormalEquations normal_equations(const CsrMatrix<double>& b);

/// At least the largest row sum of D |M - B^T B| D, D = diag(d), M of at most `terms` products an entry: that of gamma_k D
/// |B|^T |B| D, gamma_k = k u / (1 - k u) <= (k + 1) u for k <= 2^26, and what underflow of k products an entry and n entries a
/// row adds.
double error_of_normal_equations_above(const CsrMatrix<double>& b, std::int64_t terms, std::span<const double> d);

/// For what is neither symmetric nor has factors without growth: factors of B^T B less a part of the identity are stable
/// however small the pivots of B are.
///
/// B = D_r A D_c, powers of two, D_r those of `preparation`, columns of B of norms near 1. M and B^T B are symmetric, so that
/// the 2-norm of D (M - B^T B) D is at most its largest row sum, eta. If D M D has no eigenvalue below lambda
/// (shifted_factors.hpp), the least singular value of B D is at least (lambda - eta)^(1/2), and A^-1 = D_c D (B D)^-1 D_r.
///
/// Unproven where lambda - eta is not positive, which asks for a condition of B below some 1e7; where M has too many entries or
/// its factors would take more than so many operations; where scaling is not exact; where M is not symmetric to the bit, as
/// places of A that are stored several times can make it. Throws ResourceLimit where factors exceed the memory limit.
Certificate certificate_by_normal_equations(const CsrView<double>& a, const Preparation& preparation, double most_operations,
                                            const PreconditionerOptions& options);

}  // namespace solver::guarantee
