#pragma once

/// Error-free transformations: the rounding error of an addition or a product, as a floating-point number.

#include "solver/numeric/rounding.hpp"

namespace solver {

/// An unevaluated sum: value + error.
template <Real T>
struct Split {
    T value;
    T error;
};

/// value = RN(a + b) and value + error == a + b exactly, for any order of magnitudes, unless an operation overflows.
/// 6 additions. Knuth, The Art of Computer Programming, vol. 2, sec. 4.2.2.
template <Real T>
SOLVER_HD Split<T> two_sum(T a, T b) noexcept {
    const T sum = add_rn(a, b);
    const T b_kept = add_rn(sum, -a);
    const T a_kept = add_rn(sum, -b_kept);
    return {sum, add_rn(add_rn(a, -a_kept), add_rn(b, -b_kept))};
}

/// a + b as its rounding and the error, for |a| >= |b| or a == 0. 3 additions. Dekker, Numer. Math. 18, 1971.
template <Real T>
SOLVER_HD Split<T> fast_two_sum(T a, T b) noexcept {
    const T sum = add_rn(a, b);
    return {sum, add_rn(b, -add_rn(sum, -a))};
}

/// value = RN(a b) and value + error == a b exactly, unless the product overflows, or is not zero and below
/// exact_product_threshold in magnitude. 2 operations.
template <Real T>
SOLVER_HD Split<T> two_prod(T a, T b) noexcept {
    const T product = mul_rn(a, b);
    return {product, fma_rn(a, b, -product)};
}

/// From this magnitude on (2^-102 float, 2^-969 double) a product's rounding error is a multiple of eta, hence exact:
/// the last bit of a b is at least 2^(1-p) ulp(a b) with p = 24 or 53 digits. Below it the error is wrong by at most eta / 2.
template <Real T>
inline constexpr T exact_product_threshold = std::numeric_limits<T>::min() *
                                             static_cast<T>(std::uint64_t{1} << std::numeric_limits<T>::digits);

/// Whether two_prod(a, b) is exact.
template <Real T>
SOLVER_HD bool product_is_exact(T a, T b) noexcept {
    return a == T(0) || b == T(0) || magnitude(mul_rn(a, b)) >= exact_product_threshold<T>;
}

/// Whether two_prod(a, b), whose value is `product`, is exact.
template <Real T>
SOLVER_HD bool product_is_exact(T a, T b, T product) noexcept {
#if defined(__CUDA_ARCH__)
    if constexpr (std::is_same_v<T, double>) {  // nearly always told by the upper word
        constexpr std::uint32_t exact_word = (1023 - 969) << 20;
        if ((__double2hiint(product) & 0x7FFFFFFF) >= exact_word) return true;
        return a == 0 || b == 0 || magnitude(product) >= exact_product_threshold<T>;
    }
#endif
    return magnitude(product) >= exact_product_threshold<T> || a == T(0) || b == T(0);
}

/// a + b rounded to odd: the neighbour with an odd last digit where the sum is not a number itself. Rounding that once more to
/// nearest in a format with at least two digits less gives the correctly rounded sum (Boldo, Melquiond, IEEE Trans. Comp.
/// 57(4), 2008).
SOLVER_HD double add_to_odd(double a, double b) noexcept {
    const Split<double> s = two_sum(a, b);
    const auto bits = std::bit_cast<std::uint64_t>(s.value);
    if (s.error == 0 || (bits & 1) != 0) return s.value;
    const bool magnitude_grows = (s.error > 0) == (s.value > 0);
    return std::bit_cast<double>(magnitude_grows ? bits + 1 : bits - 1);
}

}  // namespace solver
