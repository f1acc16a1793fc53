#pragma once

/// A sum together with what the proof of its rounding asks for.

#include "solver/numeric/accumulators.hpp"
#include "solver/numeric/filtered.hpp"

namespace solver {

/// Adds a b to a sum, and notes in `inexact` where two_prod(a, b) is not exact.
template <Summation A>
SOLVER_HD void add_tracked(A& sum, std::int32_t& inexact, typename A::value_type a, typename A::value_type b) noexcept {
    if constexpr (A::wants_exact_products) {
        const auto p = A::product(a, b);
        if (!product_is_exact(a, b, p.value)) inexact = 1;
        sum.add_term(p);
    } else {
        sum.add_product(a, b);
    }
}

/// A sum by A, and whether the error of one of its products was no number, so that N of filtered.hpp is not 0. What N is then
/// depends on how many products there are, which every loop knows at its end and no sum has to count. Accumulators that do not
/// want exact products cost nothing more here.
template <Summation A>
struct TrackedSum {
    using value_type = typename A::value_type;

    A sum;
    std::int32_t inexact = 0;

    SOLVER_HD void add_product(value_type a, value_type b) noexcept { add_tracked(sum, inexact, a, b); }

    SOLVER_HD void merge(const TrackedSum& other) noexcept {
        sum.merge(other.sum);
        if constexpr (A::wants_exact_products) inexact |= other.inexact;
    }

    /// N, given what it is if not 0.
    SOLVER_HD value_type lost(value_type bound) const noexcept {
        return A::wants_exact_products && inexact != 0 ? bound : value_type(0);
    }

    /// Gives the sum and returns true; a filter gives RN of the exact sum, or returns false. `bound` is N if that is not 0.
    template <Real T>
    SOLVER_HD bool try_result(T& result, value_type bound) const noexcept {
        if constexpr (A::is_filter) {
            return sum.try_result(result, lost(bound));
        } else {
            result = sum.result();
            return true;
        }
    }

    /// Gives the root of the sum and returns true; a filter gives RN of the exact sum's root, or returns false, as others do
    /// where the squares would have to be scaled.
    template <Real T>
    SOLVER_HD bool try_sqrt(T& result, value_type bound) const noexcept {
        if constexpr (A::is_filter) {
            return sum.try_sqrt(result, lost(bound));
        } else {
            const T square = sum.result();
            result = sqrt_rn(square);
            return is_safe_square<A>(square);
        }
    }
};

}  // namespace solver
