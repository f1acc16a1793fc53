#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>
#include <span>

namespace solver {

/// |result - exact| in units in the last place of exact, the real number rounded to T: 0 for the correctly rounded result, NaN
/// for NaN included. Infinite where only one of the two is finite.
template <std::floating_point T>
double ulp_error(T result, T exact) {
    if (result == exact || (std::isnan(result) && std::isnan(exact))) return 0;
    if (!std::isfinite(result) || !std::isfinite(exact)) return std::numeric_limits<double>::infinity();
    constexpr int lowest = std::numeric_limits<T>::min_exponent - 1;
    const int exponent = exact == 0 ? lowest : std::max(std::ilogb(exact), lowest);
    const long double ulp = std::ldexp(1.0L, exponent - std::numeric_limits<T>::digits + 1);
    return static_cast<double>(std::abs(static_cast<long double>(result) - static_cast<long double>(exact)) / ulp);
}

/// The larger of two errors. NaN is larger than any number: whoever looks for the largest error never loses it.
inline double larger_error(double one, double other) { return std::isnan(one) || one > other ? one : other; }

/// The largest over all elements.
template <std::floating_point T>
double max_ulp_error(std::span<const T> result, std::span<const T> exact) {
    if (result.size() != exact.size()) return std::numeric_limits<double>::infinity();
    double largest = 0;
    for (std::size_t i = 0; i < exact.size(); ++i)
        if (result[i] != exact[i]) largest = larger_error(largest, ulp_error(result[i], exact[i]));
    return largest;
}

}  // namespace solver
