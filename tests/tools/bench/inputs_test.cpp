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
