#pragma once

/// Scalars of Krylov methods on complex vectors: the arithmetic that real ones have from rounding.hpp, written down operation
/// by operation, so that every machine has the same bits, and numbers without an imaginary part have those of real ones.

#include "solver/numeric/complex.hpp"
#include "solver/numeric/rounding.hpp"

#include <complex>
#include <type_traits>

namespace solver {

/// What dot products of vectors of Value are.
template <class Value>
using ScalarOf = std::conditional_t<is_complex<Value>, std::complex<double>, double>;

inline std::complex<double> add_rn(std::complex<double> a, std::complex<double> b) {
    return {add_rn(a.real(), b.real()), add_rn(a.imag(), b.imag())};
}

inline std::complex<double> mul_rn(std::complex<double> a, std::complex<double> b) {
    return {add_rn(mul_rn(a.real(), b.real()), -mul_rn(a.imag(), b.imag())),
            add_rn(mul_rn(a.real(), b.imag()), mul_rn(a.imag(), b.real()))};
}

inline std::complex<double> mul_rn(std::complex<double> a, double b) { return {mul_rn(a.real(), b), mul_rn(a.imag(), b)}; }

inline std::complex<double> div_rn(std::complex<double> a, double b) { return {div_rn(a.real(), b), div_rn(a.imag(), b)}; }

/// By way of a quotient of b's parts that is at most 1 (Smith, Commun. ACM 5(8), 1962).
inline std::complex<double> div_rn(std::complex<double> a, std::complex<double> b) {
    if (magnitude(b.real()) < magnitude(b.imag()))  // a / b = (-i a) / (-i b)
        return div_rn(std::complex<double>(a.imag(), -a.real()), std::complex<double>(b.imag(), -b.real()));
    const double ratio = div_rn(b.imag(), b.real());
    const double divisor = add_rn(b.real(), mul_rn(b.imag(), ratio));
    return {div_rn(add_rn(a.real(), mul_rn(a.imag(), ratio)), divisor),
            div_rn(add_rn(a.imag(), -mul_rn(a.real(), ratio)), divisor)};
}

/// |a|, by divisions that neither overflow nor underflow. NaN where a part is.
inline double magnitude(std::complex<double> a) {
    const double re = magnitude(a.real()), im = magnitude(a.imag());
    const double largest = re < im ? im : re, least = re < im ? re : im;
    if (least == 0 || !is_finite(largest)) return add_rn(largest, least);
    const double q = div_rn(least, largest);
    return mul_rn(largest, sqrt_rn(add_rn(1.0, mul_rn(q, q))));
}

inline bool is_finite(std::complex<double> a) { return is_finite(a.real()) && is_finite(a.imag()); }

inline double conjugate(double a) { return a; }
inline std::complex<double> conjugate(std::complex<double> a) { return {a.real(), -a.imag()}; }

/// A scalar as a factor of vectors of Value, each part rounded once.
template <class Value>
SOLVER_HD constexpr Value to_value(ScalarOf<Value> x) noexcept {
    if constexpr (is_complex<Value>)
        return {static_cast<RealOf<Value>>(x.real()), static_cast<RealOf<Value>>(x.imag())};
    else
        return static_cast<Value>(x);
}

}  // namespace solver
