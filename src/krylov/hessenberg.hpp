#pragma once

/// The small least-squares problems of GMRES, on the host.

#include "core/krylov/complex_scalar.hpp"
#include "solver/numeric/rounding.hpp"

#include <cmath>
#include <complex>
#include <cstddef>
#include <type_traits>
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

/// A plane rotation of complex numbers: (a, b) to (c a + s b, c b - conj(s) a), c real and not negative.
struct ComplexRotation {
    double c = 1;
    std::complex<double> s = 0;

    /// That which leaves (length, 0) of (a, b), as Rotation::of; length has the direction of a.
    static ComplexRotation of(std::complex<double> a, std::complex<double> b, std::complex<double>& length) {
        const double largest = std::fmax(magnitude(a), magnitude(b));
        if (!(largest > 0)) {
            length = largest;
            return {};
        }
        const std::complex<double> p = div_rn(a, largest), q = div_rn(b, largest);
        const double p_size = magnitude(p), q_size = magnitude(q);
        const double norm = sqrt_rn(add_rn(mul_rn(p_size, p_size), mul_rn(q_size, q_size)));
        const std::complex<double> direction = p_size > 0 ? div_rn(p, p_size) : 1;
        length = mul_rn(direction, mul_rn(largest, norm));
        return {div_rn(p_size, norm), div_rn(mul_rn(direction, conjugate(q)), norm)};
    }

    void apply(std::complex<double>& a, std::complex<double>& b) const {
        const std::complex<double> first = add_rn(mul_rn(a, c), mul_rn(s, b));
        b = add_rn(mul_rn(b, c), -mul_rn(conjugate(s), a));
        a = first;
    }
};

/// min ||beta e_1 - H y|| for an upper Hessenberg matrix H that grows by columns, by plane rotations (Saad, Schultz, SIAM J.
/// Sci. Stat. Comput. 7(3), 1986), in a fixed order. Scalar is double or std::complex<double>.
template <class Scalar>
class HessenbergLeastSquares {
public:
    void begin(double beta) {
        rotations_.clear();
        r_.clear();
        g_ = {beta};
    }

    /// Takes the next column, which has two elements more than there are columns, unless all of it but what is not above
    /// `least` depends on the columns before. Returns whether it did.
    bool append(std::vector<Scalar> h, double least) {
        const std::size_t k = rotations_.size();
        for (std::size_t i = 0; i < k; ++i) rotations_[i].apply(h[i], h[i + 1]);
        const PlaneRotation rotation = PlaneRotation::of(h[k], h[k + 1], h[k]);
        if (!(magnitude(h[k]) > least)) return false;
        h.pop_back();
        rotations_.push_back(rotation);
        g_.push_back(0);
        rotation.apply(g_[k], g_[k + 1]);
        r_.push_back(std::move(h));
        return true;
    }

    /// Of the least squares so far.
    double residual() const { return magnitude(g_.back()); }

    /// y, from the last element to the first.
    std::vector<Scalar> solution() const {
        std::vector<Scalar> y(r_.size());
        for (std::size_t i = y.size(); i-- > 0;) {
            Scalar rest = g_[i];
            for (std::size_t j = y.size(); j-- > i + 1;) rest = add_rn(rest, -mul_rn(r_[j][i], y[j]));
            y[i] = div_rn(rest, r_[i][i]);
        }
        return y;
    }

private:
    using PlaneRotation = std::conditional_t<is_complex<Scalar>, ComplexRotation, Rotation>;

    std::vector<PlaneRotation> rotations_;
    std::vector<std::vector<Scalar>> r_;  ///< the columns of the triangle
    std::vector<Scalar> g_;               ///< the rotated right-hand side
};

}  // namespace solver
