#pragma once

/// log2 of magnitudes by integer arithmetic: libm's differs between machines.

#include "solver/preparation.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

namespace solver::preparation {

/// The bits of log2(m) behind the point, log2_fraction_bits of them, rounded down; m = mantissa / 2^31 in [1, 2). Squaring m
/// doubles its logarithm: each carry beyond 2 is the next bit. (The squares are cut to 31 bits, which can move the result by
/// one unit.)
inline std::int32_t log2_fraction(std::uint64_t mantissa) {
    std::uint32_t fraction = 0;
    for (int bit = 0; bit < log2_fraction_bits; ++bit) {
        mantissa = mantissa * mantissa >> 31;
        const std::uint64_t carry = mantissa >> 32;
        mantissa >>= carry;
        fraction = fraction << 1 | static_cast<std::uint32_t>(carry);
    }
    return static_cast<std::int32_t>(fraction);
}

/// log2|x| in units of 2^-20, of a finite x that is not zero; within +-1074 * 2^20. Exact for powers of two, rises with |x|.
template <class T>
std::int32_t log2_magnitude(T x) {
    const auto bits = std::bit_cast<std::uint64_t>(static_cast<double>(x)) & ~(std::uint64_t{1} << 63);
    constexpr int mantissa_bits = std::numeric_limits<double>::digits - 1;
    std::int32_t exponent = static_cast<std::int32_t>(bits >> mantissa_bits) - 1023;
    std::uint64_t mantissa = bits << 11 | std::uint64_t{1} << 63;
    if (exponent == -1023) {  // subnormal: no leading one
        const int shift = std::countl_zero(bits << 12);
        mantissa = bits << 12 << shift;
        exponent -= shift;
    }
    return exponent * (std::int32_t{1} << log2_fraction_bits) + log2_fraction(mantissa >> 32);
}

/// Those of numbers none of which is zero, in vector lanes.
void log2_magnitudes(std::span<const double> x, std::int32_t* logarithms);
void log2_magnitudes(std::span<const float> x, std::int32_t* logarithms);

}  // namespace solver::preparation
