#include "solver/spmv.hpp"

#include "solver/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/broken_matrices.hpp"
#include "support/spmv_executions.hpp"
#include "support/values.hpp"

namespace solver {
namespace {

using testing::residual;
using testing::Span;
using testing::Spmv;

using ValueTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Spmv, ValueTypes);

// Promise: spmv.hpp, "Throws DimensionMismatch where the lengths of A's arrays"
/// A matrix put together by hand whose offsets got a second 0, or that lacks an entry, would be multiplied as another one.
TYPED_TEST(Spmv, SeesThatOffsetsAreOneTooManyAndThatEntriesAreMissing) {
    using T = TypeParam;
    using ::testing::ThrowsMessage;
    CsrMatrix<T> a;
    a.rows = a.columns = 2;
    for (const std::int64_t offset : {0, 1, 2}) a.row_offsets.push_back(offset);
    a.column_indices = {0, 1};
    a.values = {1, 2};
    EXPECT_THAT(
        [&] { SpmvPlan<T> plan(a); },
        ThrowsMessage<DimensionMismatch>("SpMV plan: row_offsets has 4 elements; 2 rows need 3, of which the first is 0 "
                                         "(CsrMatrix begins with it)"));
    a.row_offsets = {0, 1, 2};
    EXPECT_NO_THROW(SpmvPlan<T>{a});
    a.values = {1};
    EXPECT_THAT(
        [&] { SpmvPlan<T> plan(a); },
        ThrowsMessage<DimensionMismatch>("SpMV plan: row_offsets ends with 2, but there are 1 values and 2 column indices"));
    EXPECT_THAT([] { SpmvPlan<T>{CsrView<T>{}}; },
                ThrowsMessage<DimensionMismatch>(::testing::HasSubstr("row_offsets has 0 elements; 0 rows need 1")));
    CsrView<T> negative;
    negative.rows = -1;
    EXPECT_THAT([&] { SpmvPlan<T>{negative}; }, ThrowsMessage<DimensionMismatch>(::testing::HasSubstr("0 elements; -1 rows")));
}

// Promise: spmv.hpp, "Throws DimensionMismatch where the lengths of A's arrays"
// Promise: spmv.hpp, "check() (views.hpp) was called: the plan does not"
TYPED_TEST(Spmv, RefusesBrokenMatricesUnlessItIsNotToLook) {
    using T = TypeParam;
    testing::expect_broken_matrices_refused<T>([](const CsrView<T>& a) { SpmvPlan<T>(a, Device::cpu()); });
    testing::expect_broken_matrices_refused<T>([](const CsrView<T>& a) {
        const std::vector<T> x(4);
        std::vector<T> y(4);
        spmv(T(1), a, x, T(0), y, Accuracy::exact);
    });
    const CsrMatrix<T> one_column{1, 1, {0, 1}, {1}, {T(1)}};
    EXPECT_NO_THROW(SpmvPlan<T>(one_column.view(), Device::cpu(1), SpmvOptions{.is_checked = true}));
}

/// Numbers that C would hand over.
TYPED_TEST(Spmv, RefusesNumbersThatNameNothing) {
    using T = TypeParam;
    using ::testing::ThrowsMessage;
    const CsrMatrix<T> a{1, 1, {0, 1}, {0}, {T(1)}};
    EXPECT_THAT([&] { SpmvPlan<T>(a, Device::cpu(1), static_cast<SpmvKernel>(9)); },
                ThrowsMessage<InvalidArgument>("spmv: there is no kernel number 9"));
    EXPECT_THAT([&] { SpmvPlan<T>(a, Device::cpu(1), SpmvOptions{.storage = static_cast<SpmvStorage>(9)}); },
                ThrowsMessage<InvalidArgument>("spmv: there is no storage number 9"));
    const std::vector<T> x(1);
    std::vector<T> y(1);
    EXPECT_THAT([&] { SpmvPlan<T>(a, Device::cpu(1)).multiply(1, x, 0, y, static_cast<Accuracy>(9)); },
                ThrowsMessage<InvalidArgument>("accuracy: there is no mode number 9"));
}

// Promise: spmv.hpp, "Throws DimensionMismatch, InvalidArgument where y"
TYPED_TEST(Spmv, SaysWhichVectorHasTheWrongLength) {
    using T = TypeParam;
    using ::testing::ThrowsMessage;
    CsrMatrix<T> a;
    a.rows = 2;
    a.columns = 3;
    a.row_offsets = {0, 0, 0};
    const SpmvPlan<T> plan(a);
    std::vector<T> two(2);
    std::vector<T> three(3);
    const auto multiply = [&](Span<T> x, std::span<T> y) {
        return [&plan, x, y] { plan.multiply(1, x, 0, y, Accuracy::fast); };
    };
    EXPECT_THAT(multiply(two, two),
                ThrowsMessage<DimensionMismatch>("spmv: x has 2 elements, A is 2 x 3; x needs 3, the columns of A"));
    EXPECT_THAT(multiply(three, three),
                ThrowsMessage<DimensionMismatch>("spmv: y has 3 elements, A is 2 x 3; y needs 2, the rows of A"));
    const auto residual_of = [&](Span<T> b, Span<T> x, Span<T> low, std::span<T> r) {
        return [&plan, b, x, low, r] { plan.residual(b, x, low, r, Accuracy::exact); };
    };
    EXPECT_THAT(residual_of(two, two, {}, two),
                ThrowsMessage<DimensionMismatch>("residual: x has 2 elements, A is 2 x 3; x needs 3, the columns of A"));
    EXPECT_THAT(
        residual_of(two, three, two, two),
        ThrowsMessage<DimensionMismatch>("residual: x_low has 2 elements, A is 2 x 3; x_low needs 3, the columns of A"));
    EXPECT_THAT(residual_of(three, three, {}, two),
                ThrowsMessage<DimensionMismatch>("residual: b has 3 elements, A is 2 x 3; b needs 2, the rows of A"));
    EXPECT_THAT(residual_of(two, three, {}, three),
                ThrowsMessage<DimensionMismatch>("residual: r has 3 elements, A is 2 x 3; r needs 2, the rows of A"));
}

/// One that writes where it reads would see its own results; only b may be the residual.
// Promise: spmv.hpp, "Throws DimensionMismatch, InvalidArgument where y"
TYPED_TEST(Spmv, RefusesToWriteWhereItReads) {
    using T = TypeParam;
    using ::testing::ThrowsMessage;
    CsrMatrix<T> a;
    a.rows = a.columns = 2;
    a.row_offsets = {0, 1, 2};
    a.column_indices = {1, 0};
    a.values = {1, 1};
    const SpmvPlan<T> plan(a, Device::cpu(1));
    std::vector<T> three{1, 2, 3}, other(2);
    const std::span<T> first = std::span(three).first(2), last = std::span(three).last(2);
    const auto refusal = [](const char* operation, const char* written, const char* read) {
        return ThrowsMessage<InvalidArgument>(std::string(operation) + ": " + written + " overlaps " + read +
                                              " in memory, which is still read while " + written +
                                              " is written; give each memory of its own");
    };
    EXPECT_THAT([&] { plan.multiply(1, first, 0, first, Accuracy::exact); }, refusal("spmv", "y", "x"));
    EXPECT_THAT([&] { plan.multiply(1, first, 0, last, Accuracy::exact); }, refusal("spmv", "y", "x"));
    EXPECT_THAT([&] { plan.residual(other, last, {}, first, Accuracy::exact); }, refusal("residual", "r", "x"));
    EXPECT_THAT([&] { plan.residual(other, other, last, first, Accuracy::exact); }, refusal("residual", "r", "x_low"));
    const SpmvTask<T> task{.x = other, .x_low = first, .y = first};
    EXPECT_THAT([&] { plan.multiply(std::span(&task, 1), Accuracy::exact); }, refusal("spmv", "y", "x_low"));
    EXPECT_THAT([&] { plan.residual(last, other, {}, first, Accuracy::exact); }, refusal("residual", "r", "b"));
    const SpmvTask<T> shifted{.x = other, .beta = 1, .y_in = last, .y = first};
    EXPECT_THAT([&] { plan.multiply(std::span(&shifted, 1), Accuracy::exact); }, refusal("spmv", "y", "y_in"));
    plan.residual(first, other, {}, first, Accuracy::exact);
    EXPECT_EQ(three, (std::vector<T>{1, 2, 3}));
}

}  // namespace
}  // namespace solver
