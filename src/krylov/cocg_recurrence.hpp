#pragma once

/// The recurrence of preconditioned COCG and nothing else: the outer loop is in solve.hpp.

#include "krylov/measured_residual.hpp"
#include "krylov/stepwise.hpp"
#include "solver/numeric/rounding.hpp"

#include <cstdint>
#include <utility>

namespace solver {

/// A restart from the same x takes the same course.
template <class V>
class CocgScalars : public MeasuredResidual<V> {
public:
    static constexpr bool has_random_starts = false;
};

/// Conjugate gradients with x^T y in the place of x^H y (van der Vorst, Melissen, IEEE Trans. Magn. 26(2), 1990): A and M are
/// their own transposes. x^T x may vanish where x does not, which ends it; there is no sign to be watched.
template <StepBackend B>
class CocgRecurrence : public StepwiseRecurrence<B, CocgScalars<typename B::Value>, CocgRecurrence<B>> {
    using Base = StepwiseRecurrence<B, CocgScalars<typename B::Value>, CocgRecurrence<B>>;
    friend Base;

public:
    using Value = typename B::Value;
    using Vector = typename B::Vector;
    using Scalar = ScalarOf<Value>;
    using Base::r;
    using Base::z;

    explicit CocgRecurrence(B& backend)
        : Base(backend), r_hat_(backend.vector()), p_(backend.vector()), q_(backend.vector()), conjugate_(backend.vector()) {}

    void begin(double r_norm, std::uint64_t) {
        scalars_.begin(r_norm);
        rho_ = 0;
    }

private:
    using Base::backend_;
    using Base::scalars_;

    Vector& scratch() { return conjugate_; }

    /// One product with A.
    Task<StepEnd> step(double) {
        scalars_.begin_step();
        backend_.precondition(r, r_hat_);
        if (const StepEnd end = next_direction(transposed_dot(r, r_hat_)); end != StepEnd::none) co_return end;
        co_await backend_.multiply(p_, q_);
        const Scalar pq = transposed_dot(p_, q_);
        const Value alpha = to_value<Value>(div_rn(rho_, pq));
        if (const StepEnd end = end_of(pq, alpha); end != StepEnd::none) co_return end;
        backend_.add(alpha, p_, z);
        backend_.subtract(alpha, q_, r);
        co_return scalars_.take_r_norm(backend_.norm2(r));
    }

    /// p = M^-1 r + beta p, at first M^-1 r.
    StepEnd next_direction(Scalar rho) {
        const Scalar before = std::exchange(rho_, rho);
        const Value beta = before == Scalar(0) ? Value(0) : to_value<Value>(div_rn(rho, before));
        if (const StepEnd end = end_of(rho, beta); end != StepEnd::none) return end;
        if (before == Scalar(0))
            backend_.copy(r_hat_, p_);
        else
            backend_.scale_and_add(beta, r_hat_, p_);
        return StepEnd::none;
    }

    /// What follows from a dot product that is divided by, and from a factor that was made of it.
    static StepEnd end_of(Scalar dot, Value factor) {
        if (!is_finite(dot)) return StepEnd::non_finite;
        return dot != Scalar(0) && is_finite(Scalar(factor)) ? StepEnd::none : StepEnd::breakdown;
    }

    /// x^T y
    Scalar transposed_dot(const Vector& x, const Vector& y) {
        if constexpr (is_complex<Value>) {
            backend_.conjugate(x, conjugate_);
            return backend_.dot(conjugate_, y);
        } else {
            return backend_.dot(x, y);
        }
    }

    Scalar rho_ = 0;  ///< r^T M^-1 r of the step before; 0 before the first
    Vector r_hat_;
    Vector p_;
    Vector q_;
    Vector conjugate_;
};

}  // namespace solver
