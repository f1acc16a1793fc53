#include "inputs.hpp"
#include "solver/numeric/filtered.hpp"
#include "solver/numeric/superaccumulator.hpp"
#include "tools/page/ulp_error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace {

using namespace solver::bench;
using solver::ulp_error;

template <class T>
class BenchInputs : public ::testing::Test {};

using Precisions = ::testing::Types<float, double>;

TYPED_TEST_SUITE(BenchInputs, Precisions);

template <class T>
using Filter = std::conditional_t<std::is_same_v<T, float>, solver::FilteredFloat, solver::FilteredTriple<T>>;

constexpr std::initializer_list<std::int64_t> sizes{1000, 4097, 100'000};

TYPED_TEST(BenchInputs, NoFilterDecidesTheWorstSum) {
    using T = TypeParam;
    for (const Input input : {Input::worst, Input::scattered})
        for (const std::int64_t n : sizes) {
            Filter<T> filter;
            solver::Superaccumulator exact;
            for (const T x : vector_to_sum<T>(input, n)) {
                filter.add(x);
                exact.add(x);
            }
            T result;
            EXPECT_FALSE(filter.try_result(result)) << to_string(input) << ' ' << n;
            EXPECT_EQ(exact.template result<T>(), T(1));
            exact.add(T(-1));
            EXPECT_EQ(exact.template result<T>(), std::numeric_limits<T>::epsilon() / 2);
        }
}

TYPED_TEST(BenchInputs, NoFilterDecidesTheWorstDotProduct) {
    using T = TypeParam;
    for (const Input input : {Input::worst, Input::scattered})
        for (const std::int64_t n : sizes) {
            const Factors<T> factors = vectors_to_multiply<T>(input, n);
            Filter<T> filter;
            solver::Superaccumulator exact;
            for (std::size_t i = 0; i < factors.x.size(); ++i) {
                filter.add_product(factors.x[i], factors.y[i]);
                exact.add_product(factors.x[i], factors.y[i]);
            }
            T result;
            EXPECT_FALSE(filter.try_result(result)) << to_string(input) << ' ' << n;
            EXPECT_EQ(exact.template result<T>(), T(1));
            exact.add(T(-1));
            EXPECT_EQ(exact.template result<T>(), std::numeric_limits<T>::epsilon() / 2);
        }
}

TYPED_TEST(BenchInputs, TheWorstOfAnEvenLengthHasNoElementThatIsNotSet) {
    using T = TypeParam;
    for (const Input input : {Input::worst, Input::scattered}) {
        const std::vector<T> sum = vector_to_sum<T>(input, 1000);
        const Factors<T> factors = vectors_to_multiply<T>(input, 1000);
        for (const std::vector<T>& x : {sum, factors.x, factors.y}) EXPECT_EQ(std::count(x.begin(), x.end(), T(0)), 0);
    }
}

/// Two elements are the tie that every longer input ends in; one alone is random.
TYPED_TEST(BenchInputs, TheWorstOfTwoIsTheTie) {
    using T = TypeParam;
    const std::vector<T> tie{1, std::numeric_limits<T>::epsilon() / 2};
    for (const Input input : {Input::worst, Input::scattered}) {
        EXPECT_EQ(vector_to_sum<T>(input, 2), tie);
        EXPECT_EQ(vectors_to_multiply<T>(input, 2).x, tie);
        EXPECT_EQ(vectors_to_multiply<T>(input, 2).y, (std::vector<T>{1, 1}));
        EXPECT_EQ(vector_to_sum<T>(input, 1), vector_to_sum<T>(Input::random, 1));
        EXPECT_EQ(vectors_to_multiply<T>(input, 1).x, vectors_to_multiply<T>(Input::random, 1).x);
    }
}

/// Four parts, the last of them short, that threads share.
TYPED_TEST(BenchInputs, RandomElementsDoNotDependOnHowManyFollow) {
    using T = TypeParam;
    const std::vector<T> all = random_elements<T>(Elements::uniform, 0, (3 << 18) + 5, 7);
    const std::vector<T> first = random_elements<T>(Elements::uniform, 0, 1000, 7);
    EXPECT_TRUE(std::equal(first.begin(), first.end(), all.begin()));
    for (int part = 1; part <= 3; ++part) {
        EXPECT_NE(all[static_cast<std::size_t>(part) << 18], all[0]) << part;
        EXPECT_NE(all[(static_cast<std::size_t>(part) << 18) + 4], T(0)) << part;
    }
}

/// 10^5 numbers come within 10^-4 of both ends of what they are spread over, and do not reach the upper one but by rounding.
template <class T>
void expect_to_fill(const std::vector<T>& numbers, T low, T high) {
    const auto [least, largest] = std::minmax_element(numbers.begin(), numbers.end());
    EXPECT_GE(*least, low);
    EXPECT_LT(*least, low + T(1e-3));
    EXPECT_LE(*largest, high);
    EXPECT_GT(*largest, high - T(1e-3));
}

TYPED_TEST(BenchInputs, RandomElementsFillTheirRanges) {
    using T = TypeParam;
    expect_to_fill<T>(random_elements<T>(Elements::uniform, 0, 100'000, 7), 0, 1);
    expect_to_fill<T>(random_elements<T>(Elements::both_signs, 0, 100'000, 7), -1, 1);
    expect_to_fill<T>(random_elements<T>(Elements::lognormal, 0, 100'000, 7), T(-0.5), T(0.5));
    expect_to_fill<T>(vector_to_sum<T>(Input::random, 100'000), -1, 1);
    expect_to_fill<T>(vectors_to_multiply<T>(Input::random, 100'000).x, -1, 1);
    expect_to_fill<T>(vectors_to_multiply<T>(Input::random, 100'000).y, -1, 1);
}

/// log |(U - 1/2) exp(phi N)| is the sum of phi N and of log |U - 1/2|, which is log 1/2 less a number of the exponential
/// distribution: its mean is log 1/2 - 1, its variance 1 + phi^2, its fourth central moment 9 + 6 phi^2 + 3 phi^4.
TYPED_TEST(BenchInputs, LognormalElementsSpreadAsTheyShould) {
    constexpr int n = 100'000;
    constexpr double phi = 2, variance = 1 + phi * phi, fourth_moment = 9 + 6 * phi * phi + 3 * phi * phi * phi * phi;
    double mean = 0, square = 0, positive = 0;
    for (const TypeParam element : random_elements<TypeParam>(Elements::lognormal, phi, n, 7)) {
        const double difference = std::log(std::abs(static_cast<double>(element))) - (std::log(0.5) - 1);
        mean += difference / n;
        square += difference * difference / n;
        positive += element > 0 ? 1 : 0;
    }
    const double deviations = 6 / std::sqrt(double{n});
    EXPECT_NEAR(mean, 0, deviations * std::sqrt(variance));
    EXPECT_NEAR(square, variance, deviations * std::sqrt(fourth_moment - variance * variance));
    EXPECT_NEAR(positive / n, 0.5, deviations / 2);
}

TYPED_TEST(BenchInputs, ErrorsAreCountedInUlpOfTheExactResult) {
    using T = TypeParam;
    using Limits = std::numeric_limits<T>;
    EXPECT_EQ(ulp_error(T(1) + Limits::epsilon(), T(1)), 1);
    EXPECT_EQ(ulp_error(T(1), T(1) - Limits::epsilon() / 2), 1);
    EXPECT_EQ(ulp_error(T(-8), T(8)), 16 / (8 * static_cast<double>(Limits::epsilon())));
    EXPECT_EQ(ulp_error(3 * Limits::denorm_min(), T(0)), 3);
    EXPECT_EQ(ulp_error(T(0), -Limits::min()), static_cast<double>(Limits::min() / Limits::denorm_min()));
    EXPECT_EQ(ulp_error(T(0), -T(0)), 0);
    EXPECT_EQ(ulp_error(Limits::quiet_NaN(), Limits::quiet_NaN()), 0);
    EXPECT_EQ(ulp_error(Limits::infinity(), Limits::infinity()), 0);
    EXPECT_EQ(ulp_error(Limits::max(), Limits::infinity()), HUGE_VAL);
    EXPECT_EQ(ulp_error(Limits::quiet_NaN(), T(1)), HUGE_VAL);
}

}  // namespace
