#pragma once

/// Binary formats so small that all of their numbers can be tried.

#include "solver/numeric/concepts.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace solver::testing {

/// The encoding of a format with `precision` digits and `exponent_bits` bits of exponent, as IEEE 754 has it: sign, exponent,
/// fraction; gradual underflow, Inf, NaN.
template <int precision, int exponent_bits>
struct SmallEncoding {
    static_assert(precision >= 3 && exponent_bits >= 3 && precision + exponent_bits <= 16);
    static constexpr int fraction_bits = precision - 1;
    static constexpr int bias = (1 << (exponent_bits - 1)) - 1;
    static constexpr int eta_exponent = 1 - bias - fraction_bits;  ///< eta = 2^eta_exponent
    static constexpr std::uint16_t sign = 1 << (fraction_bits + exponent_bits);
    static constexpr std::uint16_t infinity = ((1 << exponent_bits) - 1) << fraction_bits;
    static constexpr std::uint16_t nan = infinity | 1 << (fraction_bits - 1);
    static constexpr std::size_t codes = std::size_t{2} * sign;

    static constexpr double power_of_two(int exponent) {
        return std::bit_cast<double>(static_cast<std::uint64_t>(1023 + exponent) << 52);
    }

    static constexpr double decode(std::uint16_t code) {
        const std::uint16_t rest = code & ~sign;
        const int exponent = rest >> fraction_bits;
        const int fraction = rest & ((1 << fraction_bits) - 1);
        double magnitude = std::numeric_limits<double>::infinity();
        if (rest > infinity) magnitude = std::numeric_limits<double>::quiet_NaN();
        if (rest < infinity && exponent == 0) magnitude = fraction * power_of_two(eta_exponent);
        if (rest < infinity && exponent > 0)
            magnitude = (fraction + (1 << fraction_bits)) * power_of_two(eta_exponent + exponent - 1);
        return (code & sign) != 0 ? -magnitude : magnitude;
    }

    /// Rounded to nearest even.
    static constexpr std::uint16_t encode(double x) {
        if (x != x) return nan;
        const auto bits = std::bit_cast<std::uint64_t>(x);
        const std::uint16_t signed_zero = bits >> 63 != 0 ? sign : 0;
        const std::uint64_t rest = bits & ~(std::uint64_t{1} << 63);
        if (rest < static_cast<std::uint64_t>(1024 - bias) << 52) {  // below the normal numbers: to a whole number of eta
            const double etas = std::bit_cast<double>(rest) * power_of_two(-eta_exponent);
            return signed_zero | static_cast<std::uint16_t>((etas + 0x1p52) - 0x1p52);
        }
        constexpr int dropped = 52 - fraction_bits;
        const std::uint64_t rounded = rest + (std::uint64_t{1} << (dropped - 1)) - 1 + (rest >> dropped & 1);
        const std::uint64_t code = (rounded >> dropped) - (static_cast<std::uint64_t>(1023 - bias) << fraction_bits);
        return signed_zero | (code < infinity ? static_cast<std::uint16_t>(code) : infinity);
    }
};

template <int precision, int exponent_bits>
inline constexpr auto small_values = [] {
    using Encoding = SmallEncoding<precision, exponent_bits>;
    std::array<double, Encoding::codes> values{};
    for (std::size_t code = 0; code < values.size(); ++code) values[code] = Encoding::decode(static_cast<std::uint16_t>(code));
    return values;
}();

/// A number of such a format. Operations are done in double, where they are exact or, with an odd last digit, as good as exact,
/// and rounded once.
template <int precision, int exponent_bits>
class SmallFloat {
public:
    using Encoding = SmallEncoding<precision, exponent_bits>;

    constexpr SmallFloat() = default;
    constexpr SmallFloat(double x) : code_(Encoding::encode(x)) {}  // NOLINT(google-explicit-constructor): 2 * x as for float
    static constexpr SmallFloat of_code(std::uint16_t code) {
        SmallFloat x;
        x.code_ = code;
        return x;
    }

    constexpr std::uint16_t code() const { return code_; }
    constexpr explicit operator double() const { return value(*this); }

    friend constexpr SmallFloat add_rn(SmallFloat a, SmallFloat b) { return add_to_odd(value(a), value(b)); }
    friend constexpr SmallFloat mul_rn(SmallFloat a, SmallFloat b) { return value(a) * value(b); }
    friend constexpr SmallFloat fma_rn(SmallFloat a, SmallFloat b, SmallFloat c) {
        return add_to_odd(value(a) * value(b), value(c));
    }
    // a double has more than twice as many digits and two: rounding twice is rounding once
    friend constexpr SmallFloat div_rn(SmallFloat a, SmallFloat b) { return value(a) / value(b); }
    friend SmallFloat sqrt_rn(SmallFloat a) { return std::sqrt(value(a)); }
    friend constexpr SmallFloat magnitude(SmallFloat a) { return of_code(a.code_ & ~Encoding::sign); }

    friend constexpr SmallFloat operator-(SmallFloat a) { return of_code(a.code_ ^ Encoding::sign); }
    friend constexpr SmallFloat operator*(SmallFloat a, SmallFloat b) { return mul_rn(a, b); }
    friend constexpr SmallFloat operator/(SmallFloat a, SmallFloat b) { return div_rn(a, b); }
    friend constexpr bool operator==(SmallFloat a, SmallFloat b) { return value(a) == value(b); }
    friend constexpr std::partial_ordering operator<=>(SmallFloat a, SmallFloat b) { return value(a) <=> value(b); }

private:
    static constexpr double value(SmallFloat a) { return small_values<precision, exponent_bits>[a.code_]; }

    /// a + b; where that has more digits than a double, with the last one odd, which a later rounding to fewer cannot see.
    static constexpr double add_to_odd(double a, double b) {
        const double sum = a + b;
        if constexpr ((2 << exponent_bits) + 2 * precision <= 53) return sum;  // products included, it is exact
        const double b_kept = sum - a;
        const double error = (a - (sum - b_kept)) + (b - b_kept);
        const auto bits = std::bit_cast<std::uint64_t>(sum);
        if (error == 0 || error != error || (bits & 1) != 0) return sum;
        return std::bit_cast<double>((error > 0) == (sum > 0) ? bits + 1 : bits - 1);
    }

    std::uint16_t code_ = 0;
};

}  // namespace solver::testing

template <int p, int e>
struct std::numeric_limits<solver::testing::SmallFloat<p, e>> {
    using Number = solver::testing::SmallFloat<p, e>;
    using Encoding = typename Number::Encoding;
    static constexpr bool is_specialized = true;
    static constexpr int radix = 2;
    static constexpr int digits = p;
    static constexpr int min_exponent = 2 - Encoding::bias;
    static constexpr int max_exponent = 1 + Encoding::bias;
    static constexpr Number min() { return Number::of_code(1 << (p - 1)); }
    static constexpr Number max() { return Number::of_code(Encoding::infinity - 1); }
    static constexpr Number epsilon() { return Number(1.0 / (1 << (p - 1))); }
    static constexpr Number denorm_min() { return Number::of_code(1); }
    static constexpr Number infinity() { return Number::of_code(Encoding::infinity); }
    static constexpr Number quiet_NaN() { return Number::of_code(Encoding::nan); }
};
