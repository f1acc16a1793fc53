#include "solver/reduce.hpp"

#include "solver/error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "support/adversarial.hpp"
#include "support/devices.hpp"
#include "support/expected.hpp"
#include "support/reductions.hpp"
#include "support/targets.hpp"
#include "support/values.hpp"

namespace solver {
namespace {

using testing::expected_dot;
using testing::expected_sum;
using testing::ExpectedSum;
using testing::for_each_target;
using testing::infinity;
using testing::nan_value;
using testing::processors;
using testing::Random;
using testing::Reduce;
using testing::same_bits;
using testing::Span;
using testing::Terms;

using ValueTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Reduce, ValueTypes);

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

// Promise: reduce.hpp, "sum_i x_i and sum_i x_i y_i themselves"
// Promise: reduce.hpp, "The same bits everywhere."
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
