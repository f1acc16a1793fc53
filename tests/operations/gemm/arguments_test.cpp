#include "solver/gemm.hpp"

#include "solver/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "support/gemm_problems.hpp"

namespace solver {
namespace {

using testing::Gemm;

using ValueTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Gemm, ValueTypes);

template <class T>
void multiply(const DenseView<T>& a, const DenseView<T>& b, const MutableDenseView<T>& c, const GemmOptions& options = {}) {
    gemm(T(1), a, b, T(0), c, Accuracy::fast, Device::cpu(1), options);
}

// Promise: gemm.hpp, "Throws DimensionMismatch where sizes"
// Promise: gemm.hpp, "A is m x k, B is k x n"
TYPED_TEST(Gemm, SaysWhichSizesDoNotAgree) {
    using T = TypeParam;
    using ::testing::ThrowsMessage;
    std::vector<T> memory(100);
    T* const data = memory.data();
    EXPECT_THAT(
        [&] {
            multiply<T>({2, 3, 1, 2, data}, {4, 5, 1, 4, data + 10}, {2, 5, 1, 2, data + 40});
        },
        ThrowsMessage<DimensionMismatch>("gemm: A is 2 x 3, B is 4 x 5; A needs as many columns as B has rows"));
    EXPECT_THAT(
        [&] {
            multiply<T>({2, 3, 1, 2, data}, {3, 5, 1, 3, data + 10}, {5, 2, 1, 5, data + 40});
        },
        ThrowsMessage<DimensionMismatch>("gemm: C is 5 x 2, A is 2 x 3 and B is 3 x 5; C needs to be 2 x 5"));
    EXPECT_THAT(
        [&] {
            multiply<T>({-2, 3, 1, 2, data}, {3, 5, 1, 3, data + 10}, {-2, 5, 1, 5, data + 40});
        },
        ThrowsMessage<InvalidArgument>("gemm: A is -2 x 3; sizes are 0 or more"));
    EXPECT_THAT(
        [&] {
            multiply<T>({2, 3, 1, 2, data}, {3, 5, 1, 3, nullptr}, {2, 5, 1, 2, data + 40});
        },
        ThrowsMessage<InvalidArgument>("gemm: B is 3 x 5 and has no data"));
}

// Promise: gemm.hpp, "Throws DimensionMismatch where sizes"
// Promise: gemm.hpp, "products summed plainly, 1 or more"
TYPED_TEST(Gemm, SaysWhichStridesItCannotUse) {
    using T = TypeParam;
    using ::testing::HasSubstr;
    using ::testing::ThrowsMessage;
    std::vector<T> memory(200);
    T* const data = memory.data();
    const MutableDenseView<T> c{2, 5, 1, 2, data + 100};
    EXPECT_THAT(
        [&] {
            multiply<T>({2, 3, 1, 1, data}, {3, 5, 1, 3, data + 20}, c);
        },
        ThrowsMessage<InvalidArgument>(
            "gemm: A is 2 x 3 with row_stride 1 and column_stride 1; one stride has to be 1 and the other at least the "
            "length of what it steps over: 2 by columns, 3 by rows"));
    EXPECT_THAT(
        [&] {
            multiply<T>({2, 3, 1, 2, data}, {3, 5, 2, 6, data + 20}, c);
        },
        ThrowsMessage<InvalidArgument>(HasSubstr("B is 3 x 5 with row_stride 2 and column_stride 6")));
    EXPECT_THAT(
        [&] {
            multiply<T>({2, 3, 1, 2, data}, {3, 5, 1, 3, data + 20}, {2, 5, -5, 1, data + 100});
        },
        ThrowsMessage<InvalidArgument>(HasSubstr("C is 2 x 5 with row_stride -5 and column_stride 1")));
    EXPECT_THAT(
        [&] {
            multiply<T>({2, 3, 1, 2, data}, {3, 5, 1, 3, data + 20}, c, {GemmSummation::kahan, 0});
        },
        ThrowsMessage<InvalidArgument>("gemm: a block of 0 products; 1 or more are needed"));
    multiply<T>({2, 3, 1, 2, data}, {3, 5, 1, 3, data + 20}, c, {GemmSummation::kahan, 1});
    multiply<T>({1, 3, 1, 7, data}, {3, 1, 9, 1, data + 20}, {1, 1, 5, 1, data + 100});  // one row, one column: any distance
    multiply<T>({0, 3, 0, 0, nullptr}, {3, 5, 1, 3, data}, {0, 5, 0, 0, nullptr});       // nothing: any strides
}

// Promise: gemm.hpp, "Throws DimensionMismatch where sizes"
TYPED_TEST(Gemm, RefusesACThatOverlapsAOrB) {
    using T = TypeParam;
    using ::testing::HasSubstr;
    using ::testing::ThrowsMessage;
    std::vector<T> memory(400);
    T* const data = memory.data();
    const auto refused = [&](const char* name, const DenseView<T>& a, const DenseView<T>& b, const MutableDenseView<T>& c) {
        EXPECT_THAT([&] { multiply<T>(a, b, c); },
                    ThrowsMessage<InvalidArgument>(HasSubstr(std::string("C overlaps ") + name + " in memory")));
    };
    const DenseView<T> a{4, 4, 1, 4, data};
    const DenseView<T> b{4, 4, 1, 4, data + 100};
    refused("A", a, b, {4, 4, 1, 4, data});
    refused("A", a, b, {4, 4, 1, 4, data + 15});
    refused("B", a, b, {4, 4, 1, 4, data + 85});
    refused("B", a, b, {4, 4, 4, 1, data + 100});
    multiply<T>(a, b, {4, 4, 1, 4, data + 16});
    multiply<T>(a, b, {4, 4, 1, 4, data + 84});
    multiply<T>(a, b, {4, 4, 4, 1, data + 16});  // of another layout, right behind A and before B
    multiply<T>(a, b, {4, 4, 4, 1, data + 84});
    refused("A", a, b, {4, 4, 4, 1, data + 15});

    // Blocks of one matrix of 20 x 20: the rows and columns that each begins at.
    for (const bool by_rows : {false, true}) {
        const auto block = [&](std::int64_t i, std::int64_t j) {
            return MutableDenseView<T>{5, 5, by_rows ? 20 : 1, by_rows ? 1 : 20, data + (by_rows ? 20 * i + j : i + 20 * j)};
        };
        for (const auto& [i, j] : {std::pair{5, 0}, {0, 5}, {15, 15}, {0, 15}, {15, 0}, {10, 3}})
            multiply<T>(block(0, 0), block(5, 5), block(i, j));
        for (const auto& [i, j] : {std::pair{4, 4}, {0, 4}, {4, 0}, {0, 0}}) {
            refused("A", block(0, 0), block(10, 10), block(i, j));
            refused("A", block(i, j), block(10, 10), block(0, 0));
            refused("B", block(15, 15), block(3, 6), block(3 + i, 6 - j));
        }
    }
}

}  // namespace
}  // namespace solver
