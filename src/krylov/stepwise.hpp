#pragma once

/// What recurrences have in common that make one step at a time on a StepBackend.

#include "core/krylov/complex_scalar.hpp"
#include "core/krylov/stretch.hpp"
#include "krylov/backend.hpp"
#include "krylov/task.hpp"
#include "solver/numeric/rounding.hpp"

#include <span>

namespace solver {

/// All of a recurrence but its step: Derived has `Task<StepEnd> step(double target)`, which makes the step's products, asks
/// `scalars_` what follows, and updates r and z.
template <StepBackend B, class Scalars, class Derived>
class StepwiseRecurrence {
public:
    using Value = typename B::Value;
    using Vector = typename B::Vector;

    static constexpr bool has_random_starts = Scalars::has_random_starts;
    static constexpr bool has_bounded_residuals = Scalars::has_bounded_residuals;
    static constexpr bool keeps_directions = true;

    void start(const Vector* weights) { weights_ = weights; }
    void update_z() const {}
    void continue_from_replaced(double r_norm) { scalars_.continue_from_replaced(r_norm); }
    void reset_drift(double r_norm, double x_terms) { drift_.reset(r_norm, x_terms); }

    /// One step, so that each is reported at once.
    Task<Stretch> advance(const StepLimits& limits) {
        auto& self = static_cast<Derived&>(*this);
        const StepEnd end = co_await self.step(limits.target);
        norm_ = scalars_.r_norm();
        const auto z_terms = [&] { return norm_of_products(*weights_, z, self.scratch()); };
        co_return Stretch{end, reason_to_verify(end, scalars_, limits, weights_ != nullptr ? &drift_ : nullptr, z_terms)};
    }

    std::span<const double> norms() const { return {&norm_, 1}; }

    Vector r;
    Vector z;

protected:
    explicit StepwiseRecurrence(B& backend)
        : r(backend.vector()), z(backend.vector()), backend_(backend), drift_(unit_roundoff<RealOf<Value>>) {}

    /// The norm of (x_i y_i); `products` is overwritten.
    double norm_of_products(const Vector& x, const Vector& y, Vector& products) {
        return solver::norm_of_products(backend_, x, y, products);
    }

    B& backend_;
    Scalars scalars_;

private:
    const Vector* weights_ = nullptr;
    ResidualDrift drift_;
    double norm_ = 0;
};

}  // namespace solver
