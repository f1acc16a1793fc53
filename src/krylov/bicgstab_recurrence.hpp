#pragma once

/// The recurrence of BiCGStab and nothing else: the outer loop is in solve.hpp.

#include "core/krylov/bicgstab_scalars.hpp"
#include "krylov/stepwise.hpp"

#include <cstdint>
#include <optional>

namespace solver {

template <StepBackend B>
class BicgstabRecurrence : public StepwiseRecurrence<B, BicgstabScalars<typename B::Value>, BicgstabRecurrence<B>> {
    using Base = StepwiseRecurrence<B, BicgstabScalars<typename B::Value>, BicgstabRecurrence<B>>;
    friend Base;

public:
    using Vector = typename B::Vector;
    using Base::r;
    using Base::z;

    explicit BicgstabRecurrence(B& backend)
        : Base(backend),
          shadow_(backend.vector()),
          p_(backend.vector()),
          v_(backend.vector()),
          t_(backend.vector()),
          p_hat_(backend.vector()),
          s_hat_(backend.vector()) {}

    /// The shadow residual is r itself (seed 0) or a random vector.
    void begin(double r_norm, std::uint64_t seed) {
        if (seed == 0)
            backend_.copy(r, shadow_);
        else
            backend_.fill_random(seed, shadow_);
        scalars_.begin(r_norm, seed == 0 ? r_norm : backend_.norm2(shadow_));
    }

private:
    using Base::backend_;
    using Base::scalars_;

    Vector& scratch() { return t_; }

    /// Two products with A. Half of it suffices where ||s||_2 <= target.
    Task<StepEnd> step(double target) {
        const auto rho = backend_.dot(shadow_, r);
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
        const auto ts = backend_.dot(t_, r);
        if (end != StepEnd::none) return end;
        if (scalars_.ts_may_be_lost(ts) && is_lost(ts, t_, r)) return scalars_.end_of_lost(ts);
        return scalars_.take_ts(ts);
    }

    StepEnd end_half(StepEnd end) {
        backend_.add(scalars_.alpha(), p_hat_, z);
        scalars_.end_half();
        return end;
    }

    bool is_lost(ScalarOf<typename B::Value> dot, const Vector& x, const Vector& y) {
        if (!terms_) terms_ = backend_.vector();
        return scalars_.is_lost(dot, this->norm_of_products(x, y, *terms_));
    }

    Vector shadow_;
    Vector p_;
    Vector v_;
    Vector t_;
    Vector p_hat_;
    Vector s_hat_;
    std::optional<Vector> terms_;  // where a dot product was small
};

}  // namespace solver
