#include "solver/numeric/anchored_pair.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "support/adversarial.hpp"
#include "support/oracle.hpp"

namespace solver {
namespace {

using testing::Oracle;
using testing::Random;
using testing::same_bits;
using testing::Terms;

/// An anchor that knows the first four products, as products with packed rows have it.
AnchoredPair sum_of(const Terms<double>& terms) {
    std::uint32_t word = 0;
    for (std::size_t i = 0; i < std::min<std::size_t>(4, terms.size()); ++i)
        word = std::max(word, AnchoredPair::word_of(terms.a[i] * terms.b[i]));
    AnchoredPair sum(word, AnchoredPair::room_for(static_cast<std::int32_t>(terms.size())));
    for (std::size_t i = 0; i < terms.size(); ++i) sum.add_product(terms.a[i], terms.b[i]);
    return sum;
}

double expected(const Terms<double>& terms) {
    Oracle oracle;
    for (std::size_t i = 0; i < terms.size(); ++i) oracle.add_product(terms.a[i], terms.b[i]);
    return oracle.rounded<double>();
}

Terms<double> negated(Terms<double> terms) {
    for (double& a : terms.a) a = -a;
    return terms;
}

/// The exponent of the last digit that is not 0.
int last_digit_of(double a) {
    int exponent = 0;
    double digits = std::ldexp(std::frexp(a, &exponent), 53);
    while (std::fmod(digits, 2) == 0) {
        digits /= 2;
        ++exponent;
    }
    return exponent - 53;
}

/// 2^this divides all products.
int grid_of(const Terms<double>& terms) {
    int grid = 20'000;
    for (std::size_t i = 0; i < terms.size(); ++i) {
        if (terms.a[i] == 0 || terms.b[i] == 0) continue;
        if (!std::isfinite(terms.a[i]) || !std::isfinite(terms.b[i])) return -20'000;
        grid = std::min(grid, last_digit_of(terms.a[i]) + last_digit_of(terms.b[i]));
    }
    return grid;
}

struct Score {
    std::int64_t tried = 0;
    std::int64_t certified = 0;
    std::int64_t on_grid = 0;

    void judge(const Terms<double>& terms, AnchoredPair sum) {
        const auto n = static_cast<std::int32_t>(terms.size());
        const int grid = grid_of(terms);
        for (const double right : {expected(terms), expected(negated(terms))}) {
            double result = 0;
            ++tried;
            if (sum.try_result(result, n)) {
                ++certified;
                EXPECT_PRED2(same_bits<double>, result, right);
            }
            if (sum.try_on_grid(result, n, grid)) {
                ++on_grid;
                EXPECT_PRED2(same_bits<double>, result, right);
            }
            sum.negate();
        }
    }
    double percent(std::int64_t of) const { return 100 * static_cast<double>(of) / static_cast<double>(tried); }
};

TEST(AnchoredPair, NeverCertifiesAWrongResult) {
    Random random(1);
    for (const auto& adversary : testing::adversarial_classes<double>()) {
        Score score;
        for (int repeat = 0; repeat < 4000; ++repeat) {
            const std::size_t n = repeat % 40 == 0 ? 150 + random.next() % 800 : 1 + random.next() % 40;
            const Terms<double> terms = adversary.make(random, n);
            score.judge(terms, sum_of(terms));
        }
        std::printf("    %-24s %6.2f %% certified, %6.2f %% on a grid\n", adversary.name, score.percent(score.certified),
                    score.percent(score.on_grid));
    }
}

/// What it is for: rows of any numbers of like size, of which it certifies nearly all.
TEST(AnchoredPair, CertifiesSumsThatDoNotCancel) {
    Random random(2);
    Score score;
    for (int repeat = 0; repeat < 20'000; ++repeat) {
        Terms<double> terms;
        for (std::uint64_t n = 1 + random.next() % 60; n > 0; --n)
            terms.add(random.number<double>(), random.number<double>(10));
        score.judge(terms, sum_of(terms));
    }
    EXPECT_GT(score.percent(score.certified), 99.9);
}

/// Small integers times numbers of like size: half of the sums are ties here, which only the grid decides, and some are 0.
TEST(AnchoredPair, DecidesTiesAndZerosOnAGrid) {
    Random random(3);
    Score score;
    for (int repeat = 0; repeat < 20'000; ++repeat) {
        Terms<double> terms;
        for (std::uint64_t n = 1 + random.next() % 30; n > 0; --n)
            terms.add(static_cast<double>(random.between(-26, 26)),
                      random.number<double>(static_cast<int>(random.between(-8, 8))));
        if (random.coin()) {  // half an ulp of the sum
            const double sum = expected(terms);
            if (sum != 0) terms.add(random.coin() ? 0.5 : -0.5, std::nextafter(std::abs(sum), INFINITY) - std::abs(sum));
        } else if (random.coin()) {
            const Terms<double> once = terms;
            for (std::size_t i = 0; i < once.size(); ++i) terms.add(-once.a[i], once.b[i]);
        }
        score.judge(terms, sum_of(terms));
    }
    EXPECT_GT(score.percent(score.on_grid), 99.9);  // but for sums that cancel so far that half an ulp lies below the grid
    EXPECT_LT(score.percent(score.certified), 90);
}

TEST(AnchoredPair, DecidesNothingWhereAProductLeavesItsPlace) {
    for (const double large : {0x1p14, -0x1p14, 0x1p600, -0x1p1000, HUGE_VAL, -HUGE_VAL, std::nan("")}) {
        AnchoredPair sum(AnchoredPair::word_of(1), AnchoredPair::room_for(1));
        sum.add_product(1, 1);
        sum.add_product(large, large);
        sum.add_product(-large, large);
        double result = 0;
        EXPECT_FALSE(sum.try_result(result, 3)) << large;
        EXPECT_FALSE(sum.try_on_grid(result, 3, 0)) << large;
    }
}

TEST(AnchoredPair, HasRoomForATermAThousandTimesLargerThanThoseItKnows) {
    for (const double large : {0x1p10, -0x1p10}) {
        AnchoredPair sum(AnchoredPair::word_of(1), AnchoredPair::room_for(1));
        sum.add_product(large, 1);
        double result = 0;
        ASSERT_TRUE(sum.try_result(result, 1));
        EXPECT_EQ(result, large);
    }
}

TEST(AnchoredPair, TakesTheWholeRangeOfNumbers) {
    for (int exponent = -1074; exponent < 1024; ++exponent) {
        const double a = std::ldexp(1, exponent);
        AnchoredPair sum(AnchoredPair::word_of(a), AnchoredPair::room_for(2));
        sum.add_product(a, 1);
        sum.add_product(a, 0.25);
        double result = 0;
        const bool on_grid = sum.try_on_grid(result, 2, exponent - 2);
        const double right = expected({{a, a}, {1, 0.25}});
        if (on_grid) {
            EXPECT_PRED2(same_bits<double>, result, right) << exponent;
        }
        EXPECT_EQ(on_grid, exponent >= -911 && exponent < 1016) << exponent;  // n <= 2^(106+q-k), k = 14-823; k <= 1017
        if (sum.try_result(result, 2)) {
            EXPECT_PRED2(same_bits<double>, result, right) << exponent;
        }
    }
}

/// Rests that are rounded up by nearly half an ulp each, in a sum that lies just below a boundary between two results, by which
/// it is rounded wrongly: a bound of 0.6 of ours would certify it.
TEST(AnchoredPair, KnowsWhatUnluckyRoundingsLose) {
    constexpr int rests = 506;  // 3 and 2 more than a power of 2, to which the bound is rounded up
    constexpr int n = rests + 2;
    const int room = AnchoredPair::room_for(n);
    AnchoredPair sum(static_cast<std::uint32_t>(1023 + 52 - room) << 20, room);  // at 2^52: g = 1
    Terms<double> terms;
    const auto add = [&](double a) {
        terms.add(a, 1);
        sum.add_product(a, 1);
    };
    double d = 0;
    double lost = 0;
    const auto add_rest = [&](double rest) {
        add(rest);
        const Split<double> next = two_sum(d, rest);
        d = next.value;
        lost -= next.error;
    };
    for (int i = 0; i < rests; ++i) {
        const double ulp = std::nextafter(d + 0.5, HUGE_VAL) - (d + 0.5);
        add_rest(ulp < 0x1p-52 ? 0.5 - 0x1p-54 : 0.5 - ulp / 2 + 0x1p-54);
    }
    add_rest(0.125 - 0x1p-50 - std::fmod(d, 0.25) + lost);  // now the exact sum of the rests is 2^-50 below 1/8, modulo 1/4
    EXPECT_GT(lost, 0.6 * 0x1p-55 * (n + 2) * (n + 2));

    const double v = 0x1p50 + 1;  // with neighbours 1/4 apart
    add(v);
    EXPECT_NE(v + d, expected(terms));
    double result = 0;
    EXPECT_FALSE(sum.try_result(result, n));
}

}  // namespace
}  // namespace solver
