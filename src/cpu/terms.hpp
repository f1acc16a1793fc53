#pragma once

/// What a reduction adds up.

#include "solver/numeric/rounding.hpp"

#include <algorithm>
#include <cstdint>

namespace solver::cpu {

/// The terms of a reduction: elements of x, or products of x and y.
template <class T, bool products>
struct Terms {
    std::int64_t n;
    const T* x;
    const T* y;
};

/// max |x_i|, NaN if there is one.
template <class T>
T largest_magnitude(const T* x, std::int64_t n) {
    T largest = 0;
    for (std::int64_t i = 0; i < n; ++i) {
        if (x[i] != x[i]) return x[i];
        largest = std::max(largest, magnitude(x[i]));
    }
    return largest;
}

}  // namespace solver::cpu
