#pragma once

/// alpha s + beta y for complex factors: a part is a real sum of four products, of which the parts of s = (A x)_i are known in
/// twice the precision. The same on the processor and on devices.

#include "solver/numeric/complex.hpp"
#include "solver/numeric/escalation.hpp"
#include "solver/numeric/rounding.hpp"
#include "solver/numeric/tracked_sum.hpp"

#include <complex>

namespace solver {

/// What the parts of s and y are multiplied by, for one part of alpha s + beta y.
template <class T>
struct PartFactors {
    T s_re, s_im, y_re, y_im;
};

/// Re: ar s_re - ai s_im + br y_re - bi y_im; Im: ai s_re + ar s_im + bi y_re + br y_im.
template <class T>
PartFactors<T> factors_of_real_part(std::complex<T> alpha, std::complex<T> beta) {
    return {alpha.real(), -alpha.imag(), beta.real(), -beta.imag()};
}
template <class T>
PartFactors<T> factors_of_imaginary_part(std::complex<T> alpha, std::complex<T> beta) {
    return {alpha.imag(), alpha.real(), beta.imag(), beta.real()};
}

/// A real number s as high = RN(s) and low = RN(s - high).
template <class T>
struct TwiceRounded {
    T high, low;

    /// Of s - (high + low): u |low| + eta / 2. `above` pays for half of eta, and for a product that underflows.
    SOLVER_HD T error() const noexcept { return above(mul_rn(unit_roundoff<T>, magnitude(low))); }
};

/// A sum of products of factors with real numbers, and with numbers that were rounded twice. Nothing is multiplied by a zero.
template <class T>
class EnclosedSum {
public:
    SOLVER_HD void add_product(T factor, const TwiceRounded<T>& s) noexcept {
        if (factor == T(0)) return;
        sum_.add_product(factor, s.high);
        sum_.add_product(factor, s.low);
        error_ = above(add_rn(error_, above(mul_rn(magnitude(factor), s.error()))));
    }
    SOLVER_HD void add_product(T factor, T y) noexcept {
        if (factor != T(0)) sum_.add_product(factor, y);
    }

    /// RN of the real number, where it is that of both ends of what it may be: rounding is monotone.
    SOLVER_HD bool try_result(T& result) const noexcept {
        constexpr std::int64_t most_products = 6;
        const T lost = underflow_bound<T>(most_products);
        Sum least = sum_, largest = sum_;
        least.sum.add(-error_);
        largest.sum.add(error_);
        T other;
        return least.try_result(result, lost) && largest.try_result(other, lost) && result == other;
    }

private:
    using Sum = TrackedSum<typename AccumulatorOf<T, Accuracy::exact>::type>;
    Sum sum_;
    T error_ = 0;
};

/// RN of a part of alpha s + beta y, or false.
template <class T>
SOLVER_HD bool try_part(const PartFactors<T>& factors, const TwiceRounded<T>& s_re, const TwiceRounded<T>& s_im, T y_re, T y_im,
                        T& result) noexcept {
    EnclosedSum<T> sum;
    sum.add_product(factors.s_re, s_re);
    sum.add_product(factors.s_im, s_im);
    sum.add_product(factors.y_re, y_re);
    sum.add_product(factors.y_im, y_im);
    return sum.try_result(result);
}

}  // namespace solver
