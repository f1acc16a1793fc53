#include "solver/gemm.hpp"

#include "solver/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "support/gemm_problems.hpp"
#include "support/values.hpp"

namespace solver {
namespace {

using testing::expected_product;
using testing::for_each_device;
using testing::Gemm;
using testing::GemmProblem;
using testing::infinity;
using testing::Matrix;
using testing::Random;
using testing::random_matrix;
using testing::some_layouts;

using ValueTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Gemm, ValueTypes);

/// What the header says of a summation, with 1 % for what is not of first order: the error per u |a||b|.
double promised(GemmSummation summation, std::int64_t inner, std::int64_t block) {
    const auto n = static_cast<double>(inner);
    const auto b = static_cast<double>(std::min(block, inner));
    switch (summation) {
        case GemmSummation::automatic:
        case GemmSummation::plain:
            return 1.01 * n;
        case GemmSummation::kahan:
        case GemmSummation::doubly_compensated:
            return 1.01 * (b + 2);
        case GemmSummation::pairwise:
            return 1.01 * (b + std::ceil(std::log2(n / b)) + 1);
        case GemmSummation::dot2:
            return 1.01 * (block == 1 ? 1 : b + 1);
    }
    return 0;
}

// Promise: gemm.hpp, "With block = b and n products"
// Promise: gemm.hpp, "With block 1 products are split, too"
// Promise: gemm.hpp, "`block` products are summed plainly"
// Promise: gemm.hpp, "Priest's method, which sorts each two"
// Promise: gemm.hpp, "The others than automatic and plain"
TYPED_TEST(Gemm, AddsUpBlocksAsAccuratelyAsItsOptionsSay) {
    using T = TypeParam;
    Random random(12);
    const std::int64_t inner = 1000;
    for (const bool positive : {true, false}) {
        Matrix<T> a = random_matrix<T>(random, 11, inner, 1);
        Matrix<T> b = random_matrix<T>(random, inner, 9, 1);
        if (positive) {
            for (T& value : a.values) value = std::abs(value);
            for (T& value : b.values) value = std::abs(value);
        }
        const GemmProblem<T> problem(a, b);
        const auto sums = expected_product(a, b);
        for_each_device([&](const Device& device) {
            for (const GemmSummation summation : all_gemm_summations)
                for (const std::int64_t block : {1, 16, 32, 64, 100, 256, 300, 999, 1000, 5000}) {
                    const auto found = problem.product(device, Accuracy::fast, some_layouts[0], {summation, block});
                    const double bound = promised(summation, inner, block) * double{unit_roundoff<T>};
                    for (std::size_t i = 0; i < sums.size(); ++i)
                        ASSERT_TRUE(sums[i].exact().within(found[i], bound * sums[i].magnitudes()))
                            << to_string(summation) << ", blocks of " << block << ", element " << i;
                }
        });
    }
}

// Promise: gemm.hpp, "What only `fast` looks at"
TYPED_TEST(Gemm, HasTheBitsOfTheOtherModesWhicheverWayFastAddsUp) {
    using T = TypeParam;
    Random random(14);
    const GemmProblem<T> problem(random_matrix<T>(random, 7, 300, 1), random_matrix<T>(random, 300, 5, 1));
    for_each_device([&](const Device& device) {
        for (const Accuracy accuracy : {Accuracy::compensated, Accuracy::exact}) {
            const auto expected = problem.product(device, accuracy, some_layouts[0], {});
            for (const GemmSummation summation : all_gemm_summations)
                for (const std::int64_t block : {1, 16, 300})
                    EXPECT_EQ(testing::differences<T>(problem.product(device, accuracy, some_layouts[0], {summation, block}),
                                                      expected),
                              "")
                        << to_string(summation) << ", blocks of " << block << ", " << to_string(accuracy);
        }
    });
}

TYPED_TEST(Gemm, KeepsTheRulesOfSpecialValuesWhicheverWayBlocksAreAddedUp) {
    using T = TypeParam;
    Matrix<T> a(4, 200, T(1));
    const Matrix<T> b(200, 1, T(1));
    a.at(0, 0) = a.at(1, 100) = a.at(2, 199) = infinity<T>;
    for (std::int64_t k = 0; k < 200; ++k) a.at(3, k) = k % 2 == 0 ? T(1) : T(-1);
    const GemmProblem<T> problem(a, b);
    const std::vector<T> expected = {infinity<T>, infinity<T>, infinity<T>, T(0)};
    for_each_device([&](const Device& device) {
        for (const GemmSummation summation : all_gemm_summations)
            for (const std::int64_t block : {1, 8, 64})
                EXPECT_EQ(testing::differences<T>(problem.product(device, Accuracy::fast, some_layouts[0], {summation, block}),
                                                  expected),
                          "")
                    << to_string(summation) << ", blocks of " << block;
    });
}

// Promise: gemm.hpp, "The inverse of to_string"
// Promise: gemm.hpp, ""automatic", "plain", "kahan""
// Promise: gemm.hpp, "Throws InvalidArgument that lists the choices."
TEST(GemmSummation, HasNamesThatReadBack) {
    for (const GemmSummation summation : all_gemm_summations)
        EXPECT_EQ(gemm_summation_from_text(to_string(summation)), summation);
    EXPECT_THAT([] { gemm_summation_from_text("Kahan"); },
                ::testing::ThrowsMessage<InvalidArgument>("summation 'Kahan' is not known; choose automatic, plain, kahan, "
                                                          "doubly-compensated, pairwise or dot2"));
}

}  // namespace
}  // namespace solver
