#pragma once

/// How far the columns of a basis may be from orthonormal: a bound that is carried along, from what is measured anyway.

#include "solver/numeric/rounding.hpp"

namespace solver {

/// For V = (v_0, ..., v_{k-1}) a bound e of ||V'V - I||_F. A pass of classical Gram-Schmidt makes w' = w - V h of w, h the dot
/// products as computed, and v_k = w' / ||w'||. With h* = V'w and the rounding errors f of the subtractions,
///
///     V'w' = (h* - h) - (V'V - I) h + V'f,
///     ||h* - h|| <= u ||h|| + sqrt(k) nu ||w||,      nu = dot_uncertainty: 0 in exact,
///     ||f|| <= u sum_i (|h_i| ||v_i|| + ||w_i||) <= 2 k u ||w||   (w_i, on the way from w to w', is no longer than w),
///
/// all but for factors 1 + e. So the products of v_k with the columns before it have at most the norm
///
///     c = ((u + e) ||h|| + (2 k u + sqrt(k) nu) ||w||) / ||w'|| + 4 u,
///
/// where 4 u stands for the division, and e grows to sqrt(e^2 + 2 c^2 + (4 u)^2). Where dot products are exact nu is 0, and
/// neither c nor e knows how long the vectors are: so one pass mostly suffices, for c to stay below `tolerated`. Where it does
/// not, another one is made of w', whose h is short, so that e hardly counts. In fast nu is gamma_n, and every step of a long
/// basis, or of a long vector, takes two.
///
/// What it is for: with V'V = I + E the norm of a residual V t is within sqrt(1 +- e) of ||t||, and the least ||t|| within a
/// factor sqrt((1 + e) / (1 - e)) of the least residual (Paige, Rozloznik, Strakos, SIAM J. Matrix Anal. Appl. 28(1), 2006, say
/// what else follows). `tolerated` makes that 1.001.
class OrthogonalityBound {
public:
    static constexpr double tolerated = 0x1p-10;

    OrthogonalityBound(double unit_roundoff, double dot_uncertainty) : u_(unit_roundoff), nu_(dot_uncertainty) {}

    /// One column.
    void begin() { loss_ = 4 * u_; }

    /// c after a pass over k columns; `h_share` is ||h|| / ||w||, `rest_share` ||w'|| / ||w||.
    double of_pass(double k, double h_share, double rest_share) const {
        const double of_h = mul_rn(add_rn(u_, loss_), h_share);
        const double of_w = add_rn(mul_rn(2 * k, u_), mul_rn(sqrt_rn(k), nu_));
        return add_rn(div_rn(add_rn(of_h, of_w), rest_share), 4 * u_);
    }

    /// The new column has this c.
    void add(double c) {
        const double squares = add_rn(mul_rn(loss_, loss_), 2 * mul_rn(c, c));
        loss_ = sqrt_rn(add_rn(squares, 16 * mul_rn(u_, u_)));
    }

    /// What w' is made of, in units of ||w||, where nothing else is left of w after all passes.
    double noise(double k) const { return 4 * (k + 1) * u_; }

private:
    double u_;
    double nu_;
    double loss_ = 0;
};

}  // namespace solver
