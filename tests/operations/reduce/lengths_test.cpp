#include "solver/reduce.hpp"

#include "solver/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "support/fenced.hpp"
#include "support/reductions.hpp"
#include "support/targets.hpp"
#include "support/values.hpp"

namespace solver {
namespace {

using testing::edge_lengths;
using testing::expect_dot_kept;
using testing::expect_sum_kept;
using testing::for_each_target;
using testing::Random;
using testing::random_vector;
using testing::Reduce;
using testing::Span;

using ValueTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Reduce, ValueTypes);

// Promise: reduce.hpp, "Blocks of fixed length are combined"
// Promise: reproducibility.md, "`sum`, `dot`, `norm2` | run_to_run, any_threads"
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

// Promise: reduce.hpp, "Blocks of fixed length are combined"
TYPED_TEST(Reduce, SaysWhichLengthsDiffer) {
    using T = TypeParam;
    const std::vector<T> x(3);
    const std::vector<T> y(4);
    EXPECT_THAT([&] { dot(Span<T>(x), Span<T>(y), Accuracy::exact); },
                ::testing::ThrowsMessage<DimensionMismatch>("dot: x has 3 elements, y has 4"));
}

}  // namespace
}  // namespace solver
