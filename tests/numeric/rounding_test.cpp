#include "solver/numeric/rounding.hpp"

#include <gtest/gtest.h>

#include "support/adversarial.hpp"
#include "support/oracle.hpp"

namespace solver {
namespace {

using testing::Oracle;
using testing::Random;
using testing::same_bits;

template <class T>
class Rounding : public ::testing::Test {
protected:
    using Limits = std::numeric_limits<T>;

    /// Any finite number, all exponents alike.
    T any() {
        return random.number<T>(
            static_cast<int>(random.between(Limits::min_exponent - Limits::digits, Limits::max_exponent - 1)));
    }

    Random random{1};
};
using ValueTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Rounding, ValueTypes);

TYPED_TEST(Rounding, OperationsAreRoundedOnce) {
    using T = TypeParam;
    for (int repeat = 0; repeat < 20'000; ++repeat) {
        const T a = repeat % 2 == 0 ? this->any() : this->random.template number<T>();
        const T b = repeat % 2 == 0 ? this->any() : this->random.template number<T>();
        const T c = repeat % 2 == 0 ? this->any() : -mul_rn(a, b);
        Oracle sum, product;
        sum.add(a);
        sum.add(b);
        product.add_product(a, b);
        ASSERT_TRUE(same_bits(canonical(add_rn(a, b)), sum.rounded<T>()));
        ASSERT_TRUE(same_bits(canonical(mul_rn(a, b)), product.rounded<T>()));
        if (!is_finite(c)) continue;
        product.add(c);
        ASSERT_TRUE(same_bits(canonical(fma_rn(a, b, c)), product.rounded<T>()));
        Oracle root;
        root.add(std::abs(a));
        ASSERT_TRUE(same_bits(sqrt_rn(std::abs(a)), root.sqrt_rounded<T>()));
    }
}

TYPED_TEST(Rounding, BelowAndAboveAreStrictAndClose) {
    using T = TypeParam;
    using Limits = std::numeric_limits<T>;
    const auto check = [](T x) {
        ASSERT_LT(below(x), x);
        ASSERT_GT(above(x), x);
        for (const T y : {below(x), above(x)}) {
            ASSERT_TRUE(!is_finite(y) || testing::ulp_distance(x, y) <= 3) << x;
        }
    };
    for (int repeat = 0; repeat < 20'000; ++repeat) check(this->any());
    for (int e = Limits::min_exponent - Limits::digits; e < Limits::max_exponent; ++e) {  // around every power of two
        const T power = std::ldexp(T(1), e);
        for (const T x : {power, std::nextafter(power, T(0)), std::nextafter(power, Limits::max())}) {
            check(x);
            check(-x);
        }
    }
}

TYPED_TEST(Rounding, CanonicalGivesPlusZeroAndOneNan) {
    using T = TypeParam;
    EXPECT_TRUE(same_bits(canonical(-T(0)), T(0)));
    EXPECT_TRUE(same_bits(canonical(-canonical_nan<T>), canonical_nan<T>));
    EXPECT_TRUE(same_bits(canonical(std::numeric_limits<T>::signaling_NaN()), canonical_nan<T>));
    EXPECT_TRUE(same_bits(canonical(-std::numeric_limits<T>::infinity()), -std::numeric_limits<T>::infinity()));
    EXPECT_TRUE(same_bits(canonical(-smallest_subnormal<T>), -smallest_subnormal<T>));
}

TYPED_TEST(Rounding, FiniteMeansNeitherInfNorNan) {
    using T = TypeParam;
    EXPECT_TRUE(is_finite(std::numeric_limits<T>::max()));
    EXPECT_TRUE(is_finite(T(0)));
    EXPECT_FALSE(is_finite(std::numeric_limits<T>::infinity()));
    EXPECT_FALSE(is_finite(-std::numeric_limits<T>::infinity()));
    EXPECT_FALSE(is_finite(canonical_nan<T>));
}

[[gnu::noinline]] void round_neighbours(const double* from, double* to) {
    const float first = static_cast<float>(from[0]), second = static_cast<float>(from[1]);
    to[0] = first;
    to[1] = second;
}

// GCC 12 copies the doubles, unless it is told not to look for pairs of operations.
TEST(RoundingToFloat, IsNotLeftOutForNeighbours) {
    const double thirds[] = {1.0 / 3, 2.0 / 3};
    double found[2];
    round_neighbours(thirds, found);
    EXPECT_EQ(found[0], 0x1.555556p-2);
    EXPECT_EQ(found[1], 0x1.555556p-1);
}

TEST(RoundingConstants, AreWhatTheyAreCalled) {
    EXPECT_EQ(unit_roundoff<float>, 0x1p-24F);
    EXPECT_EQ(unit_roundoff<double>, 0x1p-53);
    EXPECT_EQ(smallest_subnormal<float>, 0x1p-149F);
    EXPECT_EQ(smallest_subnormal<double>, 0x1p-1074);
    EXPECT_EQ(std::bit_cast<std::uint32_t>(canonical_nan<float>), 0x7FC00000U);
    EXPECT_EQ(std::bit_cast<std::uint64_t>(canonical_nan<double>), 0x7FF8000000000000U);
}

}  // namespace
}  // namespace solver
