#pragma once

/// From the residues of an element to its rounding, or to the insight that they do not decide it.

#include "gemm/residue/scaling.cuh"
#include "solver/accuracy.hpp"
#include "solver/numeric/filtered.hpp"

namespace solver::cuda {

/// C, and what to do with the product: element (i, j) is c[i row_stride + j].
template <class T>
struct OutputTask {
    T alpha;
    T beta;
    std::int64_t rows;
    std::int64_t columns;
    std::int64_t row_stride;
    T* c;
};

/// c = sum_l y_l W_l - q P as sign and magnitude; `leading` is its first bit, all limbs are shifted so that it is the top one.
template <int limbs>
struct SignedLimbs {
    std::uint32_t limb[limbs];
    int leading;  ///< the exponent of the first bit; -1 for 0
    bool negative;

    /// `sum` has limbs of more than 32 bits. q is a quotient of the first 64 bits, and right: c / P is further from 1/2 than
    /// its error.
    __device__ __forceinline__ SignedLimbs(const std::uint64_t (&sum)[limbs], const ReconstructionTable& table) {
        std::uint64_t carry = 0;
#pragma unroll
        for (int j = 0; j < limbs; ++j) {
            carry += sum[j];
            limb[j] = static_cast<std::uint32_t>(carry);
            carry >>= 32;
        }
        const double top = fma_rn(static_cast<double>(limb[limbs - 1]), 0x1p32, static_cast<double>(limb[limbs - 2]));
        const auto q = static_cast<std::uint32_t>(__double2int_rn(mul_rn(top, table.reciprocal_of_top_limbs)));
        std::uint64_t borrow = 0;
        carry = 0;
#pragma unroll
        for (int j = 0; j < limbs; ++j) {
            carry += std::uint64_t{q} * table.product[j];
            const std::uint64_t difference = std::uint64_t{limb[j]} - static_cast<std::uint32_t>(carry) - borrow;
            carry >>= 32;
            limb[j] = static_cast<std::uint32_t>(difference);
            borrow = difference >> 63;
        }
        negative = (limb[limbs - 1] >> 31) != 0;
        if (negative) negate();
        normalize();
    }

    __device__ __forceinline__ bool is_zero() const { return leading < 0; }
    __device__ __forceinline__ std::uint64_t word(int k) const {  ///< 64 bits, from the top
        const std::uint64_t high = limbs - 1 - 2 * k >= 0 ? limb[max(limbs - 1 - 2 * k, 0)] : 0;
        const std::uint64_t low = limbs - 2 - 2 * k >= 0 ? limb[max(limbs - 2 - 2 * k, 0)] : 0;
        return high << 32 | low;
    }

private:
    __device__ __forceinline__ void negate() {
        std::uint64_t carry = 1;
#pragma unroll
        for (int j = 0; j < limbs; ++j) {
            carry += static_cast<std::uint32_t>(~limb[j]);
            limb[j] = static_cast<std::uint32_t>(carry);
            carry >>= 32;
        }
    }
    __device__ __forceinline__ void normalize() {
        leading = 32 * limbs - 1;
#pragma unroll
        for (int step = 0; step < limbs; ++step) {
            if (limb[limbs - 1] != 0) break;
            leading -= 32;
#pragma unroll
            for (int j = limbs - 1; j > 0; --j) limb[j] = limb[j - 1];
            limb[0] = 0;
        }
        const int shift = __clz(static_cast<int>(limb[limbs - 1]));
        if (shift == 32) return;  // zero: leading is -1
        leading -= shift;
#pragma unroll
        for (int j = limbs - 1; j > 0; --j) limb[j] = __funnelshift_l(limb[j - 1], limb[j], shift);
        limb[0] <<= shift;
    }
};

/// How far the integer c of scaled and cut lines may be from the scaled sum of products: with x = x' + d and y = y' + e,
/// sum x y - sum x' y' = sum d y + sum x' e, each at most the sum of one factor times the largest of the other, and at most the
/// product of their norms.
__device__ __forceinline__ float element_bound(const LineBounds& row, const LineBounds& column) {
    const float of_row = min(__fmul_ru(row.lost, column.largest), __fmul_ru(row.lost_norm, column.norm));
    const float of_column = min(__fmul_ru(column.lost, row.largest), __fmul_ru(column.lost_norm, row.norm));
    return __fadd_ru(of_row, of_column);
}

/// An integer's first digits and what follows, in units of 2^-64 of the last digit's.
template <class T, int limbs>
struct Digits {
    static constexpr int count = std::numeric_limits<T>::digits;
    std::uint64_t significand;
    std::uint64_t rest;
    bool more;  ///< whether anything lies below rest
    int exponent;

    __device__ __forceinline__ explicit Digits(const SignedLimbs<limbs>& x) : exponent(x.leading - count + 1) {
        const std::uint64_t top = x.word(0), next = x.word(1), last = x.word(2);
        significand = top >> (64 - count);
        rest = top << count | next >> (64 - count);
        more = (next << count) != 0 || last != 0;
    }
};

/// RN(c + w) for an unknown |w| <= bound, where all of these numbers round alike, or what the mode allows instead.
///
/// In units of 2^-64 of the last digit: exact asks that no midpoint of neighbouring numbers lies within the bound: the midpoint
/// above is 2^63 - rest away, others 2^62 or more. compensated asks that |RN(c) - c| + bound <= u |c + w|. fast leaves what
/// rounding takes, u |c|, and asks that the bound is at most (inner - 1) u |c| / 2.
template <class T, int limbs, Accuracy accuracy>
__device__ __forceinline__ bool try_round(const SignedLimbs<limbs>& integer, double bound, int scale, std::int64_t inner,
                                          T& result) {
    using D = Digits<T, limbs>;
    const D digits(integer);
    const double relative = mul_rn(bound, power_of_two(64 - digits.exponent));
    constexpr std::uint64_t half = std::uint64_t{1} << 63;
    bool up;
    if constexpr (accuracy == Accuracy::fast) {
        if (!(relative <= mul_rn(static_cast<double>(inner - 1), 0x1p62))) return false;
        up = digits.rest >= half;
    } else {
        if (!(relative < 0x1p62)) return false;
        const std::uint64_t within = bound == 0 ? 0 : static_cast<std::uint64_t>(relative) + 2;
        if constexpr (accuracy == Accuracy::exact) {
            const std::uint64_t distance = digits.rest >= half ? digits.rest - half : half - digits.rest;
            if (within != 0 && distance <= within) return false;
            up = digits.rest > half || (digits.rest == half && (digits.more || (digits.significand & 1) != 0));
        } else {
            up = digits.rest >= half;
            const std::uint64_t distance = up ? ~digits.rest + 1 : digits.rest + 1;
            if (distance + within + (within >> D::count) + 1 > digits.significand << (64 - D::count)) return false;
        }
    }
    const int exponent = digits.exponent - scale;
    const int top = exponent + D::count;  // of the power of two above, whichever way it is rounded
    if (top < std::numeric_limits<T>::min_exponent || top >= std::numeric_limits<T>::max_exponent) return false;
    // The first digit of the significand adds 1 to the exponent, and so does a carry out of it.
    using Bits = std::conditional_t<std::is_same_v<T, float>, std::uint32_t, std::uint64_t>;
    const auto magnitude = static_cast<Bits>((static_cast<Bits>(top - std::numeric_limits<T>::min_exponent) << (D::count - 1)) +
                                             static_cast<Bits>(digits.significand) + (up ? 1 : 0));
    result = __builtin_bit_cast(T, magnitude | static_cast<Bits>(integer.negative) << (sizeof(T) * 8 - 1));
    return true;
}

/// RN(alpha (c + w) 2^-scale + beta y). c is split into several numbers; within the ranges asked for nothing underflows but
/// beta y.
template <class T, int limbs>
__device__ __forceinline__ bool try_round_affine(const SignedLimbs<limbs>& integer, double bound, int scale,
                                                 const OutputTask<T>& task, T y, T& result) {
    static_assert(limbs <= most_affine_limbs);
    constexpr std::uint64_t mask11 = 0x7FF, mask22 = 0x3FFFFF;
    const std::uint64_t top = integer.word(0), next = integer.word(1), last = integer.word(2);
    const int exponent = integer.leading - 52 - scale;
    const double alpha = task.alpha, beta = task.beta;
    const bool in_range =
        exponent > -700 && exponent < 700 && magnitude(alpha) > 0x1p-150 && magnitude(alpha) < 0x1p150 && bound < 0x1p300;
    if (!in_range) return false;
    const double sign = integer.negative ? -alpha : alpha;
    FilteredTriple<double> sum;
    sum.add_product(sign, mul_rn(static_cast<double>(top >> 11), power_of_two(exponent)));
    sum.add_product(sign, mul_rn(static_cast<double>((top & mask11) << 42 | next >> 22), power_of_two(exponent - 53)));
    sum.add_product(sign, mul_rn(static_cast<double>((next & mask22) << 32 | last >> 32), power_of_two(exponent - 107)));
    double lost = mul_rn(mul_rn(magnitude(alpha), 1 + 0x1p-50), scaled(bound, -scale));
    if (bound != 0) lost = add_rn(lost, 0x1p-1000);  // more than is lost where that is subnormal
    if (beta != 0) {
        sum.add_product(beta, double{y});
        if (!solver::product_is_exact(beta, double{y})) lost = add_rn(lost, 0x1p-1000);
    }
    return sum.try_result(result, lost);
}

/// Element (i, j) of alpha A B + beta C, or false.
template <class T, int limbs, bool plain, Accuracy accuracy>
__device__ __forceinline__ bool try_element(const SignedLimbs<limbs>& integer, double bound, int scale, std::int64_t inner,
                                            const OutputTask<T>& task, std::int64_t i, std::int64_t j, T& result) {
    if constexpr (plain) {
        if (!integer.is_zero()) return try_round<T, limbs, accuracy>(integer, bound, scale, inner, result);
        result = T(0);
        return bound == 0;
    } else {
        if (integer.is_zero() && bound != 0) return false;
        return try_round_affine(integer, bound, scale, task, task.beta != T(0) ? task.c[i * task.row_stride + j] : T(0),
                                result);
    }
}

}  // namespace solver::cuda
