#pragma once

/// How far the recursively updated residual may have drifted from the true one.

#include "solver/numeric/rounding.hpp"

#include <cmath>

namespace solver {

/// Van der Vorst and Ye, SIAM J. Sci. Comput. 22(3), 2000: in each step r - (b - A x) gains at most about u (|| |A| |z| || +
/// the norms of what was added to r), z being the correction accumulated since the last replacement (their group-wise update).
/// Products with A are rounded once, so the number of entries in a row does not appear; || |A| |z| || is estimated by the norm
/// of (w_j z_j), w_j the 1-norm of column j, which unlike ||A|| ||z|| does not suffer from rows and columns of different scale.
///
/// r is to be replaced when the estimate first exceeds `tolerated` ||r||: late enough for the recurrence to have done its work,
/// early enough for it to bear the change, and only if steps rather than the rounding of x make up the deviation.
class ResidualDrift {
public:
    explicit ResidualDrift(double unit_roundoff) : u_(unit_roundoff), tolerated_(32 * std::sqrt(unit_roundoff)) {}

    /// r is the true residual of x, rounded. `x_terms` estimates || |A| |x| ||, 0 where x is a pair.
    SOLVER_HD void reset(double r_norm, double x_terms) noexcept {
        initial_ = deviation_ = mul_rn(u_, add_rn(r_norm, x_terms));
        was_small_ = true;
    }

    /// One step was made. Returns whether r is to be replaced.
    SOLVER_HD bool step(double z_terms, double r_terms, double r_norm) noexcept {
        deviation_ = add_rn(deviation_, mul_rn(u_, add_rn(z_terms, r_terms)));
        const bool small = deviation_ <= mul_rn(tolerated_, r_norm) || deviation_ <= mul_rn(1.1, initial_);
        const bool due = was_small_ && !small;
        was_small_ = small;
        return due;
    }

private:
    double u_;
    double tolerated_;  // of the paper's order, sqrt(u); the factor costs no iterations and saves most of the replacements
    double initial_ = 0;
    double deviation_ = 0;
    bool was_small_ = true;
};

}  // namespace solver
