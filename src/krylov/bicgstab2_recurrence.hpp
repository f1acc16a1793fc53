#pragma once

/// The recurrence of BiCGStab(2) and nothing else: the outer loop is in solve.hpp.

#include "krylov/measured_residual.hpp"
#include "krylov/product_unit.hpp"
#include "krylov/stepwise.hpp"
#include "solver/numeric/rounding.hpp"

#include <array>
#include <cstdint>

namespace solver {

/// BiCGStab(l) of Sleijpen and Fokkema (ETNA 1, 1993) for l = 2, preconditioned from the right: two steps of BiCG, then the
/// least residual over r_1 = A M^-1 r and r_2 = A M^-1 r_1 together, where BiCGStab takes the least over one vector at a time
/// and stands still where eigenvalues lie near the imaginary axis. The first step of a cycle makes one product, the second
/// three. Of each vector by which r changes, M^-1 times what it came from is kept, so that z = M^-1 (...) grows with r whatever
/// M does from step to step.
template <StepBackend B>
class Bicgstab2Recurrence : public StepwiseRecurrence<B, MeasuredResidual<typename B::Value>, Bicgstab2Recurrence<B>> {
    using Base = StepwiseRecurrence<B, MeasuredResidual<typename B::Value>, Bicgstab2Recurrence<B>>;
    friend Base;

public:
    using Value = typename B::Value;
    using Vector = typename B::Vector;
    using Scalar = ScalarOf<Value>;
    using Base::r;
    using Base::z;

    explicit Bicgstab2Recurrence(B& backend)
        : Base(backend),
          shadow_(backend.vector()),
          r_{backend.vector(), backend.vector()},
          u_{backend.vector(), backend.vector(), backend.vector()},
          r_hat_{backend.vector(), backend.vector()},
          u_hat_{backend.vector(), backend.vector()} {}

    /// The shadow residual is r itself (seed 0) or a random vector.
    void begin(double r_norm, std::uint64_t seed) {
        scalars_.begin(r_norm);
        if (seed == 0)
            backend_.copy(r, shadow_);
        else
            backend_.fill_random(seed, shadow_);
        backend_.set_zero(u_[0]);
        rho_ = 1;
        omega_ = 1;
        alpha_ = 0;
        unit_ = 0;
        is_second_ = false;
    }

private:
    using Base::backend_;
    using Base::scalars_;

    Vector& scratch() { return u_[2]; }

    Task<StepEnd> step(double) {
        scalars_.begin_step();
        if (is_second_) co_return co_await second_step();
        co_return co_await first_step();
    }

    Task<StepEnd> first_step() {
        Value beta;
        if (!find_beta(-mul_rn(Scalar(omega_), rho_), backend_.dot(shadow_, r), beta)) co_return StepEnd::breakdown;
        backend_.scale_and_add(-beta, r, u_[0]);
        backend_.precondition(u_[0], u_hat_[0]);
        co_await backend_.multiply(u_hat_[0], u_[1]);
        if (unit_ == 0) unit_ = product_unit<RealOf<Value>>(div_rn(backend_.norm2(u_[1]), scalars_.r_norm()));
        divide_by_unit(u_[1]);
        if (const StepEnd end = find_alpha(u_[1]); end != StepEnd::none) co_return end;
        backend_.subtract(alpha_, u_[1], r);
        backend_.add(by_unit(alpha_), u_hat_[0], z);
        is_second_ = true;
        co_return scalars_.take_r_norm(backend_.norm2(r));
    }

    Task<StepEnd> second_step() {
        is_second_ = false;
        backend_.precondition(r, r_hat_[0]);
        co_await backend_.multiply(r_hat_[0], r_[0]);
        divide_by_unit(r_[0]);
        Value beta;
        if (!find_beta(rho_, backend_.dot(shadow_, r_[0]), beta)) co_return StepEnd::breakdown;
        backend_.scale_and_add(-beta, r, u_[0]);
        backend_.scale_and_add(-beta, r_[0], u_[1]);
        backend_.scale_and_add(-beta, r_hat_[0], u_hat_[0]);
        backend_.precondition(u_[1], u_hat_[1]);
        co_await backend_.multiply(u_hat_[1], u_[2]);
        divide_by_unit(u_[2]);
        if (const StepEnd end = find_alpha(u_[2]); end != StepEnd::none) co_return end;
        backend_.subtract(alpha_, u_[1], r);
        backend_.add(by_unit(alpha_), u_hat_[0], z);
        backend_.subtract(alpha_, u_[2], r_[0]);
        backend_.subtract(alpha_, u_hat_[1], r_hat_[0]);
        if (const StepEnd end = scalars_.take_r_norm(backend_.norm2(r)); end != StepEnd::full) co_return end;
        backend_.precondition(r_[0], r_hat_[1]);
        co_await backend_.multiply(r_hat_[1], r_[1]);
        divide_by_unit(r_[1]);
        co_return minimize();
    }

    /// r less what of it lies in the span of r_1 and r_2, by Gram and Schmidt: r_2 loses its part along r_1.
    StepEnd minimize() {
        const double first = backend_.norm2(r_[0]);
        if (first == 0) return StepEnd::breakdown;
        const Value of_first = share(backend_.dot(r_[0], r), first), common = share(backend_.dot(r_[0], r_[1]), first);
        backend_.subtract(common, r_[0], r_[1]);
        const double second = backend_.norm2(r_[1]);
        omega_ = second == 0 ? Value(0) : share(backend_.dot(r_[1], r), second);
        const Value gamma = rounded(add_rn(Scalar(of_first), -mul_rn(Scalar(common), Scalar(omega_))));
        backend_.subtract(of_first, r_[0], r);
        backend_.subtract(omega_, r_[1], r);
        backend_.add_both(by_unit(gamma), r_hat_[0], by_unit(omega_), r_hat_[1], z);
        backend_.subtract(gamma, u_[1], u_[0]);
        backend_.subtract(omega_, u_[2], u_[0]);
        const StepEnd end = scalars_.take_r_norm(backend_.norm2(r));
        return end == StepEnd::full && omega_ == Value(0) ? StepEnd::breakdown : end;
    }

    /// beta = alpha rho / before. False where that cannot be, or the next step would stand still.
    bool find_beta(Scalar before, Scalar rho, Value& beta) {
        rho_ = rho;
        beta = rounded(mul_rn(Scalar(alpha_), div_rn(rho, before)));
        return rho != Scalar(0) && is_finite(Scalar(beta));
    }

    /// alpha = rho / (shadow, u).
    StepEnd find_alpha(const Vector& u) {
        const Scalar seen = backend_.dot(shadow_, u);
        alpha_ = rounded(div_rn(rho_, seen));
        if (is_finite(Scalar(alpha_)) && alpha_ != Value(0)) return StepEnd::none;
        return is_finite(seen) ? StepEnd::breakdown : StepEnd::non_finite;
    }

    /// A product, of A divided by the unit from then on; and a factor of what goes to z.
    void divide_by_unit(Vector& product) {
        if (unit_ != 1) backend_.scale(by_unit(Value(1)), product);
    }
    Value by_unit(Value factor) const { return rounded(mul_rn(Scalar(factor), Scalar(1 / unit_))); }

    /// (x, y) / ||x||^2
    static Value share(Scalar dot, double norm) { return rounded(div_rn(div_rn(dot, norm), norm)); }
    static Value rounded(Scalar x) { return to_value<Value>(x); }

    bool is_second_ = false;
    double unit_ = 0;  ///< of products (product_unit.hpp); 0 before the first one
    Scalar rho_ = 1;
    Value alpha_ = 0;
    Value omega_ = 1;
    Vector shadow_;
    std::array<Vector, 2> r_;  ///< r_1 and r_2
    std::array<Vector, 3> u_;  ///< u_k = (A M^-1)^k u_0
    std::array<Vector, 2> r_hat_;
    std::array<Vector, 2> u_hat_;  ///< M^-1 u_k
};

}  // namespace solver
