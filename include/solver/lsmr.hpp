#pragma once

/// Least squares: the x for which ||b - A x|| is least, of any A.

#include "solver/device.hpp"
#include "solver/krylov.hpp"
#include "solver/preconditioner.hpp"
#include "solver/spmv.hpp"

#include <concepts>
#include <cstdint>
#include <span>
#include <vector>

namespace solver {

struct LeastSquaresResult {
    SolveStatus status = SolveStatus::converged;
    std::int64_t iterations = 0;      ///< each of a product with A and one with its transpose
    double relative_residual = 0;     ///< ||b - A x|| / ||b|| of the x returned; in general not small
    double normal_residual = 0;       ///< ||A'r|| / (||A||_F ||r||), r = b - A x of the x returned: 0 for the least squares;
                                      ///< of least_squares the largest |a_j'r| / (||a_j|| ||r||) of a column a_j
    double matrix_norm = 0;           ///< ||A||_F, or of a function what was seen of it
    std::int64_t restarts = 0;        ///< from the true residual of a better x
    std::vector<Iteration> history;   ///< where options.keep_history asks for it: ||r|| / ||b||, updated and, where known, true
    std::int64_t factor_entries = 0;  ///< of the preconditioner, where least_squares (least_squares.hpp) took one
    /// Of A'A or A A': klu or amg, the last that least_squares took.
    PreconditionerKind preconditioner = PreconditionerKind::none;
};

/// Least squares by LSMR (Fong, Saunders, SIAM J. Sci. Comput. 33(5), 2011), for A of any shape and rank. `transposed` is a
/// plan of A', for instance of transpose(a). x holds the initial guess on entry and the solution on return: from zero, that of
/// least norm where there are several.
///
/// Converged means, of residuals computed anew from x, in every mode with elements that are rounded once, that A x = b is
/// solved, ||r|| <= tolerance ||b|| or <= absolute_tolerance, or that x is a least-squares solution, ||A'r|| <= tolerance
/// ||A||_F ||r||. Where the iteration claims that and it is not so it goes on from the true residual; it ends as stagnated once
/// that did not halve ||A'r|| more than three times in a row. The x returned is that with the least ||A'r|| seen, the guess
/// included. A zero b gives x = 0 after no iteration.
///
/// Where both plans are on one CUDA device, all vectors lie there; else products run where the plans are, and all else on the
/// processor. In exact the bits of x, the number of iterations and the history are the same on every machine and device and for
/// every thread count: products and norms are exact, and vectors and scalars are updated in a fixed order, each operation
/// rounded once.
///
/// Throws DimensionMismatch where b, x or the transpose do not fit A, and InvalidArgument for options that cannot be meant or
/// an x that overlaps b.
template <class T>
LeastSquaresResult lsmr(const SpmvPlan<T>& a, const SpmvPlan<T>& transposed, std::span<const T> b, std::span<T> x,
                        const KrylovOptions& options = {});

/// An A of any shape by its products and those with its transpose A'. Derive from it to bring your own.
template <class T>
class OperatorWithTranspose {
    static_assert(std::floating_point<T>,
                  "numbers are real: for complex ones write the operator that maps real_view(x) to real_view(A x), whose "
                  "transpose is that of A^H (complex.hpp)");

public:
    virtual ~OperatorWithTranspose() = default;

    virtual std::int64_t rows() const = 0;
    virtual std::int64_t columns() const = 0;

    /// y = A x, vectors that do not overlap. What it throws goes through lsmr to whoever called it.
    virtual void apply(std::span<const T> x, std::span<T> y) const = 0;
    /// x = A' y, vectors that do not overlap. What it throws goes through lsmr to whoever called it.
    virtual void apply_transposed(std::span<const T> y, std::span<T> x) const = 0;
};

/// Least squares by LSMR, as above, on the processor, where A is a function. As its entries are not known, the largest
/// ||A v|| of a unit vector v that the iteration has met stands for ||A||_F, which is not less: no claim is weaker for that.
/// Residuals are b minus the function's product and that of A', one rounding after another. In exact all but the products is as
/// exact as ever: where the functions give the same bits on every machine, so does the solve. A'r must not overflow.
///
/// Throws DimensionMismatch where b or x does not fit A, and InvalidArgument for options that cannot be meant, a device that is
/// not the processor or an x that overlaps b.
template <class T>
LeastSquaresResult lsmr(const OperatorWithTranspose<T>& a, std::span<const T> b, std::span<T> x,
                        const KrylovOptions& options = {}, const Device& processor = Device::cpu());

}  // namespace solver
