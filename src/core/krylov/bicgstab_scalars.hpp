#pragma once

/// What one step of BiCGStab computes and decides with scalars, on host and device: who multiplies, adds and updates vectors
/// calls these in between.

#include "core/krylov/complex_scalar.hpp"
#include "core/krylov/stretch.hpp"
#include "solver/numeric/rounding.hpp"

namespace solver {

/// Dot products and norms arrive rounded to Value; alpha, beta and omega are computed from them in double, with the
/// divisions written here, and rounded once to Value, which may be complex. omega = (t, s) / (t, t) is computed by two
/// divisions by ||t||_2, which cannot overflow or underflow where (t, t) would.
template <class V>
class BicgstabScalars {
public:
    using Value = V;
    using Scalar = ScalarOf<V>;

    /// A restart from the same x can take another course: with a random shadow residual.
    static constexpr bool has_random_starts = true;
    static constexpr bool has_bounded_residuals = false;

    /// A dot product that is not so many times larger than the rounding of the vectors can make it has lost all but two digits,
    /// and so has what is computed from it. Going on until nothing is left takes about twice the iterations on real matrices in
    /// single precision.
    static constexpr double least = 16 * unit_roundoff<RealOf<Value>>;

    SOLVER_HD void begin(double r_norm, double shadow_norm) noexcept {
        shadow_norm_ = shadow_norm;
        r_norm_ = r_norm;
        first_ = true;
    }
    SOLVER_HD void continue_from_replaced(double r_norm) noexcept { r_norm_ = r_norm; }

    /// Whether x and y, with this dot product and these norms, may be orthogonal to working precision. True for NaN. Rounding
    /// their elements moves the dot product by at most about u ||x|| ||y||, which is cheap to know, and, as the errors of the
    /// elements are independent, by about u ||(x_i y_i)||, which for long vectors is far less: is_lost decides.
    SOLVER_HD static bool may_be_lost(Scalar dot, double x_norm, double y_norm) noexcept {
        return !(div_rn(magnitude(dot), x_norm) > mul_rn(least, y_norm));
    }
    /// `terms` is ||(x_i y_i)||.
    SOLVER_HD static bool is_lost(Scalar dot, double terms) noexcept { return !(magnitude(dot) > mul_rn(least, terms)); }
    SOLVER_HD static StepEnd end_of_lost(Scalar dot) noexcept {
        return is_finite(dot) ? StepEnd::breakdown : StepEnd::non_finite;
    }

    SOLVER_HD bool rho_may_be_lost(Scalar rho) const noexcept { return may_be_lost(rho, shadow_norm_, r_norm_); }
    SOLVER_HD bool ts_may_be_lost(Scalar ts) const noexcept { return may_be_lost(ts, t_norm_, s_norm_); }

    /// rho = (shadow, r), which is not lost. Then p = r in the first step, r + beta (p - omega v) in the others.
    SOLVER_HD void take_rho(Scalar rho) noexcept {
        if (!first_) beta_ = rounded(mul_rn(div_rn(rho, rho_), div_rn(alpha_, omega_)));
        rho_ = rho;
    }
    /// (shadow, v) with v = A M^-1 p. Then s = r - alpha v.
    SOLVER_HD StepEnd take_shadow_v(Scalar shadow_v) noexcept {
        alpha_ = rounded(div_rn(rho_, shadow_v));
        if (shadow_v == Scalar(0)) return StepEnd::breakdown;
        return is_finite(alpha_) ? StepEnd::none : end_of_lost(shadow_v);
    }
    /// ||s||
    SOLVER_HD StepEnd take_s_norm(double s_norm, double target) noexcept {
        s_norm_ = s_norm;
        if (!is_finite(s_norm)) return StepEnd::non_finite;
        return s_norm <= target ? StepEnd::half : StepEnd::none;
    }
    /// ||t|| with t = A M^-1 s.
    SOLVER_HD StepEnd take_t_norm(double t_norm) noexcept {
        t_norm_ = t_norm;
        return is_finite(t_norm) ? StepEnd::none : StepEnd::non_finite;
    }
    /// (t, s), which is not lost. Then z = z + alpha M^-1 p + omega M^-1 s, r = s - omega t.
    SOLVER_HD StepEnd take_ts(Scalar ts) noexcept {
        omega_ = rounded(div_rn(div_rn(ts, t_norm_), t_norm_));
        return is_finite(omega_) && omega_ != Scalar(0) ? StepEnd::none : StepEnd::breakdown;
    }
    /// ||r||
    SOLVER_HD StepEnd take_r_norm(double r_norm) noexcept {
        previous_norm_ = r_norm_;
        r_norm_ = r_norm;
        first_ = false;
        return is_finite(r_norm) ? StepEnd::full : StepEnd::non_finite;
    }
    /// Instead of the second half: z = z + alpha M^-1 p, and s is the residual.
    SOLVER_HD void end_half() noexcept {
        previous_norm_ = r_norm_;
        r_norm_ = s_norm_;
    }

    SOLVER_HD bool is_first() const noexcept { return first_; }
    SOLVER_HD Value alpha() const noexcept { return to_value<Value>(alpha_); }
    SOLVER_HD Value beta() const noexcept { return to_value<Value>(beta_); }
    SOLVER_HD Value omega() const noexcept { return to_value<Value>(omega_); }
    SOLVER_HD double r_norm() const noexcept { return r_norm_; }

    /// A bound of the norms of everything that was added to r in the last step.
    SOLVER_HD double terms() const noexcept { return add_rn(add_rn(previous_norm_, 2 * s_norm_), 2 * r_norm_); }

    /// z is measured in every step.
    SOLVER_HD double z_weight() const noexcept { return 1; }

private:
    SOLVER_HD static Scalar rounded(Scalar x) noexcept { return to_value<Value>(x); }

    double shadow_norm_ = 0;
    double r_norm_ = 0;
    double previous_norm_ = 0;
    double s_norm_ = 0;
    double t_norm_ = 0;
    Scalar rho_ = 0;
    Scalar alpha_ = 0;
    Scalar beta_ = 0;
    Scalar omega_ = 0;
    bool first_ = true;
};

}  // namespace solver
