#include "solver/gemm.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "support/fenced.hpp"
#include "support/gemm_problems.hpp"
#include "support/targets.hpp"

namespace solver {
namespace {

using testing::all_layouts;
using testing::expect_kept;
using testing::expected_element;
using testing::expected_product;
using testing::ExpectedSum;
using testing::for_each_device;
using testing::for_each_target;
using testing::Gemm;
using testing::GemmProblem;
using testing::Layouts;
using testing::Matrix;
using testing::part_of;
using testing::Random;
using testing::random_matrix;
using testing::some_layouts;

using ValueTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Gemm, ValueTypes);

// Promise: gemm.hpp, "Products of dense matrices, C = alpha A B"
TYPED_TEST(Gemm, KeepsItsPromisesForAnyNumbersOfRowsAndColumns) {
    using T = TypeParam;
    Random random(1);
    const Matrix<T> a = random_matrix<T>(random, 99, 6);
    const Matrix<T> b = random_matrix<T>(random, 6, 50);
    const auto sums = expected_product(a, b);
    const auto check = [&](std::int64_t rows, std::int64_t columns) {
        SCOPED_TRACE(::testing::Message() << rows << " x " << columns);
        std::vector<ExpectedSum<T>> expected;
        for (std::int64_t i = 0; i < rows; ++i)
            for (std::int64_t j = 0; j < columns; ++j) expected.push_back(sums[static_cast<std::size_t>(i * 50 + j)]);
        expect_kept<T>({part_of(a, rows, 6), part_of(b, 6, columns)}, expected);
    };
    for (const std::int64_t rows :
         {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 15, 16, 17, 23, 24, 25, 47, 48, 49, 95, 96, 97, 99})
        check(rows, rows % 7 + 1);
    for (const std::int64_t columns : {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 16, 17, 23, 24, 25, 50})
        check(columns % 5 + 14, columns);
    check(0, 0);
    check(99, 50);
}

TYPED_TEST(Gemm, KeepsItsPromisesForAnyNumberOfProducts) {
    using T = TypeParam;
    Random random(2);
    for (const std::int64_t inner : {0, 1, 2, 3, 7, 31, 64, 255, 256, 257, 511, 512, 513, 1300}) {
        SCOPED_TRACE(inner);
        const Matrix<T> a = random_matrix<T>(random, 9, inner);
        const Matrix<T> b = random_matrix<T>(random, inner, 7);
        expect_kept<T>({a, b}, expected_product(a, b));
    }
}

// Promise: gemm.hpp, "Views choose the order and transpose"
// Promise: views.hpp, "A dense matrix in memory of the caller's"
TYPED_TEST(Gemm, KeepsItsPromisesInAllLayouts) {
    using T = TypeParam;
    Random random(3);
    const Matrix<T> a = random_matrix<T>(random, 29, 21);
    const Matrix<T> b = random_matrix<T>(random, 21, 19);
    GemmProblem<T> problem(a, b);
    const auto sums = expected_product(a, b);
    problem.alpha = T(-0.3);
    problem.beta = 2;
    problem.c.values = testing::adversarial_addends(random, sums);
    const auto expected = testing::affine<T>(sums, problem.alpha, problem.beta, problem.c.values);
    const std::vector<T> rounded = testing::rounded(expected);
    for_each_device([&](const Device& device) {
        for (const Layouts& layout : all_layouts())
            for (const Accuracy accuracy : all_accuracies)
                EXPECT_EQ(testing::broken_promises<T>(problem.product(device, accuracy, layout), expected, rounded, accuracy),
                          "");
    });
}

/// Sampled elements of a product of many blocks, beta C included.
TYPED_TEST(Gemm, KeepsItsPromisesInManyBlocks) {
    using T = TypeParam;
    Random random(4);
    const Matrix<T> a = random_matrix<T>(random, 631, 35);
    const Matrix<T> b = random_matrix<T>(random, 35, 859);
    GemmProblem<T> problem(a, b);
    problem.beta = -1;
    problem.c = random_matrix<T>(random, 631, 859, 12);
    std::vector<std::size_t> places;
    std::vector<ExpectedSum<T>> expected;
    for (int sample = 0; sample < 400; ++sample) {
        const std::int64_t i = sample < 20 ? 630 : random.between(0, 630);
        const std::int64_t j = sample % 20 == 0 ? 858 : random.between(0, 858);
        places.push_back(static_cast<std::size_t>(i * 859 + j));
        expected.push_back(expected_element(a, b, i, j).affine(T(1), T(-1), problem.c.at(i, j)));
    }
    const std::vector<T> rounded = testing::rounded(expected);
    for_each_device([&](const Device& device) {
        for (const Accuracy accuracy : all_accuracies) {
            const std::vector<T> product = problem.product(device, accuracy);
            std::vector<T> found;
            for (const std::size_t place : places) found.push_back(product[place]);
            EXPECT_EQ(testing::broken_promises<T>(found, expected, rounded, accuracy), "");
        }
    });
}

TYPED_TEST(Gemm, GivesTheSameBitsForAnyNumberOfThreadsOnTheProcessor) {
    using T = TypeParam;
    Random random(5);
    const GemmProblem<T> problem(random_matrix<T>(random, 151, 317), random_matrix<T>(random, 317, 103));
    const auto expect_same = [&](Accuracy accuracy, const GemmOptions& options) {
        const std::vector<T> expected = problem.product(Device::cpu(1), accuracy, some_layouts[0], options);
        for (const int threads : {2, 3}) {
            const std::vector<T> found = problem.product(Device::cpu(threads), accuracy, some_layouts[0], options);
            EXPECT_EQ(testing::differences<T>(found, expected), "")
                << to_string(accuracy) << " " << to_string(options.summation);
        }
    };
    for_each_target([&] {
        for (const GemmSummation summation : all_gemm_summations) expect_same(Accuracy::fast, {summation, 48});
        for (const Accuracy accuracy : {Accuracy::compensated, Accuracy::exact}) expect_same(accuracy, {});
    });
}

TYPED_TEST(Gemm, NeverReadsBeyondTheEndOfAMatrix) {
    using T = TypeParam;
    using testing::Fenced;
    Random random(13);
    for (const std::int64_t rows : {1, 3, 16, 25, 49})
        for (const std::int64_t columns : {1, 4, 7, 13})
            for (const std::int64_t inner : {1, 5, 33}) {
                const Fenced<T> a(random_matrix<T>(random, rows, inner).values);
                const Fenced<T> b(random_matrix<T>(random, inner, columns).values);
                const Fenced<T> c(random_matrix<T>(random, rows, columns).values);
                const auto view = [](const Fenced<T>& of, std::int64_t m, std::int64_t n, bool by_rows) {
                    return MutableDenseView<T>{m, n, by_rows ? n : 1, by_rows ? 1 : m, of.view().data()};
                };
                for (int layout = 0; layout < 8; ++layout)
                    for_each_target([&] {
                        for (const Accuracy accuracy : all_accuracies)
                            gemm(T(0.5), view(a, rows, inner, (layout & 1) != 0), view(b, inner, columns, (layout & 2) != 0),
                                 T(1), view(c, rows, columns, (layout & 4) != 0), accuracy, Device::cpu(1));
                    });
            }
}

}  // namespace
}  // namespace solver
