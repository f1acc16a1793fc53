#include "kernels/runtime/divisor.hpp"

#include <gtest/gtest.h>

#include "support/adversarial.hpp"
#include "support/oracle.hpp"

#include <cmath>
#include <limits>
#include <vector>

namespace solver {
namespace {

using testing::Random;

template <class T>
class Divisor : public ::testing::Test {};
using ValueTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Divisor, ValueTypes);

template <class T>
void expect_quotient(T n, T d) {
    const T found = cuda::Divisor<T>(d).divide(n);
    const T right = n / d;
    if (std::isnan(right))
        EXPECT_TRUE(std::isnan(found));
    else
        EXPECT_PRED2(testing::same_bits<T>, found, right) << n << " / " << d;
}

TYPED_TEST(Divisor, GivesTheRoundedQuotient) {
    using T = TypeParam;
    Random random(1);
    for (int i = 0; i < 1'000'000; ++i)
        expect_quotient(random.number<T>(static_cast<int>(random.between(-60, 60))),
                        random.number<T>(static_cast<int>(random.between(-60, 60))));
}

/// Numerators at and beside the product of a number, or a number and a half of its last place, with the divisor.
TYPED_TEST(Divisor, GivesTheRoundedQuotientNearTiesAndNumbers) {
    using T = TypeParam;
    Random random(2);
    for (int i = 0; i < 300'000; ++i) {
        const T d = random.coin() ? random.number<T>(0) : 2 - unit_roundoff<T> * static_cast<T>(2 * random.between(1, 9));
        const T q = random.number<T>(static_cast<int>(random.between(-20, 20)));
        const T n = q * d * (random.coin() ? T(1) : 1 + unit_roundoff<T>);
        for (const T near : {n, std::nextafter(n, T(0)), std::nextafter(n, 2 * n), n / 2 * 3}) expect_quotient(near, d);
    }
}

TYPED_TEST(Divisor, GivesTheRoundedQuotientOfUnusualNumbers) {
    using T = TypeParam;
    using Limits = std::numeric_limits<T>;
    const std::vector<T> numbers{0,
                                 -T(0),
                                 1,
                                 3,
                                 -T(7),
                                 Limits::min(),
                                 Limits::max(),
                                 Limits::denorm_min(),
                                 5 * Limits::denorm_min(),
                                 Limits::infinity(),
                                 -Limits::infinity(),
                                 Limits::quiet_NaN(),
                                 std::is_same_v<T, float> ? T(0x1p40) : T(0x1p400),
                                 std::is_same_v<T, float> ? T(0x1.8p-40) : T(0x1.8p-400),
                                 std::is_same_v<T, float> ? T(0x1.8p40) : T(0x1.8p400)};
    for (const T n : numbers)
        for (const T d : numbers) expect_quotient(n, d);
}

}  // namespace
}  // namespace solver
