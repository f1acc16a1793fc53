#pragma once

/// The small least-squares problems of GMRES, on the host.

#include "solver/numeric/rounding.hpp"

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace solver {

/// A plane rotation: (a, b) to (c a + s b, c b - s a), each product and sum rounded once.
struct Rotation {
    double c = 1;
    double s = 0;

    /// That which leaves (length, 0) of (a, b); the identity of (0, 0). By divisions that neither overflow nor underflow.
    static Rotation of(double a, double b, double& length) {
        const double largest = std::fmax(std::fabs(a), std::fabs(b));
        if (!(largest > 0)) {
            length = largest;
            return {};
        }
        const double p = div_rn(a, largest), q = div_rn(b, largest);
        const double norm = sqrt_rn(add_rn(mul_rn(p, p), mul_rn(q, q)));
        length = mul_rn(largest, norm);
        return {div_rn(p, norm), div_rn(q, norm)};
    }

    void apply(double& a, double& b) const {
        const double first = add_rn(mul_rn(c, a), mul_rn(s, b));
        b = add_rn(mul_rn(c, b), -mul_rn(s, a));
        a = first;
    }
};

/// min ||beta e_1 - H y|| for an upper Hessenberg matrix H that grows by columns, by plane rotations (Saad, Schultz, SIAM J.
/// Sci. Stat. Comput. 7(3), 1986), in a fixed order.
class HessenbergLeastSquares {
public:
    void begin(double beta) {
        rotations_.clear();
        r_.clear();
        g_ = {beta};
    }

    /// Takes the next column, which has two elements more than there are columns, unless all of it but what is not above
    /// `least` depends on the columns before. Returns whether it did.
    bool append(std::vector<double> h, double least) {
        const std::size_t k = rotations_.size();
        for (std::size_t i = 0; i < k; ++i) rotations_[i].apply(h[i], h[i + 1]);
        const Rotation rotation = Rotation::of(h[k], h[k + 1], h[k]);
        if (!(h[k] > least)) return false;
        h.pop_back();
        rotations_.push_back(rotation);
        g_.push_back(0);
        rotation.apply(g_[k], g_[k + 1]);
        r_.push_back(std::move(h));
        return true;
    }

    /// Of the least squares so far.
    double residual() const { return std::fabs(g_.back()); }

    /// y, from the last element to the first.
    std::vector<double> solution() const {
        std::vector<double> y(r_.size());
        for (std::size_t i = y.size(); i-- > 0;) {
            double rest = g_[i];
            for (std::size_t j = y.size(); j-- > i + 1;) rest = add_rn(rest, -mul_rn(r_[j][i], y[j]));
            y[i] = div_rn(rest, r_[i][i]);
        }
        return y;
    }

private:
    std::vector<Rotation> rotations_;
    std::vector<std::vector<double>> r_;  ///< the columns of the triangle
    std::vector<double> g_;               ///< the rotated right-hand side
};

}  // namespace solver
