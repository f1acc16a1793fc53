#pragma once

/// What the numeric core asks of a number type, of an accumulator and of a filter.

#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace solver {

/// The formats of the hardware.
template <class T>
concept HardwareReal = std::same_as<T, float> || std::same_as<T, double>;

template <class T>
concept RoundsOperations = requires(T a, T b, T c) {
    { add_rn(a, b) } -> std::same_as<T>;
    { mul_rn(a, b) } -> std::same_as<T>;
    { fma_rn(a, b, c) } -> std::same_as<T>;
    { div_rn(a, b) } -> std::same_as<T>;
    { sqrt_rn(a) } -> std::same_as<T>;
    { magnitude(a) } -> std::same_as<T>;
};

template <class T>
concept HasOperators = std::totally_ordered<T> && requires(T a, T b, double x, std::int64_t whole) {
    { -a } -> std::same_as<T>;
    { 2 * a } -> std::same_as<T>;
    { a / 4 } -> std::same_as<T>;
    T(x);
    static_cast<T>(whole);
    static_cast<double>(a);
};

/// A binary format made in software, for instance one of so few digits that all of its numbers can be tried. It has
///  - the operations of rounding.hpp, found by their arguments' namespace, each rounded to nearest even once;
///  - operators and conversions with the same rounding; double(a) is exact;
///  - numeric_limits with gradual underflow, Inf and NaN;
///  - for sums that a Superaccumulator rounds, the bits of an IEEE encoding: sign, exponent, fraction.
template <class T>
concept SoftwareReal = std::is_class_v<T> && std::is_trivially_copyable_v<T> && std::numeric_limits<T>::radix == 2 &&
                       RoundsOperations<T>&& HasOperators<T>;

/// A number type: radix 2, rounding to nearest even, gradual underflow, Inf and NaN.
template <class T>
concept Real = HardwareReal<T> || SoftwareReal<T>;

/// A sum of numbers and of products, in parts that can be merged. What is known of it:
///  - is_filter: it may be unable to decide; try_result tells, else `result` gives the sum;
///  - wants_exact_products: it matters to it whether the error of every product is a number (product_is_exact).
template <class A>
concept Summation = std::is_trivially_copyable_v<A> && Real<typename A::value_type> &&
    requires(A a, const A other, typename A::value_type x, typename A::Term term) {
    { A::is_filter } -> std::convertible_to<bool>;
    { A::wants_exact_products } -> std::convertible_to<bool>;
    { A::product(x, x) } -> std::same_as<typename A::Term>;
    a.add(x);
    a.add_term(term);
    a.merge(other);
};

/// Gives the correctly rounded sum, or says that it cannot; it is told N, what its products have lost (filtered.hpp).
template <class A>
concept Filter = Summation<A> && A::is_filter && std::default_initializable<A> &&
    requires(A a, const A sum, typename A::value_type x) {
    a.add_product(x, x);
    { sum.try_result(x, x) } -> std::same_as<bool>;
};

/// Starts at 0, takes terms one by one, and gives the sum at the end. What is known of one that is no filter:
///  - safe_squares: where a sum of squares, computed without scaling, is neither overflowed nor hurt by underflow.
template <class A>
concept Accumulator = Filter<A> ||
    (Summation<A> && !A::is_filter && std::default_initializable<A> && requires(A a, const A sum, typename A::value_type x) {
        a.add_product(x, x);
        { sum.result() } -> std::same_as<typename A::value_type>;
        { A::safe_squares.least } -> std::convertible_to<typename A::value_type>;
        { A::safe_squares.largest } -> std::convertible_to<typename A::value_type>;
    });

/// alpha times such a sum is one again: what alpha sum + beta y needs.
template <class A>
concept ScalableAccumulator = Accumulator<A> && requires(const A sum, typename A::value_type alpha) {
    { sum.scaled(alpha) } -> std::same_as<A>;
};

}  // namespace solver
