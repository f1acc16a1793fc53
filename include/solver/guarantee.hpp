#pragma once

/// Proofs that a matrix is nonsingular and how far solutions can be off (docs/guarantees.md has the theorems).

#include "solver/proof.hpp"
#include "solver/solve.hpp"
#include "solver/spmv.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace solver {

/// A proof that belongs to A and serves any number of right-hand sides: |A^-1 r|_i <= reach_i N(r) for every r, where N(r) is
/// the largest of weights_j |r_j|, or their sum. Where A is proven singular or nothing could be proven the vectors are empty.
struct Certificate {
    ProofStatus status = ProofStatus::unproven;
    std::string reason;  ///< how it was proven, or what was tried and what stood in the way
    std::vector<double> reach;
    std::vector<double> weights;
    bool adds_up = false;         ///< N(r) is the sum
    std::int64_t iterations = 0;  ///< of the Krylov method that looked for v, in vain or not
    /// Of the entries of A, by which error_bound knows it; 0 in a certificate that certify did not make, which is believed.
    std::uint64_t matrix_hash = 0;

    bool is_proof() const { return status == ProofStatus::proven; }
};

/// Looks for a certificate of the square matrix A, in this order (docs/guarantees.md says where each theorem stands):
///  - A is singular if no permutation puts nonzeros on the whole diagonal, if rows or columns add up to exactly zero, if one is
///    a multiple of another, or if a few columns, times whole numbers, add up to exactly zero;
///  - A is an H-matrix if a v > 0 is found for which <A> v > 0, where <A> has the magnitudes of the diagonal and the negated
///    magnitudes of all else (Ostrowski 1937; Neumaier 1990): v is an approximate solution of <A> v = s, s_i = |a_ii|^(1/2), by
///    `solve` with these options, and the signs of the exactly rounded <A> v prove it;
///  - where A is nearly full: an approximate inverse X by dense products has ||I - A X||_1 < 1 for A scaled;
///  - where complete factors take few enough operations: their own rounding errors do not reach the inverse; A is symmetric
///    positive definite if factors of A less a part of the identity have positive pivots, rounding errors counted (Rump 2006);
///    or so are the normal equations of A scaled; or an approximate inverse Y by columns has ||I - A Y||_1 < 1 for A scaled by
///    rows (Rump 1980);
///  - the inverse by dense products of what was too large for these, or the last one with Y in pairs of doubles, for small
///    matrices.
/// The bits of the certificate are those of these vectors: in exact the same on every machine for one profile, but for inverses
/// by dense products, which are made in fast. `options` are those of the solves. Throws DimensionMismatch where A is not
/// square, and what `solve` throws.
template <class T>
Certificate certify(const SpmvPlan<T>& a, const SolveOptions& options = {});

/// Proven bounds |x_i + x_low_i - x*_i| <= bounds_i for x* = A^-1 b, by the exact residual: bounds = reach N(b - A (x +
/// x_low)), with all roundings counted; all are 0 where x + x_low is proven to be x* itself. x_low may be empty. The vectors
/// have as many elements as A has rows, in the host's memory. Throws DimensionMismatch, and InvalidArgument where the
/// certificate proves nothing or was made for other entries, or for these in another order.
template <class T>
void error_bound(const SpmvPlan<T>& a, const Certificate& certificate, std::span<const T> b, std::span<const T> x,
                 std::span<const T> x_low, std::span<double> bounds);

/// max_i |b - A x|_i / (|A| |x| + |b|)_i, x being the sum of both parts, rounded up: what SolutionProof::backward_error is. 0 /
/// 0 counts as 0, and 0 is returned where x is proven to be the solution. Not finite where A, b or x are not. Throws
/// DimensionMismatch.
template <class T>
double backward_error(const SpmvPlan<T>& a, std::span<const T> b, std::span<const T> x, std::span<const T> x_low = {});

}  // namespace solver
