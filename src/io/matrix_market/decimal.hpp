#pragma once

/// Decimal text to the nearest float or double.

#include "io/matrix_market/line.hpp"

#include <array>
#include <bit>
#include <limits>

namespace solver::matrix_market {

/// The text of a number taken apart: digits . digits e exponent.
struct Decimal {
    bool negative = false;
    bool whole = true;          ///< neither a point nor an exponent
    bool fortran = false;       ///< the exponent is marked by d or D
    bool exact = true;          ///< digits has all of them
    std::uint64_t digits = 0;   ///< as a whole number, without the point
    std::int64_t exponent = 0;  ///< of ten
    const char* begin = nullptr;
    const char* end = nullptr;
};

/// Takes the number at p apart; exponents may be marked by e, E, d or D (Fortran). Throws LineError where p holds no number.
inline Decimal split_decimal(const char* p) {
    Decimal decimal{.begin = p};
    decimal.negative = *p == '-';
    if (*p == '-' || *p == '+') ++p;
    const char* const first_digit = p;
    for (; is_digit(*p); ++p) decimal.digits = decimal.digits * 10 + static_cast<unsigned>(*p - '0');
    std::int64_t digit_count = p - first_digit;
    if (*p == '.') {
        const char* const fraction = ++p;
        for (; is_digit(*p); ++p) decimal.digits = decimal.digits * 10 + static_cast<unsigned>(*p - '0');
        decimal.exponent = fraction - p;
        digit_count += p - fraction;
        decimal.whole = false;
    }
    decimal.exact = digit_count <= 19;  // below 10^19 < 2^64
    bool valid = digit_count > 0;
    if (*p == 'e' || *p == 'E' || *p == 'd' || *p == 'D') {
        decimal.fortran = *p == 'd' || *p == 'D';
        ++p;
        const bool negative = *p == '-';
        if (*p == '-' || *p == '+') ++p;
        valid = valid && is_digit(*p);
        std::int64_t exponent = 0;
        for (; is_digit(*p); ++p) exponent = exponent < 100'000'000 ? exponent * 10 + (*p - '0') : exponent;
        decimal.exponent += negative ? -exponent : exponent;
        decimal.whole = false;
    }
    if (!valid || !ends_token(*p))
        throw LineError(decimal.begin, "saw " + seen(decimal.begin) + ", expected a finite decimal number");
    decimal.end = p;
    return decimal;
}

/// The nearest T by std::from_chars. Throws LineError beyond the range of T; what is too small becomes 0 or subnormal.
template <class T>
T nearest_by_library(const Decimal& decimal);

/// The nearest T, to even in ties.
///
/// Clinger's case (How to read floating point numbers accurately, PLDI 1990): digits <= 2^53 and 10^|exponent|, |exponent| <=
/// 22, are doubles, so one multiplication or division rounds once. A float is that double rounded again, which is the same as
/// rounding once unless the double lies exactly in the middle of two floats.
template <class T>
T nearest(const Decimal& decimal) {
    static constexpr std::array<double, 23> powers = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                                      1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    constexpr std::uint64_t largest = std::uint64_t{1} << 53;
    if (!decimal.exact || decimal.digits > largest || decimal.exponent < -22 || decimal.exponent > 22)
        return nearest_by_library<T>(decimal);
    const auto digits = static_cast<double>(decimal.digits);
    const double magnitude = decimal.exponent < 0 ? digits / powers[-decimal.exponent] : digits * powers[decimal.exponent];
    if constexpr (std::is_same_v<T, float>) {
        constexpr std::uint64_t below_float = (std::uint64_t{1} << 29) - 1;
        const bool middle = (std::bit_cast<std::uint64_t>(magnitude) & below_float) == (std::uint64_t{1} << 28);
        if (middle || magnitude > std::numeric_limits<float>::max()) return nearest_by_library<T>(decimal);
    }
    return static_cast<T>(decimal.negative ? -magnitude : magnitude);
}

}  // namespace solver::matrix_market
