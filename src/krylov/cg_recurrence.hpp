#pragma once

/// The recurrence of preconditioned conjugate gradients and nothing else: the outer loop is in solve.hpp.

#include "core/krylov/cg_scalars.hpp"
#include "krylov/stepwise.hpp"

#include <cstdint>

namespace solver {

template <StepBackend B>
class CgRecurrence : public StepwiseRecurrence<B, CgScalars<typename B::Value>, CgRecurrence<B>> {
    using Base = StepwiseRecurrence<B, CgScalars<typename B::Value>, CgRecurrence<B>>;
    friend Base;

public:
    using Vector = typename B::Vector;
    using Base::r;
    using Base::z;

    explicit CgRecurrence(B& backend) : Base(backend), r_hat_(backend.vector()), p_(backend.vector()), q_(backend.vector()) {}

    void begin(double r_norm, std::uint64_t) { scalars_.begin(r_norm); }

private:
    using Base::backend_;
    using Base::scalars_;

    Vector& scratch() { return q_; }

    /// One product with A.
    Task<StepEnd> step(double) {
        backend_.precondition(r, r_hat_);
        const double rho = backend_.dot(r, r_hat_);
        if (!scalars_.is_positive(rho)) co_return scalars_.end_of_not_positive(rho, scalars_.r_norm(), backend_.norm2(r_hat_));
        scalars_.take_rho(rho);
        if (scalars_.is_first())
            backend_.copy(r_hat_, p_);
        else
            backend_.scale_and_add(scalars_.beta(), r_hat_, p_);
        co_await backend_.multiply(p_, q_);
        double pq = backend_.dot(p_, q_);
        if (!scalars_.is_positive(pq)) {  // in fast the product's rounding may have done that
            co_await backend_.multiply_accurately(p_, q_);
            pq = backend_.dot(p_, q_);
        }
        if (!scalars_.is_positive(pq)) co_return scalars_.end_of_not_positive(pq, backend_.norm2(p_), backend_.norm2(q_));
        if (const StepEnd end = scalars_.take_curvature(pq); end != StepEnd::none) co_return end;
        backend_.add(scalars_.alpha(), p_, z);
        backend_.subtract(scalars_.alpha(), q_, r);
        co_return scalars_.take_r_norm(backend_.norm2(r));
    }

    Vector r_hat_;
    Vector p_;
    Vector q_;
};

}  // namespace solver
