#pragma once

/// How far the columns of a basis may be from orthonormal: a bound that is carried along, from what is measured anyway.

#include "solver/numeric/rounding.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace solver {

/// For V = (v_0, ..., v_{k-1}) with V'V = I + E a bound of ||E||_F, column by column: c_j bounds the norm of the products of
/// v_j with the columns before it, and | ||v_j||^2 - 1 | <= 4 u. A pass of classical Gram-Schmidt makes w' = w - V h of w, h
/// the dot products as computed, and v_k = w' / ||w'||. With h* = V'w and the rounding errors f of the subtractions,
///
///     V'w' = (h* - h) - E h + V'f,
///     ||h* - h|| <= u ||h|| + sqrt(k) nu ||w||,      nu = dot_uncertainty: 0 in exact,
///     ||E h|| <= sum_j c_j |h_j| + (sum_j c_j^2 (h_0^2 + ... + h_{j-1}^2))^(1/2) + 4 u ||h||,
///     ||f|| <= u sum_i (|h_i| ||v_i|| + ||w_i||) <= 2 k u ||w||   (w_i, on the way from w to w', is no longer than w),
///
/// all but for factors 1 + ||E||; E h by columns of its upper triangle, by rows of the lower one, and its diagonal. So
///
///     c_k = (||h* - h|| + ||E h|| + 2 k u ||w||) / ||w'|| + 4 u,
///
/// where the last 4 u stand for the division. Where dot products are exact nu is 0, and no c_k knows how long the vectors are:
/// so one pass mostly suffices. Where it does not, another one is made of w', whose h is short, so that E hardly counts. In
/// fast nu is gamma_n, and in single precision every step with long vectors takes two.
///
/// The sums hold for any signs, and grow from step to step by far more than what they bound. Where that counts, V'w' itself can
/// be computed: as l, with errors as of h, it says that
///
///     c_k = (||l|| + u ||l|| + sqrt(k) nu ||w'||) / ||w'|| + 4 u.
///
/// What it is for: the norm of a residual V t is within sqrt(1 +- e) of ||t||, e = ||E||_F, and the least ||t|| within a factor
/// sqrt((1 + e) / (1 - e)) of the least residual (Paige, Rozloznik, Strakos, SIAM J. Matrix Anal. Appl. 28(1), 2006, say what
/// else follows). `tolerated` makes that 1.004.
class OrthogonalityBound {
public:
    static constexpr double tolerated = 0x1p-8;

    OrthogonalityBound(double unit_roundoff, double dot_uncertainty) : u_(unit_roundoff), nu_(dot_uncertainty) {}

    /// One column.
    void begin() { c_ = {0}; }

    /// c_k after a pass over all columns, with h_j / ||w|| and ||w'|| / ||w||.
    double of_pass(std::span<const double> h_shares, double rest_share) const {
        double upper = 0, lower = 0, before = 0;
        for (std::size_t j = 0; j < c_.size(); ++j) {
            upper = add_rn(upper, mul_rn(c_[j], magnitude(h_shares[j])));
            lower = add_rn(lower, mul_rn(mul_rn(c_[j], c_[j]), before));
            before = add_rn(before, mul_rn(h_shares[j], h_shares[j]));
        }
        const auto k = static_cast<double>(c_.size());
        const double of_e = add_rn(add_rn(upper, sqrt_rn(lower)), mul_rn(5 * u_, sqrt_rn(before)));
        const double of_w = add_rn(mul_rn(2 * k, u_), mul_rn(sqrt_rn(k), nu_));
        return add_rn(div_rn(add_rn(of_e, of_w), rest_share), 4 * u_);
    }

    /// c_k of a w' of this norm where `products` is V'w' as computed.
    double of_products(std::span<const double> products, double norm) const {
        double square = 0;
        for (const double product : products) square = add_rn(square, mul_rn(product, product));
        const double of_sums = mul_rn(sqrt_rn(static_cast<double>(c_.size())), nu_);
        return add_rn(add_rn(div_rn(mul_rn(1 + u_, sqrt_rn(square)), norm), of_sums), 4 * u_);
    }

    /// Whether a further column may have the least c that a pass can give it. It may not where dot products are too uncertain,
    /// as in fast of long vectors in single precision: there each step takes two passes.
    bool can_be_tolerated() const {
        const double least = mul_rn(sqrt_rn(static_cast<double>(c_.size())), nu_);
        return tolerates(add_rn(least, 4 * u_));
    }

    /// Whether one pass will probably do for the next column: its bound is mostly less than ten times that of the last one.
    bool expects_one_pass() const { return can_be_tolerated() && tolerates(10 * c_.back()); }

    /// Whether a further column may have this c. False for NaN.
    bool tolerates(double c) const { return add_rn(squares(), 2 * mul_rn(c, c)) <= tolerated * tolerated; }

    void add(double c) { c_.push_back(c); }

    /// A bound of ||E||_F.
    double loss() const { return sqrt_rn(squares()); }

    /// What w' is made of, in units of ||w||, where nothing else is left of w after all passes.
    double noise() const { return 4 * static_cast<double>(c_.size() + 1) * u_; }

private:
    double squares() const {
        double sum = 0;
        for (const double c : c_) sum = add_rn(sum, add_rn(2 * mul_rn(c, c), 16 * mul_rn(u_, u_)));
        return sum;
    }

    double u_;
    double nu_;
    std::vector<double> c_;
};

}  // namespace solver
