#pragma once

/// Proof, in the binary as built and the thread as set up, that the error-free transformations are error-free.

#include "solver/numeric/error_free.hpp"

namespace solver {

namespace detail {

/// x as the compiler cannot know it.
template <Real T>
SOLVER_HD T opaque(T x) noexcept {
    volatile T hidden = x;
    return hidden;
}

template <Real T>
SOLVER_HD bool is_split(Split<T> s, T value, T error) noexcept {
    return s.value == value && s.error == error;
}

template <Real T>
SOLVER_HD bool error_free_transformations_work_for() noexcept {
    const T one = opaque(T(1));
    const T u = opaque(unit_roundoff<T>);
    const T eta = opaque(smallest_subnormal<T>);
    const T tiny = opaque(std::numeric_limits<T>::min());
    const T odd = add_rn(one, 2 * u);  // 1 + 2u, its square is 1 + 4u + 4u^2

    // Rounding to nearest even: 1 + u is a tie that goes down, 1 + 3u one that goes up.
    const bool nearest_even = is_split(two_sum(one, u), T(1), u) && is_split(two_sum(odd, u), odd + 2 * u, -u) &&
                              is_split(two_sum(-one, -u), T(-1), -u);
    // Either order of magnitudes: re-association would return the error 0.
    const bool any_order = is_split(two_sum(u * u, one), T(1), u * u) && is_split(fast_two_sum(one, u * u), T(1), u * u);
    // The fused multiply-add has one rounding, and the product before it has its own.
    const Split<T> square = two_prod(odd, odd);
    const bool products = is_split(square, one + 4 * u, 4 * u * u);
    // Products are rounded before they are added, in what a compiler would like to contract: products with no other use.
    const bool difference_is_zero = add_rn(mul_rn(opaque(odd), opaque(odd)), -opaque(square.value)) == T(0);
    const Split<T> sum_of_product = two_sum(mul_rn(opaque(odd), opaque(odd)), opaque(unit_roundoff<T> * unit_roundoff<T>));
    const bool not_contracted = difference_is_zero && is_split(sum_of_product, one + 4 * u, u * u);
    // Subnormals are neither flushed on the way out nor taken for zero on the way in.
    const T half_tiny = mul_rn(tiny, opaque(T(0.5)));
    const bool subnormals = half_tiny > T(0) && add_rn(half_tiny, half_tiny) == tiny &&
                            add_rn(tiny, -add_rn(tiny, -eta)) == eta && is_split(two_sum(tiny, eta), tiny + eta, T(0)) &&
                            mul_rn(eta, opaque(T(1) / unit_roundoff<T>)) > eta;
    return nearest_even && any_order && products && not_contracted && subnormals;
}

}  // namespace detail

/// Whether two_sum, fast_two_sum and two_prod are exact here, for float and double: rounding to nearest even, no
/// re-association, no contraction, no flush-to-zero, no excess precision. Run time only; a few dozen operations. The
/// floating-point environment is that of the calling thread.
SOLVER_HD bool error_free_transformations_work() noexcept {
    return detail::error_free_transformations_work_for<float>() && detail::error_free_transformations_work_for<double>();
}

}  // namespace solver
