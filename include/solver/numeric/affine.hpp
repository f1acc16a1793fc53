#pragma once

/// alpha sum + beta y for a sum in an accumulator: what every row of a product ends with.

#include "solver/numeric/tracked_sum.hpp"

#include <cstdint>
#include <limits>
#include <type_traits>

namespace solver {

/// alpha sum + beta y, before the rounding. y does not count where beta is 0.
template <ScalableAccumulator A, Real T>
SOLVER_HD A affine(const A& sum, T alpha, T beta, T y) noexcept {
    A total = alpha == T(1) ? sum : sum.scaled(alpha);
    if (beta != T(0)) total.add_product(beta, y);
    return total;
}

/// N for the products of one row of n entries, two an entry where x is a pair, and those with alpha and beta: more than they
/// can lose, but a normal number, and in double so large that products by 2u are, too (below and above): arithmetic on
/// subnormals is slow on many processors. The least normal number is 2^52 eta (float 2^23 eta).
template <Real T>
SOLVER_HD T affine_underflow(T alpha, std::int64_t n) noexcept {
    constexpr T least = std::numeric_limits<T>::min() * (std::is_same_v<T, double> ? T(0x1p62) : T(1));
    if (magnitude(alpha) == T(1) && n <= (1 << 20)) return least;
    return add_rn(mul_rn(magnitude(alpha), underflow_bound<T>(2 * n)), least);
}

/// Gives alpha sum + beta y for the sum of a row of n entries and returns true; a filter gives RN of it, or returns false. The
/// sum of a row of floats may be one of doubles.
template <ScalableAccumulator A, Real T>
SOLVER_HD bool try_affine(const TrackedSum<A>& sum, T alpha, T beta, T y, std::int64_t n, T& result) noexcept {
    using V = typename A::value_type;
    const A total = affine(sum.sum, V{alpha}, V{beta}, V{y});
    if constexpr (!A::is_filter) {
        result = total.result();
        return true;
    } else if constexpr (A::wants_exact_products && std::is_same_v<T, V>) {
        const bool exact = sum.inexact == 0 && magnitude(alpha) == T(1) && (beta == T(0) || product_is_exact(beta, y));
        return total.try_result(result, exact ? T(0) : affine_underflow<T>(alpha, n));
    } else {
        return total.try_result(result);
    }
}

}  // namespace solver
