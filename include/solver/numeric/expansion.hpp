#pragma once

/// Real numbers as unevaluated sums.

#include "solver/numeric/rounding.hpp"

#include <span>

namespace solver {

/// A real number V as e_0 + e_1 + ..., the largest first: e_0 = RN(V), e_1 = RN(V - e_0), e_2 = RN(V - e_0 - e_1) and so on
/// until nothing is left. So |e_(i+1)| <= ulp(e_i) / 2, the components do not overlap, and V alone decides their number and
/// their bits. V = 0 has the one component +0.
template <Real T>
struct Expansion {
    /// From the largest number of type T to the smallest subnormal: 40 for double, 12 for float.
    static constexpr int capacity =
        (std::numeric_limits<T>::max_exponent - std::numeric_limits<T>::min_exponent + 2 * std::numeric_limits<T>::digits - 1) /
        std::numeric_limits<T>::digits;

    T component[capacity] = {};  ///< zeros beyond `size`
    std::int32_t size = 0;       ///< 1 or more of a result

    /// Whether the components add up to V. If not, V is the one component Inf, -Inf or NaN, or a sum of products that go below
    /// the smallest subnormal eta, of which |V - e_0 - e_1 - ...| <= eta / 2 is lost.
    bool is_exact = false;

    std::span<const T> components() const { return {component, static_cast<std::size_t>(size)}; }
};

}  // namespace solver
