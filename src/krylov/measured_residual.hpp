#pragma once

/// What the outer loop asks of steps whose every change of r is measured.

#include "core/krylov/stretch.hpp"
#include "solver/numeric/rounding.hpp"

namespace solver {

/// The scalars of a method, as StepwiseRecurrence wants them, whose steps add vectors to r and take ||r|| after each.
template <class V>
class MeasuredResidual {
public:
    using Value = V;

    static constexpr bool has_random_starts = true;
    static constexpr bool has_bounded_residuals = false;

    void begin(double r_norm) { r_norm_ = r_norm; }
    void continue_from_replaced(double r_norm) { r_norm_ = r_norm; }

    void begin_step() { terms_ = 0; }

    /// After one vector was added to r in this step.
    StepEnd take_r_norm(double r_norm) {
        terms_ = add_rn(terms_, add_rn(r_norm_, 2 * r_norm));
        r_norm_ = r_norm;
        return is_finite(r_norm) ? StepEnd::full : StepEnd::non_finite;
    }

    double r_norm() const { return r_norm_; }

    /// A bound of the norms of everything that was added to r in the last step: a vector is no longer than r before and after.
    double terms() const { return terms_; }
    double z_weight() const { return 1; }

private:
    double r_norm_ = 0;
    double terms_ = 0;
};

}  // namespace solver
