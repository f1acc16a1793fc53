#include "solver/reduce.hpp"

#include "solver/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "support/adversarial.hpp"
#include "support/devices.hpp"
#include "support/expected.hpp"
#include "support/fenced.hpp"
#include "support/floating_point_environment.hpp"
#include "support/targets.hpp"
#include "support/values.hpp"

namespace solver {
namespace {

using testing::ExpectedSum;
using testing::for_each_target;
using testing::infinity;
using testing::nan_value;
using testing::Random;
using testing::random_vector;
using testing::same_bits;
using testing::Span;
using testing::Terms;

template <class T>
class Reduce : public ::testing::Test {};
using ValueTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Reduce, ValueTypes);

/// Numbers of threads among which none may change a bit.
const std::vector<Device>& processors() {
    static const std::vector<Device> all = {Device::cpu(1), Device::cpu(2), Device::cpu(7)};
    return all;
}

template <class T>
ExpectedSum<T> expected_dot(Span<T> x, Span<T> y) {
    ExpectedSum<T> expected;
    for (std::size_t i = 0; i < x.size(); ++i) expected.add_product(x[i], y[i]);
    return expected;
}

template <class T>
ExpectedSum<T> expected_sum(Span<T> x) {
    const std::vector<T> ones(x.size(), T(1));
    return expected_dot<T>(x, ones);
}

/// reduction(accuracy, device) on every target, with every number of threads, and on every CUDA device: exact gives the
/// expected bits, the others keep their bounds and give the same bits again and with any number of threads.
template <class T, class Reduction>
void expect_kept(const ExpectedSum<T>& expected, const Reduction& reduction) {
    const auto expect_on = [&](const std::vector<Device>& devices) {
        for (const Accuracy accuracy : all_accuracies) {
            const T found = reduction(accuracy, devices.front());
            EXPECT_TRUE(expected.allows(found, accuracy))
                << to_string(devices.front()) << ", " << to_string(accuracy) << ": " << ::testing::PrintToString(found)
                << " instead of " << expected.rounded();
            for (const Device& device : devices)
                EXPECT_TRUE(same_bits(found, reduction(accuracy, device)))
                    << to_string(device) << ", " << to_string(accuracy) << ", " << device.threads();
        }
    };
    for_each_target([&] { expect_on(processors()); });
    for (const Device& device : testing::cuda_devices()) expect_on({device});
}

template <class T>
void expect_dot_kept(Span<T> x, Span<T> y) {
    expect_kept(expected_dot<T>(x, y), [&](Accuracy accuracy, const Device& device) { return dot(x, y, accuracy, device); });
}

template <class T>
void expect_sum_kept(Span<T> x) {
    expect_kept(expected_sum<T>(x), [&](Accuracy accuracy, const Device& device) { return sum(x, accuracy, device); });
}

/// Lengths around multiples of any vector length, of four vectors, of the block of 4096, and where threads are worth their
/// while.
std::vector<std::size_t> edge_lengths() {
    std::vector<std::size_t> lengths(140);
    std::iota(lengths.begin(), lengths.end(), 0U);
    for (const std::size_t n : {255, 256, 257, 4095, 4096, 4097, 8191, 8193, 12287, 12288, 12289, 32768, 120001})
        lengths.push_back(n);
    return lengths;
}

TYPED_TEST(Reduce, KeepsItsPromisesForEveryLengthAtTheEdgesOfLanesBlocksAndThreads) {
    using T = TypeParam;
    Random random(1);
    for (const std::size_t n : edge_lengths()) {
        SCOPED_TRACE(n);
        const std::vector<T> x = random_vector<T>(random, n + 1, 6);
        const std::vector<T> y = random_vector<T>(random, n + 2, 6);
        expect_sum_kept(Span<T>(x).subspan(1));
        expect_dot_kept(Span<T>(x).subspan(1), Span<T>(y).subspan(2));
    }
}

TYPED_TEST(Reduce, KeepsItsPromisesForAMillionElements) {
    using T = TypeParam;
    Random random(2);
    const std::vector<T> x = random_vector<T>(random, 1000000, 6);
    std::vector<T> y = random_vector<T>(random, 1000000, 6);
    expect_dot_kept<T>(x, y);
    for (std::size_t i = 0; i < 500000; ++i) y[i] = i % 2 == 0 ? T(1) : T(-1);  // few bits: ties, and a total cancellation
    for (std::size_t i = 0; i < 500000; ++i) y[500000 + i] = -y[i];
    expect_sum_kept<T>(y);
}

/// Exact dots alone are cheap enough for hundreds of thousands of comparisons.
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

TYPED_TEST(Reduce, GivesPlusZeroForNothingAndForZeros) {
    using T = TypeParam;
    const std::vector<T> none;
    const std::vector<T> zeros(5, -T(0));
    for_each_target([&] {
        for (const Accuracy accuracy : all_accuracies) {
            EXPECT_TRUE(same_bits(sum(Span<T>(none), accuracy), T(0)));
            EXPECT_TRUE(same_bits(dot(Span<T>(none), Span<T>(none), accuracy), T(0)));
            EXPECT_TRUE(same_bits(norm2(Span<T>(none), accuracy), T(0)));
            EXPECT_TRUE(same_bits(sum(Span<T>(zeros), accuracy), T(0)));
            EXPECT_TRUE(same_bits(dot(Span<T>(zeros), Span<T>(zeros), accuracy), T(0)));
            EXPECT_TRUE(same_bits(norm2(Span<T>(zeros), accuracy), T(0)));
        }
    });
}

template <class T>
T special_norm(Span<T> x) {
    T norm = 0;
    for (const T element : x) norm += std::isfinite(element) ? T(0) : element * element;
    return std::isnan(norm) ? nan_value<T> : norm;
}

TYPED_TEST(Reduce, TreatsInfAndNanInEveryPlaceAsPromised) {
    using T = TypeParam;
    Random random(8);
    const T odd_nan = std::copysign(nan_value<T>, T(-1));
    for (const std::size_t n : {1, 2, 7, 33, 70, 4099}) {
        for (std::size_t place = 0; place < n; place += n < 100 ? 1 : 509) {
            for (const T special : {infinity<T>, -infinity<T>, nan_value<T>, odd_nan}) {
                std::vector<T> x = random_vector<T>(random, n, 3);
                x[place] = special;
                const auto check_norm = [&] {
                    for (const Accuracy accuracy : all_accuracies)
                        EXPECT_TRUE(same_bits(norm2(Span<T>(x), accuracy), special_norm<T>(x))) << to_string(accuracy);
                };
                if (place % 5 == 0) {
                    expect_sum_kept<T>(x);
                    for_each_target(check_norm);
                }
                x[random.between(0, static_cast<std::int64_t>(n) - 1)] = infinity<T>;
                const std::vector<T> zeros(n, T(0));
                if (place % 5 == 0) expect_sum_kept<T>(x);
                expect_dot_kept<T>(x, zeros);
                for_each_target(check_norm);
            }
        }
    }
}

/// norm2 on every target with every number of threads.
template <class T>
void expect_norm_kept(Span<T> x) {
    ExpectedSum<T> squares;
    for (const T element : x) squares.add_product(element, element);
    const T expected = squares.sqrt_rounded();
    const auto n = static_cast<std::int64_t>(x.size());
    // of the rounded root, which is itself within u of the root; gradual underflow allows one eta
    const auto allowed = [&](double relative) {
        return (relative + 2 * double{unit_roundoff<T>} * relative) * double{expected} +
               std::max(double{unit_roundoff<T>} * double{expected}, double{smallest_subnormal<T>});
    };
    const auto expect_on = [&](const std::vector<Device>& devices) {
        for (const Device& device : devices) {
            SCOPED_TRACE(to_string(device));
            const T exact = norm2(x, Accuracy::exact, device);
            EXPECT_TRUE(same_bits(exact, expected)) << exact << " instead of " << expected;
            const T compensated = norm2(x, Accuracy::compensated, device);
            const T fast = norm2(x, Accuracy::fast, device);
            EXPECT_TRUE(same_bits(compensated, norm2(x, Accuracy::compensated, devices.front())));
            EXPECT_TRUE(same_bits(fast, norm2(x, Accuracy::fast, devices.front())));
            if (std::isinf(expected) || expected > std::numeric_limits<T>::max() * (1 - gamma<T>(n + 4))) continue;
            EXPECT_LE(std::abs(double{compensated} - double{expected}), allowed(compensated_norm_bound<T>(1024)))
                << compensated << " instead of " << expected;
            EXPECT_LE(std::abs(double{fast} - double{expected}), allowed(fast_norm_bound<T>(n)))
                << fast << " instead of " << expected;
        }
    };
    for_each_target([&] { expect_on(processors()); });
    for (const Device& device : testing::cuda_devices()) expect_on({device});
}

TYPED_TEST(Reduce, RoundsNormsOnceOverTheWholeRangeOfExponents) {
    using T = TypeParam;
    constexpr int lowest = testing::adversarial::lowest<T>;
    constexpr int most = std::numeric_limits<T>::max_exponent - 1;
    Random random(9);
    for (int exponent = lowest; exponent <= most; exponent += std::is_same_v<T, float> ? 3 : 31)
        for (const std::size_t n : {1, 3, 20, 71}) {
            std::vector<T> x(n);
            for (T& element : x)
                element = random.number<T>(std::max(lowest, exponent - static_cast<int>(random.between(0, 60))));
            SCOPED_TRACE(exponent);
            expect_norm_kept<T>(x);
        }
}

TYPED_TEST(Reduce, RoundsNormsOnceAtTheEndsOfTheRange) {
    using T = TypeParam;
    constexpr T most = std::numeric_limits<T>::max();
    constexpr T eta = std::numeric_limits<T>::denorm_min();
    for (const std::size_t n : {1, 2, 3, 4, 5, 9, 16, 64, 100, 4097}) {
        SCOPED_TRACE(n);
        expect_norm_kept<T>(std::vector<T>(n, most));
        expect_norm_kept<T>(std::vector<T>(n, most / 2));
        expect_norm_kept<T>(std::vector<T>(n, std::nextafter(most / T(8), T(0))));
        expect_norm_kept<T>(std::vector<T>(n, eta));
        expect_norm_kept<T>(std::vector<T>(n, -5 * eta));
        expect_norm_kept<T>(std::vector<T>(n, std::numeric_limits<T>::min()));
        std::vector<T> mixed(n, eta);
        mixed[n / 2] = most;
        expect_norm_kept<T>(mixed);
        mixed[n / 2] = std::sqrt(std::numeric_limits<T>::min());
        expect_norm_kept<T>(mixed);
    }
}

/// Squares that sum to a square, and such sums a little more and less: roots that are numbers, or lie just beside one or a tie.
TYPED_TEST(Reduce, RoundsNormsOnceNextToNumbersAndTies) {
    using T = TypeParam;
    Random random(10);
    for (int trial = 0; trial < 300; ++trial) {
        const int scale = static_cast<int>(random.between(-20, 20));
        const T root = std::ldexp(std::abs(random.number<T>()), scale);
        std::vector<T> x{root, std::ldexp(random.number<T>(), scale - static_cast<int>(random.between(8, 40)))};
        if (random.coin()) x[1] = std::ldexp(T(random.coin() ? 1 : 3), scale - testing::adversarial::digits<T> / 2);
        x.resize(static_cast<std::size_t>(random.between(2, 40)));
        expect_norm_kept<T>(x);
        expect_norm_kept<T>(std::vector<T>{3 * std::ldexp(T(1), scale), 4 * std::ldexp(T(1), scale)});
    }
}

TYPED_TEST(Reduce, RoundsLongNormsOnce) {
    using T = TypeParam;
    Random random(11);
    for (const std::size_t n : {4095, 4096, 4097, 12289, 120001}) expect_norm_kept<T>(random_vector<T>(random, n, 6));
    expect_norm_kept<T>(std::vector<T>(1 << 16, T(0.1)));
}

TYPED_TEST(Reduce, NeverReadsBeyondTheEndOfAnArray) {
    using T = TypeParam;
    Random random(13);
    for (const std::size_t n : edge_lengths()) {
        const testing::Fenced<T> x(random_vector<T>(random, n, 6));
        const testing::Fenced<T> y(random_vector<T>(random, n, 6));
        for_each_target([&] {
            for (const Accuracy accuracy : all_accuracies) {
                sum(Span<T>(x.view()), accuracy);
                dot(Span<T>(x.view()), Span<T>(y.view()), accuracy);
                norm2(Span<T>(x.view()), accuracy);
            }
        });
    }
}

TYPED_TEST(Reduce, SaysWhichLengthsDiffer) {
    using T = TypeParam;
    const std::vector<T> x(3);
    const std::vector<T> y(4);
    EXPECT_THAT([&] { dot(Span<T>(x), Span<T>(y), Accuracy::exact); },
                ::testing::ThrowsMessage<DimensionMismatch>("dot: x has 3 elements, y has 4"));
}

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
        return all;
    };
    for_each_target([&] {
        const std::vector<T> expected = results();
        std::vector<std::vector<T>> found;
        testing::for_each_hostile_environment([&] { found.push_back(results()); });
        for (const std::vector<T>& all : found) EXPECT_EQ(testing::differences<T>(all, expected), "");
    });
}

/// Every component is what the exact rest rounds to, and at the end the rest is what the expansion says it is.
template <class T>
void expect_expansion(const Expansion<T>& found, const ExpectedSum<T>& expected) {
    ASSERT_GE(found.size, 1);
    ASSERT_LE(found.size, Expansion<T>::capacity);
    ASSERT_PRED2(same_bits<T>, found.component[0], expected.rounded());
    for (int i = found.size; i < Expansion<T>::capacity; ++i) ASSERT_PRED2(same_bits<T>, found.component[i], T(0));
    if (!std::isfinite(expected.rounded())) {
        EXPECT_EQ(found.size, 1);
        EXPECT_FALSE(found.is_exact);
        return;
    }
    testing::Oracle rest(expected.exact());
    for (const T component : found.components()) {
        ASSERT_PRED2(same_bits<T>, component, rest.template rounded<T>());
        rest.add(-double{component});
    }
    EXPECT_EQ(rest.template rounded<T>(), T(0));
    EXPECT_EQ(found.is_exact, rest.sign() == 0);
    for (int i = 0; i + 1 < found.size; ++i) {
        const T gap = std::nextafter(std::abs(found.component[i]), infinity<T>) - std::abs(found.component[i]);
        EXPECT_NE(found.component[i + 1], T(0));
        EXPECT_LE(2 * std::abs(found.component[i + 1]), gap);
    }
}

template <class T>
bool same_expansion(const Expansion<T>& a, const Expansion<T>& b) {
    return a.size == b.size && a.is_exact == b.is_exact &&
           std::equal(std::begin(a.component), std::end(a.component), std::begin(b.component), same_bits<T>);
}

/// expansion(device) on every target, with every number of threads, and on every CUDA device.
template <class T, class Expand>
void expect_expansion_everywhere(const ExpectedSum<T>& expected, const Expand& expansion) {
    const Expansion<T> first = expansion(processors().front());
    ASSERT_NO_FATAL_FAILURE(expect_expansion(first, expected));
    for_each_target([&] {
        for (const Device& device : processors()) EXPECT_TRUE(same_expansion(expansion(device), first));
    });
    for (const Device& device : testing::cuda_devices())
        EXPECT_TRUE(same_expansion(expansion(device), first)) << to_string(device);
}

TYPED_TEST(Reduce, GivesTheExactSumItselfAsAnExpansion) {
    using T = TypeParam;
    Random random(11);
    for (const auto& made : testing::adversarial_classes<T>())
        for (const std::size_t n : {8, 40, 3000}) {
            SCOPED_TRACE(::testing::Message() << made.name << ", about " << n);
            const Terms<T> terms = made.make(random, n);
            const Span<T> x(terms.a);
            const Span<T> y(terms.b);
            ASSERT_NO_FATAL_FAILURE(expect_expansion_everywhere(
                expected_dot<T>(x, y), [&](const Device& device) { return dot_expansion(x, y, device); }));
            ASSERT_NO_FATAL_FAILURE(expect_expansion_everywhere(
                expected_sum<T>(x), [&](const Device& device) { return sum_expansion(x, device); }));
        }
}

/// From the largest number to the smallest subnormal without a gap.
TYPED_TEST(Reduce, ExpandsASumFromTheLargestNumberToTheSmallest) {
    using T = TypeParam;
    std::vector<T> x;
    for (T power = std::ldexp(T(1), std::numeric_limits<T>::max_exponent - 1); power > T(0);
         power = std::ldexp(power, -std::numeric_limits<T>::digits - 1))
        x.push_back(power);
    x.push_back(smallest_subnormal<T>);
    const auto sparse = sum_expansion(Span<T>(x));
    expect_expansion(sparse, expected_sum<T>(x));

    std::vector<T> all_bits;
    for (T power = std::ldexp(T(1), std::numeric_limits<T>::max_exponent - 1); power > T(0); power /= 2)
        all_bits.push_back(power / 2 == T(0) || std::ilogb(power) % 3 != 0 ? power : -power);
    const auto dense = sum_expansion(Span<T>(all_bits));
    expect_expansion(dense, expected_sum<T>(all_bits));
    EXPECT_GE(dense.size, Expansion<T>::capacity - 2);
    EXPECT_TRUE(dense.is_exact);
}

TYPED_TEST(Reduce, SaysWhatAnExpansionCannotHold) {
    using T = TypeParam;
    constexpr T largest = std::numeric_limits<T>::max();
    const auto sum_of = [](std::vector<T> x) { return sum_expansion(Span<T>(x)); };
    for (const auto& x : std::vector<std::vector<T>>{{}, {T(0), -T(0)}, {largest, -largest}}) {
        const auto zero = sum_of(x);
        EXPECT_EQ(zero.size, 1);
        EXPECT_PRED2(same_bits<T>, zero.component[0], T(0));
        EXPECT_TRUE(zero.is_exact);
    }
    for (const auto& [x, value] : std::vector<std::pair<std::vector<T>, T>>{
             {{largest, largest}, infinity<T>}, {{-infinity<T>, 1}, -infinity<T>}, {{1, nan_value<T>}, canonical_nan<T>}}) {
        const auto special = sum_of(x);
        EXPECT_EQ(special.size, 1);
        EXPECT_PRED2(same_bits<T>, special.component[0], value);
        EXPECT_FALSE(special.is_exact);
    }
    const auto cancelled = sum_of({largest, largest, -largest, 1});  // overflows on the way only
    EXPECT_EQ(cancelled.size, 2);
    EXPECT_EQ(cancelled.component[0], largest);
    EXPECT_EQ(cancelled.component[1], T(1));
    EXPECT_TRUE(cancelled.is_exact);

    const std::vector<T> tiny{1, smallest_subnormal<T>};
    const auto below = dot_expansion(Span<T>(tiny), Span<T>(tiny));  // 1 + eta^2
    EXPECT_EQ(below.size, 1);
    EXPECT_EQ(below.component[0], T(1));
    EXPECT_FALSE(below.is_exact);
    EXPECT_THROW(dot_expansion(Span<T>(tiny), Span<T>(tiny).first(1)), DimensionMismatch);
}

}  // namespace
}  // namespace solver
