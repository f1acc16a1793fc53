#pragma once

/// What one step of the conjugate gradient method computes and decides with scalars, on host and device: who multiplies, adds
/// and updates vectors calls these in between.

#include "core/krylov/stretch.hpp"
#include "solver/numeric/rounding.hpp"

#include <concepts>
#include <cstdint>
#include <limits>

namespace solver {

/// Dot products and norms arrive rounded to Value; alpha and beta are computed from them in double, by one division each, and
/// rounded once to Value.
///
/// Why a sign is enough: for definite A the angle between p and Ap satisfies cos >= 2 sqrt(K) / (K + 1), K = cond_2(A)
/// (Wielandt's inequality; Horn, Johnson, Matrix Analysis, 7.4). A product and a dot product that are wrong by a few u ||p||
/// ||Ap|| can therefore make p'Ap negative or zero only where sqrt(K) is of the order 1 / u. The same holds for r and M^-1 r.
template <std::floating_point V>
class CgScalars {
public:
    using Value = V;

    /// A restart from the same x takes the same course.
    static constexpr bool has_random_starts = false;
    static constexpr bool has_bounded_residuals = true;

    SOLVER_HD void begin(double r_norm) noexcept {
        r_norm_ = r_norm;
        steps_ = 0;
    }
    SOLVER_HD void continue_from_replaced(double r_norm) noexcept { r_norm_ = r_norm; }

    /// False for NaN.
    SOLVER_HD static bool is_positive(double dot) noexcept { return dot > 0; }

    /// What follows from x'y, not positive, where x and y = A x or M^-1 x have these norms. A zero where the product of the
    /// norms is tiny is a matter of underflow, and so is one where y is zero.
    SOLVER_HD static StepEnd end_of_not_positive(double dot, double x_norm, double y_norm) noexcept {
        if (!is_finite(dot)) return StepEnd::non_finite;
        constexpr double least = std::numeric_limits<Value>::min() / unit_roundoff<Value>;
        return mul_rn(x_norm, y_norm) >= least ? StepEnd::indefinite : StepEnd::breakdown;
    }

    /// rho = (r, M^-1 r), which is positive. Then p = M^-1 r in the first step, M^-1 r + beta p in the others.
    SOLVER_HD void take_rho(double rho) noexcept {
        if (!is_first()) beta_ = rounded(div_rn(rho, rho_));
        rho_ = rho;
    }
    /// (p, q) with q = A p, which is positive. Then z = z + alpha p, r = r - alpha q.
    SOLVER_HD StepEnd take_curvature(double pq) noexcept {
        alpha_ = rounded(div_rn(rho_, pq));
        return is_finite(alpha_) && alpha_ != 0 ? StepEnd::none : StepEnd::breakdown;
    }
    /// ||r||
    SOLVER_HD StepEnd take_r_norm(double r_norm) noexcept {
        previous_norm_ = r_norm_;
        r_norm_ = r_norm;
        ++steps_;
        return is_finite(r_norm) ? StepEnd::full : StepEnd::non_finite;
    }

    SOLVER_HD bool is_first() const noexcept { return steps_ == 0; }
    SOLVER_HD Value alpha() const noexcept { return static_cast<Value>(alpha_); }
    SOLVER_HD Value beta() const noexcept { return static_cast<Value>(beta_); }
    SOLVER_HD double r_norm() const noexcept { return r_norm_; }

    /// A bound of the norms of everything that was added to r in the last step.
    SOLVER_HD double terms() const noexcept { return add_rn(previous_norm_, 2 * r_norm_); }

    /// z is measured in every fourth step, for all four: it grows from step to step (in the norm of M; Steihaug, SIAM J. Numer.
    /// Anal. 20(3), 1983), and measuring it takes as long as a dot product and two updates.
    SOLVER_HD double z_weight() const noexcept { return steps_ % measured == 0 ? measured : 0; }

private:
    static constexpr int measured = 4;

    SOLVER_HD static double rounded(double x) noexcept { return static_cast<Value>(x); }

    double r_norm_ = 0;
    double previous_norm_ = 0;
    double rho_ = 0;
    double alpha_ = 0;
    double beta_ = 0;
    std::int64_t steps_ = 0;  ///< since it began
};

}  // namespace solver
