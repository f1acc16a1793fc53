#pragma once

/// What sums of complex products should be: two sums of real ones, each with the promise of its mode.

#include "solver/accuracy.hpp"
#include "solver/numeric/complex.hpp"
#include "support/expected.hpp"

#include <cmath>
#include <complex>
#include <type_traits>

namespace solver::testing {

template <class T>
struct ExpectedComplexSum {
    ExpectedSum<T> re, im;

    void add(std::complex<T> x) {
        re.add(x.real());
        im.add(x.imag());
    }

    void add_product(std::complex<T> a, std::complex<T> b) {
        add_part_times(a.real(), b.real(), b.imag());
        add_part_times(a.imag(), -b.imag(), b.real());
    }

    /// Of an entry of a sparse matrix, whose parts that are zero are none.
    void add_entry(std::complex<T> a, std::complex<T> x) {
        if (a.real() != T(0)) add_part_times(a.real(), x.real(), x.imag());
        if (a.imag() != T(0)) add_part_times(a.imag(), -x.imag(), x.real());
    }

    /// alpha times this + beta y; what is zero of the factors multiplies nothing.
    ExpectedComplexSum affine(std::complex<T> alpha, std::complex<T> beta, std::complex<T> y) const {
        if (alpha.imag() == T(0) && beta.imag() == T(0))
            return {re.affine(alpha.real(), beta.real(), y.real()), im.affine(alpha.real(), beta.real(), y.imag())};
        ExpectedComplexSum sum;
        sum.re.add_scaled(re, alpha.real());
        sum.re.add_scaled(im, -alpha.imag());
        sum.im.add_scaled(im, alpha.real());
        sum.im.add_scaled(re, alpha.imag());
        sum.add_entry(beta, y);
        return sum;
    }

    std::complex<T> rounded() const { return {re.rounded(), im.rounded()}; }
    bool allows(std::complex<T> found, Accuracy accuracy) const {
        return re.allows(found.real(), accuracy) && im.allows(found.imag(), accuracy);
    }

private:
    void add_part_times(T part, T to_re, T to_im) {
        re.add_product(part, to_re);
        im.add_product(part, to_im);
    }
};

/// A sum of real numbers or of complex ones.
template <class S>
using Expected = std::conditional_t<is_complex<S>, ExpectedComplexSum<RealOf<S>>, ExpectedSum<RealOf<S>>>;

/// An entry of a sparse matrix times an element.
template <class T>
void add_entry(ExpectedSum<T>& sum, T a, T x) {
    sum.add_product(a, x);
}
template <class T>
void add_entry(ExpectedComplexSum<T>& sum, std::complex<T> a, std::complex<T> x) {
    sum.add_entry(a, x);
}

}  // namespace solver::testing
