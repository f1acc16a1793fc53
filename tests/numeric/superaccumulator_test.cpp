#include "solver/numeric/superaccumulator.hpp"

#include <gtest/gtest.h>

#include "support/adversarial.hpp"
#include "support/oracle.hpp"

namespace solver {
namespace {

using testing::Oracle;
using testing::Random;
using testing::same_bits;
using testing::Terms;

template <class T>
class SuperaccumulatorOf : public ::testing::Test {};
using ValueTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(SuperaccumulatorOf, ValueTypes);

template <class T>
Oracle oracle_of(const Terms<T>& terms) {
    Oracle oracle;
    for (std::size_t i = 0; i < terms.size(); ++i) oracle.add_product(terms.a[i], terms.b[i]);
    return oracle;
}

template <class T>
Superaccumulator sum_of(const Terms<T>& terms) {
    Superaccumulator sum;
    for (std::size_t i = 0; i < terms.size(); ++i) sum.add_product(terms.a[i], terms.b[i]);
    return sum;
}

/// Two to nine parts, merged in a random tree.
template <class T>
Superaccumulator merged_sum_of(const Terms<T>& terms, Random& random) {
    std::vector<Superaccumulator> parts(static_cast<std::size_t>(random.between(2, 9)));
    for (std::size_t i = 0; i < terms.size(); ++i) parts[random.next() % parts.size()].add_product(terms.a[i], terms.b[i]);
    while (parts.size() > 1) {
        const Superaccumulator last = parts.back();
        parts.pop_back();
        parts[random.next() % parts.size()].merge(last);
    }
    return parts[0];
}

TYPED_TEST(SuperaccumulatorOf, RoundsEveryAdversarialClassOnceInAnyOrderAndAnyMergeTree) {
    using T = TypeParam;
    Random random(1);
    for (const auto& adversary : testing::adversarial_classes<T>()) {
        for (int repeat = 0; repeat < 1500; ++repeat) {
            Terms<T> terms = adversary.make(random, 8 + random.next() % 24);
            const Oracle oracle = oracle_of(terms);
            const auto check = [&](const Superaccumulator& sum) {
                return same_bits(sum.result<double>(), oracle.rounded<double>()) &&
                       same_bits(sum.result<float>(), oracle.rounded<float>());
            };
            ASSERT_TRUE(check(sum_of(terms))) << adversary.name << ", repeat " << repeat;
            testing::adversarial::shuffle(terms, random);
            ASSERT_TRUE(check(merged_sum_of(terms, random))) << adversary.name << ", repeat " << repeat;
        }
    }
}

/// Some of the digits, which notices when others are asked for.
template <DigitRange its_range>
struct GuardedDigits {
    static constexpr DigitRange range = its_range;
    std::int64_t& operator[](int k) noexcept {
        EXPECT_TRUE(k >= range.first && k < range.end) << "digit " << k << " of " << range.first << " to " << range.end;
        return digit[k - range.first];
    }
    std::int64_t operator[](int k) const noexcept { return const_cast<GuardedDigits&>(*this)[k]; }
    std::int64_t digit[range.size()] = {};
};

/// 2^62 of a sum, by merging it with itself.
template <class Sum>
Sum many_times(Sum sum) {
    for (int doubling = 0; doubling < 62; ++doubling) sum.merge(Sum(sum));
    return sum;
}

/// The extreme numbers of T, some of which the others' digits are far from, and 1.
template <class T>
std::vector<T> extremes() {
    using Limits = std::numeric_limits<T>;
    const T beside_one = std::nextafter(T(1), T(2));
    return {Limits::max(), Limits::denorm_min(), Limits::min(), std::nextafter(Limits::min(), T(0)), T(1), beside_one};
}

TYPED_TEST(SuperaccumulatorOf, SumsReachNoDigitsButThoseOfTheirRange) {
    using T = TypeParam;
    using Sum = BasicSuperaccumulator<GuardedDigits<digits_of_sums<T>>>;
    for (const T x : extremes<T>()) {
        Sum plus, minus;
        plus.add(double{x});
        const double negative[] = {-double{x}};
        minus.add_several(negative);
        ASSERT_EQ(plus.template result<T>(), x);
        ASSERT_EQ(minus.template result<T>(), -x);
        Sum all = many_times(plus);
        EXPECT_EQ(all.template result<double>(), std::ldexp(double{x}, 62)) << x;
        all.merge(many_times(minus));
        all.add(double{std::numeric_limits<T>::denorm_min()});
        EXPECT_EQ(all.template result<T>(), std::numeric_limits<T>::denorm_min()) << x;
    }
}

TYPED_TEST(SuperaccumulatorOf, ProductsReachNoDigitsButThoseOfTheirRange) {
    using T = TypeParam;
    using Sum = BasicSuperaccumulator<GuardedDigits<digits_of_products<T>>>;
    for (const T x : extremes<T>())
        for (const T y : extremes<T>()) {
            Sum plus, minus;
            plus.add_product(x, y);
            const double factor[] = {-double{x}}, other[] = {double{y}}, product[] = {-double{x} * double{y}};
            if constexpr (std::is_same_v<T, float>)
                minus.add_several(product);  // exact
            else
                minus.add_several(factor, other);
            Oracle oracle;
            oracle.add_product(x, y);
            ASSERT_TRUE(same_bits(plus.template result<T>(), oracle.rounded<T>())) << x << ", " << y;
            ASSERT_TRUE(same_bits(minus.template result<T>(), -plus.template result<T>()) || plus.template result<T>() == T(0));
            Sum all = many_times(plus);
            all.merge(many_times(minus));
            EXPECT_EQ(all.sign(), 0) << x << ", " << y;
            all.add_product(std::numeric_limits<T>::denorm_min(), std::numeric_limits<T>::denorm_min());
            EXPECT_EQ(all.sign(), 1) << x << ", " << y;
        }
}

TYPED_TEST(SuperaccumulatorOf, TakesSeveralTermsAtOnce) {
    using T = TypeParam;
    Random random(11);
    for (const auto& adversary : testing::adversarial_classes<T>()) {
        Superaccumulator sums, products;
        Oracle right_sum, right_product;
        for (int repeat = 0; repeat < 500; ++repeat) {
            const Terms<T> terms = adversary.make(random, 8);
            double a[4], b[4];
            for (std::size_t i = 0; i < 4; ++i) {
                a[i] = double{terms.a[i]};
                b[i] = double{terms.b[i]};
                right_sum.add_product(a[i], 1.0);
                right_product.add_product(a[i], b[i]);
            }
            sums.add_several(a);
            products.add_several(a, b);
        }
        EXPECT_PRED2(same_bits<double>, sums.result<double>(), right_sum.rounded<double>()) << adversary.name;
        EXPECT_PRED2(same_bits<double>, products.result<double>(), right_product.rounded<double>()) << adversary.name;
    }
}

TYPED_TEST(SuperaccumulatorOf, RoundsTheSquareRootOfTheExactSumOnce) {
    using T = TypeParam;
    Random random(2);
    for (const auto& adversary : testing::adversarial_classes<T>()) {
        for (int repeat = 0; repeat < 700; ++repeat) {
            const Terms<T> terms = adversary.make(random, 8 + random.next() % 8);
            Superaccumulator sum = sum_of(terms);
            Oracle oracle = oracle_of(terms);
            if (sum.sign() < 0) {
                sum.multiply(-1);
                oracle.multiply(-1);
            }
            if (same_bits(sum.result<double>(), -std::numeric_limits<double>::infinity())) continue;
            ASSERT_TRUE(same_bits(sum.sqrt_result<double>(), oracle.sqrt_rounded<double>())) << adversary.name;
            ASSERT_TRUE(same_bits(sum.sqrt_result<float>(), oracle.sqrt_rounded<float>())) << adversary.name;
        }
    }
}

TYPED_TEST(SuperaccumulatorOf, RoundsAlphaTimesTheSumPlusBetaYOnce) {
    using T = TypeParam;
    Random random(3);
    constexpr int most = std::numeric_limits<T>::max_exponent - 1;
    for (const auto& adversary : testing::adversarial_classes<T>()) {
        for (int repeat = 0; repeat < 700; ++repeat) {
            const Terms<T> terms = adversary.make(random, 8 + random.next() % 8);
            const int range = random.coin() ? 3 : most;
            const auto scalar = [&] { return random.number<T>(static_cast<int>(random.between(-range, range))); };
            const T alpha = random.between(0, 9) == 0 ? std::numeric_limits<T>::denorm_min() : scalar();
            const T beta = scalar();
            const T y = scalar();
            Superaccumulator sum = sum_of(terms);
            sum.multiply(alpha);
            sum.add_product(beta, y);
            Oracle oracle = oracle_of(terms);
            oracle.multiply(alpha);
            oracle.add_product(beta, y);
            ASSERT_TRUE(same_bits(sum.result<T>(), oracle.rounded<T>())) << adversary.name << " " << alpha;
        }
    }
}

TEST(Superaccumulator, RoundsHalvesOfSquaresOfMidpointsExactlyInTheSquareRoot) {
    Random random(4);
    for (int repeat = 0; repeat < 20000; ++repeat) {
        // (r + half an ulp)^2 for a float r, and the same plus and minus the smallest product.
        const double midpoint = std::abs(random.number<float>()) + std::ldexp(1.0, -24);
        const double scale = std::ldexp(1.0, static_cast<int>(random.between(-140, 120)));
        for (const double below : {0.0, 0x1p-1074, -0x1p-1074}) {
            Superaccumulator sum;
            Oracle oracle;
            sum.add_product(midpoint * scale, midpoint * scale);
            oracle.add_product(midpoint * scale, midpoint * scale);
            sum.add_product(below, 0x1p-1074);
            oracle.add_product(below, 0x1p-1074);
            ASSERT_TRUE(same_bits(sum.sqrt_result<float>(), oracle.sqrt_rounded<float>()));
            ASSERT_TRUE(same_bits(sum.sqrt_result<double>(), oracle.sqrt_rounded<double>()));
        }
    }
}

TEST(Superaccumulator, HoldsManyTimesItsEnduranceOfLargestAndSmallestTerms) {
    constexpr double huge = std::numeric_limits<double>::max();
    constexpr double eta = std::numeric_limits<double>::denorm_min();
    Superaccumulator sum;
    for (int i = 0; i < 100'000; ++i) {
        sum.add_product(huge, huge);
        sum.add_product(-eta, eta);
        sum.add(huge);
    }
    EXPECT_EQ(sum.result<double>(), std::numeric_limits<double>::infinity());
    for (int i = 0; i < 100'000; ++i) {
        sum.add_product(-huge, huge);
        sum.add(-huge);
    }
    EXPECT_EQ(sum.sign(), -1);
    sum.multiply(-0x1p1000);
    sum.multiply(0x1p1000);
    EXPECT_EQ(sum.result<double>(), 100'000 * 0x1p-148);
}

TEST(Superaccumulator, MergesFullAccumulatorsInAChain) {
    constexpr double x = 0x1.fffffffffffffp+0;
    Superaccumulator part;
    for (int i = 0; i < 1021; ++i) part.add(x);
    Superaccumulator sum;
    for (int i = 0; i < 5000; ++i) sum.merge(part);
    Oracle oracle;
    oracle.add(x);
    oracle.multiply(1021.0 * 5000.0);
    EXPECT_EQ(sum.result<double>(), oracle.rounded<double>());
}

TEST(Superaccumulator, TakesTermsAfterMergesOfFullAccumulators) {
    constexpr double x = 0x1.fffffffffffffp+0;
    for (const int terms : {340, 1021}) {
        Superaccumulator part;
        for (int i = 0; i < terms; ++i) part.add(x);
        Superaccumulator sum;
        for (int i = 0; i < 10; ++i) {
            sum.merge(part);
            sum.merge(part);
            for (int k = 0; k < 1000; ++k) sum.add(x);
        }
        Oracle oracle;
        oracle.add(x);
        oracle.multiply(10.0 * (2 * terms + 1000));
        EXPECT_EQ(sum.result<double>(), oracle.rounded<double>());
    }
}

TEST(Superaccumulator, GivesNanRatherThanAWrongNumberWhenMultipliedBeyondItsCapacity) {
    Superaccumulator sum;
    sum.add(1);
    for (int i = 0; i < 4; ++i) sum.multiply(0x1p1023);
    EXPECT_TRUE(same_bits(sum.result<double>(), canonical_nan<double>));
    Superaccumulator small;
    small.add(1);
    for (int i = 0; i < 4; ++i) small.multiply(0x1p-1074);
    EXPECT_TRUE(same_bits(small.result<double>(), canonical_nan<double>));
}

/// (1 - 2^-53)^3 2^(3 1024 + 42), taken back by 2^-3222.
TEST(Superaccumulator, HoldsManyOfTheLargestProductsTimesTheLargestNumber) {
    constexpr double largest = std::numeric_limits<double>::max();
    Superaccumulator sum;
    sum.add_product(largest, largest);
    for (int doubled = 0; doubled < 42; ++doubled) sum.merge(Superaccumulator(sum));
    sum.multiply(largest);
    EXPECT_EQ(sum.result<double>(), std::numeric_limits<double>::infinity());
    for (int i = 0; i < 3; ++i) sum.multiply(0x1p-1074);
    EXPECT_EQ(sum.result<double>(), (1 - 3 * 0x1p-53) * 0x1p-108);
}

/// 2^(3000 + e), taken back to 2^e: that, or NaN from somewhere below 2^3161 on. Never a digit beyond the last.
TEST(Superaccumulator, LosesNothingUpToTheEndOfItsCapacityAndGivesNanBeyond) {
    bool has_ended = false;
    for (int e = 0; e < 400; ++e) {
        Superaccumulator sum;
        sum.add(0x1p1000);
        for (const double factor : {0x1p1000, 0x1p1000, std::ldexp(1.0, e), 0x1p-1000, 0x1p-1000, 0x1p-1000})
            sum.multiply(factor);
        const double result = sum.result<double>();
        has_ended = has_ended || std::isnan(result);
        EXPECT_EQ(has_ended, std::isnan(result)) << e;
        if (!has_ended) {
            EXPECT_EQ(result, std::ldexp(1.0, e));
        }
        if (e < 100 || e >= 161) {
            EXPECT_EQ(has_ended, e >= 161) << e;
        }
    }
}

TEST(Superaccumulator, FollowsIeeeForInfAndNan) {
    constexpr double inf = std::numeric_limits<double>::infinity();
    const auto sum = [](std::initializer_list<double> terms) {
        Superaccumulator s;
        for (const double x : terms) s.add(x);
        return s;
    };
    EXPECT_EQ(sum({1, inf}).result<float>(), std::numeric_limits<float>::infinity());
    EXPECT_EQ(sum({-inf, 1}).result<double>(), -inf);
    EXPECT_TRUE(same_bits(sum({inf, -inf}).result<double>(), canonical_nan<double>));
    EXPECT_TRUE(same_bits(sum({-canonical_nan<double>}).result<float>(), canonical_nan<float>));
    EXPECT_EQ(sum({inf}).sqrt_result<double>(), inf);
    EXPECT_TRUE(same_bits(sum({-1}).sqrt_result<double>(), canonical_nan<double>));
    Superaccumulator zero_times_inf;
    zero_times_inf.add_product(0.0, inf);
    EXPECT_TRUE(same_bits(zero_times_inf.result<double>(), canonical_nan<double>));
    Superaccumulator scaled = sum({-3});
    scaled.multiply(inf);
    EXPECT_EQ(scaled.result<double>(), -inf);
    scaled.multiply(0);
    EXPECT_TRUE(same_bits(scaled.result<double>(), canonical_nan<double>));
    Superaccumulator merged = sum({inf});
    merged.merge(sum({-inf}));
    EXPECT_TRUE(same_bits(merged.result<double>(), canonical_nan<double>));
}

TEST(Superaccumulator, KeepsWhatAnExpansionCannotHold) {
    constexpr double eta = std::numeric_limits<double>::denorm_min();
    Superaccumulator sum;
    sum.add(1);
    sum.add(-0x1p-60);
    sum.add_product(-eta, eta);
    const Expansion<double> taken = sum.take_expansion<double>();
    EXPECT_EQ(taken.size, 2);
    EXPECT_EQ(taken.component[0], 1);
    EXPECT_EQ(taken.component[1], -0x1p-60);
    EXPECT_FALSE(taken.is_exact);
    EXPECT_EQ(sum.sign(), -1);
    sum.multiply(-0x1p1000);
    sum.multiply(0x1p1000);
    EXPECT_EQ(sum.result<double>(), 0x1p-148);

    sum.add(0x1p-160);
    EXPECT_EQ(sum.take_expansion<float>().component[0], 0x1p-148F);
    const Expansion<double> rest = sum.take_expansion<double>();
    EXPECT_EQ(rest.component[0], 0x1p-160);
    EXPECT_TRUE(rest.is_exact);
    EXPECT_EQ(sum.sign(), 0);
}

TEST(Superaccumulator, ReturnsPlusZero) {
    Superaccumulator sum;
    EXPECT_TRUE(same_bits(sum.result<double>(), 0.0));
    sum.add(-0.0);
    EXPECT_TRUE(same_bits(sum.result<double>(), 0.0));
    sum.add_product(-0x1p-1074, 0x1p-1074);
    EXPECT_TRUE(same_bits(sum.result<double>(), 0.0));
    EXPECT_TRUE(same_bits(sum.result<float>(), 0.0F));
    EXPECT_EQ(sum.sign(), -1);
}

}  // namespace
}  // namespace solver
