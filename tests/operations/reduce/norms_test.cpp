#include "solver/reduce.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "support/adversarial.hpp"
#include "support/devices.hpp"
#include "support/expected.hpp"
#include "support/reductions.hpp"
#include "support/targets.hpp"
#include "support/values.hpp"

namespace solver {
namespace {

using testing::ExpectedSum;
using testing::for_each_target;
using testing::processors;
using testing::Random;
using testing::random_vector;
using testing::Reduce;
using testing::same_bits;
using testing::Span;

using ValueTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Reduce, ValueTypes);

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

// Promise: reduce.hpp, "sqrt(sum_i x_i^2), never Inf or 0"
// Promise: reduce.hpp, "Relative error: fast gamma_n / 2"
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

// Promise: reduce.hpp, "exact: that real number"
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

}  // namespace
}  // namespace solver
