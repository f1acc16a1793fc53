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
///
/// All of that holds for sums in parts that are merged: a product passes at most n - 1 additions that round.
class BoundedFloat {
public:
    using value_type = float;

    SOLVER_HD void add_product(float a, float b) noexcept {
        s_ = fma_rn(double{a}, double{b}, s_);
        m_ = fma_rn(magnitude(double{a}), magnitude(double{b}), m_);
    }
    /// A product that was made before.
    SOLVER_HD void add_term(double x) noexcept {
        s_ = add_rn(s_, x);
        m_ = add_rn(m_, magnitude(x));
    }
    SOLVER_HD void merge(const BoundedFloat& other) noexcept {
        s_ = add_rn(s_, other.s_);
        m_ = add_rn(m_, other.m_);
    }
    SOLVER_HD void negate() noexcept { s_ = -s_; }
    /// alpha times the sum. RN(alpha s) loses u |alpha s| <= u |alpha| m, as much as an addition: it counts as a product.
    SOLVER_HD void scale(float alpha) noexcept {
        s_ = mul_rn(double{alpha}, s_);
        m_ = mul_rn(magnitude(double{alpha}), m_);
    }

    /// Gives RN of the exact sum of n products to float and returns true, or returns false.
    SOLVER_HD bool try_result(float& result, std::int32_t n) const noexcept {
        const double b = mul_rn(static_cast<double>(n + 3) * unit_roundoff<double>, m_);
        const auto low = static_cast<float>(add_rn(s_, -b));
        if (!(low == static_cast<float>(add_rn(s_, b)))) return false;
        result = canonical(low);
        return true;
    }

    /// Gives RN(sum), or returns false, where all products are multiples of 2^q, |q| <= 900.
    SOLVER_HD bool try_on_grid(float& result, int q) const noexcept {
        if (!(m_ <= std::bit_cast<double>(static_cast<std::uint64_t>(1023 + 52 + q) << 52))) return false;
        result = canonical(static_cast<float>(s_));
        return true;
    }

private:
    double s_{0};
    double m_{0};
};

/// A bounded float that counts its products itself, where nobody else does.
class CountedBoundedFloat {
public:
    using value_type = float;
    using Term = double;
    static constexpr bool is_filter = true;
    static constexpr bool wants_exact_products = false;
    static constexpr std::int32_t most_products = 1 << 20;  ///< for which the bound is proven

    SOLVER_HD void add(float x) noexcept { add_term(double{x}); }
    SOLVER_HD void add_product(float a, float b) noexcept {
        sum_.add_product(a, b);
        ++count_;
    }
    SOLVER_HD static Term product(float a, float b) noexcept { return mul_rn(double{a}, double{b}); }  ///< exact
    SOLVER_HD void add_term(Term x) noexcept {
        sum_.add_term(x);
        ++count_;
    }
    SOLVER_HD void merge(const CountedBoundedFloat& other) noexcept {
        sum_.merge(other.sum_);
        count_ += other.count_;
    }
    SOLVER_HD CountedBoundedFloat scaled(float alpha) const noexcept {
        CountedBoundedFloat result = *this;
        result.sum_.scale(alpha);
        ++result.count_;
        return result;
    }

    /// Gives RN of the exact sum to float and returns true, or returns false. N is 0.
    SOLVER_HD bool try_result(float& result, float = 0) const noexcept {
        return count_ <= most_products && sum_.try_result(result, count_);
    }

private:
    BoundedFloat sum_;
    std::int32_t count_ = 0;
};

}  // namespace solver
