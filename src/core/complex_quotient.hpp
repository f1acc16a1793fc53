#pragma once

/// Quotients of complex numbers whose parts are the real numbers, each rounded once: the same bits however they are found.
///
/// With a = x + i y and b = p + i q, Re a / b = (x p + y q) / (p^2 + q^2), and Im a / b is Re (a / i) / b with a / i = y - i x.
/// Numerator and denominator as pairs enclose a quotient; where that does not tell its rounding, the sign of
/// x p + y q - m (p^2 + q^2) does, without any rounding, for a midpoint m of two numbers.

#include "solver/numeric/digitwise.hpp"
#include "solver/numeric/error_free.hpp"

namespace solver {

/// (x p + y q) / (p^2 + q^2)
struct QuotientOfSums {
    double x, y, p, q;
};

namespace quotient {

/// A sum is within `lost` of value + error.
struct Enclosed {
    double value, error, lost;
};

/// x p + y q, with exact products: value and error are 0 where it is. What is lost is u of the errors' sum and of all errors; 8
/// pays for seven operations more.
SOLVER_HD Enclosed sum_of_products(double x, double p, double y, double q) noexcept {
    const Split<double> a = two_prod(x, p), b = two_prod(y, q);
    const Split<double> s = two_sum(a.value, b.value);
    const double error = add_rn(s.error, add_rn(a.error, b.error));
    const double errors = add_rn(magnitude(error), add_rn(magnitude(a.error), magnitude(b.error)));
    return {s.value, error, mul_rn(8 * unit_roundoff<double>, errors)};
}

/// Whether products with others of the kind are exact and in range.
SOLVER_HD bool is_usual(double x) noexcept { return x == 0 || (magnitude(x) >= 0x1p-240 && magnitude(x) <= 0x1p240); }

/// The quotient's rounding lies from low to high.
template <Real T>
struct Bracket {
    T low, high;
};

/// n / d of sums of products, d > 0 of two squares; false where the quotient is very small beside them.
///
/// k = RN(n / d) leaves a remainder that is a number; |remainder| <= u |k| d, and d's error is at most 2.1 u d. What
/// k + correction lacks, by u^2 |k|: 6.2 of two additions and a product, 3.1 of a division, 6.9 since that is by d without its
/// error, 3.2 of what is lost of d; by u of n's error: 2, 1 and 2.2.
SOLVER_HD bool enclose(const Enclosed& n, const Enclosed& d, Bracket<double>& bracket) noexcept {
    constexpr double u = unit_roundoff<double>;
    if (n.value == 0 && n.error == 0) {
        bracket = {0, 0};
        return true;
    }
    const double k = div_rn(n.value, d.value);
    if (!(magnitude(k) >= 0x1p-480)) return false;
    const double remainder = fma_rn(-k, d.value, n.value);
    const double correction = div_rn(add_rn(add_rn(remainder, n.error), -mul_rn(k, d.error)), d.value);
    const double bound = add_rn(mul_rn(32 * u * u, magnitude(k)), div_rn(n.lost, d.value));
    bracket = {add_rn(k, below(add_rn(correction, -bound))), add_rn(k, above(add_rn(correction, bound)))};
    return true;
}

/// Of usual numbers, p and q not zero.
SOLVER_HD bool enclose(const QuotientOfSums& of, Bracket<double>& bracket) noexcept {
    return enclose(sum_of_products(of.x, of.p, of.y, of.q), sum_of_products(of.p, of.p, of.q, of.q), bracket);
}

/// Products of floats are exact in double, and three roundings are lost: 3 u |k|.
SOLVER_HD bool enclose(const QuotientOfSums& of, Bracket<float>& bracket) noexcept {
    const double n = add_rn(mul_rn(of.x, of.p), mul_rn(of.y, of.q));
    const double k = div_rn(n, add_rn(mul_rn(of.p, of.p), mul_rn(of.q, of.q)));
    const double bound = mul_rn(8 * unit_roundoff<double>, magnitude(k));
    bracket = {static_cast<float>(add_rn(k, -bound)), static_cast<float>(add_rn(k, bound))};
    return true;
}

/// The exponent of a finite number other than zero: 2^e <= |x| < 2^(e + 1).
SOLVER_HD int exponent_of(double x) noexcept {
    constexpr int mantissa = std::numeric_limits<double>::digits - 1, bias = 1023, mask = 0x7ff;
    constexpr double to_normal = 0x1p54;
    const bool is_subnormal = magnitude(x) < std::numeric_limits<double>::min();
    const auto bits = std::bit_cast<std::uint64_t>(is_subnormal ? mul_rn(x, to_normal) : x);
    return static_cast<int>(bits >> mantissa & mask) - bias - (is_subnormal ? 54 : 0);
}

/// 2^k x by three powers, none of them out of range for |k| <= 3000: exact where that and x are normal, or the exponent rises.
SOLVER_HD double times_power_of_two(double x, int k) noexcept {
    constexpr int mantissa = std::numeric_limits<double>::digits - 1, bias = 1023;
    const auto power = [](int e) { return std::bit_cast<double>(static_cast<std::uint64_t>(e + bias) << mantissa); };
    const int third = k / 3;
    return mul_rn(mul_rn(mul_rn(x, power(third)), power(third)), power(k - 2 * third));
}

/// A number is mantissa 2^exponent, 1 <= |mantissa| < 2; zero has an exponent below all others.
struct Scaled {
    double mantissa;
    int exponent;
};

SOLVER_HD Scaled scaled(double x) noexcept {
    if (x == 0) return {0, -4000};
    const int exponent = exponent_of(x);
    return {times_power_of_two(x, -exponent), exponent};
}

/// A sum is `sum` times 2^exponent.
struct ScaledSum {
    Enclosed sum;
    int exponent;
};

/// x p + y q of any finite numbers. A product that is below 2^-398 times the other is not looked at: it is lost, some u^6 of
/// the sum, and far less than `enclose` has to spare for what is lost of d.
SOLVER_HD ScaledSum scaled_sum_of_products(Scaled x, Scaled p, Scaled y, Scaled q) noexcept {
    constexpr int farthest = -400;
    const int first = x.exponent + p.exponent, second = y.exponent + q.exponent, exponent = first > second ? first : second;
    const auto scaled_to_sum = [=](const Scaled& factor, int of_product) {
        return of_product - exponent < farthest ? 0 : times_power_of_two(factor.mantissa, of_product - exponent);
    };
    Enclosed sum = sum_of_products(scaled_to_sum(x, first), p.mantissa, scaled_to_sum(y, second), q.mantissa);
    const bool is_lost = (first - exponent < farthest && x.mantissa != 0) || (second - exponent < farthest && y.mantissa != 0);
    if (is_lost) sum.lost = add_rn(sum.lost, 0x1p-398);
    return {sum, exponent};
}

/// What RN(t 2^exponent) lies between where RN(t) is in the bracket. Rounding commutes with powers of two where the result is a
/// normal number; else it is monotonic, as each of three multiplications is, and those are off by a number or two.
SOLVER_HD Bracket<double> scaled(const Bracket<double>& t, int exponent) noexcept {
    constexpr int beyond_all = 3000;
    const int k = exponent > beyond_all ? beyond_all : exponent < -beyond_all ? -beyond_all : exponent;
    const Bracket<double> result{times_power_of_two(t.low, k), times_power_of_two(t.high, k)};
    const auto is_normal = [](double x) { return magnitude(x) > std::numeric_limits<double>::min() && is_finite(x); };
    if (t.low == t.high && is_normal(result.low)) return result;
    constexpr double largest = std::numeric_limits<double>::max();
    const double low = result.low > largest ? largest : result.low, high = result.high < -largest ? -largest : result.high;
    const Bracket<double> wide{below(below(low)), above(above(high))};
    return {t.low >= 0 && wide.low < 0 ? 0 : wide.low, t.high <= 0 && wide.high > 0 ? 0 : wide.high};
}

/// Of any finite numbers, p and q not zero.
SOLVER_HD_COLD inline bool enclose_any(const QuotientOfSums& of, Bracket<double>& bracket) noexcept {
    const Scaled p = scaled(of.p), q = scaled(of.q);
    const ScaledSum n = scaled_sum_of_products(scaled(of.x), p, scaled(of.y), q), d = scaled_sum_of_products(p, p, q, q);
    if (!enclose(n.sum, d.sum, bracket)) return false;
    bracket = scaled(bracket, n.exponent - d.exponent);
    return true;
}

/// The sign of x p + y q - (f + gap / 2) (p^2 + q^2).
SOLVER_HD_COLD inline int sign_beside(const QuotientOfSums& of, double f, double gap) noexcept {
    return DigitwiseSum([&](const auto& visit) {
               visit(of.x, of.p, 2.0);
               visit(of.y, of.q, 2.0);
               for (const double divisor : {of.p, of.q}) {
                   visit(divisor, divisor, -f);
                   visit(divisor, divisor, -f);
                   visit(divisor, divisor, -gap);
               }
           })
        .sign();
}

/// Whether a positive quotient is rounded to a number above f >= 0.
template <Real T, class Bits>
SOLVER_HD bool is_rounded_above(const QuotientOfSums& of, Bits f_bits) noexcept {
    const T f = std::bit_cast<T>(f_bits), next = std::bit_cast<T>(static_cast<Bits>(f_bits + 1));
    const T gap = is_finite(next) ? next - f : f - std::bit_cast<T>(static_cast<Bits>(f_bits - 1));
    const int sign = sign_beside(of, f, gap);
    return sign > 0 || (sign == 0 && (f_bits & 1) != 0);
}

/// Of a positive quotient: numbers at or above zero are in the order of their bits.
template <Real T>
SOLVER_HD_COLD T search(const QuotientOfSums& of, Bracket<T> bracket) noexcept {
    using Bits = std::conditional_t<sizeof(T) == sizeof(double), std::uint64_t, std::uint32_t>;
    Bits low = std::bit_cast<Bits>(bracket.low), high = std::bit_cast<Bits>(bracket.high);
    while (low < high) {
        const Bits middle = low + (high - low) / 2;
        if (is_rounded_above<T>(of, middle))
            low = middle + 1;
        else
            high = middle;
    }
    return std::bit_cast<T>(low);
}

/// Of a quotient that is enclosed too widely, or not at all.
template <Real T>
SOLVER_HD_COLD T search_any(const QuotientOfSums& of, bool is_enclosed, Bracket<T> bracket) noexcept {
    const QuotientOfSums negated{-of.x, -of.y, of.p, of.q};
    if (is_enclosed && bracket.low >= 0) return search(of, bracket);
    if (is_enclosed && bracket.high <= 0) return canonical(-search<T>(negated, {T(0) - bracket.high, T(0) - bracket.low}));
    const Bracket<T> all{T(0), std::numeric_limits<T>::infinity()};
    const int sign = sign_beside(of, 0, 0);
    return sign == 0 ? T(0) : canonical(sign > 0 ? search(of, all) : -search(negated, all));
}

/// What is not finite is as the formula says.
template <Real T>
SOLVER_HD_COLD T of_any(const QuotientOfSums& of) noexcept {
    const double sum = add_rn(mul_rn(of.x, of.p), mul_rn(of.y, of.q));
    return canonical(static_cast<T>(div_rn(sum, add_rn(mul_rn(of.p, of.p), mul_rn(of.q, of.q)))));
}

}  // namespace quotient

/// RN((x p + y q) / (p^2 + q^2)): +0 where that is zero, but the real quotient as it is where p or q is zero, the other part of
/// the dividend unseen. p and q are not both zero.
template <Real T>
SOLVER_HD T quotient_of_sums(T x, T y, T p, T q) noexcept {
    if (q == T(0)) return div_rn(x, p);
    if (p == T(0)) return div_rn(y, q);
    const QuotientOfSums of{x, y, p, q};
    const bool is_usual =
        quotient::is_usual(of.x) && quotient::is_usual(of.y) && quotient::is_usual(of.p) && quotient::is_usual(of.q);
    quotient::Bracket<T> bracket{};
    bool is_enclosed = is_usual && quotient::enclose(of, bracket);
    if (is_enclosed && bracket.low == bracket.high && is_finite(bracket.low)) return canonical(bracket.low);
    if (!is_finite(of.x) || !is_finite(of.y) || !is_finite(of.p) || !is_finite(of.q)) return quotient::of_any<T>(of);
    if constexpr (sizeof(T) == sizeof(double)) {
        if (!is_usual) is_enclosed = quotient::enclose_any(of, bracket);
        if (is_enclosed && bracket.low == bracket.high && is_finite(bracket.low)) return canonical(bracket.low);
    }
    return quotient::search_any(of, is_enclosed, bracket);
}

/// Element i of a / b, vectors of complex numbers whose parts take turns.
template <Real T>
SOLVER_HD T quotient_part(const T* a, const T* b, std::int64_t i) noexcept {
    return i % 2 == 0 ? quotient_of_sums(a[i], a[i + 1], b[i], b[i + 1]) : quotient_of_sums(a[i], -a[i - 1], b[i - 1], b[i]);
}

}  // namespace solver
