// What it takes to add an accumulator: its class, its lanes, and one line of the table in numeric/escalation.hpp, by which
// loops find it. Here it goes through the processor's products and reductions unchanged.

#include <gtest/gtest.h>

#include "cpu/simd/reduce-inl.hpp"
#include "cpu/simd/row_sum-inl.hpp"
#include "support/products.hpp"

namespace solver {
namespace {

/// Neumaier, ZAMM 54, 1974: Dot2 with a comparison where that has TwoSum. Both find the same error, so both have the same bits.
template <Real T>
class Neumaier {
public:
    using value_type = T;
    using Term = Split<T>;
    static constexpr bool is_filter = false;
    static constexpr bool wants_exact_products = false;
    static constexpr SquareRange<T> safe_squares = squares_without_scaling<T>;

    Neumaier() = default;
    Neumaier(T sum, T tail) : sum_(sum), tail_(tail) {}

    void add(T x) { add_with_tail(x, T(0)); }
    void add_product(T a, T b) { add_term(product(a, b)); }
    static Term product(T a, T b) { return two_prod(a, b); }
    void add_term(Term x) { add_with_tail(x.value, x.error); }
    void merge(const Neumaier& other) { add_with_tail(other.sum_, other.tail_); }
    Neumaier scaled(T alpha) const {
        const Split<T> p = two_prod(alpha, sum_);
        return {p.value, fma_rn(alpha, tail_, p.error)};
    }
    T result() const { return canonical(is_finite(tail_) ? add_rn(sum_, tail_) : sum_); }

private:
    void add_with_tail(T x, T x_tail) {
        const bool in_order = magnitude(sum_) >= magnitude(x);
        const Split<T> s = in_order ? fast_two_sum(sum_, x) : fast_two_sum(x, sum_);
        sum_ = s.value;
        tail_ = add_rn(tail_, add_rn(s.error, x_tail));
    }

    T sum_{0};
    T tail_{0};
};

/// A place where sums are formed, for this test.
struct ToyPlace {};

static_assert(Accumulator<Neumaier<double>> && ScalableAccumulator<Neumaier<double>> && !Filter<Neumaier<double>>);
static_assert(Filter<FilteredTriple<double>> && Filter<FilteredFloat> && Accumulator<FilteredWatchedPair<float>>);
static_assert(!Accumulator<int> && !Accumulator<Superaccumulator>);

}  // namespace

// The line.
template <>
struct AccumulatorOf<double, Accuracy::compensated, ToyPlace> : std::type_identity<Neumaier<double>> {};

}  // namespace solver

HWY_BEFORE_NAMESPACE();
namespace solver::HWY_NAMESPACE {

template <std::size_t limit>
class NeumaierLanes {
public:
    using Scalar = Neumaier<double>;
    using D = hn::CappedTag<double, limit>;
    using V = hn::Vec<D>;

    NeumaierLanes() : sum_(hn::Zero(D())), tail_(sum_) {}

    void add(V x) { add_with_tail(x, hn::Zero(D())); }
    void add_product(V a, V b) {
        const SplitLanes<V> p = two_prod_lanes(a, b);
        add_with_tail(p.value, p.error);
    }
    void merge(const NeumaierLanes& other) { add_with_tail(other.sum_, other.tail_); }
    void negate() {
        sum_ = hn::Neg(sum_);
        tail_ = hn::Neg(tail_);
    }
    Results<D> results(double) const {
        return all_proven(D(), hn::IfThenElse(is_finite_lanes(tail_), hn::Add(sum_, tail_), sum_));
    }
    void store(Scalar* to) const {
        HWY_ALIGN double s[max_lanes<D>];
        HWY_ALIGN double c[max_lanes<D>];
        hn::Store(sum_, D(), s);
        hn::Store(tail_, D(), c);
        for (std::size_t i = 0; i < hn::Lanes(D()); ++i) to[i] = Scalar(s[i], c[i]);
    }

private:
    void add_with_tail(V x, V x_tail) {
        const auto in_order = hn::Ge(hn::Abs(sum_), hn::Abs(x));
        const V larger = hn::IfThenElse(in_order, sum_, x);
        const V smaller = hn::IfThenElse(in_order, x, sum_);
        sum_ = hn::Add(larger, smaller);
        tail_ = hn::Add(tail_, hn::Add(hn::Sub(smaller, hn::Sub(sum_, larger)), x_tail));
    }

    V sum_;
    V tail_;
};

template <std::size_t limit>
struct LanesOf<Neumaier<double>, limit> : std::type_identity<NeumaierLanes<limit>> {};

namespace {

using testing::Random;

/// y = alpha A x + beta y_in in compensated, with the accumulator of a place.
template <class Place>
std::vector<double> product(const CsrView<double>& a, std::span<const double> x, double alpha, double beta,
                            std::span<const double> y_in) {
    std::vector<double> y(static_cast<std::size_t>(a.rows));
    const RowTask<double> task{.alpha = alpha, .x = x.data(), .beta = beta, .y_in = y_in.data(), .y = y.data()};
    with_lanes<double, row_lanes, Place>(Accuracy::compensated, [&](auto lanes) {
        multiply_rows<typename decltype(lanes)::type>(cpu::CsrRows<double>(a), 0, a.rows, task);
    });
    return y;
}

TEST(ToyAccumulator, KeepsThePromiseInRowsOfAMatrixWithTheBitsOfDot2) {
    Random random(1);
    const auto [a, x] = testing::matrix_of(testing::adversarial_rows<double>(random, 40, 700), random);
    const auto rows = testing::expected_rows<double>(a, x);
    const auto y_in = testing::adversarial_addends(random, rows);
    for (const double alpha : {1.0, -1.0, 0.1})
        for (const double beta : {0.0, 1.0, -3.0}) {
            const auto expected = testing::affine<double>(rows, alpha, beta, y_in);
            const std::vector<double> rounded = testing::rounded(expected);
            const std::vector<double> y = product<ToyPlace>(a, x, alpha, beta, y_in);
            EXPECT_EQ(testing::broken_promises<double>(y, expected, rounded, Accuracy::compensated), "");
            const std::vector<double> of_dot2 = product<RowsOnCpu>(a, x, alpha, beta, y_in);
            for (std::size_t i = 0; i < y.size(); ++i) {
                if (expected[i].may_overflow()) continue;
                ASSERT_PRED2(testing::same_bits<double>, y[i], of_dot2[i]) << i;
            }
        }
}

template <class Place>
using TermLanes = typename LanesOf<typename AccumulatorOf<double, Accuracy::compensated, Place>::type, all_lanes>::type;

TEST(ToyAccumulator, KeepsThePromiseInReductions) {
    Random random(2);
    for (const std::size_t n : {0, 1, 17, 4095, 50000}) {
        std::vector<double> x, y;
        testing::ExpectedSum<double> sum, dot, squares;
        for (std::size_t i = 0; i < n; ++i) {
            x.push_back(random.number<double>(static_cast<int>(random.between(-40, 40))));
            y.push_back(random.number<double>(static_cast<int>(random.between(-40, 40))));
            sum.add_product(x[i], 1);
            dot.add_product(x[i], y[i]);
            squares.add_product(x[i], x[i]);
        }
        using Lanes = TermLanes<ToyPlace>;
        const auto length = static_cast<std::int64_t>(n);
        const cpu::Terms<double, true> products{length, x.data(), y.data()};
        const double found = sum_of<Lanes>(products, 2);
        EXPECT_TRUE(dot.allows(found, Accuracy::compensated));
        EXPECT_EQ(found, sum_of<TermLanes<TermsOnCpu>>(products, 2));
        EXPECT_TRUE(sum.allows(sum_of<Lanes>(cpu::Terms<double, false>{length, x.data(), nullptr}, 2), Accuracy::compensated));
        const double root = norm<Lanes>(cpu::Terms<double, true>{length, x.data(), x.data()}, 2);
        EXPECT_LE(std::abs(root - squares.sqrt_rounded()), 4 * unit_roundoff<double> * root);
    }
}

}  // namespace
// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace solver::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
