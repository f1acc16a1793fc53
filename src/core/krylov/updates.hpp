#pragma once

/// The updates of the Krylov methods' vectors, element by element, on host and device: every multiplication and every addition
/// is rounded once, to nearest, in the nesting given here, so that all backends give the same bits.

#include "solver/numeric/error_free.hpp"

#include <cstdint>
#include <limits>

namespace solver {

/// out - a x
template <std::floating_point T>
SOLVER_HD T subtracted(T out, T a, T x) noexcept {
    return add_rn(out, -mul_rn(a, x));
}

/// out + a x
template <std::floating_point T>
SOLVER_HD T added(T out, T a, T x) noexcept {
    return add_rn(out, mul_rn(a, x));
}

/// (out + a x) + w y
template <std::floating_point T>
SOLVER_HD T added_both(T out, T a, T x, T w, T y) noexcept {
    return added(added(out, a, x), w, y);
}

/// r + beta (p - omega v)
template <std::floating_point T>
SOLVER_HD T direction(T r, T beta, T p, T omega, T v) noexcept {
    return added(r, beta, subtracted(p, omega, v));
}

/// (x + low) + step, as a pair again.
template <std::floating_point T>
SOLVER_HD Split<T> added_to_pair(T x, T low, T step) noexcept {
    const Split<T> sum = two_sum(x, step);
    return fast_two_sum(sum.value, add_rn(sum.error, low));
}

/// Whether a x, x multiplied by a power of two, has kept all bits of x: it is among the normal numbers, or x is 0.
template <std::floating_point T>
SOLVER_HD bool is_exact_multiple(T x, T ax) noexcept {
    return x == T(0) || (magnitude(ax) >= std::numeric_limits<T>::min() && magnitude(ax) <= std::numeric_limits<T>::max());
}

/// Element i of (-x_1, x_0, -x_3, x_2, ...): of i x, where x has real and imaginary parts in turn.
template <std::floating_point T>
SOLVER_HD T turned(const T* x, std::int64_t i) noexcept {
    return i % 2 == 0 ? -x[i + 1] : x[i - 1];
}

/// Element i of (x_0, -x_1, x_2, -x_3, ...): of the conjugate of x, where x has real and imaginary parts in turn.
template <std::floating_point T>
SOLVER_HD T conjugated(const T* x, std::int64_t i) noexcept {
    return i % 2 == 0 ? x[i] : -x[i];
}

/// Element i of a random vector: an odd multiple of 2^-16 in (-1, 1), from integers (SplitMix64).
template <std::floating_point T>
SOLVER_HD T random_element(std::uint64_t seed, std::int64_t i) noexcept {
    std::uint64_t bits = (seed << 40) + static_cast<std::uint64_t>(i) + 1;
    bits *= 0x9E3779B97F4A7C15u;
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9u;
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBu;
    const auto odd = static_cast<std::int32_t>((bits >> 48) | 1) - 65536 / 2;
    return static_cast<T>(odd) / T(32768);
}

}  // namespace solver
