#pragma once

/// The cheapest filter for sums of products of floats: 2 operations a product, where FilteredFloat takes 9.

#include "solver/numeric/error_free.hpp"

#include <bit>
#include <cstdint>

namespace solver {

/// The sum s of n products of floats in double, beside the sum m of their magnitudes.
///
/// A product of two floats is a double, so that only additions round, by u = 2^-53 each, the first one not at all (Higham,
/// Accuracy and Stability, 2nd ed., section 4.2):
///     |sum - s| <= gamma_(n-1) sum |a_i b_i| <= (n - 1) u (1 + 2 n u) m   for n <= 2^20.
/// b = RN((n + 3) u m) exceeds that by more than 3 u m, while s -+ b lose u (|s| + b) <= u m (1 + 2 n u) each: they enclose the
/// sum. Nothing underflows, for the least product is 2^-298, and nothing overflows but Inf and NaN, which prove nothing.
///
/// Where all products are multiples of 2^q, so are all partial sums; with m <= 2^52 2^q they stay below 2^53 2^q, hence are
/// doubles: s is the sum, ties and zeros included.
class BoundedFloat {
public:
    using value_type = float;

    SOLVER_HD void add_product(float a, float b) noexcept {
        s_ = fma_rn(double{a}, double{b}, s_);
        m_ = fma_rn(magnitude(double{a}), magnitude(double{b}), m_);
    }
    SOLVER_HD void negate() noexcept { s_ = -s_; }

    /// Gives RN of the exact sum of n products to float and returns true, or returns false.
    SOLVER_HD bool try_result(float& result, std::int32_t n) const noexcept {
        const double b = mul_rn(static_cast<double>(n + 3) * unit_roundoff<double>, m_);
        const auto low = static_cast<float>(add_rn(s_, -b));
        if (!(low == static_cast<float>(add_rn(s_, b)))) return false;
        result = canonical(low);
        return true;
    }

    /// The same where all products are multiples of 2^q, |q| <= 900.
    SOLVER_HD bool try_on_grid(float& result, int q) const noexcept {
        if (!(m_ <= std::bit_cast<double>(static_cast<std::uint64_t>(1023 + 52 + q) << 52))) return false;
        result = canonical(static_cast<float>(s_));
        return true;
    }

private:
    double s_{0};
    double m_{0};
};

}  // namespace solver
