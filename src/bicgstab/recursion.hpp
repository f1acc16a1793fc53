#pragma once

/// The recursion of BiCGStab and nothing else: who checks it, replaces r and restarts is in solve.hpp.

#include "bicgstab/backend.hpp"
#include "bicgstab/task.hpp"
#include "solver/numeric/rounding.hpp"

#include <cmath>
#include <cstdint>
#include <optional>

namespace solver {

/// How a step ended.
enum class StepEnd {
    full,        ///< both halves were made
    half,        ///< s was small enough: x gained alpha M^-1 p only
    breakdown,   ///< rho, r'v or omega is zero to working precision
    non_finite,  ///< a norm or a scalar is Inf or NaN
};

/// r and z with r ~ r_0 - A z, where z, the correction to the solution, grows from zero.
///
/// Scalars: dot products and norms arrive rounded to Value; alpha, beta and omega are computed from them in double, with the
/// divisions written here, and rounded once to Value. omega = (t, s) / (t, t) is computed by two divisions by ||t||_2, which
/// cannot overflow or underflow where (t, t) would.
template <SolverBackend B>
class Recursion {
public:
    using Value = typename B::Value;
    using Vector = typename B::Vector;

    explicit Recursion(B& backend)
        : r(backend.vector()),
          z(backend.vector()),
          backend_(backend),
          shadow_(backend.vector()),
          p_(backend.vector()),
          v_(backend.vector()),
          t_(backend.vector()),
          p_hat_(backend.vector()),
          s_hat_(backend.vector()) {}

    /// Begins at r, with the shadow residual r itself (seed 0) or a random one. Leaves z alone.
    void begin(double r_norm, std::uint64_t seed) {
        if (seed == 0)
            backend_.copy(r, shadow_);
        else
            backend_.fill_random(seed, shadow_);
        shadow_norm_ = seed == 0 ? r_norm : backend_.norm2(shadow_);
        r_norm_ = r_norm;
        first_ = true;
    }

    /// Goes on from another r, close to the old one, in the old directions.
    void continue_from_replaced(double r_norm) { r_norm_ = r_norm; }

    /// One step, two products with A. Half of it suffices where ||s||_2 <= target.
    Task<StepEnd> step(double target) {
        const double rho = backend_.dot(shadow_, r);
        if (vanishes(rho, shadow_, shadow_norm_, r, r_norm_)) co_return breakdown_or_non_finite(rho);
        if (first_)
            backend_.copy(r, p_);
        else
            backend_.direction(r, rounded(rho / rho_ * (alpha_ / omega_)), rounded(omega_), v_, p_);
        rho_ = rho;
        backend_.precondition(p_, p_hat_);
        co_await backend_.multiply(p_hat_, v_);
        const double shadow_v = backend_.dot(shadow_, v_);
        alpha_ = rounded(rho_ / shadow_v);
        if (shadow_v == 0) co_return StepEnd::breakdown;
        if (!std::isfinite(alpha_)) co_return breakdown_or_non_finite(shadow_v);
        backend_.subtract(rounded(alpha_), v_, r);  // r is s from here on
        s_norm_ = backend_.norm2(r);
        if (!std::isfinite(s_norm_)) co_return StepEnd::non_finite;
        if (s_norm_ <= target) co_return end_half(StepEnd::half);
        co_return co_await second_half();
    }

    /// The norm of (w_i x_i).
    double weighted_norm(const Vector& weights, const Vector& x) {
        backend_.multiply_elements(weights, x, t_);
        return backend_.norm2(t_);
    }

    double r_norm() const { return r_norm_; }

    /// A bound of the norms of everything that was added to r in the last step.
    double terms() const { return previous_norm_ + 2 * s_norm_ + 2 * r_norm_; }

    Vector r;
    Vector z;

private:
    /// A dot product that is not so many times larger than the rounding of the vectors can make it has lost all but two digits,
    /// and so has what is computed from it. Going on until nothing is left takes about twice the iterations on real matrices in
    /// single precision.
    static constexpr double least_ratio = 16;

    static Value rounded(double x) { return static_cast<Value>(x); }

    /// Whether x and y, with this dot product and these norms, are orthogonal to working precision. True for NaN. Rounding
    /// their elements moves the dot product by at most about u ||x|| ||y||, which is cheap to know, and, as the errors of the
    /// elements are independent, by about u ||(x_i y_i)||, which for long vectors is far less.
    bool vanishes(double dot, const Vector& x, double x_norm, const Vector& y, double y_norm) {
        constexpr double least = least_ratio * unit_roundoff<Value>;
        if (std::abs(dot) / x_norm > least * y_norm) return false;
        if (!terms_) terms_ = backend_.vector();
        backend_.multiply_elements(x, y, *terms_);
        return !(std::abs(dot) > least * backend_.norm2(*terms_));
    }

    static StepEnd breakdown_or_non_finite(double x) { return std::isfinite(x) ? StepEnd::breakdown : StepEnd::non_finite; }

    StepEnd end_half(StepEnd end) {
        backend_.add(rounded(alpha_), p_hat_, z);
        previous_norm_ = r_norm_;
        r_norm_ = s_norm_;
        return end;
    }

    Task<StepEnd> second_half() {
        backend_.precondition(r, s_hat_);
        co_await backend_.multiply(s_hat_, t_);
        const double t_norm = backend_.norm2(t_);
        const double ts = backend_.dot(t_, r);
        omega_ = rounded(ts / t_norm / t_norm);
        if (!std::isfinite(t_norm)) co_return end_half(StepEnd::non_finite);
        if (vanishes(ts, t_, t_norm, r, s_norm_)) co_return end_half(breakdown_or_non_finite(ts));
        if (!std::isfinite(omega_) || omega_ == 0) co_return end_half(StepEnd::breakdown);
        backend_.add_both(rounded(alpha_), p_hat_, rounded(omega_), s_hat_, z);
        backend_.subtract(rounded(omega_), t_, r);
        previous_norm_ = r_norm_;
        r_norm_ = backend_.norm2(r);
        first_ = false;
        co_return std::isfinite(r_norm_) ? StepEnd::full : StepEnd::non_finite;
    }

    B& backend_;
    Vector shadow_;
    Vector p_;
    Vector v_;
    Vector t_;
    Vector p_hat_;
    Vector s_hat_;
    std::optional<Vector> terms_;  // where a dot product was small
    double shadow_norm_ = 0;
    double r_norm_ = 0;
    double previous_norm_ = 0;
    double s_norm_ = 0;
    double rho_ = 0;
    double alpha_ = 0;
    double omega_ = 0;
    bool first_ = true;
};

}  // namespace solver
