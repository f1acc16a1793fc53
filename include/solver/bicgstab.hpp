#pragma once

/// BiCGStab for unsymmetric systems A x = b.

#include "solver/dense_matrix.hpp"
#include "solver/krylov.hpp"
#include "solver/krylov_solve.hpp"
#include "solver/preconditioner.hpp"
#include "solver/spmv.hpp"

#include <span>
#include <vector>

namespace solver {

using BicgstabOptions = KrylovOptions;

/// Solves A x = b by BiCGStab (van der Vorst, SIAM J. Sci. Stat. Comput. 13(2), 1992), right-preconditioned, so that the
/// residual is that of A x = b itself. x holds the initial guess on entry and the solution on return. A is square.
///
/// x_low is empty, or as long as x: then the solution is the unevaluated pair x + x_low, which is what lets single precision
/// reach residuals far below its unit roundoff. x_low is overwritten.
///
/// In compensated and exact the residual is replaced by b - A x where the recursively updated one has drifted from it (van der
/// Vorst, Ye, SIAM J. Sci. Comput. 22(3), 2000). In every mode convergence is claimed only on a true residual; where the
/// updated one was wrong the iteration goes on from the true one. The true residual is also computed whenever the updated one
/// has gained a factor 32; of the x whose true residual was computed, the initial guess included, the best is returned, and is
/// where the iteration restarts after a breakdown. It ends as stagnated (breakdown, non_finite) once more than 12 true
/// residuals in a row that should have halved (that followed a breakdown) did not. A zero right-hand side gives x = 0 after no
/// iteration. Where ||b|| is below 2^-511 (floats 2^-63) and the residual of the guess is not, the iteration begins at 0.
///
/// Runs where the plan of A is: on a CUDA device whole stretches of the iteration without the host; between them it asks
/// the callback, at its intervals, and sees to true residuals. Throws ResourceLimit where the device's memory does not suffice.
///
/// In exact the bits of x, the number of iterations and the history are the same on every machine, device and thread count (for
/// preconditioners of which the same is true). Throws DimensionMismatch and InvalidArgument (neither tolerance is positive, or
/// two of the vectors overlap).
template <class T>
SolveResult bicgstab(const SpmvPlan<T>& a, const Preconditioner<T>& m, std::span<const T> b, std::span<T> x,
                     std::span<T> x_low = {}, const BicgstabOptions& options = {}) {
    return krylov_solve(KrylovMethod::bicgstab, a, m, b, x, x_low, options);
}

/// Solves A X = B, one solve a column of B, x holding the initial guesses. All solves advance together and share every product
/// with A, which is read from memory once for all of them; each ends by itself. On a CUDA device as many advance together as
/// its memory can hold, 32 at most. Column for column the result is that of a solve of its own, in exact bit for bit (for
/// sparse A, and on CUDA devices, in every mode). x_low is null, or has the shape of x. The callback is called for each column
/// and stops only that one. Throws as the solve of one right-hand side.
template <class T>
std::vector<SolveResult> bicgstab(const SpmvPlan<T>& a, const Preconditioner<T>& m, const DenseMatrix<T>& b, DenseMatrix<T>& x,
                                  DenseMatrix<T>* x_low = nullptr, const BicgstabOptions& options = {}) {
    return krylov_solve(KrylovMethod::bicgstab, a, m, b, x, x_low, options);
}

/// Mixed precision: the iteration runs in single precision, on `a_single` (A with every entry rounded: convert<float>) and M,
/// at the memory traffic of single; x and b - A x are held and computed in double, with A itself, and replace the residual of
/// the iteration where it has drifted or claims convergence, in every mode. So the solution is that of A x = b and its residual
/// can become as small as in double, while ||A - A_single|| and the iteration's rounding cost iterations only. Throws
/// InvalidArgument where an entry of A is finite and that of A_single is not; else as the solve in one precision.
inline SolveResult bicgstab(const SpmvPlan<double>& a, const SpmvPlan<float>& a_single, const Preconditioner<float>& m,
                            std::span<const double> b, std::span<double> x, const BicgstabOptions& options = {}) {
    return krylov_solve(KrylovMethod::bicgstab, a, a_single, m, b, x, options);
}
inline std::vector<SolveResult> bicgstab(const SpmvPlan<double>& a, const SpmvPlan<float>& a_single,
                                         const Preconditioner<float>& m, const DenseMatrix<double>& b, DenseMatrix<double>& x,
                                         const BicgstabOptions& options = {}) {
    return krylov_solve(KrylovMethod::bicgstab, a, a_single, m, b, x, options);
}

}  // namespace solver
