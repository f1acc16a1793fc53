#pragma once

/// A filter for sums that cancel by more than three terms can hold, up to some 250 bits in double.

#include "solver/numeric/filtered.hpp"

namespace solver {

/// A sum as t_0 + ... + t_5, where t_i takes by TwoSum what t_(i-1) loses: SumK of Ogita, Rump, Oishi, SIAM J. Sci. Comput.
/// 26(6), 2005, with every number passed on at once. Only what the last one loses is lost; m adds up the magnitudes of that,
/// and loses at most u m in each of n additions: for n u <= 1/2,
///     |exact - (t_0 + ... + t_5)| <= 2 m + N,
/// with N as in filtered.hpp. 69 operations a product, of which those of different numbers do not wait for each other.
template <Real T>
class FilteredExpansion {
public:
    using value_type = T;
    using Term = Split<T>;
    static constexpr bool is_filter = true;
    static constexpr bool wants_exact_products = true;
    static constexpr int terms = 6;

    FilteredExpansion() = default;

    /// From parts that were accumulated elsewhere by the same rules.
    SOLVER_HD FilteredExpansion(const T (&t)[terms], T lost) noexcept : lost_(lost) {
        for (int i = 0; i < terms; ++i) t_[i] = t[i];
    }

    SOLVER_HD void add(T x) noexcept { add_from(0, x); }
    SOLVER_HD void add_product(T a, T b) noexcept { add_term(product(a, b)); }
    SOLVER_HD static Term product(T a, T b) noexcept { return two_prod(a, b); }
    SOLVER_HD void add_term(Term x) noexcept {
        add_from(0, x.value);
        add_from(1, x.error);  // any number may begin anywhere
    }
    SOLVER_HD void merge(const FilteredExpansion& other) noexcept {
        for (int i = 0; i < terms; ++i) add_from(i, other.t_[i]);
        lost_ = add_rn(lost_, other.lost_);
    }
    SOLVER_HD void negate() noexcept {
        for (T& t : t_) t = -t;
    }

    /// Gives RN of the exact sum and returns true, or returns false. `underflow` is N.
    ///
    /// Passes of TwoSum from the last term to the first lose nothing and leave nearly all in the first three, whose triple
    /// decides: its bound is 4 u m' for an m' of rest / (2 u).
    SOLVER_HD bool try_result(T& result, T underflow = T(0)) const noexcept {
        T t[terms];
        for (int i = 0; i < terms; ++i) t[i] = t_[i];
        for (int pass = 1; pass < terms; ++pass)
            for (int i = terms - 1; i > 0; --i) {
                const Split<T> s = two_sum(t[i - 1], t[i]);
                t[i - 1] = s.value;
                t[i] = s.error;
            }
        T rest = lost_ == T(0) && underflow == T(0) ? T(0) : above(add_rn(2 * lost_, underflow));
        for (int i = 3; i < terms; ++i)
            if (!(t[i] == T(0))) rest = above(add_rn(rest, magnitude(t[i])));
        T m = rest / (2 * unit_roundoff<T>);
        if (m == T(0) && t[2] != T(0)) m = smallest_subnormal<T>;  // 0 would mean that there is no third term
        return FilteredTriple<T>(t[0], t[1], t[2], m, {}).try_result(result);
    }

private:
    SOLVER_HD void add_from(int first, T x) noexcept {
        for (int i = first; i < terms; ++i) {
            const Split<T> s = two_sum(t_[i], x);
            t_[i] = s.value;
            x = s.error;
        }
        lost_ = add_rn(lost_, magnitude(x));
    }

    T t_[terms] = {};
    T lost_{0};  ///< m
};

}  // namespace solver
