#pragma once

/// How far the recursive residual may have drifted from the true one.

#include <cmath>

namespace solver {

/// Van der Vorst and Ye, SIAM J. Sci. Comput. 22(3), 2000, sections 2 and 3: the deviation r - (b - A x) gains in each step at
/// most about u (||A|| ||z|| + the norms of what was added to r), z being the correction accumulated since the last replacement
/// (their group-wise update); products with A are rounded once, so the number of entries in a row does not appear. r is to be
/// replaced when that estimate first exceeds sqrt(u) ||r||: late enough for the recursion to have done its work, early enough
/// for the replacement to change r only by what the recursion can bear.
class ResidualDrift {
public:
    ResidualDrift(double unit_roundoff, double matrix_norm) : u_(unit_roundoff), matrix_norm_(matrix_norm) {}

    /// r is the true residual, rounded.
    void reset(double r_norm) {
        deviation_ = u_ * r_norm;
        was_small_ = true;
    }

    /// One step was made. Returns whether r is to be replaced.
    bool step(double z_norm, double terms, double r_norm) {
        deviation_ += u_ * (matrix_norm_ * z_norm + terms);
        const bool small = deviation_ <= std::sqrt(u_) * r_norm;
        const bool due = was_small_ && !small;
        was_small_ = small;
        return due;
    }

private:
    double u_;
    double matrix_norm_;
    double deviation_ = 0;
    bool was_small_ = true;
};

}  // namespace solver
