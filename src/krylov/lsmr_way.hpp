#pragma once

/// LSMR with a preconditioner, and by the angles between r and the columns.

#include "solver/lsmr.hpp"
#include "solver/preconditioner.hpp"
#include "solver/spmv.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace solver {

/// The largest power of two that is not above a norm, as far as T has it and its inverse; 1 where it is 0 or not finite.
template <class T>
double unit_of(double norm) {
    if (!(norm > 0) || !std::isfinite(norm)) return 1;
    constexpr int most = std::numeric_limits<T>::max_exponent - 2;
    return std::ldexp(1.0, std::clamp(std::ilogb(norm), -most, most));
}

/// How LSMR works and what it claims by.
template <class T>
struct LsmrWay {
    /// A power of two that A is divided by; 0: by its norm.
    double unit = 0;

    /// Where they are given, those of A divided by the unit: then ||A'r|| / (||A|| ||r||), by which it claims a least-squares
    /// solution, is the largest |a_j'r| / (||a_j|| ||r||), the cosine of the angle between r and a column. It does not change
    /// where columns are scaled, and is not smaller.
    std::span<const double> column_norms = {};

    /// A preconditioner, symmetric and positive definite, or null. Near (A'A)^-1, A divided by the unit: the vectors v of the
    /// bidiagonalisation are orthonormal in the norm of its inverse M, and the least squares are what they were (Arridge,
    /// Betcke, Harhanen, Inverse Problems 30, 2014). With of_rows near (A A')^-1: the vectors u are, and ||r|| is least in the
    /// norm of M^-1, at the solution where there is an x with r = 0; x stays in the range of A'.
    const Preconditioner<T>* inverse = nullptr;
    bool of_rows = false;

    /// Whether (v' M^-1 v)^1/2 of v = A'r is the length of r's part in the range of A, or nearly, or with of_rows A has full
    /// rank, so that r is this part. Then the x is best for which that, or (r' M^-1 r)^1/2, is shortest; it goes on beyond the
    /// tolerance until rounding x is what is left of it, which is claimed, too (least_squares.hpp). column_norms are given.
    bool sees_range = false;
};

/// Throws DimensionMismatch where the shapes do not fit.
template <class T>
void check_transpose(const SpmvPlan<T>& a, const SpmvPlan<T>& transposed);

/// lsmr in such a way.
template <class T>
LeastSquaresResult lsmr_in(const LsmrWay<T>& way, const SpmvPlan<T>& a, const SpmvPlan<T>& transposed, std::span<const T> b,
                           std::span<T> x, const KrylovOptions& options);

/// LSMR in such a way where both plans are on one CUDA device and the vectors lie there, too; arguments are checked already.
/// lsmr_in calls it.
template <class T>
LeastSquaresResult lsmr_on_device(const LsmrWay<T>& way, const SpmvPlan<T>& a, const SpmvPlan<T>& transposed,
                                  std::span<const T> b, std::span<T> x, const KrylovOptions& options);

}  // namespace solver
