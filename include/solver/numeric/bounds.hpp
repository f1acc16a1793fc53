#pragma once

/// The error bounds that the accuracy modes promise (Accuracy), for tests and benchmarks to judge by.
///
/// Computed in double, hence right up to a few units of 2^-53.
/// `abs_sum` is sum_{i<=n} |a_i b_i|. T is the type that is summed; results are double so that bounds for float do not
/// underflow.

#include "solver/numeric/rounding.hpp"

namespace solver {

/// gamma_n = n u / (1 - n u), Higham, Accuracy and Stability, 2nd ed., lemma 3.1. Inf from n u = 1 on, where it says nothing.
template <Real T>
constexpr double gamma(std::int64_t n) noexcept {
    const double nu = static_cast<double>(n) * double{unit_roundoff<T>};
    return nu < 1 ? nu / (1 - nu) : std::numeric_limits<double>::infinity();
}

/// n eta: what n products may lose to underflow. Sums lose nothing.
template <Real T>
constexpr double underflow_allowance(std::int64_t n) noexcept {
    return static_cast<double>(n) * double{smallest_subnormal<T>};
}

/// fast: |error| <= gamma_n sum|a_i b_i| + n eta.
template <Real T>
constexpr double fast_bound(std::int64_t n, double abs_sum) noexcept {
    return gamma<T>(n) * abs_sum + underflow_allowance<T>(n);
}

/// compensated: |error| <= u |s| + gamma_h^2 sum|a_i b_i| + n eta, h the longest chain of additions, merges included.
template <Real T>
constexpr double compensated_bound(std::int64_t h, std::int64_t n, double abs_sum, double s) noexcept {
    const double abs_s = s < 0 ? -s : s;
    return double{unit_roundoff<T>} * abs_s + gamma<T>(h) * gamma<T>(h) * abs_sum + underflow_allowance<T>(n);
}

/// exact: |error| <= u |s| + eta / 2, given with eta, which a double can hold. Equal bits are the better test.
template <Real T>
constexpr double exact_bound(double s) noexcept {
    const double abs_s = s < 0 ? -s : s;
    return double{unit_roundoff<T>} * abs_s + double{smallest_subnormal<T>};
}

/// norm2, fast: relative error <= gamma_n / 2 + 2u.
template <Real T>
constexpr double fast_norm_bound(std::int64_t n) noexcept {
    return gamma<T>(n) / 2 + 2 * double{unit_roundoff<T>};
}

/// norm2, compensated: relative error <= 2u + gamma_h^2.
template <Real T>
constexpr double compensated_norm_bound(std::int64_t h) noexcept {
    return 2 * double{unit_roundoff<T>} + gamma<T>(h) * gamma<T>(h);
}

}  // namespace solver
