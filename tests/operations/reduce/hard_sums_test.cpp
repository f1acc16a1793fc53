#include "solver/reduce.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "support/adversarial.hpp"
#include "support/expected.hpp"
#include "support/floating_point_environment.hpp"
#include "support/reductions.hpp"
#include "support/targets.hpp"
#include "support/values.hpp"

namespace solver {
namespace {

using testing::expect_dot_kept;
using testing::expect_sum_kept;
using testing::expected_dot;
using testing::for_each_target;
using testing::processors;
using testing::Random;
using testing::random_vector;
using testing::Reduce;
using testing::Span;
using testing::Terms;

using ValueTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Reduce, ValueTypes);

/// Exact dots alone are cheap enough for hundreds of thousands of comparisons.
// Promise: accuracy.hpp, "The real number, rounded once to nearest even."
TYPED_TEST(Reduce, RoundsEveryAdversarialDotOnceOnEveryTarget) {
    using T = TypeParam;
    Random random(3);
    std::vector<Terms<T>> dots;
    std::vector<T> expected;
    for (const auto& made : testing::adversarial_classes<T>())
        for (int trial = 0; trial < 700; ++trial) {
            dots.push_back(made.make(random, static_cast<std::size_t>(random.between(8, trial < 690 ? 48 : 1500))));
            expected.push_back(expected_dot<T>(dots.back().a, dots.back().b).rounded());
        }
    for_each_target([&] {
        std::vector<T> found;
        for (const Terms<T>& terms : dots)
            found.push_back(dot(Span<T>(terms.a), Span<T>(terms.b), Accuracy::exact, Device::cpu(1)));
        EXPECT_EQ(testing::differences<T>(found, expected), "");
    });
}

// Promise: accuracy.hpp, "|error| <= gamma_n sum|a_i b_i| + n eta."
// Promise: accuracy.hpp, "|error| <= u |s| + gamma_h^2 sum|a_i b_i|"
// Promise: reduce.hpp, "sum_i x_i"
// Promise: reduce.hpp, "sum_i x_i y_i"
TYPED_TEST(Reduce, KeepsItsPromisesForAdversarialDotsInEveryMode) {
    using T = TypeParam;
    Random random(4);
    for (const auto& made : testing::adversarial_classes<T>()) {
        SCOPED_TRACE(made.name);
        for (int trial = 0; trial < 12; ++trial) {
            const Terms<T> terms = made.make(random, static_cast<std::size_t>(random.between(8, trial == 0 ? 5000 : 90)));
            expect_dot_kept<T>(terms.a, terms.b);
            expect_sum_kept<T>(terms.a);
        }
    }
}

/// Every class once more, spread thinly over a vector that several threads share.
TYPED_TEST(Reduce, RoundsAdversarialDotsOnceWhereThreadsShareThem) {
    using T = TypeParam;
    Random random(5);
    constexpr std::size_t n = 130000;
    for (const auto& made : testing::adversarial_classes<T>()) {
        SCOPED_TRACE(made.name);
        const Terms<T> terms = made.make(random, 300);
        std::vector<T> x(n);
        std::vector<T> y(n, T(1));
        for (std::size_t i = 0; i < terms.size(); ++i) {
            x[i * 97 % n] = terms.a[i];
            y[i * 97 % n] = terms.b[i];
        }
        expect_dot_kept<T>(x, y);
    }
}

TYPED_TEST(Reduce, SumsVectorsOfTiesAndZerosExactly) {
    using T = TypeParam;
    Random random(6);
    for (const std::size_t n : {2, 40, 4100, 20000}) {
        std::vector<T> x = random_vector<T>(random, n, 4);
        for (std::size_t i = 0; i < n / 2; ++i) x[n - 1 - i] = -x[i];
        expect_sum_kept<T>(x);  // 0
        x[n / 2] = T(1);
        x[n / 2 - 1] = testing::adversarial::digits<T> % 2 == 0 ? unit_roundoff<T> : 3 * unit_roundoff<T>;
        expect_sum_kept<T>(x);
    }
}

/// Cancelling pairs of so different magnitudes that three terms do not hold them, and six do, until something far below them
/// joins: in the middle, or after the last whole vector of a share.
TYPED_TEST(Reduce, SumsWhatSixTermsHoldAndNoticesWhatTheyDoNot) {
    using T = TypeParam;
    constexpr int spread = std::is_same_v<T, double> ? 60 : 25;
    constexpr T tiny = std::numeric_limits<T>::min();
    Random random(8);
    for (const std::size_t n : {60, 1023, 4101, 70001}) {
        SCOPED_TRACE(n);
        std::vector<T> x = random_vector<T>(random, n, spread);
        std::vector<T> y = random_vector<T>(random, n, spread);
        for (std::size_t i = 0; i < n / 2; ++i) {
            x[n / 2 + i] = -x[i];
            y[n / 2 + i] = y[i];
        }
        std::fill(x.begin() + static_cast<std::ptrdiff_t>(n - n % 2), x.end(), T(0));
        const auto expect_both = [&] {
            expect_sum_kept<T>(x);
            expect_dot_kept<T>(x, y);
        };
        expect_both();  // 0
        for (const std::size_t at : {std::size_t{0}, n / 2}) x[at] = at == 0 ? T(1) : unit_roundoff<T>;
        for (const std::size_t at : {std::size_t{0}, n / 2}) y[at] = T(1);
        expect_both();  // a tie
        for (const std::size_t at : {n / 3, n - 1})
            for (const T sign : {T(1), T(-1)}) {
                const T there = x[at];
                x[at] = sign * tiny;
                x[(at + n / 2) % (n / 2 * 2)] = T(0);
                y[at] = T(1);
                expect_both();  // beside the tie
                x[at] = there;
                x[(at + n / 2) % (n / 2 * 2)] = -there;
            }
    }
}

/// Equal products near the end of the range lose the same each: together more than any one, in sight of a rounding boundary.
TYPED_TEST(Reduce, KnowsHowMuchProductsMayLoseToUnderflow) {
    using T = TypeParam;
    constexpr int eta_exponent = testing::adversarial::lowest<T>;
    constexpr T eta = std::numeric_limits<T>::denorm_min();
    constexpr T half_ulp = 256 * eta;
    constexpr int copies = 64;
    Random random(7);
    for (int trial = 0; trial < 3000; ++trial) {
        const int place = static_cast<int>(random.between(0, testing::adversarial::digits<T> + 5));
        const T a = random.number<T>(eta_exponent / 2);
        const T b = random.number<T>(eta_exponent - eta_exponent / 2 + place);
        Terms<T> terms;
        testing::Oracle products;
        for (int i = 0; i < copies; ++i) {
            terms.add(a, b);
            products.add_product(a, b);
        }
        terms.add(-products.rounded<T>());
        terms.add(std::ldexp(half_ulp, testing::adversarial::digits<T>));
        terms.add(half_ulp);
        terms.add(eta * static_cast<T>(random.between(-2 * copies, 2 * copies)));
        expect_dot_kept<T>(terms.a, terms.b);
    }
}

/// 1 + u is a tie, which a last product that underflows breaks: behind whole vectors and blocks, too, and where the numbers
/// before it need more than three terms.
TEST(ReduceOfDoubles, SeesAProductThatUnderflowsAtTheVeryEnd) {
    const std::vector<double> tie{1, unit_roundoff<double>};
    const std::vector<double> wide{0x1p900, 0x1p600, 0x1p300, 1, unit_roundoff<double>, -0x1p600, -0x1p300, -0x1p900};
    for (const std::vector<double>& sum : {tie, wide})
        for (const std::size_t n : {9, 1024, 1025, 1031, 2051, 4096, 4099, 8193, 40003}) {
            std::vector<double> x(n, 0), y(n, 1);
            std::copy(sum.begin(), sum.end(), x.begin());
            x.back() = y.back() = 0x1p-700;
            expect_dot_kept<double>(x, y);
        }
}

/// Four products of eta / 4 are eta, and nothing is left of each: whichever block they lie in, their errors must not be
/// believed.
TYPED_TEST(Reduce, SeesProductsThatUnderflowInAnyBlockOfAnyThread) {
    using T = TypeParam;
    constexpr int eta_exponent = testing::adversarial::lowest<T>;
    const T a = std::ldexp(T(1), eta_exponent / 2);
    const T b = std::ldexp(T(1), eta_exponent - eta_exponent / 2 - 2);
    constexpr std::size_t block = 4096, n = 50000;
    for (std::size_t first = 0; first + 4 <= n; first += block) {
        std::vector<T> x(n, T(1)), y(n, T(0));
        std::fill_n(x.begin() + first, 4, a);
        std::fill_n(y.begin() + first, 4, b);
        expect_dot_kept<T>(x, y);
    }
}

// Promise: solver.h, "The rounding direction and the flushing of subnormals"
TYPED_TEST(Reduce, IsDeafToTheCallersFloatingPointEnvironment) {
    using T = TypeParam;
    Random random(12);
    std::vector<T> x = random_vector<T>(random, 120001, 6);
    std::vector<T> y = random_vector<T>(random, 120001, 6);
    std::vector<T> small(1000, 3 * std::numeric_limits<T>::denorm_min());
    small[7] = std::numeric_limits<T>::min();
    const auto results = [&] {
        std::vector<T> all;
        for (const Accuracy accuracy : all_accuracies)
            for (const Device& device : processors()) {
                all.push_back(sum(Span<T>(x), accuracy, device));
                all.push_back(dot(Span<T>(x), Span<T>(y), accuracy, device));
                all.push_back(norm2(Span<T>(x), accuracy, device));
                all.push_back(sum(Span<T>(small), accuracy, device));
                all.push_back(dot(Span<T>(small), Span<T>(x).first(small.size()), accuracy, device));
                all.push_back(norm2(Span<T>(small), accuracy, device));
            }
        return std::vector<std::vector<T>>{all};
    };
    testing::expect_deaf_to_the_environment<T>(results);
}

}  // namespace
}  // namespace solver
