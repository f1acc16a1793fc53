#pragma once

/// Conjugate gradients for symmetric positive definite systems A x = b.

#include "solver/dense_matrix.hpp"
#include "solver/krylov.hpp"
#include "solver/krylov_solve.hpp"
#include "solver/preconditioner.hpp"
#include "solver/spmv.hpp"

#include <span>
#include <vector>

namespace solver {

/// Solves A x = b by preconditioned conjugate gradients (Hestenes, Stiefel, J. Res. Nat. Bur. Standards 49, 1952; Saad,
/// Iterative Methods for Sparse Linear Systems, algorithm 9.1). x holds the initial guess on entry and the solution on return.
/// A and M are to be symmetric positive definite. In exact arithmetic the error falls in every step in the norm (e'Ae)^(1/2),
/// in k steps at least by 2 ((sqrt(K) - 1) / (sqrt(K) + 1))^k, K = cond_2(M^-1 A), and is zero after as many steps as M^-1 A
/// has distinct eigenvalues.
///
/// A step costs one product with A and one application of M, half of what it costs in bicgstab. ||r||_2 need not fall in every
/// step, but does not rise above cond_2(A)^(1/2) times an earlier one, since (e'Ae)^(1/2) = (r'A^-1 r)^(1/2) falls. Where more
/// than 12 true residuals in a row are 2^32 times the best one the status is `stagnated`: rounding has grown, as along a null
/// vector of A that b does not quite avoid.
///
/// Symmetry is not checked: where A or M is not symmetric the method does not converge in general, and says so
/// (Preconditioner::is_symmetric tells of M). Definiteness shows on the way: the status is `indefinite` as soon as p'Ap or
/// r'M^-1 r is not positive and this is not due to underflow. In fast p'Ap is computed once more, compensated, before it is
/// believed. Where A is positive definite that happens only where cond_2(A) is of the order 1 / u^2 or beyond, u the unit
/// roundoff of the precision in which the iteration runs. A singular A is no obstacle where b is in its range, as a rule.
///
/// All else is as for bicgstab: x_low, true residuals, the replacement of r and the status; in exact the same bits on every
/// machine, device and thread count. Where nothing has been gained since a restart, the next one would repeat it, for there is
/// no choice of a shadow residual: then the iteration ends. Throws DimensionMismatch and InvalidArgument (tolerance not
/// positive).
template <class T>
SolveResult cg(const SpmvPlan<T>& a, const Preconditioner<T>& m, std::span<const T> b, std::span<T> x, std::span<T> x_low = {},
               const KrylovOptions& options = {}) {
    return krylov_solve(KrylovMethod::cg, a, m, b, x, x_low, options);
}

/// Solves A X = B, one solve a column of B, all sharing every product with A, as for bicgstab.
template <class T>
std::vector<SolveResult> cg(const SpmvPlan<T>& a, const Preconditioner<T>& m, const DenseMatrix<T>& b, DenseMatrix<T>& x,
                            DenseMatrix<T>* x_low = nullptr, const KrylovOptions& options = {}) {
    return krylov_solve(KrylovMethod::cg, a, m, b, x, x_low, options);
}

/// Mixed precision, as for bicgstab: `a_single` is A with every entry rounded, and `indefinite` speaks of that one: rounding
/// can make a matrix indefinite whose cond_2 is of the order 2^24 or beyond.
inline SolveResult cg(const SpmvPlan<double>& a, const SpmvPlan<float>& a_single, const Preconditioner<float>& m,
                      std::span<const double> b, std::span<double> x, const KrylovOptions& options = {}) {
    return krylov_solve(KrylovMethod::cg, a, a_single, m, b, x, options);
}
inline std::vector<SolveResult> cg(const SpmvPlan<double>& a, const SpmvPlan<float>& a_single, const Preconditioner<float>& m,
                                   const DenseMatrix<double>& b, DenseMatrix<double>& x, const KrylovOptions& options = {}) {
    return krylov_solve(KrylovMethod::cg, a, a_single, m, b, x, options);
}

}  // namespace solver
