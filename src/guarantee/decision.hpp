#pragma once

/// When an interval around a sum decides how the number in it is rounded.

#include "solver/numeric/error_free.hpp"
#include "solver/proof.hpp"

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace solver::guarantee {

/// All bounds are products of at most eight rounded factors that are not negative: (1 + 2^-53)^8 < 1 + 2^-40, by which a bound
/// is multiplied once.
inline constexpr double inflation = 1 + 0x1p-40;

/// x + low + d = head + tail + rest but for a rounding of rest: head the nearest T to the sum or next to it, rest far below
/// tail.
template <class T>
struct ThreeTerms {
    T head;
    double tail;
    double rest;
};

/// Exact for doubles. For floats the last addition of two terms below 2^-53 of the sum is rounded.
template <class T>
ThreeTerms<T> sum_of(T x, T low, double d) noexcept {
    const Split<double> first = two_sum(static_cast<double>(x), d);
    const Split<double> second = two_sum(first.error, static_cast<double>(low));
    const Split<double> sum = two_sum(first.value, second.value);
    if constexpr (std::is_same_v<T, double>) {
        return {sum.value, sum.error, second.error};
    } else {
        const T head = static_cast<T>(sum.value);
        const Split<double> tail = two_sum(sum.value - static_cast<double>(head), sum.error);
        return {head, tail.value, tail.error + second.error};
    }
}

enum class Decision : std::uint8_t {
    undecided,
    nearest,
    tie,
    zero,    ///< by the structure of A and b
    dropped  ///< by the rule of zeros
};

template <class T>
struct Rounded {
    T value;
    Decision decision;
};

/// The neighbour of a finite x, upwards or downwards.
template <class T>
T neighbour(T x, bool upwards) noexcept {
    using Bits = std::conditional_t<std::is_same_v<T, double>, std::uint64_t, std::uint32_t>;
    if (x == 0) return upwards ? smallest_subnormal<T> : -smallest_subnormal<T>;
    const auto bits = std::bit_cast<Bits>(x);
    return std::bit_cast<T>((x > 0) == upwards ? bits + 1 : bits - 1);
}

template <class T>
bool is_even(T x) noexcept {
    using Bits = std::conditional_t<std::is_same_v<T, double>, std::uint64_t, std::uint32_t>;
    return (std::bit_cast<Bits>(x) & 1) == 0;
}

/// What is known of the distance between the number in the interval and a midpoint, all doubled: the distance itself and how
/// far it may be off.
struct Distance {
    double doubled;
    double error;
};

/// To the midpoint between head and `next`, positive on head's side. Three roundings are counted: u |rough| and u |doubled| of
/// the differences, and that of rest, which is doubled at most u |2 rest| <= u (|rough| + |doubled|) (1 + u).
template <class T>
Distance distance_to_midpoint(const ThreeTerms<T>& x, T next, double radius) noexcept {
    const bool upwards = next > x.head;
    const double gap = magnitude(static_cast<double>(next) - static_cast<double>(x.head));  // exact: adjacent
    const double towards = upwards ? 2 * x.tail : -2 * x.tail;
    const double rough = gap - towards;
    const double doubled = rough - (upwards ? 2 * x.rest : -2 * x.rest);
    return {doubled, (2 * radius + 0x1p-52 * (magnitude(rough) + magnitude(doubled))) * inflation};
}

/// What bounds a number from both sides.
struct Between {
    double least;
    double most;
};

/// Of the magnitude of a number that lies within `radius` of x; not finite where the sums are not.
template <class T>
Between magnitude_of(const ThreeTerms<T>& x, double radius) noexcept {
    const double size = magnitude(static_cast<double>(x.head) + x.tail);
    const double rest = unit_roundoff<double> * size + magnitude(x.rest) + radius;
    return {(size - rest * inflation) * (2 - inflation), (size + rest) * inflation};
}

/// Rounds the number that lies within `radius` of x, by the rules of ties and zeros (proof.hpp). `zero` bounds the largest
/// number that is 0 by the rule of zeros. Where the interval does not decide, the value is head. Proof of the first case: the
/// number is farther from both midpoints beside head than the distance can be off, on head's side. Comparisons fail where
/// something is NaN.
template <class T>
Rounded<T> decide(const ThreeTerms<T>& x, double radius, const Between& zero) noexcept {
    const Between size_between = magnitude_of(x, radius);
    if (size_between.most <= zero.least) return {T(0), Decision::dropped};
    const Rounded<T> undecided{x.head, Decision::undecided};
    if (x.head != 0 && !(size_between.least > zero.most)) return undecided;
    const Between tie{2 * tie_width<T> * size_between.least, 2 * tie_width<T> * size_between.most};
    bool is_nearest = true;
    for (const bool upwards : {true, false}) {
        const T next = neighbour(x.head, upwards);
        if (!is_finite(next)) return undecided;
        const auto [doubled, error] = distance_to_midpoint(x, next, radius);
        const double gap = magnitude(static_cast<double>(next) - static_cast<double>(x.head));
        if (-doubled > error + tie.most && -doubled + error < gap)  // the midpoint beyond `next` is 1.5 gaps away, or more
            return {canonical(next), Decision::nearest};
        if (magnitude(doubled) + error <= tie.least) return {canonical(is_even(x.head) ? x.head : next), Decision::tie};
        if (!(doubled > error + tie.most)) is_nearest = false;
    }
    return is_nearest ? Rounded<T>{canonical(x.head), Decision::nearest} : undecided;
}

}  // namespace solver::guarantee
