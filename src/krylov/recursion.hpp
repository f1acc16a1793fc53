#pragma once

/// The recursion of BiCGStab and nothing else: who checks it, replaces r and restarts is in solve.hpp.

#include "core/krylov/step.hpp"
#include "krylov/backend.hpp"
#include "krylov/task.hpp"

#include <cmath>
#include <cstdint>
#include <optional>
#include <span>

namespace solver {

/// r and z with r ~ r_0 - A z, where z, the correction to the solution, grows from zero.
template <class B>
class Recursion {
public:
    using Value = typename B::Value;
    using Vector = typename B::Vector;

    /// With `weights` (1-norms of the columns of A), steps watch the drift of r; they stay the caller's.
    Recursion(B& backend, const Vector* weights)
        : r(backend.vector()),
          z(backend.vector()),
          backend_(backend),
          weights_(weights),
          drift_(unit_roundoff<Value>),
          shadow_(backend.vector()),
          p_(backend.vector()),
          v_(backend.vector()),
          t_(backend.vector()),
          p_hat_(backend.vector()),
          s_hat_(backend.vector()) {
        static_assert(StepBackend<B>);
    }

    /// Begins at r, with the shadow residual r itself (seed 0) or a random one. Leaves z alone.
    void begin(double r_norm, std::uint64_t seed) {
        if (seed == 0)
            backend_.copy(r, shadow_);
        else
            backend_.fill_random(seed, shadow_);
        scalars_.begin(r_norm, seed == 0 ? r_norm : backend_.norm2(shadow_));
    }

    /// Goes on from another r, close to the old one, in the old directions.
    void continue_from_replaced(double r_norm) { scalars_.continue_from_replaced(r_norm); }

    /// r is the true residual, rounded; x_terms as in ResidualDrift.
    void reset_drift(double r_norm, double x_terms) { drift_.reset(r_norm, x_terms); }

    /// Goes on until there is a reason to verify or a limit is reached; here that is one step, so that each is reported at
    /// once.
    Task<Stretch> advance(const StepLimits& limits) {
        const StepEnd end = co_await step(limits.target);
        norm_ = scalars_.r_norm();
        const auto z_terms = [&] { return norm_of_products(*weights_, z, t_); };
        co_return Stretch{end, reason_to_verify(end, scalars_, limits, weights_ != nullptr ? &drift_ : nullptr, z_terms)};
    }

    /// ||r|| after each step of the last stretch.
    std::span<const double> norms() const { return {&norm_, 1}; }

    Vector r;
    Vector z;

private:
    /// One step, two products with A. Half of it suffices where ||s||_2 <= target.
    Task<StepEnd> step(double target) {
        const double rho = backend_.dot(shadow_, r);
        if (scalars_.rho_may_be_lost(rho) && is_lost(rho, shadow_, r)) co_return scalars_.end_of_lost(rho);
        scalars_.take_rho(rho);
        if (scalars_.is_first())
            backend_.copy(r, p_);
        else
            backend_.direction(r, scalars_.beta(), scalars_.omega(), v_, p_);
        backend_.precondition(p_, p_hat_);
        co_await backend_.multiply(p_hat_, v_);
        if (const StepEnd end = scalars_.take_shadow_v(backend_.dot(shadow_, v_)); end != StepEnd::none) co_return end;
        backend_.subtract(scalars_.alpha(), v_, r);  // r is s from here on
        const StepEnd end = scalars_.take_s_norm(backend_.norm2(r), target);
        if (end == StepEnd::half) co_return end_half(end);
        if (end != StepEnd::none) co_return end;
        co_return co_await second_half();
    }

    Task<StepEnd> second_half() {
        backend_.precondition(r, s_hat_);
        co_await backend_.multiply(s_hat_, t_);
        const StepEnd end = take_t();
        if (end != StepEnd::none) co_return end_half(end);
        backend_.add_both(scalars_.alpha(), p_hat_, scalars_.omega(), s_hat_, z);
        backend_.subtract(scalars_.omega(), t_, r);
        co_return scalars_.take_r_norm(backend_.norm2(r));
    }

    StepEnd take_t() {
        const StepEnd end = scalars_.take_t_norm(backend_.norm2(t_));
        const double ts = backend_.dot(t_, r);
        if (end != StepEnd::none) return end;
        if (scalars_.ts_may_be_lost(ts) && is_lost(ts, t_, r)) return scalars_.end_of_lost(ts);
        return scalars_.take_ts(ts);
    }

    StepEnd end_half(StepEnd end) {
        backend_.add(scalars_.alpha(), p_hat_, z);
        scalars_.end_half();
        return end;
    }

    bool is_lost(double dot, const Vector& x, const Vector& y) {
        if (!terms_) terms_ = backend_.vector();
        return scalars_.is_lost(dot, norm_of_products(x, y, *terms_));
    }

    /// The norm of (x_i y_i); `products` is overwritten.
    double norm_of_products(const Vector& x, const Vector& y, Vector& products) {
        backend_.multiply_elements(x, y, products);
        return backend_.norm2(products);
    }

    B& backend_;
    const Vector* weights_;
    StepScalars<Value> scalars_;
    ResidualDrift drift_;
    Vector shadow_;
    Vector p_;
    Vector v_;
    Vector t_;
    Vector p_hat_;
    Vector s_hat_;
    std::optional<Vector> terms_;  // where a dot product was small
    double norm_ = 0;
};

}  // namespace solver
