#pragma once

/// Division by a number that is known long before the numerator.

#include "solver/numeric/rounding.hpp"

namespace solver::cuda {

/// RN(n / d) by five dependent operations where both numbers have usual sizes, else by division.
///
/// y = RN(1 / d). q0 = RN(n y) lies within 2 ulp of n / d, and q1 = RN(q0 + RN(n - d q0) y) is a faithful rounding: what q0 + r
/// y lacks is some u^2 of it. For a faithful q1 the remainder n - d q1 is a number, and RN(q1 + (n - d q1) y) = RN(n / d)
/// (Markstein, IBM J. Res. Dev. 34(1), 1990; Muller et al., Handbook of Floating-Point Arithmetic, 2nd ed., theorem 4.10). The
/// bounds keep everything far from underflow and overflow: |n| and |1 / d| within 2^-b and 2^b, so q within 2^(2 b), and
/// remainders above 2^(-b - 2 p).
template <std::floating_point T>
class Divisor {
public:
    SOLVER_HD explicit Divisor(T d) noexcept : d_(d), reciprocal_(is_usual(d) ? div_rn(T(1), d) : T(0)) {}

    SOLVER_HD T divide(T n) const noexcept {
        const T q0 = mul_rn(n, reciprocal_);
        const T q1 = fma_rn(fma_rn(-q0, d_, n), reciprocal_, q0);
        const T q2 = fma_rn(fma_rn(-q1, d_, n), reciprocal_, q1);
        return is_usual(n) && reciprocal_ != T(0) ? q2 : div_rn(n, d_);
    }

private:
    using Bits = std::conditional_t<std::is_same_v<T, float>, std::uint32_t, std::uint64_t>;
    static constexpr Bits smallest = std::bit_cast<Bits>(std::is_same_v<T, float> ? T(0x1p-40) : T(0x1p-400));
    static constexpr Bits largest = std::bit_cast<Bits>(std::is_same_v<T, float> ? T(0x1p40) : T(0x1p400));

    /// Magnitudes are in the order of their bits.
    SOLVER_HD static bool is_usual(T x) noexcept {
        return (std::bit_cast<Bits>(x) & ~(Bits{1} << (8 * sizeof(T) - 1))) - smallest <= largest - smallest;
    }

    T d_;
    T reciprocal_;
};

}  // namespace solver::cuda
