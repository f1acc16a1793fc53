#pragma once

/// The five operations everything else is made of, each rounded to nearest even exactly once, on host and device.
///
/// Compilers may change floating-point code in ways that break error-free transformations. Re-association, reciprocals and code
/// that knows no Inf and NaN (-ffast-math and its parts) are refused here, as are the longer registers of x87; clang tells of
/// no part of -ffast-math, so that results are hidden from its optimizer outside the library. Contraction of a * b + c is seen
/// by no preprocessor: the device uses intrinsics that are never contracted, the host hides the product from the optimizer
/// where the target has a fused multiply-add, and error_free_transformations_work() (self_test.hpp) proves the result in the
/// binary as built. Another way is a defect of GCC 12: from -O2 on it drops the rounding of two neighbouring doubles to float
/// where both are widened again. -fno-tree-slp-vectorize forbids that; this library is compiled with it.

#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || __FINITE_MATH_ONLY__
#error "solver/numeric needs IEEE arithmetic: compile this file without -ffast-math and its parts, as -ffinite-math-only"
#endif
#if defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ != 0 && __FLT_EVAL_METHOD__ != 16
#error "solver/numeric needs each operation rounded to its type: compile this file without -mfpmath=387 or both"
#endif

#include "solver/numeric/concepts.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

// SOLVER_HD: small and hot, on host and device. SOLVER_HD_COLD: long or rare, never inlined.
#if defined(__CUDACC__)
#define SOLVER_HD __host__ __device__ __forceinline__
#define SOLVER_HD_COLD __host__ __device__ __noinline__
#elif defined(__GNUC__)
#define SOLVER_HD inline __attribute__((always_inline))
#define SOLVER_HD_COLD __attribute__((noinline))
#else
#define SOLVER_HD inline
#define SOLVER_HD_COLD
#endif

namespace solver {

/// u, half the distance from 1 to the next number: 2^-24 (float), 2^-53 (double).
template <Real T>
inline constexpr T unit_roundoff = std::numeric_limits<T>::epsilon() / 2;

/// eta, the smallest positive subnormal: 2^-149 (float), 2^-1074 (double).
template <Real T>
inline constexpr T smallest_subnormal = std::numeric_limits<T>::denorm_min();

/// The one NaN that the library returns: 0x7FC00000 (float), 0x7FF8000000000000 (double).
template <Real T>
inline constexpr T canonical_nan = std::numeric_limits<T>::quiet_NaN();

/// A value that nothing is known of, where a compiler might know better than to round it.
template <HardwareReal T>
SOLVER_HD T hidden(T x) noexcept {
#if defined(__clang__) && !defined(__CUDA_ARCH__) && !defined(SOLVER_CONTRACTION_IS_OFF)
#if defined(__x86_64__)
    asm("" : "+x"(x));
#elif defined(__aarch64__)
    asm("" : "+w"(x));
#endif
#endif
    return x;
}

/// RN(a + b)
template <HardwareReal T>
SOLVER_HD T add_rn(T a, T b) noexcept {
#if defined(__CUDA_ARCH__)
    if constexpr (std::is_same_v<T, float>)
        return __fadd_rn(a, b);
    else
        return __dadd_rn(a, b);
#else
    return hidden(a + b);
#endif
}

/// RN(a b)
template <HardwareReal T>
SOLVER_HD T mul_rn(T a, T b) noexcept {
#if defined(__CUDA_ARCH__)
    if constexpr (std::is_same_v<T, float>)
        return __fmul_rn(a, b);
    else
        return __dmul_rn(a, b);
#else
    T product = a * b;
#if !defined(SOLVER_CONTRACTION_IS_OFF) && defined(__FMA__)  // a value from nowhere cannot be fused into a later addition
    asm("" : "+x"(product));
#elif !defined(SOLVER_CONTRACTION_IS_OFF) && defined(__aarch64__)
    asm("" : "+w"(product));
#endif
    return hidden(product);
#endif
}

/// RN(a b + c), one rounding
template <HardwareReal T>
SOLVER_HD T fma_rn(T a, T b, T c) noexcept {
#if defined(__CUDA_ARCH__)
    if constexpr (std::is_same_v<T, float>)
        return __fmaf_rn(a, b, c);
    else
        return __fma_rn(a, b, c);
#elif defined(__GNUC__)
    if constexpr (std::is_same_v<T, float>)
        return __builtin_fmaf(a, b, c);
    else
        return __builtin_fma(a, b, c);
#else
    return std::fma(a, b, c);
#endif
}

/// RN(a / b)
template <HardwareReal T>
SOLVER_HD T div_rn(T a, T b) noexcept {
#if defined(__CUDA_ARCH__)
    if constexpr (std::is_same_v<T, float>)
        return __fdiv_rn(a, b);
    else
        return __ddiv_rn(a, b);
#else
    return hidden(a / b);
#endif
}

/// RN(sqrt(a))
template <HardwareReal T>
SOLVER_HD T sqrt_rn(T a) noexcept {
#if defined(__CUDA_ARCH__)
    if constexpr (std::is_same_v<T, float>)
        return __fsqrt_rn(a);
    else
        return __dsqrt_rn(a);
#else
    return hidden(std::sqrt(a));
#endif
}

/// |a|
template <HardwareReal T>
SOLVER_HD T magnitude(T a) noexcept {
#if defined(__CUDA_ARCH__)
    if constexpr (std::is_same_v<T, float>)
        return ::fabsf(a);
    else
        return ::fabs(a);
#elif defined(__GNUC__)
    if constexpr (std::is_same_v<T, float>)
        return __builtin_fabsf(a);
    else
        return __builtin_fabs(a);
#else
    return a < 0 ? -a : (a == 0 ? T(0) : a);
#endif
}

/// Neither Inf nor NaN.
template <Real T>
SOLVER_HD bool is_finite(T a) noexcept {
    return add_rn(a, -a) == T(0);
}

/// What a reduction returns for the value a: +0 for either zero, the canonical NaN for any NaN, else a.
template <Real T>
SOLVER_HD T canonical(T a) noexcept {
    return a == a ? add_rn(a, T(0)) : canonical_nan<T>;
}

/// A number strictly below (above) a, at most three ulps away: RN(a -+ RN(RN(2u|a|) + eta)). For a normal, 2u|a| is at least
/// the gap to the neighbour; for a subnormal, eta is that gap; rounding is monotone. -Inf (Inf) once the range is left. Not by
/// one fma: with a subnormal addend that takes 100 to 200 cycles on many processors, a sum does not.
template <Real T>
SOLVER_HD T below(T a) noexcept {
    return add_rn(a, -add_rn(mul_rn(2 * unit_roundoff<T>, magnitude(a)), smallest_subnormal<T>));
}

template <Real T>
SOLVER_HD T above(T a) noexcept {
    return add_rn(a, add_rn(mul_rn(2 * unit_roundoff<T>, magnitude(a)), smallest_subnormal<T>));
}

}  // namespace solver
