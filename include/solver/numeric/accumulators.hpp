#pragma once

/// Accumulators for sums of numbers and of products. The name says which rounding errors are removed.
///
/// The life of an accumulator: add and add_product, merge of partial results (lanes, threads, blocks), result.
/// Where products are made in one place and added in another, `product(a, b)` gives a Term, and add_term takes it.
/// Notation: s = sum_{i<=n} a_i b_i, u the unit roundoff, gamma_h = h u / (1 - h u), h the longest chain of additions that
/// one term passes, merges included.

#include "solver/numeric/error_free.hpp"

namespace solver {

template <class A>
concept Accumulator = std::is_trivially_copyable_v<A> && requires(A a, const A other, typename A::value_type x) {
    a.add(x);
    a.add_product(x, x);
    a.add_term(A::product(x, x));
    a.merge(other);
    { other.result() } -> std::same_as<typename A::value_type>;
};

/// Removes nothing. |result - s| <= gamma_n sum|a_i b_i| + n eta. One fused multiply-add a product.
template <std::floating_point T>
class Plain {
public:
    using value_type = T;
    using Term = T;

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
template <std::floating_point T>
class Sum2 {
public:
    using value_type = T;
    using Term = T;

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
template <std::floating_point T>
class Dot2 : public Sum2<T> {
public:
    using Term = Split<T>;
    using Sum2<T>::Sum2;

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

}  // namespace solver
