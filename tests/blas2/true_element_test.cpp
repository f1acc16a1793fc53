#include "blas2/true_element.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace solver::blas2 {
namespace {

template <class T>
class TrueElementTest : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(TrueElementTest, Types);

template <class T>
using Products = std::vector<std::pair<T, T>>;

template <class T>
testing::ExpectedSum<T> sum_of(const Products<T>& products) {
    testing::ExpectedSum<T> sum;
    for (const auto& [a, b] : products) sum.add_product(a, b);
    return sum;
}

template <class T>
TrueElement<T> true_sum_of(const Products<T>& products) {
    const auto n = static_cast<std::int64_t>(products.size());
    return true_sum(sum_of(products), n, underflow_allowance<T>(n));
}

template <class T>
T next(T x) {
    return std::nextafter(x, std::numeric_limits<T>::infinity());
}
template <class T>
T previous(T x) {
    return std::nextafter(x, -std::numeric_limits<T>::infinity());
}

TYPED_TEST(TrueElementTest, MeasuresTheDistanceToTheRealNumber) {
    using T = TypeParam;
    const T eps = std::numeric_limits<T>::epsilon();
    const auto element = true_sum_of<T>({{1, 1}, {eps, T(0.25)}});  // 1 + 1/4 ulp
    EXPECT_EQ(element.rounded, T(1));
    EXPECT_EQ(element.ulps(T(1)), 0) << "the very bits";
    EXPECT_EQ(element.ulps(1 + eps), 0.75L);
    EXPECT_EQ(element.ulps(1 + 2 * eps), 1.75L);
    EXPECT_EQ(element.ulps(1 - eps / 2), 0.75L);
    EXPECT_EQ(element.ulps(T(-1)), 2 / static_cast<long double>(eps) + 0.25L);
}

TYPED_TEST(TrueElementTest, TakesTheSmallerUlpJustBelowAPowerOfTwo) {
    using T = TypeParam;
    const T eps = std::numeric_limits<T>::epsilon();
    const auto below = true_sum_of<T>({{1, 1}, {-eps, T(0.125)}});  // 1 - 1/4 ulp of the numbers below 1, which is eps / 2
    EXPECT_EQ(below.rounded, T(1));
    EXPECT_EQ(below.ulps(previous(T(1))), 0.75L);
    EXPECT_EQ(below.ulps(next(T(1))), 2.25L);
    EXPECT_EQ(true_sum_of<T>({{-1, 1}, {eps, T(0.125)}}).ulps(-next(T(1))), 2.25L) << "and for negative ones";
    const auto at = true_sum_of<T>({{1, 1}});
    EXPECT_EQ(at.ulps(next(T(1))), 1);
    EXPECT_EQ(at.ulps(previous(T(1))), 0.5L);
}

TYPED_TEST(TrueElementTest, HasTheSmallestSubnormalAsItsSmallestUlp) {
    using T = TypeParam;
    const T eta = std::numeric_limits<T>::denorm_min();
    const auto element = true_sum_of<T>({{eta, T(0.75)}});
    EXPECT_EQ(element.rounded, eta);
    EXPECT_EQ(element.ulps(0), 0.75L);
    EXPECT_EQ(element.ulps(3 * eta), 2.25L);
    const auto far_below = true_sum_of<T>({{eta, eta}});
    EXPECT_EQ(far_below.rounded, T(0));
    EXPECT_NEAR(static_cast<double>(far_below.ulps(eta)), 1, 1e-6);
    const auto smallest_normal = true_sum_of<T>({{std::numeric_limits<T>::min(), 1}});
    EXPECT_EQ(smallest_normal.ulps(std::numeric_limits<T>::min() - eta), 1) << "the ulp is the same below it";
}

TYPED_TEST(TrueElementTest, TellsBitsApart) {
    using T = TypeParam;
    const auto zero = true_sum_of<T>({{1, 1}, {-1, 1}});
    EXPECT_TRUE(testing::same_bits(zero.rounded, T(0)));
    for (const Accuracy accuracy : all_accuracies) {
        EXPECT_TRUE(zero.allows(T(0), accuracy));
        EXPECT_FALSE(zero.allows(-T(0), accuracy)) << "a zero is +0 in every mode";
    }
    const auto nan = true_sum_of<T>({{std::numeric_limits<T>::quiet_NaN(), 1}});
    const T other = -std::numeric_limits<T>::quiet_NaN();
    for (const Accuracy accuracy : all_accuracies) {
        EXPECT_TRUE(nan.allows(std::numeric_limits<T>::quiet_NaN(), accuracy));
        EXPECT_FALSE(nan.allows(other, accuracy));
        EXPECT_FALSE(nan.allows(T(1), accuracy));
        EXPECT_FALSE(zero.allows(std::numeric_limits<T>::quiet_NaN(), accuracy));
    }
}

/// n products of 1 whose sum is known, and results just within and just beyond fast's bound.
TYPED_TEST(TrueElementTest, HoldsFastToGammaN) {
    using T = TypeParam;
    const std::int64_t n = 64;
    const Products<T> ones(static_cast<std::size_t>(n), {T(1), T(1)});
    const auto element = true_sum_of<T>(ones);
    const T ulp = std::numeric_limits<T>::epsilon() * 64;
    // gamma_64 64 = 64 64 u (1 + 64 u + ...) is a little more than 32 ulp of 64
    EXPECT_TRUE(element.allows(64 + 32 * ulp, Accuracy::fast));
    EXPECT_FALSE(element.allows(64 + 33 * ulp, Accuracy::fast));
    EXPECT_TRUE(element.allows(64 - 32 * ulp, Accuracy::fast));
    EXPECT_FALSE(element.allows(64 - 33 * ulp, Accuracy::fast));
}

TYPED_TEST(TrueElementTest, HoldsCompensatedToOneUlpWhereTheConditionAllows) {
    using T = TypeParam;
    const auto element = true_sum_of<T>({{1, 1}, {2, 1}, {std::numeric_limits<T>::epsilon(), T(0.75)}});  // 3 + 3/8 ulp
    ASSERT_TRUE(element.one_ulp);
    EXPECT_TRUE(element.allows(T(3), Accuracy::compensated));
    EXPECT_TRUE(element.allows(next(T(3)), Accuracy::compensated));
    EXPECT_FALSE(element.allows(next(next(T(3))), Accuracy::compensated));
    EXPECT_FALSE(element.allows(previous(T(3)), Accuracy::compensated));
    EXPECT_TRUE(element.allows(next(next(T(3))), Accuracy::fast)) << "gamma_3 3 is nearly 3 ulp";
}

TYPED_TEST(TrueElementTest, HoldsCompensatedToItsBoundWhereTheConditionIsBad) {
    using T = TypeParam;
    const T big = 1 / std::numeric_limits<T>::epsilon() / std::numeric_limits<T>::epsilon();
    const auto element = true_sum_of<T>({{big, 1}, {1, 1}, {-big, 1}});
    ASSERT_FALSE(element.one_ulp);
    const double bound = gamma<T>(1024) * gamma<T>(1024) * (2 * double{big} + 1) + double{unit_roundoff<T>};
    EXPECT_TRUE(element.allows(static_cast<T>(1 + bound * 0.999), Accuracy::compensated));
    EXPECT_FALSE(element.allows(static_cast<T>(1 + bound * 1.001), Accuracy::compensated));
    EXPECT_FALSE(element.allows(next(T(1)), Accuracy::exact));
}

TYPED_TEST(TrueElementTest, PromisesNothingWherePartialSumsOverflow) {
    using T = TypeParam;
    const T huge = std::numeric_limits<T>::max();
    const auto element = true_sum_of<T>({{huge, 1}, {huge, 1}, {-huge, 1}});
    EXPECT_EQ(element.rounded, huge);
    EXPECT_TRUE(element.allows(std::numeric_limits<T>::infinity(), Accuracy::fast));
    EXPECT_FALSE(element.allows(std::numeric_limits<T>::infinity(), Accuracy::exact));
    EXPECT_TRUE(std::isinf(element.ulps(std::numeric_limits<T>::infinity())));
    const auto special = true_sum_of<T>({{huge, 2}, {std::numeric_limits<T>::infinity(), 1}});
    EXPECT_FALSE(special.allows(T(1), Accuracy::fast)) << "an Inf does not disappear";
}

TYPED_TEST(TrueElementTest, CallsHalfOfTheTrueResultAWrongDigit) {
    using T = TypeParam;
    const auto element = true_sum_of<T>({{T(-1.005), 1}});
    EXPECT_TRUE(element.no_correct_digit(T(-1.921)));
    EXPECT_TRUE(element.no_correct_digit(T(0)));
    EXPECT_FALSE(element.no_correct_digit(T(-1.013)));
    const T eta = std::numeric_limits<T>::denorm_min();
    EXPECT_FALSE(true_sum_of<T>({{eta, 1}}).no_correct_digit(2 * eta)) << "one ulp is no more than subnormals have";
    EXPECT_TRUE(true_sum_of<T>({{1, 1}, {-1, 1}}).no_correct_digit(T(1e-20)));
}

TYPED_TEST(TrueElementTest, GivesTheConditionNumber) {
    using T = TypeParam;
    EXPECT_EQ(true_sum_of<T>({{3, 1}, {-2, 1}}).condition(), 10);
    EXPECT_EQ(true_sum_of<T>({{3, 1}}).condition(), 2);
    EXPECT_TRUE(std::isinf(true_sum_of<T>({{1, 1}, {-1, 1}}).condition()));
    const T large = std::numeric_limits<T>::max();
    EXPECT_EQ(true_sum_of<T>({{large, 1}, {-large, 1}, {large, 1}}).condition(), 6) << "though the sum of magnitudes overflows";
    EXPECT_EQ(true_norm(sum_of<T>({{3, 3}, {4, 4}}), 2).condition(), 2) << "squares do not cancel";
}

TYPED_TEST(TrueElementTest, KnowsSquareRoots) {
    using T = TypeParam;
    const auto five = true_norm(sum_of<T>({{3, 3}, {4, 4}}), 2);
    EXPECT_EQ(five.rounded, T(5));
    EXPECT_EQ(five.rest, 0);
    const auto two = true_norm(sum_of<T>({{1, 1}, {1, 1}}), 2);
    const long double root = std::sqrt(2.0L);
    EXPECT_EQ(two.rounded, static_cast<T>(root));
    const long double ulp = std::numeric_limits<T>::epsilon();
    const long double one_off = (static_cast<long double>(next(two.rounded)) - root) / ulp;
    EXPECT_NEAR(static_cast<double>(two.ulps(next(two.rounded))), static_cast<double>(one_off), 1e-3);
    const auto tiny = true_norm(sum_of<T>({{std::numeric_limits<T>::denorm_min(), std::numeric_limits<T>::denorm_min()}}), 1);
    EXPECT_EQ(tiny.rounded, std::numeric_limits<T>::denorm_min());
    EXPECT_FALSE(tiny.allows(T(0), Accuracy::exact));
}

TYPED_TEST(TrueElementTest, KnowsQuotients) {
    using T = TypeParam;
    const T third = T(1) / T(3);
    const auto element = true_quotient(sum_of<T>({{1, 1}}), T(3), third, 1, 0.0);
    EXPECT_EQ(element.rounded, third);
    EXPECT_NEAR(element.rest, (std::is_same_v<T, float> ? -1 / 3.0 : 1 / 3.0), 1e-6);
    EXPECT_TRUE(element.allows(third, Accuracy::exact));
    EXPECT_FALSE(element.allows(next(third), Accuracy::exact));
    EXPECT_TRUE(element.allows(next(third), Accuracy::fast)) << "two roundings";
    EXPECT_FALSE(element.allows(next(next(next(third))), Accuracy::fast));
    EXPECT_TRUE(testing::same_bits(true_quotient(sum_of<T>({}), T(-3), T(0), 0, 0.0).rounded, T(0))) << "never -0";
}

}  // namespace
}  // namespace solver::blas2
