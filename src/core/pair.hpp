#pragma once

/// Numbers of twice the precision of double.

#include "solver/numeric/error_free.hpp"
#include "solver/numeric/rounding.hpp"

#include <cmath>

namespace solver {

/// An unevaluated sum, |low| at most about 2^-53 |high|. The operations have relative errors of some 2^-100.
struct Pair {
    double high = 0;
    double low = 0;
};

inline double magnitude(const Pair& a) { return std::abs(a.high); }

inline Pair normalised(double high, double low) {
    const Split<double> sum = two_sum(high, low);
    return {sum.value, sum.error};
}

inline Pair operator*(const Pair& a, const Pair& b) {
    const Split<double> product = two_prod(a.high, b.high);
    return normalised(product.value, product.error + (a.high * b.low + a.low * b.high));
}

inline Pair operator-(const Pair& a, const Pair& b) {
    const Split<double> high = two_sum(a.high, -b.high), low = two_sum(a.low, -b.low);
    const Pair sum = normalised(high.value, high.error + low.value);
    return normalised(sum.high, sum.low + low.error);
}

inline Pair operator+(const Pair& a, const Pair& b) { return a - Pair{-b.high, -b.low}; }

/// Two steps of Newton's method for 1 / a.
inline Pair reciprocal(const Pair& a) {
    Pair x{1 / a.high, 0};
    for (int step = 0; step < 2; ++step) {
        const Pair defect = a * x - Pair{1, 0};
        x = x - defect * x;
    }
    return x;
}

}  // namespace solver
