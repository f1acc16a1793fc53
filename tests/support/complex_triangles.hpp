#pragma once

/// What the solutions of complex triangular systems should be.

#include "support/expected_complex.hpp"
#include "support/oracle.hpp"
#include "support/triangles.hpp"
#include "support/values.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <span>

namespace solver::testing {

/// b_i - sum_j a_ij x_j
template <class T>
ExpectedComplexSum<T> expected_numerator(const TriangularRows<std::complex<T>>& a, std::int64_t i, Span<std::complex<T>> b,
                                         Span<std::complex<T>> x) {
    ExpectedComplexSum<T> sum;
    sum.add(b[i]);
    for (const auto& [j, value] : a.beside[i]) sum.add_entry(-value, x[j]);
    return sum;
}

template <class T>
T canonical_part(T x) {
    return std::isnan(x) ? nan_value<T> : x + T(0);
}

/// (x p + y q) / (p^2 + q^2) rounded once.
template <class T>
T expected_part(T x, T y, std::complex<T> pivot) {
    const T p = pivot.real(), q = pivot.imag();
    if (q == T(0)) return canonical_part(x / p);
    if (p == T(0)) return canonical_part(y / q);
    if (!std::isfinite(x) || !std::isfinite(y) || !std::isfinite(p) || !std::isfinite(q)) {
        const double sum = double{x} * p + double{y} * q;
        return canonical_part(static_cast<T>(sum / (double{p} * p + double{q} * q)));
    }
    Oracle sum, divisor;
    sum.add_product(x, p);
    sum.add_product(y, q);
    divisor.add_product(p, p);
    divisor.add_product(q, q);
    return sum.quotient_rounded<T>(divisor);
}

template <class T>
std::complex<T> expected_quotient(std::complex<T> a, std::complex<T> b) {
    return {expected_part(a.real(), a.imag(), b), expected_part(a.imag(), -a.real(), b)};
}

template <class T>
bool is_finite_number(std::complex<T> z) {
    return std::isfinite(z.real()) && std::isfinite(z.imag());
}

/// Whether both parts of the quotient `found`, each rounded once more, keep the promise of fast or compensated. It may overflow
/// where the numerator's terms do when they are divided.
template <class T>
bool allows_quotient(const ExpectedComplexSum<T>& sum, std::complex<T> found, std::complex<T> pivot, Accuracy accuracy) {
    if (!is_finite_number(found)) {
        const long double divisor = std::max(std::abs(pivot.real()), std::abs(pivot.imag()));
        return (sum.re.wide_magnitudes() + sum.im.wide_magnitudes()) / divisor > std::numeric_limits<T>::max() / 4;
    }
    return sum.re.allows_products({{found.real(), pivot.real()}, {-found.imag(), pivot.imag()}}, accuracy) &&
           sum.im.allows_products({{found.real(), pivot.imag()}, {found.imag(), pivot.real()}}, accuracy);
}

/// As of real numbers. Of quotients of what is not finite only exact is looked at.
template <class T>
bool keeps_promise(const TriangularRows<std::complex<T>>& a, Diagonal diagonal, std::int64_t i, Span<std::complex<T>> b,
                   Span<std::complex<T>> x, Accuracy accuracy) {
    const ExpectedComplexSum<T> sum = expected_numerator(a, i, b, x);
    if (diagonal == Diagonal::unit) return sum.allows(x[i], accuracy);
    const std::complex<T> pivot = a.pivot[i];
    if (accuracy == Accuracy::exact) {
        const std::complex<T> expected = expected_quotient(sum.rounded(), pivot);
        return same_bits(x[i].real(), expected.real()) && same_bits(x[i].imag(), expected.imag());
    }
    const auto is_open = [](const ExpectedSum<T>& part) { return part.may_overflow() || part.is_special(); };
    return is_open(sum.re) || is_open(sum.im) || !is_finite_number(pivot) || allows_quotient(sum, x[i], pivot, accuracy);
}

}  // namespace solver::testing
