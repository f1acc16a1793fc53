#pragma once

/// Three-fold sums without the cost: additions that are exact because the sum is kept at a fixed place.
///
/// A sum S that starts at sigma = 1.5 * 2^k and never leaves [2^k, 2^(k+1)] has one ulp, g = 2^(k-52). Then of
///     t = RN(S + p),  q = RN(t - S),  r = RN(p - q)
/// q and r are exact, p = q + r, q is a multiple of g and |r| <= g/2: S takes the upper bits of p without an error and leaves
/// the rest. (Rump, Ogita, Oishi, *Accurate floating-point summation*, SIAM J. Sci. Comput. 31(1), 2008, ExtractVector; Demmel,
/// Nguyen, *Parallel reproducible summation*, IEEE Trans. Comp. 64(7), 2015.) Three operations instead of two_sum's six, and
/// sums at one place are merged by one exact addition. The price: an upper bound of the terms has to be known before.

#include "solver/numeric/filtered.hpp"

namespace solver {

/// The sum of n <= 2^log2_terms terms of the magnitude 2^e or less, as sum_1 + sum_2 + d: sum_1 takes the terms' upper bits at
/// 2^k1, sum_2 what that leaves at 2^k2, d the last rest by plain additions, m the magnitudes of these. `total` gives a
/// FilteredTriple, which decides nearly as much as one that was accumulated itself: sums some 2^60 times smaller than their
/// largest term, and ties where all terms lie within some 80 bits. 8 operations a term, 14 a product.
///
/// Let e be such that |p_i| < 2^e for all terms, hence |p_i's error| < 2^(e-53). With L = log2_terms <= 40,
///     k1 = e + L + 2,  k2 = k1 + L - 49,  g = 2^(k1-52),  g2 = 2^(k2-52).
/// `reach` moves the sums to a larger e by adding their contents anew, like a term and its error. A sum does that whenever its
/// e grows, so what its moves leave, a half g at most each time, is at most half of g + g/2 + g/4 + ... <= g, and at sum_2
/// likewise. Of at most n lanes that have terms, and at most as many sums merged from them:
///     sum_1: sum |contents| <= n 2^e + 5 n g/2 <= 2^(e+L+1) = 2^(k1-1), for 5 n g/2 <= 5 * 2^(2L+e-51) <= 2^(e+L);
///     sum_2: sum |contents| <= 5 n g/2 + n 2^(e-53) + 6 n g2 <= 4 n g <= 2^(k2-1): g/2 = 2^(k1-53) and 2^(k2-1) = 2^(L+k1-50).
/// Neither leaves its binade, so additions and merges of both are exact. What a deposit leaves is rounded once to one number; d
/// and m collect these numbers and their magnitudes by one tree, as FilteredTriple has it.
/// Numbers below 2^-822 are treated as if they were as large, which keeps all of this in the normal range; from 2^977 on (and
/// for Inf and NaN) nothing is decided.
class AnchoredTriple {
public:
    using value_type = double;
    using Term = Split<double>;
    static constexpr bool is_filter = true;  // by its total
    static constexpr bool wants_exact_products = true;

    SOLVER_HD explicit AnchoredTriple(int log2_terms) noexcept : log2_terms_(log2_terms) { move_to(word_of_none); }

    SOLVER_HD static Term product(double a, double b) noexcept { return two_prod(a, b); }

    /// The upper 32 bits without the sign: ordered as magnitudes are.
    SOLVER_HD static std::uint32_t word_of(double x) noexcept {
#if defined(__CUDA_ARCH__)
        return static_cast<std::uint32_t>(__double2hiint(x)) & 0x7FFFFFFFu;
#else
        return static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(x) >> 32) & 0x7FFFFFFFu;
#endif
    }

    /// The terms that follow have words of at most this one. Needed before the first of them.
    SOLVER_HD void reach(std::uint32_t word) noexcept {
        word = word > least_word ? word : least_word;
        if (word <= word_) return;
        const bool empty = word_ == word_of_none;
        const double first = add_rn(s_, -anchor_1());
        const double second = add_rn(c_, -anchor_2());
        move_to(word);
        if (!empty) deposit(first, second);
    }

    SOLVER_HD std::uint32_t word() const noexcept { return word_; }

    SOLVER_HD void add(double x) noexcept { add_rest(take(c_, take(s_, x))); }
    SOLVER_HD void add_term(Term x) noexcept { deposit(x.value, x.error); }

    /// Adds a sum with the same log2_terms.
    SOLVER_HD void merge(AnchoredTriple other) noexcept {
        reach(other.word());
        other.reach(word());
        merge_parts(other.s_, other.c_, other.d_, other.m_);
    }

    /// Adds a sum that has reached the same word, with the same log2_terms, of which only exchange(part of this sum) can be
    /// had.
    template <class Exchange>
    SOLVER_HD void merge_by(const Exchange& exchange) noexcept {
        merge_parts(exchange(s_), exchange(c_), exchange(d_), exchange(m_));
    }

    /// Of chains of at most so many terms in one lane, merged over at most 2^16 lanes.
    SOLVER_HD FilteredTriple<double> total(std::int32_t chain) const noexcept {
        const double m = word_ > largest_word ? std::numeric_limits<double>::infinity() : m_;
        return {add_rn(s_, -anchor_1()), add_rn(c_, -anchor_2()), d_, m, ErrorPath{2 * chain + 40, 16}};
    }

private:
    static constexpr std::uint32_t below_exponent = 0xFFFFF;
    static constexpr std::uint32_t least_word = (200u << 20) | below_exponent;
    static constexpr std::uint32_t word_of_none = (199u << 20) | below_exponent;

    static constexpr std::uint32_t largest_word = (1999u << 20) | below_exponent;

    SOLVER_HD void deposit(double value, double error) noexcept {
        const double rest = take(c_, take(s_, value));
        add_rest(add_rn(rest, take(c_, error)));
    }
    SOLVER_HD void add_rest(double rest) noexcept {
        d_ = add_rn(d_, rest);
        m_ = add_rn(m_, magnitude(rest));
    }

    SOLVER_HD void merge_parts(double s, double c, double d, double m) noexcept {
        s_ = add_rn(s_, add_rn(s, -anchor_1()));
        c_ = add_rn(c_, add_rn(c, -anchor_2()));
        d_ = add_rn(d_, d);
        m_ = add_rn(m_, m);
    }

    /// Adds x to the sum and returns what does not fit.
    SOLVER_HD static double take(double& sum, double x) noexcept {
        const double t = add_rn(sum, x);
        const double taken = add_rn(t, -sum);
        sum = t;
        return add_rn(x, -taken);
    }

    // Biased exponents. Terms below 2^e have a biased exponent of e + 1022 at most.
    SOLVER_HD int anchor_1_exponent() const noexcept { return static_cast<int>(word_ >> 20) + log2_terms_ + 3; }
    SOLVER_HD int anchor_2_exponent() const noexcept { return static_cast<int>(word_ >> 20) + 2 * log2_terms_ - 46; }
    SOLVER_HD double anchor_1() const noexcept { return power_and_half(anchor_1_exponent()); }
    SOLVER_HD double anchor_2() const noexcept { return power_and_half(anchor_2_exponent()); }

    SOLVER_HD static double power_and_half(int biased) noexcept {
        return std::bit_cast<double>((static_cast<std::uint64_t>(static_cast<std::uint32_t>(biased)) << 52) |
                                     (std::uint64_t{1} << 51));
    }

    SOLVER_HD void move_to(std::uint32_t word) noexcept {
        word_ = word | below_exponent;
        s_ = anchor_1();
        c_ = anchor_2();
    }

    double s_;
    double c_;
    double d_{0};
    double m_{0};

    std::uint32_t word_;

    std::int32_t log2_terms_;
};

}  // namespace solver
