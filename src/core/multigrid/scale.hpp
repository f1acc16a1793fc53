#pragma once

/// Vectors of doubles in single precision.

#include "solver/numeric/rounding.hpp"

#include <cstdint>

namespace solver::amg {

/// The power of two, 2^-1022 to 2^1022, that brings a vector's largest magnitude, whose bits these are, into [1, 2), or as near
/// as the range of the powers allows; 1 where something is not finite.
SOLVER_HD double scale_of(std::uint64_t largest_bits) noexcept {
    constexpr int mantissa_bits = 52, bias = 1023, not_finite = 2047, lowest = 1, highest = 2 * bias - 1;
    int exponent = static_cast<int>(largest_bits >> mantissa_bits);
    if (exponent == not_finite) return 1;
    exponent = exponent < lowest ? lowest : exponent > highest ? highest : exponent;
    const auto bits = static_cast<std::uint64_t>(2 * bias - exponent) << mantissa_bits;
#if defined(__CUDA_ARCH__)
    return __longlong_as_double(static_cast<long long>(bits));
#else
    return __builtin_bit_cast(double, bits);
#endif
}

/// The bits of |x|, which rise with it; those of a NaN are the highest.
SOLVER_HD std::uint64_t magnitude_bits(double x) noexcept {
    constexpr std::uint64_t all_but_sign = ~std::uint64_t{0} >> 1;
#if defined(__CUDA_ARCH__)
    return static_cast<std::uint64_t>(__double_as_longlong(x)) & all_but_sign;
#else
    return __builtin_bit_cast(std::uint64_t, x) & all_but_sign;
#endif
}

/// Whether an entry of a matrix is far from the ends of the range of floats, so that the matrices of all levels will be, too.
SOLVER_HD bool suits_single_precision(double entry) noexcept {
    constexpr double least = 0x1p-90, most = 0x1p90;
    const double size = magnitude(entry);
    return size == 0 || (size >= least && size <= most);
}

}  // namespace solver::amg
