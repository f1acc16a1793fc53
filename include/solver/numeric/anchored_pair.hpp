#pragma once

/// The cheapest filter for sums of products: 4 floating-point operations a product, where FilteredTriple takes 25.

#include "solver/numeric/error_free.hpp"

#include <bit>
#include <cstdint>

namespace solver {

/// The sum of n products a_i b_i as s - sigma + d. s starts at sigma = 1.5 * 2^k, the anchor, and takes of every product what
/// is a multiple of g = 2^(k-52); d takes what that leaves, by plain additions:
///     t = RN(s + a b),  r = RN(a b - (t - s)),  d = RN(d + r),  s = t.
///
/// As long as s and t lie in [2^k, 2^(k+1)), both are multiples of g and t - s is one below 2^k, hence exact, and what is left,
/// a b - (t - s) = (s + a b) - t, is at most g/2. Whether all of them lay there can be seen in their exponents, so that nothing
/// needs to be known of the products: an anchor that was too low, Inf or NaN leave a sum that decides nothing. (Sums at a fixed
/// place: Rump, Ogita, Oishi, SIAM J. Sci. Comput. 31(1), 2008, ExtractScalar; here of products, by a fused multiply-add.)
///
/// What is lost. A rest is rounded by u g/2 at most; d has grown to at most j g/2 (1 + 2 n u) after j of them, and adding the
/// j-th, from the second on, loses u times that. Together, for n <= 2^20,
///     |sum - (s - sigma + d)| <= u g/2 (n + n(n+1)/2 - 1)(1 + 2 n u) <= u g/4 (n + 2)^2 = 2^(k-107) (n + 2)^2.
/// Underflow adds nothing: k >= -823, so that u g/2 is far more than half the least subnormal number.
///
/// Where all products are multiples of q and n g/2 <= 2^53 q, every rest and every sum of rests is a multiple of q below
/// 2^53 q: nothing is lost at all, and RN(s - sigma + d) is the result, ties and zeros included.
class AnchoredPair {
public:
    using value_type = double;

    /// The upper 32 bits without the sign: ordered as magnitudes are.
    SOLVER_HD static std::uint32_t word_of(double x) noexcept { return upper_half(x) & 0x7FFFFFFFu; }

    /// How far, in powers of 2, the anchor lies above the largest product known: n of that size leave 2^10 for a larger one.
    SOLVER_HD static int room_for(std::int32_t n) noexcept { return 12 + digits_of(n); }

    /// `word` of the largest product known, which need not be the largest one; `room` of room_for.
    SOLVER_HD AnchoredPair(std::uint32_t word, int room) noexcept {
        constexpr int least = 200;  // biased exponents
        constexpr int most = 2040;
        const int exponent = static_cast<int>(word >> 20);
        int k = (exponent > least ? exponent : least) + room;
        k = k < most ? k : most;
        anchor_ = static_cast<std::uint32_t>(k) << 20 | 0x80000u;
        s_ = sigma();
    }

    SOLVER_HD void add_product(double a, double b) noexcept {
        const double t = fma_rn(a, b, s_);
        d_ = add_rn(d_, fma_rn(a, b, -add_rn(t, -s_)));
        seen_ |= upper_half(t) ^ anchor_;
        s_ = t;
    }

    SOLVER_HD void negate() noexcept {
        s_ = add_rn(sigma(), -add_rn(s_, -sigma()));
        d_ = -d_;
    }

    /// Gives RN of the exact sum of n products and returns true, or returns false.
    ///
    /// b >= the bound above + 4u|d|, and more, which covers what d -+ b and b itself lose: d - b and d + b enclose the sum
    /// without s - sigma, and rounding of s - sigma + (d -+ b) is monotone. Neither of these is -0, for s - sigma never is.
    SOLVER_HD bool try_result(double& result, std::int32_t n) const noexcept {
        const double b = fma_rn(4 * unit_roundoff<double>, magnitude(d_), bound(n));
        const double high_part = add_rn(s_, -sigma());
        result = add_rn(high_part, add_rn(d_, -b));
        return result == add_rn(high_part, add_rn(d_, b)) && stayed();
    }

    /// Gives RN(sum), or returns false, where all products are multiples of 2^q, or where q > 10000 says that all are 0.
    SOLVER_HD bool try_on_grid(double& result, std::int32_t n, int q) const noexcept {
        const int k = static_cast<int>(anchor_ >> 20) - 1023;
        const int most = 106 + q - k;  // log2 of 2^53 2^q / (g/2)
        result = add_rn(add_rn(s_, -sigma()), d_);
        return digits_of(n) <= most && stayed();
    }

private:
    SOLVER_HD static std::uint32_t upper_half(double x) noexcept {
#if defined(__CUDA_ARCH__)
        return static_cast<std::uint32_t>(__double2hiint(x));
#else
        return static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(x) >> 32);
#endif
    }

    SOLVER_HD bool stayed() const noexcept { return (seen_ & 0xFFF00000u) == 0; }
    SOLVER_HD double sigma() const noexcept { return from_upper_half(anchor_); }
    SOLVER_HD static int digits_of(std::int32_t n) noexcept {
        return static_cast<int>(std::bit_width(static_cast<std::uint32_t>(n)));
    }
    /// 2^(k-107) times a power of 4 from (n + 3)^2 on, which exceeds (n + 2)^2 by far more than roundings.
    SOLVER_HD double bound(std::int32_t n) const noexcept {
        return from_upper_half((anchor_ & 0xFFF00000u) + (static_cast<std::uint32_t>(2 * digits_of(n + 3) - 107) << 20));
    }
    SOLVER_HD static double from_upper_half(std::uint32_t word) noexcept {
#if defined(__CUDA_ARCH__)
        return __hiloint2double(static_cast<int>(word), 0);
#else
        return std::bit_cast<double>(std::uint64_t{word} << 32);
#endif
    }

    double s_;
    double d_{0};
    std::uint32_t anchor_;
    std::uint32_t seen_{0};  ///< bits in which the upper half of an s differed from the anchor's
};

}  // namespace solver
