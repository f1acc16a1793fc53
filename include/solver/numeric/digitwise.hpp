#pragma once

/// Exact sums in a few registers: the superaccumulator's digits one after another instead of all at once.

#include "solver/numeric/superaccumulator.hpp"

namespace solver {

/// Those who share the terms of a sum: here just one. Others combine what each of them has, and give it to all.
struct Alone {
    __extension__ typedef __int128 Int128;

    SOLVER_HD Int128 sum(Int128 value) const noexcept { return value; }
    SOLVER_HD double sum(double value) const noexcept { return value; }
    SOLVER_HD int smallest(int value) const noexcept { return value; }
    SOLVER_HD int largest(int value) const noexcept { return value; }
};

/// sum a_i b_i c_i for products of three doubles each, with the result of a Superaccumulator: no underflow, no overflow.
/// `for_each(visit)` calls visit(a_i, b_i, c_i) for the caller's share of the terms, as often as it is asked; all c_i are
/// finite.
///
/// V = sum_k digit_k 2^(53 k - 3222), since 2^-3222 is the last bit of the smallest product. Terms are read once to find the
/// digits that they touch, then once a digit, from the lowest on: a digit is the sum of its parts in all terms and of the
/// carry, modulo 2^53, the carry the rest. Each part is below 2^53, so 2^63 terms fit into 128 bits. Above the terms' highest
/// digit only the carry is left; where it stays -1, V is negative, and all is done again for -V. Of the digits nothing is
/// needed but the highest that is not zero, the one below and whether anything lies lower.
class DigitwiseSum {
    __extension__ typedef __int128 Int128;
    __extension__ typedef unsigned __int128 Uint128;

public:
    template <class ForEach, class Team = Alone>
    SOLVER_HD explicit DigitwiseSum(const ForEach& for_each, const Team& team = {}) noexcept {
        int lowest = most_digits;
        int highest = 0;
        for_each([&](double a, double b, double c) {
            if (!is_finite(a) || !is_finite(b)) {
                special_ = add_rn(special_, mul_rn(mul_rn(a, b), c));
            } else if (a != 0 && b != 0 && c != 0) {
                const int digit = Term(a, b, c).position / digit_bits;
                lowest = digit < lowest ? digit : lowest;
                highest = digit > highest ? digit : highest;
            }
        });
        special_ = team.sum(special_);
        lowest = team.smallest(lowest);
        highest = team.largest(highest) + 3;  // a term touches four digits
        if (special_ != 0 || lowest == most_digits) return;
        negative_ = !find_digits(for_each, team, lowest, highest);
        if (!negative_) return;
        find_digits(for_each, team, lowest, highest);
    }

    /// RN(V), one rounding to nearest even, overflow to Inf, gradual underflow; +0 where that is zero.
    template <Real T>
    SOLVER_HD T result() const noexcept {
        if (special_ != 0) return canonical(static_cast<T>(special_));
        const T magnitude = rounded_magnitude<T>();
        return negative_ && magnitude != T(0) ? -magnitude : magnitude;
    }

    SOLVER_HD int sign() const noexcept { return top_ == 0 ? 0 : negative_ ? -1 : 1; }  ///< of V, Inf and NaN apart
    SOLVER_HD double special() const noexcept { return special_; }  ///< 0, Inf, -Inf or NaN: the sum of all that was not finite

private:
    static constexpr int digit_bits = 53;
    static constexpr int most_digits = 130;
    static constexpr int unit_position = 3222;
    static constexpr std::uint64_t digit_mask = (std::uint64_t{1} << digit_bits) - 1;

    struct Part {
        SOLVER_HD explicit Part(double x) noexcept {
            const auto bits = std::bit_cast<std::uint64_t>(x);
            exponent = static_cast<int>(bits >> 52) & 0x7FF;
            significand = (bits & (digit_mask >> 1)) | (exponent != 0 ? std::uint64_t{1} << 52 : 0);
            if (exponent == 0) exponent = 1;
            negative = (bits >> 63) != 0;
        }
        std::uint64_t significand;
        int exponent;
        bool negative;
    };

    /// a b c = (negative ? -1 : 1) (q0 + q1 2^53 + q2 2^106) 2^(position - 3222)
    struct Term {
        SOLVER_HD Term(double a, double b, double c) noexcept {
            const Part p(a), q(b), r(c);
            position = p.exponent + q.exponent + r.exponent - 3;
            negative = (p.negative != q.negative) != r.negative;
            const Uint128 two = Uint128{p.significand} * q.significand;
            const Uint128 low = Uint128{static_cast<std::uint64_t>(two) & digit_mask} * r.significand;
            const Uint128 high = Uint128{static_cast<std::uint64_t>(two >> digit_bits)} * r.significand + (low >> digit_bits);
            q0 = static_cast<std::uint64_t>(low) & digit_mask;
            q1 = static_cast<std::uint64_t>(high) & digit_mask;
            q2 = static_cast<std::uint64_t>(high >> digit_bits);
        }
        /// This term's part of digit k.
        SOLVER_HD std::int64_t digit(int k) const noexcept {
            const int j = k - position / digit_bits;
            const int shift = position % digit_bits;
            const std::uint64_t upper = j == 0 ? q0 : j == 1 ? q1 : j == 2 ? q2 : 0;
            const std::uint64_t lower = j == 1 ? q0 : j == 2 ? q1 : j == 3 ? q2 : 0;
            const auto part = static_cast<std::int64_t>(((upper << shift) & digit_mask) | (lower >> (digit_bits - shift)));
            return negative ? -part : part;
        }
        std::uint64_t q0, q1, q2;
        int position;
        bool negative;
    };

    /// The digits of V or, where negative_, of -V. False where that is negative.
    template <class ForEach, class Team>
    SOLVER_HD bool find_digits(const ForEach& for_each, const Team& team, int lowest, int highest) noexcept {
        Int128 carry = 0;
        top_ = 0;
        std::uint64_t former = 0;
        bool lower = false;  // whether any digit below the former is not zero
        for (int k = lowest; k <= highest || (carry != 0 && carry != -1); ++k) {
            Int128 sum = 0;
            if (k <= highest)
                for_each([&](double a, double b, double c) {
                    if (is_finite(a) && is_finite(b)) sum += Term(a, b, c).digit(k);
                });
            sum = team.sum(sum);
            carry += negative_ ? -sum : sum;
            const std::uint64_t digit = static_cast<std::uint64_t>(carry) & digit_mask;
            carry >>= digit_bits;
            if (digit != 0) {
                top_ = digit;
                below_ = former;
                index_ = k;
                rest_ = lower;
            }
            lower = lower || former != 0;
            former = digit;
        }
        return carry == 0;
    }

    template <class T>
    SOLVER_HD T rounded_magnitude() const noexcept {
        if (top_ == 0) return T(0);
        constexpr int eta = unit_position - (std::numeric_limits<T>::digits - std::numeric_limits<T>::min_exponent);
        const int leading_bit = digit_bits * index_ + bit_width_of(top_) - 1;
        const int from_leading = leading_bit - std::numeric_limits<T>::digits + 1;
        const int kept = from_leading > eta ? from_leading : eta;  // the position of the result's last bit
        const Uint128 value = Uint128{top_} << digit_bits | below_;
        const int dropped = kept - 1 - digit_bits * (index_ - 1);
        if (dropped >= 2 * digit_bits) return T(0);
        const auto twice = static_cast<std::uint64_t>(value >> dropped);
        const bool rest = rest_ || (value & ((Uint128{1} << dropped) - 1)) != 0;
        return round_half_even<T>(twice, rest, kept - eta);
    }

    double special_ = 0;
    std::uint64_t top_ = 0;    ///< the highest digit that is not zero
    std::uint64_t below_ = 0;  ///< the next one
    int index_ = 0;            ///< of top
    bool rest_ = false;        ///< whether any lower digit is not zero
    bool negative_ = false;
};

}  // namespace solver
