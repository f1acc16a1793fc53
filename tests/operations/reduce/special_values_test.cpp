#include "solver/reduce.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "support/reductions.hpp"
#include "support/targets.hpp"
#include "support/values.hpp"

namespace solver {
namespace {

using testing::expect_dot_kept;
using testing::expect_sum_kept;
using testing::for_each_target;
using testing::infinity;
using testing::nan_value;
using testing::Random;
using testing::random_vector;
using testing::Reduce;
using testing::same_bits;
using testing::Span;

using ValueTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Reduce, ValueTypes);

// Promise: reduce.hpp, "All of them: an empty vector gives +0"
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

// Promise: reduce.hpp, "All of them: an empty vector gives +0"
// Promise: reduce.hpp, "In exact, intermediate overflow"
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

}  // namespace
}  // namespace solver
