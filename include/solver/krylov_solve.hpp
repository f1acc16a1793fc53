#pragma once

/// Solves A x = b by a Krylov method by name.

#include "solver/dense_matrix.hpp"
#include "solver/krylov.hpp"
#include "solver/preconditioner.hpp"
#include "solver/spmv.hpp"

#include <span>
#include <vector>

namespace solver {

/// Solves A x = b for a square A. x holds the initial guess on entry and the solution on return.
///
///  - bicgstab: bicgstab.hpp.
///  - cg: cg.hpp.
///  - gmres: GMRES(m) of Saad and Schultz (SIAM J. Sci. Stat. Comput. 7(3), 1986), m = options.restart, preconditioned from the
///    right in its flexible form (Saad, SIAM J. Sci. Comput. 14(2), 1993), so that M may differ from step to step. The residual
///    falls in every step, and is computed anew after each cycle of m steps, from which the next one begins. It needs m + 3
///    vectors, with a preconditioner 2 m + 3, and is a ResourceLimit where the machine cannot hold them; m above n counts as n.
///    Where more than twelve cycles in a row gained next to nothing it ends as stagnated, and at once where one gained nothing.
///    One pass of Gram-Schmidt makes a basis as orthogonal as it need be where dot products are exact, mostly; a bound that is
///    carried along says where it takes a second one.
///  - minres: MINRES of Paige and Saunders (SIAM J. Numer. Anal. 12(4), 1975) for a symmetric A, which may be indefinite. M
///    must be symmetric and positive definite: one that is known not to be symmetric is an InvalidArgument, and where
///    r'M^-1 r <= 0 is seen the solve ends as indefinite. Without M the residual falls in every step, with M it falls as M^-1
///    measures it. Where nothing solves the system the solve ends as stagnated with an x whose residual is the least so
///    measured, up to the root of the roundoff times A's condition: once A r has fallen to nothing twice and r has gained
///    nothing between.
///  - idr: IDR(4) of van Gijzen and Sonneveld (ACM TOMS 38(1), 2011): as short as BiCGStab's recurrence, and often steadier.
///  - bicgstab2: BiCGStab(2) of Sleijpen and Fokkema (ETNA 1, 1993): takes the least residual over two vectors at a time, which
///    helps where eigenvalues lie near the imaginary axis. An iteration makes one product with A and three in turn.
///  - cocg: COCG of van der Vorst and Melissen (IEEE Trans. Magn. 26(2), 1990) for complex A and M that are their own
///    transposes (which nothing checks), not conjugated, as waves in absorbing media have them: conjugate gradients with x^T y,
///    one product an iteration. It breaks down where r^T M^-1 r or p^T A p is 0. In real numbers it is cg
///    without a look at signs.
///
/// What else is promised of status, true residuals, x_low, bits, devices and errors is what bicgstab.hpp says of BiCGStab. On a
/// CUDA device gmres, minres, idr, bicgstab2 and cocg launch each operation by itself, and several right-hand sides follow one
/// another.
template <class T>
SolveResult krylov_solve(KrylovMethod method, const SpmvPlan<T>& a, const Preconditioner<T>& m, std::span<const T> b,
                         std::span<T> x, std::span<T> x_low = {}, const KrylovOptions& options = {});

/// Solves A X = B, as bicgstab does for several right-hand sides.
template <class T>
std::vector<SolveResult> krylov_solve(KrylovMethod method, const SpmvPlan<T>& a, const Preconditioner<T>& m,
                                      const DenseMatrix<T>& b, DenseMatrix<T>& x, DenseMatrix<T>* x_low = nullptr,
                                      const KrylovOptions& options = {});

/// In mixed precision, as bicgstab.
SolveResult krylov_solve(KrylovMethod method, const SpmvPlan<double>& a, const SpmvPlan<float>& a_single,
                         const Preconditioner<float>& m, std::span<const double> b, std::span<double> x,
                         const KrylovOptions& options = {});
std::vector<SolveResult> krylov_solve(KrylovMethod method, const SpmvPlan<double>& a, const SpmvPlan<float>& a_single,
                                      const Preconditioner<float>& m, const DenseMatrix<double>& b, DenseMatrix<double>& x,
                                      const KrylovOptions& options = {});

}  // namespace solver
