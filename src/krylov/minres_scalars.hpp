#pragma once

/// What one step of MINRES computes and decides with scalars.

#include "core/krylov/stretch.hpp"
#include "krylov/hessenberg.hpp"
#include "krylov/product_unit.hpp"
#include "solver/numeric/rounding.hpp"

#include <algorithm>
#include <cmath>
#include <concepts>

namespace solver {

/// The Lanczos process in the inner product of M^-1 and the plane rotations of its tridiagonal matrix (Paige, Saunders, SIAM J.
/// Numer. Anal. 12(4), 1975; preconditioned as in Elman, Silvester, Wathen, Finite Elements and Fast Iterative Solvers,
/// algorithm 4.1). v_j are the Lanczos vectors, ||v_j||_{M^-1} = gamma_j, u_j = M^-1 v_j / gamma_j. Dot products and norms
/// arrive rounded to Value; what is computed from them in double is rounded once to Value.
template <std::floating_point V>
class MinresScalars {
public:
    using Value = V;

    /// A restart from the same x takes the same course.
    static constexpr bool has_random_starts = false;
    static constexpr bool has_bounded_residuals = true;

    void begin(double r_norm) {
        *this = {};
        r_norm_ = r_norm;
    }

    bool is_first() const { return first_; }

    /// (v_1, M^-1 v_1), which is positive.
    void take_first(double square) { gamma_ = eta_ = sqrt_rn(square); }

    /// ||A u|| in the first step, where u has the norm of M^-1 v by gamma: what A is divided by (product_unit.hpp).
    void take_scale(double product_norm) { unit_ = product_unit<Value>(mul_rn(product_norm, div_rn(gamma_, r_norm_))); }
    double unit() const { return unit_; }
    Value of_product() const { return rounded(div_rn(1.0, unit_)); }

    /// (u, A u), which makes v_{j+1} = A u - of_v v_j - of_previous v_{j-1}.
    void take_curvature(double delta) { delta_ = delta; }
    Value of_v() const { return rounded(div_rn(delta_, gamma_)); }
    Value of_previous() const { return rounded(div_rn(gamma_, previous_gamma_)); }
    Value of_u() const { return rounded(div_rn(1.0, gamma_)); }

    /// (v_{j+1}, M^-1 v_{j+1}), positive, or zero where the space is used up.
    StepEnd take_next(double square) {
        next_gamma_ = sqrt_rn(square);
        const double first = add_rn(mul_rn(now_.c, delta_), -mul_rn(mul_rn(previous_.c, now_.s), gamma_));
        second_ = add_rn(mul_rn(now_.s, delta_), mul_rn(mul_rn(previous_.c, now_.c), gamma_));
        third_ = mul_rn(previous_.s, gamma_);
        next_ = Rotation::of(first, next_gamma_, pivot_);
        const double scale = first_ ? magnitude(delta_) : add_rn(magnitude(delta_), gamma_);
        if (!is_finite(pivot_) || !is_finite(scale)) return StepEnd::non_finite;
        const double of_next = mul_rn(now_.c, next_gamma_);
        look_at_range(sqrt_rn(add_rn(mul_rn(first, first), mul_rn(of_next, of_next))), add_rn(scale, next_gamma_));
        return pivot_ > mul_rn(noise, scale) ? StepEnd::none : StepEnd::breakdown;
    }

    /// d_{j+1} = u - of_older d_{j-1} - of_old d_j, z = z + of_d d_{j+1}: the directions are not divided by their pivots.
    Value of_older() const { return rounded(older_pivot_ == 0 ? 0 : div_rn(third_, older_pivot_)); }
    Value of_old() const { return rounded(old_pivot_ == 0 ? 0 : div_rn(second_, old_pivot_)); }
    Value of_d() const { return rounded(div_rn(div_rn(mul_rn(next_.c, eta_), pivot_), unit_)); }

    /// r = of_r r + of_next v_{j+1}: with the rotations' last column p, r = eta p, and p_{j+1} = c v_{j+1} / gamma - s p_j.
    Value of_r() const { return rounded(mul_rn(next_.s, next_.s)); }
    Value of_next() const { return rounded(-div_rn(mul_rn(next_.c, mul_rn(next_.s, eta_)), next_gamma_)); }
    bool is_used_up() const { return next_gamma_ == 0; }

    /// ||r||
    StepEnd take_r_norm(double r_norm) {
        r_norm_ = r_norm;
        eta_ = -mul_rn(next_.s, eta_);
        previous_gamma_ = gamma_;
        gamma_ = next_gamma_;
        older_pivot_ = old_pivot_;
        old_pivot_ = pivot_;
        previous_ = now_;
        now_ = next_;
        first_ = false;
        if (!is_finite(r_norm)) return StepEnd::non_finite;
        return becomes_orthogonal_ ? StepEnd::orthogonal : StepEnd::full;
    }

    double r_norm() const { return r_norm_; }

    /// r is never replaced for drift.
    double terms() const { return 0; }
    double z_weight() const { return 0; }

    /// ||A r|| by ||A|| ||r|| where r counts as orthogonal to the range of A: the root of the roundoff of 4096 steps, at most.
    static double nothing() { return std::min(64 * sqrt_rn(static_cast<double>(unit_roundoff<Value>)), 0x1p-10); }

    /// What rounding leaves of a vector or a pivot that should vanish, relatively.
    static constexpr double noise = 16 * unit_roundoff<Value>;

private:
    static Value rounded(double x) { return static_cast<Value>(x); }

    /// Told ||A r|| / ||r|| and what the step shows of ||A||: finds where A r has fallen to nothing() and rises again, once a
    /// fall (Choi, Paige, Saunders, SIAM J. Sci. Comput. 33(4), 2011, sec. 3). There ||r|| is least where nothing solves the
    /// system: k steps leave an error of some k u in the null space, which grows by the factor that A r falls by, so that the
    /// two meet at the root of k u.
    void look_at_range(double product, double norm) {
        constexpr double high = 0x1p-5;
        norm_ = std::max(norm_, norm);
        const double share = div_rn(product, norm_);
        becomes_orthogonal_ = least_share_ <= nothing() && share > 2 * least_share_ && !was_orthogonal_;
        was_orthogonal_ = was_orthogonal_ || becomes_orthogonal_;
        least_share_ = std::min(least_share_, share);
        if (share > high) {
            was_orthogonal_ = false;
            least_share_ = 1;
        }
    }

    bool first_ = true;
    double unit_ = 1;
    double r_norm_ = 0;
    double eta_ = 0;
    double delta_ = 0;
    double previous_gamma_ = 0, gamma_ = 0, next_gamma_ = 0;
    double second_ = 0, third_ = 0;
    double older_pivot_ = 0, old_pivot_ = 0, pivot_ = 0;
    double norm_ = 0;         ///< of A, as far as it has shown
    double least_share_ = 1;  ///< ||A r|| by ||A|| ||r|| since it was large
    bool was_orthogonal_ = false, becomes_orthogonal_ = false;
    Rotation previous_, now_, next_;
};

}  // namespace solver
