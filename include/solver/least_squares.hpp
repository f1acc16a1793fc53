#pragma once

/// Least squares by whatever finds them.

#include "solver/dense_matrix.hpp"
#include "solver/lsmr.hpp"
#include "solver/spmv.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace solver {

struct LeastSquaresOptions {
    KrylovOptions iteration = {};
    std::int64_t memory_limit = 0;  ///< bytes that a preconditioner may take; 0: half of what the process may use
};

/// The x for which ||b - A x|| is least, of any A, by LSMR with a preconditioner where it needs one. Arguments, x, status and
/// errors are those of lsmr: from zero the least squares of least norm.
///
/// Converged means, of r = b - A x computed anew from x, that A x = b is solved, ||r|| <= tolerance ||b|| or <=
/// absolute_tolerance, or that x is a least-squares solution: |a_j'r| <= tolerance ||a_j|| ||r|| for every column a_j of A, so
/// that r stands at right angles to all of them. This does not depend on the units of the columns, and asks for more
/// than ||A'r|| <= tolerance ||A||_F ||r||, which the largest columns alone can meet. Along the left singular vector of a
/// singular value s of A, its n columns scaled to norm 1, r may then still be sqrt(n) (tolerance / s) ||r|| long: singular
/// values up to sqrt(n) times the tolerance may count as zero, as below a numerical rank; a smaller tolerance sees more of
/// them.
///
/// Rounding the elements of x alone may turn r by more, as where b is fitted nearly exactly. Where complete factors show that
/// the part of r in the range of A is no longer than 2 u (sum_k ||a_k||^2 x_k^2)^1/2, u the unit roundoff, x is claimed, too.
///
/// Rows of A that are zero stand aside: what b has there is in r whatever x is, and would hide the rest. Convergence, and what
/// iterations tell, is of the other rows; the residuals of the result are of all. So do heavy rows hide light ones, as where
/// constraints are rows times a large number: their part of b alone makes r small beside b. Where more than 2^10 ||S b|| by the
/// tolerance, 2^-16 ||S b|| at least and, unless four times the tolerance is more, a quarter of it at most, is left in ||S r||,
/// S scaling each row by a power of two to a largest |a_ij| from 1 to 2, and r is not at right angles, least squares of r are
/// added to x: the status is theirs, of the angle that r has now; not for an absolute tolerance, and rows that are heavier by 1
/// / tolerance and more may hide the others all the same: scale them down.
///
/// What is tried, on counts of entries and operations alone: LSMR, for as long as the matrix G of the normal equations would
/// take to make, A'A or where A is wide A A'; LSMR with complete factors (KLU) of G + D as a preconditioner, D small: a few
/// steps find what LSMR needs thousands for, as the condition number of G is up to the square of A's and nearly all of it is
/// undone, while x comes from residuals of A alone. Before it, LSMR again where its rate promises to take less than the
/// factors; after it, or where they are too dear or forbidden, with the iterations that are left. Where G and factors cost less
/// than fifty steps of LSMR, of a dense A two hundred, they come first. Before factors, in double, LSMR with a cycle of
/// multigrid where that costs less than they do and suits G, as differences along the edges of a mesh or a graph have it: where
/// G is A'A, only if it finds two random vectors w from A w in 60 steps each, which are not counted and ask no callback. Where
/// A has lost rank it does not, but for chances of one in 10^5.
///
/// With factors that show full rank LSMR goes on beyond the tolerance until rounding is what is left, and by one step more: the
/// error of x is then mostly far below u kappa. What ends it before, leaves the claim of an x that met the tolerance.
///
/// D is 2^-40 of G's diagonal (2^-18 in single precision), so that columns, or rows, may be scaled by what differs by 2^500
/// at most. Where it shows a singular value below 2^-18 (2^-7) of A, columns scaled to norm 1, and A does not map its vector to
/// what rounding leaves, G is made and factored anew in pairs of doubles, as polynomials of high degree need it. Where these
/// are too dear, or a singular value below 4 u max(m, n) of an m x n matrix shows, rank counts as lost: G is A'A and D 2^-36
/// (2^-12) of its largest diagonal entry, which keeps steps in the range of A'; what rounding put beside that is taken out
/// once, x - x_0 less D (G + D)^-1 (x - x_0). What is beside the range of A' in the end is of the order of u kappa^2 of x for a
/// condition number kappa.
///
/// In exact the bits of x are the same on every machine and device and for every thread count; where factors are thought of
/// they depend on SuiteSparse's version and build, too, whose AMD tells what these cost, and where it forbids them on
/// memory_limit, whose default is the machine's.
template <class T>
LeastSquaresResult least_squares(const SpmvPlan<T>& a, const SpmvPlan<T>& transposed, std::span<const T> b, std::span<T> x,
                                 const LeastSquaresOptions& options = {});

/// Of each column of B by itself, with the bits that the call for a vector gives it; factors are made once for all. X holds the
/// guesses on entry and the solutions on return; callbacks and histories tell the column. Throws DimensionMismatch where B or X
/// does not fit A, and what the call for a vector throws.
template <class T>
std::vector<LeastSquaresResult> least_squares(const SpmvPlan<T>& a, const SpmvPlan<T>& transposed, const DenseMatrix<T>& b,
                                              DenseMatrix<T>& x, const LeastSquaresOptions& options = {});

}  // namespace solver
