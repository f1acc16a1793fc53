#pragma once

/// alpha sum + beta y for a sum in an accumulator: what every row of a product ends with.

#include "solver/numeric/filtered.hpp"

namespace solver {

/// alpha sum + beta y, before the rounding. y does not count where beta is 0.
template <ScalableAccumulator A, Real T>
SOLVER_HD A affine(const A& sum, T alpha, T beta, T y) noexcept {
    A total = alpha == T(1) ? sum : sum.scaled(alpha);
    if (beta != T(0)) total.add_product(beta, y);
    return total;
}

/// N for the products of one row of n entries, two an entry where x is a pair, and those with alpha and beta: more than they
/// can lose, but a normal number, since arithmetic on subnormals is slow on many processors. The least normal number is 2^52
/// eta (float 2^23 eta).
template <Real T>
SOLVER_HD T affine_underflow(T alpha, std::int64_t n) noexcept {
    constexpr T least_normal = std::numeric_limits<T>::min();
    if (magnitude(alpha) == T(1) && n <= (1 << 20)) return least_normal;
    return add_rn(mul_rn(magnitude(alpha), underflow_bound<T>(2 * n)), least_normal);
}

}  // namespace solver
