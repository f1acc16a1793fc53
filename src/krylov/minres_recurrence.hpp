#pragma once

/// The recurrence of preconditioned MINRES and nothing else: the outer loop is in solve.hpp.

#include "core/krylov/cg_scalars.hpp"
#include "krylov/minres_scalars.hpp"
#include "krylov/stepwise.hpp"

#include <cstdint>
#include <utility>

namespace solver {

/// A symmetric, M symmetric and positive definite. ||r||_{M^-1} falls in every step, and without M ||r||_2. The directions
/// belong to the r that the recurrence began with, so that another r begins it anew.
template <StepBackend B>
class MinresRecurrence : public StepwiseRecurrence<B, MinresScalars<typename B::Value>, MinresRecurrence<B>> {
    using Scalars = MinresScalars<typename B::Value>;
    using Base = StepwiseRecurrence<B, Scalars, MinresRecurrence<B>>;
    friend Base;

public:
    using Vector = typename B::Vector;
    using Base::r;
    using Base::z;

    static constexpr bool keeps_directions = false;

    explicit MinresRecurrence(B& backend)
        : Base(backend),
          previous_v_(backend.vector()),
          v_(backend.vector()),
          next_v_(backend.vector()),
          u_(backend.vector()),
          next_u_(backend.vector()),
          old_d_(backend.vector()),
          d_(backend.vector()) {}

    /// Nothing is made of the drift of r.
    void start(const Vector*) {}

    void begin(double r_norm, std::uint64_t) {
        scalars_.begin(r_norm);
        backend_.copy(r, v_);
        for (Vector* vector : {&previous_v_, &old_d_, &d_}) backend_.set_zero(*vector);
    }
    void continue_from_replaced(double r_norm) { begin(r_norm, 0); }

private:
    using Base::backend_;
    using Base::scalars_;

    Vector& scratch() { return next_u_; }

    /// One product with A.
    Task<StepEnd> step(double) {
        if (scalars_.is_first()) {
            const StepEnd end = begin_lanczos();
            if (end != StepEnd::none) co_return end;
        }
        backend_.scale(scalars_.of_u(), u_);
        co_await backend_.multiply(u_, next_v_);
        if (scalars_.is_first()) scalars_.take_scale(backend_.norm2(next_v_));
        if (scalars_.unit() != 1) backend_.scale(scalars_.of_product(), next_v_);
        scalars_.take_curvature(backend_.dot(u_, next_v_));
        if (scalars_.is_first())
            backend_.subtract(scalars_.of_v(), v_, next_v_);
        else
            backend_.add_both(-scalars_.of_v(), v_, -scalars_.of_previous(), previous_v_, next_v_);
        backend_.precondition(next_v_, next_u_);
        double square = backend_.dot(next_v_, next_u_);
        if (!CgScalars<typename B::Value>::is_positive(square)) {
            using OfCg = CgScalars<typename B::Value>;
            const double norm = backend_.norm2(next_v_);
            const StepEnd end = OfCg::end_of_not_positive(square, norm, backend_.norm2(next_u_));
            if (end == StepEnd::non_finite) co_return end;
            co_await backend_.multiply(u_, next_u_);
            if (norm > mul_rn(Scalars::noise, div_rn(backend_.norm2(next_u_), scalars_.unit()))) co_return end;
            square = 0;
        }
        if (const StepEnd end = scalars_.take_next(square); end != StepEnd::none) co_return end;
        update();
        co_return scalars_.take_r_norm(backend_.norm2(r));
    }

    StepEnd begin_lanczos() {
        backend_.precondition(v_, u_);
        const double square = backend_.dot(v_, u_);
        using OfCg = CgScalars<typename B::Value>;
        if (!OfCg::is_positive(square)) return OfCg::end_of_not_positive(square, scalars_.r_norm(), backend_.norm2(u_));
        scalars_.take_first(square);
        return StepEnd::none;
    }

    void update() {
        backend_.scale_and_add(-scalars_.of_older(), u_, old_d_);
        backend_.subtract(scalars_.of_old(), d_, old_d_);
        std::swap(old_d_, d_);
        backend_.add(scalars_.of_d(), d_, z);
        if (scalars_.is_used_up()) {
            backend_.set_zero(r);
        } else {
            backend_.scale(scalars_.of_r(), r);
            backend_.add(scalars_.of_next(), next_v_, r);
        }
        std::swap(previous_v_, v_);
        std::swap(v_, next_v_);
        std::swap(u_, next_u_);
    }

    Vector previous_v_;
    Vector v_;
    Vector next_v_;
    Vector u_;
    Vector next_u_;
    Vector old_d_;  ///< the direction before d_, then the next one
    Vector d_;
};

}  // namespace solver
