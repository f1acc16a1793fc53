#pragma once

/// What the residue route knows of the rows of A and of the columns of B, and how it makes integers of them.
///
/// A line is a row of A or a column of B: `inner` numbers x_k. With a whole number s, the line's scale, x_k 2^s = x'_k + d_k
/// where x'_k is the nearest integer, |d_k| <= 1/2, and d_k = 0 for as many as possible. All sums are of integers, rounded up,
/// so that they do not depend on the order in which threads add.

#include "gemm/residue/residue_system.hpp"
#include "solver/numeric/rounding.hpp"

#include <bit>
#include <cstdint>
#include <type_traits>

namespace solver::cuda {

/// A as `lines` rows, or B as `lines` columns.
template <class T>
struct Lines {
    const T* data;
    std::int64_t count;
    std::int64_t inner;
    std::int64_t line_stride;
    std::int64_t inner_stride;

    __device__ T operator()(std::int64_t line, std::int64_t k) const { return data[line * line_stride + k * inner_stride]; }
};

/// A finite number as (negative ? -1 : 1) significand 2^exponent.
struct Decomposed {
    std::uint64_t significand;
    int exponent;
    bool negative;

    __device__ explicit Decomposed(double x) {
        const auto bits = static_cast<std::uint64_t>(__double_as_longlong(x));
        const int biased = static_cast<int>(bits >> 52) & 0x7FF;
        significand = (bits & 0xFFFFFFFFFFFFF) | (biased != 0 ? std::uint64_t{1} << 52 : 0);
        exponent = max(biased, 1) - 1075;
        negative = (bits >> 63) != 0;
    }
};

/// Of a finite number other than 0.
__device__ __forceinline__ int exponent_of_last_bit(double x) {
    const int high = __double2hiint(x), low = __double2loint(x);
    const int biased = high >> 20 & 0x7FF;
    const int significand = (high & 0xFFFFF) | (biased != 0 ? 1 << 20 : 0);
    return max(biased, 1) - 1075 + (low != 0 ? __ffs(low) : 32 + __ffs(significand)) - 1;
}

/// 2^e for any e within the range of normal numbers; 0 below, 2^1023 above.
__device__ inline double power_of_two(int e) {
    return e < -1022 ? 0.0 : __longlong_as_double(static_cast<long long>(min(e, 1023) + 1023) << 52);
}

/// x 2^e, rounded once where it is subnormal; e within +-2000.
__device__ inline double scaled(double x, int e) {
    const int half = e / 2;
    return mul_rn(mul_rn(x, power_of_two(half)), power_of_two(e - half));
}

/// What one pass over a line finds.
struct LineRange {
    unsigned long long largest;  ///< bits of max |x_k|
    int lowest_bit;              ///< the smallest exponent of a last bit that is not zero
};
inline constexpr int no_lowest_bit = 1 << 20;

struct LineSums {
    unsigned long long squares;       ///< of x_k 2^-E, in units of 2^-38, E the exponent of the largest
    unsigned long long lost;          ///< sum |d_k|, in units of 2^-31
    unsigned long long lost_squares;  ///< sum d_k^2, in units of 2^-38
    double log2_norm;                 ///< log2 ||x||, up to 1e-9 above it; 0 for zeros
};

/// What is known of a line in the end: upper bounds, in units of the scaled line.
struct alignas(16) LineBounds {
    float lost;       ///< sum |d_k|
    float lost_norm;  ///< of d
    float norm;       ///< of x 2^s and of x'
    float largest;    ///< of |x_k 2^s| and |x'_k|
};

/// The largest norms that integers of that many words are scaled to, as logarithms.
template <int words>
inline constexpr double most_bits = 32 * words - 9.5;

/// An integer in the form of ByteWeights, and |d| in units of 2^-31, rounded up.
template <int words>
struct ScaledInteger {
    __extension__ typedef std::conditional_t<(words > 2), unsigned __int128, std::uint64_t> Integer;

    std::uint32_t word[words];
    std::uint32_t lost;

    __device__ ScaledInteger(double x, int scale) {
        const Decomposed parts(x);
        const int shift = parts.exponent + scale;
        Integer integer = 0;
        lost = 0;
        if (shift >= 0) {
            if (parts.significand != 0) integer = Integer{parts.significand} << shift;
        } else {
            const int right = -shift;
            if (right <= 53) integer = (parts.significand + (std::uint64_t{1} << (right - 1))) >> right;
            const std::uint64_t kept = right <= 53 ? static_cast<std::uint64_t>(integer) << right : 0;
            const std::uint64_t d = parts.significand > kept ? parts.significand - kept : kept - parts.significand;
            if (d != 0) lost = in_units(d, right - 31);
        }
        if (parts.negative) integer = -integer;
#pragma unroll
        for (int i = 0; i < words; ++i) word[i] = static_cast<std::uint32_t>(integer >> (32 * i));
        word[words - 1] = (word[words - 1] & 0xFFFFFF) | (parts.negative && integer != 0 ? 1 << 24 : 0);
    }

private:
    /// d 2^-drop, rounded up, for d > 0.
    __device__ static std::uint32_t in_units(std::uint64_t d, int drop) {
        if (drop <= 0) return static_cast<std::uint32_t>(d << -drop);
        return drop < 54 ? static_cast<std::uint32_t>(d >> drop) + 1 : 1;
    }
};

/// d^2 in units of 2^-38, rounded up, of |d| in units of 2^-31.
__device__ inline unsigned long long lost_square(std::uint32_t lost) {
    return lost == 0 ? 0 : ((static_cast<unsigned long long>(lost) * lost) >> 24) + 1;
}

inline constexpr std::uint32_t magic_bits = 0x4B400000;  ///< 3 2^22 as a float

/// x plus the scalar product of an integer's bytes and weights, which is below 12 * 255 * 128 < 2^19 in magnitude.
template <int words>
__device__ __forceinline__ std::uint32_t add_weighted(std::uint32_t x, const std::uint32_t (&word)[words],
                                                      const ByteWeights& weights) {
#pragma unroll
    for (int i = 0; i < words; ++i)
        asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(x) : "r"(word[i]), "r"(weights.of_bytes[i]), "r"(x));
    return x;
}

/// The residue of x, |x| < 2^20, in [-128, 127], in the low byte of the result; the other bytes are not 0. x comes as x +
/// magic_bits.
///
/// x and 2^23 + 2^22 + x are floats. Adding 3 2^22 to x / p rounds it to the nearest whole number q in the last places: RN(1 /
/// p) is wrong by 2^-24 of it, x / p by at most 1 / (16 p), but for odd p x / p is at least 1 / (2 p) away from the midpoint of
/// whole numbers, and for 256 nothing is lost. |x - q p| <= p / 2, and 128 for p = 256 is -128. Of x - q p only the low byte
/// counts, which the bits of 3 2^22 do not touch.
__device__ __forceinline__ std::uint32_t residue_byte(std::uint32_t x, std::int32_t p, float reciprocal) {
    constexpr float magic = 12582912.0F;
    const float quotient = fma_rn(add_rn(__uint_as_float(x), -magic), reciprocal, magic);
    return x - __float_as_uint(quotient) * static_cast<std::uint32_t>(p);
}

}  // namespace solver::cuda
