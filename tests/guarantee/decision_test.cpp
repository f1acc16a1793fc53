#include "guarantee/decision.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>

#include "support/rational_system.hpp"

namespace solver::guarantee {
namespace {

using testing::Rational;

/// RN(x + low + d + offset), by rationals.
template <class T>
double rounded(T x, T low, double d, double offset) {
    Rational sum(static_cast<double>(x)), parts[] = {Rational(static_cast<double>(low)), Rational(d), Rational(offset)};
    for (Rational& part : parts) {
        Rational minus(0.0);
        minus -= part;
        sum -= minus;
    }
    return sum.rounded(std::numeric_limits<T>::digits);
}

template <class T>
class Decisions : public ::testing::Test {};
/// Where it is known what the rule of zeros allows.
template <class T>
Rounded<T> decide(const ThreeTerms<T>& x, double radius, double zero_below) {
    return decide(x, radius, Between{zero_below, zero_below});
}

using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Decisions, Types);

/// A wrong sign, a midpoint of the wrong binade or a radius that is not counted shows here: both ends of every interval that is
/// decided are rounded alike.
TYPED_TEST(Decisions, HoldForBothEndsOfTheInterval) {
    using T = TypeParam;
    std::mt19937_64 random(11);
    const auto uniform = [&] { return std::uniform_real_distribution<double>(-1, 1)(random); };
    int decided = 0, open = 0;
    for (int k = 0; k < 40000; ++k) {
        const double ulp = std::numeric_limits<T>::epsilon();
        T x = static_cast<T>(k % 4 == 0 ? (k % 8 == 0 ? 1 : -2) : 1.5 + uniform());  // powers of two: uneven gaps beside them
        const T low = static_cast<T>(ulp / 2 * uniform() * (k % 3));
        const double d = k % 5 == 0 ? ulp / 4 : ulp * uniform();
        const double radius = ulp * std::ldexp(std::abs(uniform()), -(k % 40));
        const Rounded<T> result = decide(sum_of(x, low, d), radius, 0.0);
        if (result.decision == Decision::undecided) {
            ++open;
            continue;
        }
        ++decided;
        if (result.decision == Decision::tie) continue;
        EXPECT_EQ(static_cast<double>(result.value), rounded(x, low, d, radius)) << k;
        EXPECT_EQ(static_cast<double>(result.value), rounded(x, low, d, -radius)) << k;
    }
    EXPECT_GT(decided, 20000);
    EXPECT_GT(open, 1000);
}

// Promise: proof.hpp, "The rules of `rounded`, for what no bound"
TYPED_TEST(Decisions, RoundTiesToEven) {
    using T = TypeParam;
    const T ulp = std::numeric_limits<T>::epsilon();
    for (const T sign : {T(1), T(-1)})
        for (int k = 0; k < 8; ++k) {
            const T x = sign * (1 + static_cast<T>(k) * ulp);
            const Rounded<T> tie = decide(sum_of(x, sign * ulp / 2, 0.0), 1e-45, 0.0);
            EXPECT_EQ(tie.decision, Decision::tie);
            EXPECT_EQ(tie.value, sign * (1 + static_cast<T>((k + 1) / 2 * 2) * ulp)) << k;
        }
}

TEST(Decisions, LeaveOpenWhatIsNeitherATieNorBesideIt) {
    const double tie = 0x1p-53, width = tie_width<double>;
    EXPECT_EQ(decide(sum_of(1.0, tie, 0.0), width / 4, 0.0).decision, Decision::tie);
    EXPECT_EQ(decide(sum_of(1.0, tie, 0.0), width * 4, 0.0).decision, Decision::undecided);
    EXPECT_EQ(decide(sum_of(1.0, tie, width * 8), width * 4, 0.0).decision, Decision::nearest);
    EXPECT_EQ(decide(sum_of(1.0, tie, width * 8), width * 4, 0.0).value, 1 + 0x1p-52);
    EXPECT_EQ(decide(sum_of(1.0, tie, -width * 8), width * 4, 0.0).value, 1.0);
    EXPECT_EQ(decide(sum_of(1.0, tie, width * 2), width * 2, 0.0).decision, Decision::undecided);
    EXPECT_EQ(decide(sum_of(1.0, tie, -width * 1.25), width / 2, 0.0).decision, Decision::undecided) << "a tie, or not";
}

/// Hardly farther from the midpoint than a tie may be, by a digit that two doubles do not hold.
TEST(Decisions, SeeTheLastDigitsOfASumOfThree) {
    constexpr double half = 0x1p-24, beyond = 1.5 * tie_width<float> + 0x1p-78;
    for (const double sign : {1.0, -1.0}) {
        const auto x = static_cast<float>(sign * 1.5), next = static_cast<float>(sign * (1.5 + 2 * half));
        EXPECT_EQ(decide(sum_of(x, static_cast<float>(sign * half), sign * beyond), 0x1p-100, 0.0).value, next);
        EXPECT_EQ(decide(sum_of(x, static_cast<float>(sign * beyond), sign * half), 0x1p-100, 0.0).value, next);
    }
}

/// Farther from the midpoint than a tie may be by less than the distance's own rounding.
TEST(Decisions, CountTheRoundingOfTheDistance) {
    constexpr double half = 0x1p-24, tie = (1.5 + half) * tie_width<float>;
    EXPECT_EQ(decide(ThreeTerms<float>{1.5F, half, tie}, 0x1p-140, 0.0).decision, Decision::undecided) << "on the border";
    EXPECT_EQ(decide(ThreeTerms<float>{1.5F, half, tie + 0x1p-111}, 0x1p-140, 0.0).decision, Decision::undecided) << "beyond";
}

/// Where numbers are sparse, x* is half as large as the number next to it, or the number is 0: a tie is a matter of x*.
TEST(Decisions, MeasureTiesByTheNumberItself) {
    constexpr double half = 0x1p-150, width = half * tie_width<float>;
    constexpr float smallest = smallest_subnormal<float>;
    for (const float sign : {1.0F, -1.0F})
        for (const float head : {0.0F, smallest}) {
            const double tail = sign * (half - static_cast<double>(head));
            const auto decided = [&](double rest) {
                return decide(ThreeTerms<float>{sign * head, tail, sign * rest}, 0x1p-300, 0.0);
            };
            EXPECT_EQ(decided(width * 0.75).value, 0);
            EXPECT_FALSE(std::signbit(decided(width * 0.75).value));
            EXPECT_EQ(decided(width * 0.75).decision, Decision::tie);
            EXPECT_EQ(decided(width * 1.25).value, sign * smallest);
            EXPECT_EQ(decided(width * 1.25).decision, Decision::nearest);
            EXPECT_EQ(decided(-width * 1.25).value, 0);
            EXPECT_EQ(decided(-width * 1.25).decision, Decision::nearest);
        }
}

// Promise: proof.hpp, "|x*_i| up to this, times"
TEST(Decisions, TakeForZeroWhatIsBelowTheRule) {
    EXPECT_EQ(decide(sum_of(1e-200, 0.0, 0.0), 1e-201, 1e-190).decision, Decision::dropped);
    EXPECT_EQ(decide(sum_of(1e-200, 0.0, 0.0), 1e-201, 1e-190).value, 0.0);
    EXPECT_EQ(decide(sum_of(1e-200, 0.0, 0.0), 1e-180, 1e-190).decision, Decision::undecided);
    EXPECT_EQ(decide(sum_of(1e-190, 0.0, 0.0), 1e-230, 1e-190).decision, Decision::undecided) << "too near to the rule";
    EXPECT_EQ(decide(sum_of(1e-180, 0.0, 0.0), 1e-230, 1e-190).decision, Decision::nearest);
    EXPECT_FALSE(std::signbit(decide(sum_of(-0.0, 0.0, -0.0), 0.0, 0.0).value));
}

TEST(Decisions, LeaveOpenWhatMayOrMayNotBeBelowTheRule) {
    const Between zero{1e-191, 1e-190};
    EXPECT_EQ(decide(sum_of(5e-191, 0.0, 0.0), 1e-230, zero).decision, Decision::undecided);
    EXPECT_EQ(decide(sum_of(5e-192, 0.0, 0.0), 1e-230, zero).decision, Decision::dropped);
    EXPECT_EQ(decide(sum_of(5e-190, 0.0, 0.0), 1e-230, zero).decision, Decision::nearest);
}

/// Numbers of which the first part alone is below the rule, or above it.
TEST(Decisions, LookAtAllPartsBesideTheRuleOfZeros) {
    EXPECT_EQ(decide(sum_of(1.0F, 0x1p-25F, 0.0), 1e-30, 1 + 0x1p-26).decision, Decision::nearest);
    EXPECT_EQ(decide(sum_of(1.0F, -0x1p-26F, 0.0), 1e-30, 1 - 0x1p-27).decision, Decision::dropped);
    EXPECT_EQ(decide(sum_of(1.0, 0x1p-54, 0.0), 1e-30, 1.0).decision, Decision::undecided);
    EXPECT_EQ(decide(sum_of(1.0F, 0.0F, 0.0), 0x1p-30, 1 - 0x1p-31).decision, Decision::undecided) << "by the radius";
    EXPECT_EQ(decide(sum_of(1.0, 0.0, 0.0), 0x1p-54, 1 - 0x1p-53).decision, Decision::undecided) << "by the radius";
}

TEST(Decisions, LeaveOpenWhatIsNotFinite) {
    constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    for (const double bad : {inf, -inf, nan}) {
        EXPECT_EQ(decide(sum_of(bad, 0.0, 0.0), 1e-30, 0.0).decision, Decision::undecided);
        EXPECT_EQ(decide(sum_of(1.0, 0.0, bad), 1e-30, 0.0).decision, Decision::undecided);
    }
    EXPECT_EQ(decide(sum_of(1.0, 0.0, 0.0), inf, 0.0).decision, Decision::undecided);
    EXPECT_EQ(decide(sum_of(1.0, 0.0, 0.0), nan, 0.0).decision, Decision::undecided);
    EXPECT_EQ(decide(sum_of(std::numeric_limits<double>::max(), 0.0, 0.0), 1.0, 0.0).decision, Decision::undecided);
}

}  // namespace
}  // namespace solver::guarantee
