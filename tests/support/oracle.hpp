#pragma once

/// What results should be: MPFR arithmetic that must be exact (every ternary value is checked), rounded once at the end.

#include <mpfr.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>

namespace solver::testing {

/// A sum of numbers and of products as an exact number. `bits` must hold the whole range from the largest to the smallest term:
/// the default does for anything made of doubles, alpha sum a_i b_i + beta y included. Fewer bits are faster, and too few
/// throw.
class Oracle {
public:
    static constexpr int every_double = 6600;

    explicit Oracle(int bits = every_double) {
        mpfr_init2(value_, bits);
        mpfr_init2(product_, 2 * std::numeric_limits<double>::digits);
        mpfr_set_zero(value_, 1);
    }
    Oracle(const Oracle& other) {
        mpfr_init2(value_, mpfr_get_prec(other.value_));
        mpfr_init2(product_, 2 * std::numeric_limits<double>::digits);
        mpfr_set(value_, other.value_, MPFR_RNDN);
    }
    Oracle& operator=(const Oracle&) = delete;
    ~Oracle() {
        mpfr_clear(value_);
        mpfr_clear(product_);
    }

    void reset() { mpfr_set_zero(value_, 1); }
    void add(double x) { check(mpfr_add_d(value_, value_, x, MPFR_RNDN)); }
    void add_product(double a, double b) {
        check(mpfr_set_d(product_, a, MPFR_RNDN));
        check(mpfr_mul_d(product_, product_, b, MPFR_RNDN));
        check(mpfr_add(value_, value_, product_, MPFR_RNDN));
    }
    /// alpha times another sum.
    void add_scaled(const Oracle& sum, double alpha) {
        Oracle scaled(sum);
        scaled.multiply(alpha);
        check(mpfr_add(value_, value_, scaled.value_, MPFR_RNDN));
    }
    void multiply(double alpha) { check(mpfr_mul_d(value_, value_, alpha, MPFR_RNDN)); }

    /// RN to float or double: one rounding, subnormals and overflow included; +0 for zero.
    template <std::floating_point T>
    T rounded() const {
        return round_to<T>(value_);
    }

    /// RN of the square root of the real number.
    template <std::floating_point T>
    T sqrt_rounded() const {
        Oracle root(400);
        const bool inexact = mpfr_sqrt(root.value_, value_, MPFR_RNDZ) != 0;
        return root.rounded_beyond<T>(inexact);
    }

    /// RN of the real number by another one, which is not zero.
    template <std::floating_point T>
    T quotient_rounded(const Oracle& divisor) const {
        Oracle quotient(400);
        const bool inexact = mpfr_div(quotient.value_, value_, divisor.value_, MPFR_RNDZ) != 0;
        return quotient.rounded_beyond<T>(inexact);
    }

    int sign() const { return mpfr_sgn(value_); }

    /// As a double, rounded, for magnitudes in bounds.
    double approximate() const { return mpfr_get_d(value_, MPFR_RNDN); }

    /// Whether |value - x| <= bound, exactly.
    bool within(double x, double bound) const {
        Oracle difference(*this);
        mpfr_prec_round(difference.value_, every_double, MPFR_RNDN);
        check(mpfr_sub_d(difference.value_, difference.value_, x, MPFR_RNDN));
        mpfr_abs(difference.value_, difference.value_, MPFR_RNDN);
        return mpfr_cmp_d(difference.value_, bound) <= 0;
    }

private:
    static void check(int ternary) {
        if (ternary != 0) throw std::logic_error("the oracle has too few bits for this input");
    }

    /// RN of a real number of which this is the part of 400 bits. Anything strictly between two neighbours rounds alike.
    template <class T>
    T rounded_beyond(bool inexact) {
        if (inexact) {
            mpfr_prec_round(value_, 402, MPFR_RNDN);
            mpfr_sgn(value_) > 0 ? mpfr_nextabove(value_) : mpfr_nextbelow(value_);
        }
        return round_to<T>(value_);
    }

    template <class T>
    static T round_to(const mpfr_t value) {
        using Limits = std::numeric_limits<T>;
        if (mpfr_nan_p(value)) return Limits::quiet_NaN();
        if (mpfr_inf_p(value)) return mpfr_sgn(value) > 0 ? Limits::infinity() : -Limits::infinity();
        if (mpfr_zero_p(value)) return 0;
        const long exponent = mpfr_get_exp(value);  // |value| in [1/2, 1) 2^exponent
        const long eta_exponent = Limits::min_exponent - Limits::digits;
        const long kept = std::min<long>(Limits::digits, exponent - eta_exponent);
        const T sign = mpfr_sgn(value) > 0 ? T(1) : T(-1);
        if (kept < 0) return 0;
        if (kept == 0) {  // in [eta / 2, eta)
            const bool tie = mpfr_cmpabs_ui_2exp(value, eta_exponent - 1) == 0;
            return tie ? T(0) : sign * Limits::denorm_min();
        }
        Oracle copy(static_cast<int>(std::max<long>(kept, 2)));
        if (kept >= 2) {
            mpfr_set(copy.value_, value, MPFR_RNDN);
        } else {  // one bit, in [eta, 2 eta): from 1.5 eta on it is 2 eta
            mpfr_set_ui_2exp(copy.value_, 3, eta_exponent - 1, MPFR_RNDN);
            const bool up = mpfr_cmpabs(value, copy.value_) >= 0;
            return sign * Limits::denorm_min() * (up ? T(2) : T(1));
        }
        if (mpfr_get_exp(copy.value_) > Limits::max_exponent) return sign * Limits::infinity();
        return static_cast<T>(mpfr_get_d(copy.value_, MPFR_RNDN));  // exact
    }

    static int mpfr_cmpabs_ui_2exp(const mpfr_t value, long exponent) {
        Oracle power(2);
        mpfr_set_ui_2exp(power.value_, 1, exponent, MPFR_RNDN);
        return mpfr_cmpabs(value, power.value_);
    }

    mpfr_t value_;
    mpfr_t product_;
};

/// RN(sum a_i b_i) by the oracle.
template <std::floating_point T>
T exact_dot(std::span<const T> a, std::span<const T> b) {
    Oracle oracle;
    for (std::size_t i = 0; i < a.size(); ++i) oracle.add_product(a[i], b[i]);
    return oracle.rounded<T>();
}

/// Equal as bits, so that -0 and every NaN but the canonical one are told apart.
template <std::floating_point T>
bool same_bits(T a, T b) {
    using Bits = std::conditional_t<std::is_same_v<T, float>, std::uint32_t, std::uint64_t>;
    return std::bit_cast<Bits>(a) == std::bit_cast<Bits>(b);
}

/// How many numbers of the type lie between a and b, plus one if they differ.
template <std::floating_point T>
std::uint64_t ulp_distance(T a, T b) {
    using Bits = std::conditional_t<std::is_same_v<T, float>, std::int32_t, std::int64_t>;
    const auto place = [](T x) {
        const auto bits = std::bit_cast<Bits>(x);
        return static_cast<std::int64_t>(bits < 0 ? std::numeric_limits<Bits>::min() - bits : bits);
    };
    const std::int64_t pa = place(a), pb = place(b);
    return pa < pb ? static_cast<std::uint64_t>(pb) - static_cast<std::uint64_t>(pa)
                   : static_cast<std::uint64_t>(pa) - static_cast<std::uint64_t>(pb);
}

}  // namespace solver::testing
