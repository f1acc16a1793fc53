#pragma once

/// Errors of a solution. A NaN is worse than any number and is never lost.

#include <cmath>
#include <cstddef>
#include <span>

namespace solver::command {

/// Whether one error, or residual, is larger than another; NaN counts as larger than all numbers.
inline bool is_worse(double one, double other) { return one > other || (std::isnan(one) && !std::isnan(other)); }

/// max_i |x_i - y_i|
inline double largest_distance(std::span<const double> x, std::span<const double> y) {
    double largest = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
        if (const double error = std::abs(x[i] - y[i]); is_worse(error, largest)) largest = error;
    return largest;
}

/// max_i |x_i - y_i| / max_i |y_i| over the elements of y.
inline double relative_distance(std::span<const double> x, std::span<const double> y) {
    double largest = 0, size = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
        if (const double distance = std::abs(x[i] - y[i]); is_worse(distance, largest)) largest = distance;
        if (is_worse(std::abs(y[i]), size)) size = std::abs(y[i]);
    }
    return largest == 0 ? 0 : largest / size;
}

}  // namespace solver::command
