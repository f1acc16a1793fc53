#pragma once

/// A method in two lines, to see what the library makes of any.

#include "krylov/backend.hpp"
#include "krylov/stepwise.hpp"

#include <cmath>
#include <cstdint>

namespace solver::testing {

/// What the outer loop is told of a step of Richardson's iteration: norms alone.
struct RichardsonScalars {
    static constexpr bool has_random_starts = false;
    static constexpr bool has_bounded_residuals = false;

    void begin(double norm) { r_norm_ = norm; }
    void continue_from_replaced(double norm) { r_norm_ = norm; }
    StepEnd take_r_norm(double norm) {
        previous_norm_ = r_norm_;
        r_norm_ = norm;
        return std::isfinite(norm) ? StepEnd::full : StepEnd::non_finite;
    }
    double r_norm() const { return r_norm_; }
    double terms() const { return previous_norm_ + 2 * r_norm_; }
    double z_weight() const { return 1; }

private:
    double r_norm_ = 0;
    double previous_norm_ = 0;
};

/// z = z + M^-1 r, r = r - A M^-1 r: a method in two lines, and the outer loop is that of all.
template <StepBackend B>
class RichardsonRecurrence : public StepwiseRecurrence<B, RichardsonScalars, RichardsonRecurrence<B>> {
    using Base = StepwiseRecurrence<B, RichardsonScalars, RichardsonRecurrence<B>>;
    friend Base;

public:
    explicit RichardsonRecurrence(B& backend) : Base(backend), r_hat_(backend.vector()), q_(backend.vector()) {}

    void begin(double r_norm, std::uint64_t) { this->scalars_.begin(r_norm); }

private:
    typename B::Vector& scratch() { return q_; }

    Task<StepEnd> step(double) {
        this->backend_.precondition(this->r, r_hat_);
        co_await this->backend_.multiply(r_hat_, q_);
        this->backend_.add(1, r_hat_, this->z);
        this->backend_.subtract(1, q_, this->r);
        co_return this->scalars_.take_r_norm(this->backend_.norm2(this->r));
    }

    typename B::Vector r_hat_;
    typename B::Vector q_;
};

}  // namespace solver::testing
