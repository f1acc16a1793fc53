#pragma once

/// What products of an extreme matrix are divided by.

#include "solver/numeric/rounding.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace solver {

/// A power of two of the size of A M^-1 where that is so large or small that squares of products, or products of products,
/// might leave the range of Value, else 1. With A divided by it a recurrence takes the steps that it would take with more
/// range, and its z is that of A multiplied by it. 1 where the size is 0, Inf or NaN.
template <class Value>
double product_unit(double size) {
    constexpr int most = std::numeric_limits<Value>::max_exponent - 2, harmless = most / 8;
    if (!(size > 0) || !is_finite(size)) return 1;
    const int exponent = std::clamp(std::ilogb(size), -most, most);
    return std::abs(exponent) <= harmless ? 1 : std::ldexp(1.0, exponent);
}

}  // namespace solver
