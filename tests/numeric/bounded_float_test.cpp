#include "solver/numeric/bounded_float.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "support/adversarial.hpp"
#include "support/oracle.hpp"

namespace solver {
namespace {

using testing::Oracle;
using testing::Random;
using testing::same_bits;
using testing::Terms;

BoundedFloat sum_of(const Terms<float>& terms) {
    BoundedFloat sum;
    for (std::size_t i = 0; i < terms.size(); ++i) sum.add_product(terms.a[i], terms.b[i]);
    return sum;
}

float expected(const Terms<float>& terms) {
    Oracle oracle;
    for (std::size_t i = 0; i < terms.size(); ++i) oracle.add_product(terms.a[i], terms.b[i]);
    return oracle.rounded<float>();
}

Terms<float> negated(Terms<float> terms) {
    for (float& a : terms.a) a = -a;
    return terms;
}

/// The exponent of the last digit that is not 0.
int last_digit_of(float a) {
    int exponent = 0;
    float digits = std::ldexp(std::frexp(a, &exponent), 24);
    while (std::fmod(digits, 2.0F) == 0) {
        digits /= 2;
        ++exponent;
    }
    return exponent - 24;
}

/// 2^this divides all products.
int grid_of(const Terms<float>& terms) {
    int grid = 900;
    for (std::size_t i = 0; i < terms.size(); ++i) {
        if (terms.a[i] == 0 || terms.b[i] == 0) continue;
        if (!std::isfinite(terms.a[i]) || !std::isfinite(terms.b[i])) return -900;
        grid = std::min(grid, last_digit_of(terms.a[i]) + last_digit_of(terms.b[i]));
    }
    return grid;
}

struct Score {
    std::int64_t tried = 0;
    std::int64_t certified = 0;
    std::int64_t on_grid = 0;

    void judge(const Terms<float>& terms) {
        BoundedFloat sum = sum_of(terms);
        for (const float right : {expected(terms), expected(negated(terms))}) {
            float result = 0;
            ++tried;
            if (sum.try_result(result, static_cast<std::int32_t>(terms.size()))) {
                ++certified;
                EXPECT_PRED2(same_bits<float>, result, right);
            }
            if (sum.try_on_grid(result, grid_of(terms))) {
                ++on_grid;
                EXPECT_PRED2(same_bits<float>, result, right);
            }
            sum.negate();
        }
    }
    double percent(std::int64_t of) const { return 100 * static_cast<double>(of) / static_cast<double>(tried); }
};

TEST(BoundedFloat, NeverCertifiesAWrongResult) {
    Random random(1);
    for (const auto& adversary : testing::adversarial_classes<float>()) {
        Score score;
        for (int repeat = 0; repeat < 4000; ++repeat) {
            const std::size_t n = repeat % 40 == 0 ? 150 + random.next() % 800 : 8 + random.next() % 40;
            score.judge(adversary.make(random, n));
        }
        std::printf("    %-24s %6.2f %% certified, %6.2f %% on a grid\n", adversary.name, score.percent(score.certified),
                    score.percent(score.on_grid));
    }
}

/// What it is for: rows of any numbers of like size, of which it certifies nearly all.
TEST(BoundedFloat, CertifiesSumsThatDoNotCancel) {
    Random random(2);
    Score score;
    for (int repeat = 0; repeat < 20'000; ++repeat) {
        Terms<float> terms;
        for (std::uint64_t n = 1 + random.next() % 60; n > 0; --n) terms.add(random.number<float>(), random.number<float>(10));
        score.judge(terms);
    }
    EXPECT_GT(score.percent(score.certified), 99.9);
}

/// Small integers times numbers of like size: some of the sums are ties, which only the grid decides, and some are 0.
TEST(BoundedFloat, DecidesTiesAndZerosOnAGrid) {
    Random random(3);
    Score score;
    for (int repeat = 0; repeat < 20'000; ++repeat) {
        Terms<float> terms;
        for (std::uint64_t n = 1 + random.next() % 30; n > 0; --n)
            terms.add(static_cast<float>(random.between(-26, 26)),
                      random.number<float>(static_cast<int>(random.between(-8, 8))));
        if (random.coin()) {
            const Terms<float> once = terms;
            for (std::size_t i = 0; i < once.size(); ++i) terms.add(-once.a[i], once.b[i]);
        }
        score.judge(terms);
    }
    EXPECT_EQ(score.on_grid, score.tried);
    EXPECT_LT(score.percent(score.certified), 60);
}

/// Additions that each lose nearly u, all to the same side, of a sum that they hold below a boundary between two floats: a
/// bound of half the size would certify what is wrong.
TEST(BoundedFloat, KnowsWhatUnluckyRoundingsLose) {
    for (const int lost : {9, 101, 1001}) {
        Terms<float> terms;
        terms.add(1);
        terms.add(0x1p-24F);  // to the boundary
        terms.add(static_cast<float>(-(lost / 2)), 0x1p-52F);
        for (int i = 0; i < lost; ++i) terms.add(0x1p-53F, 1 - 0x1p-20F);
        ASSERT_EQ(expected(terms), std::nextafter(1.0F, 2.0F));
        float result = 0;
        EXPECT_FALSE(sum_of(terms).try_result(result, static_cast<std::int32_t>(terms.size()))) << lost;
        EXPECT_FALSE(sum_of(terms).try_on_grid(result, grid_of(terms))) << lost;
    }
}

/// Unlucky roundings in a sum of two parts, whichever comes first, of products that are made in one place or in two, of either
/// sign, scaled.
TEST(CountedBoundedFloat, KnowsWhatUnluckyRoundingsLoseInParts) {
    constexpr int lost = 1001;
    CountedBoundedFloat small;
    small.add_product(0x1p-60F, 0x1p-60F);
    CountedBoundedFloat nothing;
    nothing.add(0.5F);
    nothing.add(-0.5F);
    float result = 0;
    EXPECT_TRUE(small.try_result(result));
    for (const float sign : {1.0F, -1.0F}) {
        for (const bool at_once : {false, true}) {
            CountedBoundedFloat large;
            const auto add = [&](float a, float b) {
                if (at_once)
                    large.add_product(a, b);
                else
                    large.add_term(CountedBoundedFloat::product(a, b));
            };
            add(sign, 1);
            add(sign, 0x1p-24F);
            add(-sign * static_cast<float>(lost / 2), 0x1p-52F);
            for (int i = 0; i < lost; ++i) add(sign * 0x1p-53F, 1 - 0x1p-20F);
            EXPECT_FALSE(large.try_result(result));
            for (const CountedBoundedFloat& other : {small, nothing}) {
                CountedBoundedFloat sum = large;
                sum.merge(other);
                EXPECT_FALSE(sum.try_result(result));
                sum = other;
                sum.merge(large);
                EXPECT_FALSE(sum.try_result(result));
                for (const float alpha : {-1.0F, 1024.0F, 0x1p-10F}) {
                    sum = large.scaled(alpha);
                    EXPECT_FALSE(sum.try_result(result)) << alpha;
                    sum.merge(other);
                    EXPECT_FALSE(sum.try_result(result)) << alpha;
                }
            }
        }
    }
}

TEST(CountedBoundedFloat, KnowsWhatWasLostBeforeOthersCancelled) {
    CountedBoundedFloat sum;
    for (const double term : {0x1p60, 1.0, -0x1p60}) sum.add_term(term);
    float result = 0;
    EXPECT_FALSE(sum.try_result(result));
}

TEST(CountedBoundedFloat, DecidesNothingOfMoreProductsThanTheProofHolds) {
    CountedBoundedFloat sum;
    sum.add(1);
    CountedBoundedFloat zero;
    zero.add(0);
    for (int i = 0; i < 20; ++i) zero.merge(CountedBoundedFloat(zero));
    float result = 0;
    EXPECT_TRUE(sum.try_result(result));
    sum.merge(zero);
    EXPECT_FALSE(sum.try_result(result));
}

/// The magnitudes decide, and not the sum, which cancels here after it has lost a digit.
TEST(BoundedFloat, ComparesTheGridWithAllThatWasAdded) {
    const auto judge = [](float large) {
        BoundedFloat sum;
        sum.add_product(large, large);
        sum.add_product(1, 1);
        sum.add_product(-large, large);
        float result = 0;
        const bool decided = sum.try_on_grid(result, 0);
        if (decided) {
            EXPECT_EQ(result, 1);
        }
        return decided;
    };
    EXPECT_TRUE(judge(0x1p25F));
    EXPECT_FALSE(judge(0x1p26F));
    EXPECT_FALSE(judge(0x1p27F));
}

TEST(BoundedFloat, TakesTheWholeRangeOfNumbers) {
    for (int a = -149; a < 128; ++a) {
        for (int b = -149; b < 128; b += 23) {
            Terms<float> terms;
            terms.add(std::ldexp(1.0F, a), std::ldexp(1.0F, b));
            terms.add(std::ldexp(1.0F, a), std::ldexp(-1.0F, std::max(b - 2, -149)));
            Score score;
            score.judge(terms);
            EXPECT_EQ(score.on_grid, 2) << a << ' ' << b;
        }
    }
}

TEST(BoundedFloat, DecidesNothingWithInfAndNan) {
    for (const float special : {HUGE_VALF, -HUGE_VALF, std::nanf("")}) {
        for (const float other : {1.0F, 0.0F}) {
            BoundedFloat sum;
            sum.add_product(1, 1);
            sum.add_product(special, other);
            float result = 0;
            EXPECT_FALSE(sum.try_result(result, 2)) << special << ' ' << other;
            EXPECT_FALSE(sum.try_on_grid(result, 900)) << special << ' ' << other;
        }
    }
}

}  // namespace
}  // namespace solver
