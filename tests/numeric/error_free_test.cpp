#include "solver/numeric/error_free.hpp"

#include <gtest/gtest.h>

#include "support/adversarial.hpp"
#include "support/oracle.hpp"

namespace solver {
namespace {

using testing::Oracle;
using testing::Random;
using testing::same_bits;

template <class T>
class ErrorFree : public ::testing::Test {
protected:
    /// Exponents within `range` of zero; few-bit and full significands.
    T number(int range) {
        const auto e = static_cast<int>(random.between(-range, range));
        return random.coin() ? random.number<T>(e) : std::ldexp(static_cast<T>(random.between(-9, 9)), e - 3);
    }
    static constexpr int wide = std::numeric_limits<T>::max_exponent - 3;

    Random random{1};
};
using ValueTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(ErrorFree, ValueTypes);

TYPED_TEST(ErrorFree, TwoSumPlusErrorEqualsTheExactSum) {
    using T = TypeParam;
    for (int repeat = 0; repeat < 60'000; ++repeat) {
        const int range = repeat % 3 == 0 ? this->wide : repeat % 3 == 1 ? std::numeric_limits<T>::digits + 3 : 2;
        T a = this->number(range);
        T b = this->number(range);
        Oracle sum;
        sum.add(a);
        sum.add(b);
        const Split<T> s = two_sum(a, b);
        ASSERT_EQ(s.value, sum.rounded<T>());
        sum.add(-s.value);
        ASSERT_EQ(s.error, sum.approximate()) << a << " " << b;
        if (std::abs(a) < std::abs(b)) std::swap(a, b);
        const Split<T> fast = fast_two_sum(a, b);
        ASSERT_EQ(fast.value, s.value);
        ASSERT_EQ(fast.error, s.error);
    }
}

TYPED_TEST(ErrorFree, TwoProdPlusErrorEqualsTheExactProductFromTheThresholdOn) {
    using T = TypeParam;
    int exact = 0;
    for (int repeat = 0; repeat < 60'000; ++repeat) {
        const T a = this->number(repeat % 2 == 0 ? this->wide / 2 : 3);
        const T b = this->number(repeat % 2 == 0 ? this->wide / 2 : 3);
        const Split<T> p = two_prod(a, b);
        Oracle product;
        product.add_product(a, b);
        product.add(-p.value);
        if (product_is_exact(a, b)) {
            ++exact;
            product.add(-p.error);
            ASSERT_EQ(product.sign(), 0) << a << " " << b;
        } else {
            ASSERT_TRUE(product.within(p.error, smallest_subnormal<T>));
        }
    }
    EXPECT_GT(exact, 30'000);
}

TYPED_TEST(ErrorFree, TheThresholdOfExactProductsIsSharp) {
    using T = TypeParam;
    constexpr int digits = std::numeric_limits<T>::digits;
    const T odd = 1 + 2 * unit_roundoff<T>;  // odd^2 has a last bit of 2^(2 - 2 digits)
    const T at = exact_product_threshold<T> * odd;
    EXPECT_EQ(exact_product_threshold<T>, std::ldexp(T(1), std::numeric_limits<T>::min_exponent - 1 + digits));
    EXPECT_TRUE(product_is_exact(odd, at));
    EXPECT_NE(two_prod(odd, at).error, T(0));
    EXPECT_FALSE(product_is_exact(odd, at / 4));
    EXPECT_TRUE(product_is_exact(T(0), at));
    EXPECT_FALSE(product_is_exact(smallest_subnormal<T>, smallest_subnormal<T>));
    EXPECT_FALSE(product_is_exact(canonical_nan<T>, T(1)));
}

TEST(AddToOdd, RoundedToFloatEqualsTheSumRoundedToFloat) {
    Random random(2);
    for (int repeat = 0; repeat < 200'000; ++repeat) {
        // a on or near a rounding boundary of float, b anywhere below
        const auto e = static_cast<int>(random.between(-150, 120));
        double a = std::ldexp(static_cast<double>((random.next() >> 39) | 1), e - 25);
        if (random.coin()) a = std::nextafter(a, random.coin() ? 0.0 : 0x1p1000);
        const double b = random.number<double>(e - static_cast<int>(random.between(20, 200)));
        Oracle sum;
        sum.add(a);
        sum.add(b);
        ASSERT_EQ(static_cast<float>(add_to_odd(a, b)), sum.rounded<float>()) << a << " " << b;
        ASSERT_EQ(static_cast<float>(add_to_odd(-a, -b)), -sum.rounded<float>()) << a << " " << b;
    }
}

}  // namespace
}  // namespace solver
