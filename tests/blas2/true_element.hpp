#pragma once

/// The true result of one element and what the accuracy modes may make of it (include/solver/accuracy.hpp).

#include "solver/accuracy.hpp"
#include "solver/numeric/bounds.hpp"
#include "support/expected.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace solver::blas2 {

/// The longest chain of additions that `compensated` may have, merges included.
inline constexpr std::int64_t longest_chain = 1024;

/// Bounds are computed in double; this much they are widened.
inline constexpr double bound_slack = 1 + 0x1p-30;

/// A real number next to a floating-point number, and bounds around it.
///
/// An ulp is that of the true number as a real number: 2^(e - p + 1) for 2^e <= |true| < 2^(e + 1), never less than the
/// smallest subnormal. So numbers just below a power of two have the smaller ulp, whatever they round to.
template <std::floating_point T>
struct TrueElement {
    T rounded = 0;               ///< what exact must return, bit for bit
    double rest = 0;             ///< (true - rounded) / ulp
    int ulp_exponent = 0;        ///< an ulp is 2^ulp_exponent
    long double magnitudes = 0;  ///< sum |a_i b_i|, |beta y| included, beyond the range of T, too
    double fast_bound = 0;       ///< on |computed - true|
    double compensated_bound = 0;
    bool one_ulp = false;       ///< compensated may be off by one ulp at most: gamma_h^2 sum|a_i b_i| + n eta <= u |true| / 2
    bool special = false;       ///< Inf or NaN among the inputs: `rounded` is Inf or NaN
    bool may_overflow = false;  ///< a partial sum may: then fast and compensated promise nothing

    /// |found - true| in ulp; 0 for the very bits of `rounded`, Inf where only one of the two is finite.
    long double ulps(T found) const {
        if (testing::same_bits(found, rounded)) return 0;
        if (!std::isfinite(found) || !std::isfinite(rounded)) return std::numeric_limits<long double>::infinity();
        const long double distance = static_cast<long double>(found) - static_cast<long double>(rounded);
        return std::abs(std::ldexp(distance, -ulp_exponent) - static_cast<long double>(rest));
    }

    /// Whether not one digit is right: off by more than an ulp and by half of the true number or more.
    bool no_correct_digit(T found) const {
        const long double error = ulps(found);
        return error > 1 && error >= magnitude_in_ulps() / 2;
    }

    /// Whether `found` keeps the promise of a mode. Whatever else, a zero is +0 and a NaN the canonical one.
    bool allows(T found, Accuracy accuracy) const {
        if (testing::same_bits(found, rounded)) return true;
        if (accuracy == Accuracy::exact || !is_canonical(found)) return false;
        if (may_overflow) return !special || !std::isfinite(found);
        if (special || !std::isfinite(found)) return false;
        if (accuracy == Accuracy::compensated && one_ulp && ulps(found) > 1) return false;
        const double bound = accuracy == Accuracy::fast ? fast_bound : compensated_bound;
        return std::ldexp(ulps(found), ulp_exponent) <= static_cast<long double>(bound) * bound_slack;
    }

    /// 2 sum|a_i b_i| / |true| (Ogita, Rump, Oishi 2005), Inf where the true number is 0, NaN where it is not a number.
    double condition() const {
        if (!std::isfinite(rounded)) return std::numeric_limits<double>::quiet_NaN();
        return static_cast<double>(2 * magnitudes / std::ldexp(magnitude_in_ulps(), ulp_exponent));
    }

    long double magnitude_in_ulps() const {
        return std::abs(std::ldexp(static_cast<long double>(rounded), -ulp_exponent) + static_cast<long double>(rest));
    }

    /// |true|, as a double.
    double magnitude() const { return static_cast<double>(std::ldexp(magnitude_in_ulps(), ulp_exponent)); }

private:
    static bool is_canonical(T found) {
        if (std::isnan(found)) return testing::same_bits(found, std::numeric_limits<T>::quiet_NaN());
        return found != 0 || !std::signbit(found);
    }
};

/// Says where the true number lies: difference / divisor beside `rounded`, both exact or with a relative error of u or less.
template <std::floating_point T>
void set_place(TrueElement<T>& element, T rounded, const testing::Oracle& difference, double divisor) {
    using Limits = std::numeric_limits<T>;
    element.rounded = rounded;
    if (!std::isfinite(rounded)) return;
    const int sign = difference.sign() * (divisor < 0 ? -1 : 1);
    int exponent = Limits::min_exponent - 1;
    if (rounded != 0) {
        int above = 0;
        const bool is_power_of_two = std::abs(std::frexp(rounded, &above)) == T(0.5);
        const bool is_below = sign == (rounded < 0 ? 1 : -1);
        exponent = std::max(exponent, above - 1 - static_cast<int>(is_power_of_two && is_below));
    }
    element.ulp_exponent = exponent - Limits::digits + 1;

    int scale = 0;
    const double significand = std::frexp(divisor, &scale);
    testing::Oracle ulps(difference);
    for (int left = -element.ulp_exponent - scale; left != 0;) {
        const int step = std::clamp(left, -1000, 1000);
        ulps.multiply(std::ldexp(1.0, step));
        left -= step;
    }
    element.rest = ulps.approximate() / significand;
}

/// A sum of products: `roundings` is the n of fast's gamma_n, `lost` what products may lose to underflow (as a sum of eta).
template <std::floating_point T>
TrueElement<T> true_sum(const testing::ExpectedSum<T>& sum, std::int64_t roundings, double lost) {
    TrueElement<T> element;
    testing::Oracle difference(sum.exact());
    const T rounded = sum.rounded();
    if (std::isfinite(rounded)) difference.add(-double{rounded});
    set_place(element, rounded, difference, 1);
    element.magnitudes = sum.wide_magnitudes();
    element.special = sum.is_special();
    element.may_overflow = sum.may_overflow();
    const double size = element.magnitude();
    element.fast_bound = gamma<T>(roundings) * sum.magnitudes() + lost;
    element.compensated_bound = compensated_bound<T>(longest_chain, 0, sum.magnitudes(), size) + lost;
    const double twofold = gamma<T>(longest_chain) * gamma<T>(longest_chain) * sum.magnitudes() + lost;
    element.one_ulp = twofold <= double{unit_roundoff<T>} * size / 2;
    return element;
}

/// The square root of a sum of n squares. sqrt(s) - r = (s - r^2) / (sqrt(s) + r), where sqrt(s) + r is 2 r up to u.
/// Neither squares nor their sum overflow in any mode, only what does not fit the type itself.
template <std::floating_point T>
TrueElement<T> true_norm(const testing::ExpectedSum<T>& squares, std::int64_t n) {
    TrueElement<T> element;
    testing::Oracle difference(squares.exact());
    const T rounded = squares.sqrt_rounded();
    if (std::isfinite(rounded)) difference.add_product(-rounded, rounded);
    set_place(element, rounded, difference, rounded == 0 ? 1 : 2 * double{rounded});
    const double size = element.magnitude();
    element.magnitudes = size;
    element.special = squares.is_special();
    element.may_overflow = !(double{rounded} < double{std::numeric_limits<T>::max()} / 2) && !element.special;
    element.fast_bound = fast_norm_bound<T>(n) * size + double{smallest_subnormal<T>};
    element.compensated_bound = compensated_norm_bound<T>(longest_chain) * size + double{smallest_subnormal<T>};
    return element;
}

/// Row i of a triangular solve: the sum b_i - sum l_ij x_j of the elements found, divided by a pivot. The contract rounds the
/// sum and the quotient; the true number is the quotient before any rounding. Whoever has the sum within B of the true one and
/// divides with one rounding, is off by B / |pivot| + u |found| + eta.
template <std::floating_point T>
TrueElement<T> true_quotient(const testing::ExpectedSum<T>& sum, T pivot, T found, std::int64_t roundings, double lost) {
    TrueElement<T> element;
    const TrueElement<T> numerator = true_sum(sum, roundings, lost);
    const T quotient = numerator.rounded / pivot;
    const T rounded = std::isnan(quotient) ? std::numeric_limits<T>::quiet_NaN() : quotient + T(0);
    testing::Oracle difference(sum.exact());
    if (std::isfinite(rounded)) difference.add_product(-rounded, pivot);
    set_place(element, rounded, difference, pivot);
    element.magnitudes = sum.wide_magnitudes() / std::abs(double{pivot});
    element.special = sum.is_special();
    element.may_overflow = sum.may_overflow() || !(element.magnitudes < double{std::numeric_limits<T>::max()} / 2);
    const double last_rounding = double{unit_roundoff<T>} * std::abs(double{found}) + double{smallest_subnormal<T>};
    element.fast_bound = numerator.fast_bound / std::abs(double{pivot}) + last_rounding;
    element.compensated_bound = numerator.compensated_bound / std::abs(double{pivot}) + last_rounding;
    return element;
}

}  // namespace solver::blas2
