#pragma once

/// Accumulators for sums of numbers and of products. The name says which rounding errors are removed.
///
/// The life of an accumulator: add and add_product, merge of partial results (lanes, threads, blocks), result.
/// Where products are made in one place and added in another, `product(a, b)` gives a Term, and add_term takes it.
/// Notation: s = sum_{i<=n} a_i b_i, u the unit roundoff, gamma_h = h u / (1 - h u), h the longest chain of additions that
/// one term passes, merges included.

#include "solver/numeric/concepts.hpp"
#include "solver/numeric/error_free.hpp"

namespace solver {

/// An interval of sums of squares.
template <Real T>
struct SquareRange {
    T least;
    T largest;
};

/// Where a sum of squares, computed without scaling, gives its root within the bound of norm2. Above, nothing has overflowed.
/// Below, n squares lose at most n eta by underflow: n 2^-174 (double) or n 2^-49 (float) of the least sum let through, a small
/// part of the n u that fast has for rounding. In compensated that is nothing beside u, but for floats squared as floats.
template <Real T>
inline constexpr SquareRange<T> squares_without_scaling = {std::numeric_limits<T>::min(), std::numeric_limits<T>::max() / 4};
template <>
inline constexpr SquareRange<double> squares_without_scaling<double> = {0x1p-900, 0x1p+1000};
template <>
inline constexpr SquareRange<float> squares_without_scaling<float> = {0x1p-100F, 0x1p+120F};

/// Removes nothing. |result - s| <= gamma_n sum|a_i b_i| + n eta. One fused multiply-add a product.
template <Real T>
class Plain {
public:
    using value_type = T;
    using Term = T;
    static constexpr bool is_filter = false;
    static constexpr bool wants_exact_products = false;
    static constexpr SquareRange<T> safe_squares = squares_without_scaling<T>;

    Plain() = default;
    SOLVER_HD explicit Plain(T sum) noexcept : sum_(sum) {}

    SOLVER_HD void add(T x) noexcept { sum_ = add_rn(sum_, x); }
    SOLVER_HD void add_product(T a, T b) noexcept { sum_ = fma_rn(a, b, sum_); }
    SOLVER_HD static Term product(T a, T b) noexcept { return mul_rn(a, b); }  ///< one rounding more than add_product
    SOLVER_HD void add_term(Term x) noexcept { add(x); }
    SOLVER_HD void merge(const Plain& other) noexcept { sum_ = add_rn(sum_, other.sum_); }
    SOLVER_HD Plain scaled(T alpha) const noexcept { return Plain(mul_rn(alpha, sum_)); }  ///< alpha times this sum
    SOLVER_HD T result() const noexcept { return canonical(sum_); }

private:
    T sum_{0};
};

/// Removes the rounding errors of additions, not those of products. Exact products (or plain sums): as Dot2. 7 operations a
/// term. Ogita, Rump, Oishi, *Accurate sum and dot product*, SIAM J. Sci. Comput. 26(6), 2005, algorithm 4.4.
template <Real T>
class Sum2 {
public:
    using value_type = T;
    using Term = T;
    static constexpr bool is_filter = false;
    static constexpr bool wants_exact_products = false;
    static constexpr SquareRange<T> safe_squares = squares_without_scaling<T>;

    Sum2() = default;
    SOLVER_HD Sum2(T sum, T tail) noexcept : sum_(sum), tail_(tail) {}

    SOLVER_HD void add(T x) noexcept { add_with_tail(x, T(0)); }
    SOLVER_HD void add_product(T a, T b) noexcept { add_with_tail(mul_rn(a, b), T(0)); }
    SOLVER_HD static Term product(T a, T b) noexcept { return mul_rn(a, b); }
    SOLVER_HD void add_term(Term x) noexcept { add(x); }
    SOLVER_HD void merge(const Sum2& other) noexcept { add_with_tail(other.sum_, other.tail_); }

    /// Where the tail is not finite (Inf, NaN or an overflow on the way), the plain sum.
    SOLVER_HD T result() const noexcept { return canonical(is_finite(tail_) ? add_rn(sum_, tail_) : sum_); }

    SOLVER_HD T sum() const noexcept { return sum_; }
    SOLVER_HD T tail() const noexcept { return tail_; }

protected:
    SOLVER_HD void add_with_tail(T x, T x_tail) noexcept {
        const Split<T> s = two_sum(sum_, x);
        sum_ = s.value;
        tail_ = add_rn(tail_, add_rn(s.error, x_tail));
    }

    T sum_{0};
    T tail_{0};
};

/// Removes the rounding errors of additions and of products: |result - s| <= u |s| + gamma_h^2 sum|a_i b_i| + n eta, as if
/// computed in twice the working precision (Dot2 of the same paper, algorithm 5.3; merged, PDot2 of Yamanaka et al. 2008).
/// 10 operations a product.
template <Real T>
class Dot2 : public Sum2<T> {
public:
    using Term = Split<T>;
    using Sum2<T>::Sum2;

    /// Of floats squared as floats, n squares lose n 2^-149 of at least 2^-70: n 2^-79.
    static constexpr SquareRange<T> safe_squares = {std::is_same_v<T, float> ? T(0x1p-70) : Sum2<T>::safe_squares.least,
                                                    Sum2<T>::safe_squares.largest};

    SOLVER_HD void add_product(T a, T b) noexcept { add_term(product(a, b)); }
    SOLVER_HD static Term product(T a, T b) noexcept { return two_prod(a, b); }
    SOLVER_HD void add_term(Term x) noexcept { this->add_with_tail(x.value, x.error); }

    /// alpha times this sum, as a pair again.
    SOLVER_HD Dot2 scaled(T alpha) const noexcept {
        const Split<T> p = two_prod(alpha, this->sum_);
        return Dot2(p.value, fma_rn(alpha, this->tail_, p.error));
    }
};

/// Dot2 for floats by wider arithmetic: products of floats are exact in double, and h additions in double lose less than
/// h 2^-53 <= (h 2^-24)^2 of sum|a_i b_i|, so the promise of Dot2 holds. 1 operation a product.
class FloatInDouble {
public:
    using value_type = float;
    using Term = double;
    static constexpr bool is_filter = false;
    static constexpr bool wants_exact_products = false;  // those of floats are exact in double
    static constexpr SquareRange<float> safe_squares = squares_without_scaling<float>;

    FloatInDouble() = default;
    SOLVER_HD explicit FloatInDouble(double sum) noexcept : sum_(sum) {}

    SOLVER_HD void add(float x) noexcept { sum_ = add_rn(sum_, double{x}); }
    SOLVER_HD void add_product(float a, float b) noexcept { sum_ = fma_rn(double{a}, double{b}, sum_); }
    SOLVER_HD static Term product(float a, float b) noexcept { return mul_rn(double{a}, double{b}); }  ///< exact
    SOLVER_HD void add_term(Term x) noexcept { sum_ = add_rn(sum_, x); }
    SOLVER_HD void merge(const FloatInDouble& other) noexcept { sum_ = add_rn(sum_, other.sum_); }
    SOLVER_HD FloatInDouble scaled(float alpha) const noexcept { return FloatInDouble(mul_rn(double{alpha}, sum_)); }
    SOLVER_HD float result() const noexcept { return canonical(static_cast<float>(sum_)); }

private:
    double sum_{0};
};

/// Whether a sum of squares, computed without scaling, is good for its root.
template <Accumulator A>
SOLVER_HD bool is_safe_square(typename A::value_type sum) noexcept {
    constexpr auto safe = A::safe_squares;
    return sum >= safe.least && sum <= safe.largest;
}

}  // namespace solver
