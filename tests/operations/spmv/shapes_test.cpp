#include "solver/spmv.hpp"

#include "matrices/generators.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "support/fenced.hpp"
#include "support/spmv_executions.hpp"
#include "support/targets.hpp"
#include "support/values.hpp"

namespace solver {
namespace {

using testing::expect_products_kept;
using testing::for_each_target;
using testing::nan_value;
using testing::Random;
using testing::random_rows;
using testing::random_vector;
using testing::Spmv;

using ValueTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Spmv, ValueTypes);

TYPED_TEST(Spmv, KeepsItsPromisesForMatricesOfNoRowsNoColumnsOrNoEntries) {
    using T = TypeParam;
    CsrMatrix<T> a;
    a.columns = 5;
    expect_products_kept<T>(a, std::vector<T>(5, T(1)));
    for (const std::size_t rows : {1, 7, 100, 20000}) {
        a.rows = static_cast<std::int64_t>(rows);
        a.row_offsets.assign(rows + 1, 0);
        a.columns = 0;
        expect_products_kept<T>(a, {});
        a.columns = 3;
        expect_products_kept<T>(a, std::vector<T>(3, nan_value<T>));
    }
}

TYPED_TEST(Spmv, KeepsItsPromisesForOneRowOfAnyLength) {
    using T = TypeParam;
    Random random(1);
    for (const std::int64_t length : {1, 2, 7, 8, 9, 63, 255, 256, 257, 2047, 2048, 2049, 4096, 4097, 40000}) {
        SCOPED_TRACE(length);
        const CsrMatrix<T> a = random_rows<T>(random, 1000, {length});
        expect_products_kept<T>(a, random_vector<T>(random, 1000));
    }
}

TYPED_TEST(Spmv, SharesAHugeRowAmongThreads) {
    using T = TypeParam;
    Random random(2);
    std::vector<std::int64_t> lengths{0, 3, 200000, 0, 5, 5, 5, 4097, 30000, 30000};
    expect_products_kept<T>(random_rows<T>(random, 50000, lengths), random_vector<T>(random, 50000));
    expect_products_kept<T>(random_rows<T>(random, 50000, {200000}), random_vector<T>(random, 50000));
}

TYPED_TEST(Spmv, RoundsHugeAdversarialRowsOnceWhereThreadsShareThem) {
    using T = TypeParam;
    Random random(3);
    const auto [a, x] = testing::matrix_of(testing::huge_adversarial_rows<T>(random), random);
    expect_products_kept<T>(a, x);
}

TYPED_TEST(Spmv, KeepsItsPromisesForRowsOfAllLengthsMixed) {
    using T = TypeParam;
    Random random(4);
    std::vector<std::int64_t> lengths;
    for (int i = 0; i < 2500; ++i) lengths.push_back(random.between(0, 70));
    for (std::int64_t length = 0; length <= 70; ++length)
        for (int i = 0; i < 9; ++i) lengths.push_back(length);
    for (int i = 0; i < 100; ++i)
        lengths.push_back(random.between(0, 3) == 0 ? random.between(200, 1100) : random.between(0, 9));
    expect_products_kept<T>(random_rows<T>(random, 3000, lengths), random_vector<T>(random, 3000));
}

TYPED_TEST(Spmv, KeepsItsPromisesForAnyNumberOfRows) {
    using T = TypeParam;
    Random random(5);
    for (std::size_t rows = 1; rows <= 34; ++rows) {
        SCOPED_TRACE(rows);
        expect_products_kept<T>(random_rows<T>(random, 11, std::vector<std::int64_t>(rows, 6)), random_vector<T>(random, 11));
    }
}

template <class T>
CsrMatrix<T> generated(const char* name) {
    return convert<T, double>(matrices::find_generator(name).value().make());
}

TYPED_TEST(Spmv, KeepsItsPromisesForPowerLawRows) {
    using T = TypeParam;
    Random random(6);
    const CsrMatrix<T> a = generated<T>("power_law_20000");
    expect_products_kept<T>(a, random_vector<T>(random, a.columns));
}

TYPED_TEST(Spmv, KeepsItsPromisesForStencilsWithTheirZerosAndTies) {
    using T = TypeParam;
    Random random(7);
    for (const char* name : {"stencil27_9", "poisson2d_40", "convection_diffusion_30"}) {
        SCOPED_TRACE(name);
        const CsrMatrix<T> a = generated<T>(name);
        expect_products_kept<T>(a, std::vector<T>(static_cast<std::size_t>(a.columns), T(1)));
        expect_products_kept<T>(a, random_vector<T>(random, a.columns));
    }
}

TYPED_TEST(Spmv, KeepsItsPromisesForWideAndTallMatrices) {
    using T = TypeParam;
    Random random(8);
    expect_products_kept<T>(random_rows<T>(random, 100000, std::vector<std::int64_t>(40, 90)),
                            random_vector<T>(random, 100000));
    expect_products_kept<T>(random_rows<T>(random, 3, std::vector<std::int64_t>(20000, 2)), random_vector<T>(random, 3));
}

TYPED_TEST(Spmv, NeverReadsBeyondTheEndOfAnArray) {
    using T = TypeParam;
    using testing::Fenced;
    Random random(17);
    for (int trial = 0; trial < 60; ++trial) {
        std::vector<std::int64_t> lengths(static_cast<std::size_t>(random.between(0, 40)));
        for (auto& length : lengths) length = trial % 2 == 0 ? random.between(0, 40) : random.between(5, 7);
        const CsrMatrix<T> a = random_rows<T>(random, 20, lengths);
        const Fenced<std::int64_t> wide(a.row_offsets);
        const Fenced<std::int32_t> narrow(testing::WithNarrowOffsets<T>(a).offsets());
        const RowOffsets offsets = random.coin() ? RowOffsets(wide.view()) : RowOffsets(narrow.view());
        const Fenced<std::int32_t> columns(a.column_indices);
        const Fenced<T> values(a.values);
        const Fenced<T> x(random_vector<T>(random, 20));
        const Fenced<T> x_low(random_vector<T>(random, 20));
        const Fenced<T> y(random_vector<T>(random, a.rows));
        const SpmvPlan<T> plan({a.rows, a.columns, offsets, columns.view(), values.view()}, Device::cpu(1));
        for_each_target([&] {
            for (const Accuracy accuracy : all_accuracies) {
                plan.multiply(1, x.view(), 0, y.view(), accuracy);
                plan.multiply(T(0.5), x.view(), 1, y.view(), accuracy);
                plan.residual(y.view(), x.view(), x_low.view(), y.view(), accuracy);
            }
        });
    }
}

}  // namespace
}  // namespace solver
