#include "operations/dense_products.hpp"

#include "core/nonzero_elements.hpp"
#include "solver/bicgstab.hpp"
#include "solver/dense_matrix.hpp"
#include "solver/error.hpp"
#include "solver/numeric/bounds.hpp"
#include "solver/solve.hpp"
#include "support/dense_systems.hpp"
#include "support/expected.hpp"
#include "support/linear_systems.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace solver {
namespace {

using Kind = PreconditionerKind;
using testing::column_of;
using testing::difference;
using ::testing::HasSubstr;
using testing::random_values;
using testing::right_hand_sides;
using testing::system_matrix;
using testing::Tasks;
using ::testing::ThrowsMessage;

template <class T>
class DensePlan : public ::testing::Test {};
using ValueTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(DensePlan, ValueTypes);

// Promise: spmv.hpp, "A dense matrix as it is: several products"
TYPED_TEST(DensePlan, HaveTheBitsOfSparseOnesInExactInEveryLayout) {
    using T = TypeParam;
    for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{37, 53}, {1, 1}, {0, 4}, {3, 0}, {130, 9}}) {
        const DenseMatrix<T> a{rows, columns, random_values<T>(static_cast<std::size_t>(rows * columns), 1, true)};
        const DenseMatrix<T> transposed{columns, rows, a.values};
        for (const DenseView<T>& view : {a.view(), transposed.view().transposed()}) {
            const CsrMatrix<T> sparse = nonzero_elements(view);
            for (const int count : {1, 2, 3, 4, 9, 14}) {
                SCOPED_TRACE(::testing::Message() << rows << " x " << columns << ", " << count << " tasks, strides "
                                                  << view.row_stride << ", " << view.column_stride);
                const Tasks<T> tasks(rows, columns, count, true);
                const auto expected = tasks.made_by(SpmvPlan<T>(sparse, Device::cpu(1)), Accuracy::exact);
                for (const int threads : {1, 3}) {
                    const auto found = tasks.made_by(SpmvPlan<T>(view, Device::cpu(threads)), Accuracy::exact);
                    for (int i = 0; i < count; ++i) EXPECT_EQ(testing::differences<T>(found[i], expected[i]), "") << i;
                }
            }
        }
    }
}

// Promise: dense_matrix.hpp, "The elements of column j"
TEST(DenseMatrix, HasColumnsWhereTheirElementsAre) {
    DenseMatrix<double> a{3, 2, {1, 2, 3, 4, 5, 6}};
    EXPECT_THAT(std::as_const(a).column(0), ::testing::ElementsAre(1, 2, 3));
    a.column(1)[2] = 7;
    EXPECT_THAT(a.values, ::testing::ElementsAre(1, 2, 3, 4, 5, 7));
    EXPECT_TRUE((DenseMatrix<double>{0, 2, {}}.column(1).empty()));
}

TYPED_TEST(DensePlan, KeepThePromisesOfTheOtherModes) {
    using T = TypeParam;
    constexpr std::int64_t n = 300;
    const DenseMatrix<T> a{n, n, random_values<T>(n * n, 2, false)};
    for (const DenseView<T>& view : {a.view(), a.view().transposed()}) {
        const SpmvPlan<T> plan(view, Device::cpu(2));
        for (const int count : {1, 8}) {
            Tasks<T> tasks(n, n, count, false);
            std::vector<SpmvTask<T>> products;
            std::vector<std::vector<T>> fast(count, std::vector<T>(n)), compensated = fast, exact = fast;
            const auto make = [&](std::vector<std::vector<T>>& out, Accuracy accuracy) {
                products.clear();
                for (int i = 0; i < count; ++i) products.push_back({.x = tasks.x[i], .y = out[i]});
                plan.multiply(products, accuracy);
            };
            make(fast, Accuracy::fast);
            make(compensated, Accuracy::compensated);
            make(exact, Accuracy::exact);
            const double u = unit_roundoff<T>;
            const double gamma = (n + 1) * u / (1 - (n + 1) * u);  // one more for the rounding of `exact`
            for (int i = 0; i < count; ++i)
                for (std::int64_t row = 0; row < n; ++row) {
                    const double truth = exact[i][row];
                    EXPECT_LE(std::abs(fast[i][row] - truth), gamma * truth);
                    EXPECT_LE(std::abs(compensated[i][row] - truth), 2.01 * u * truth);
                }
        }
    }
}

// Promise: spmv.hpp, "Of a dense matrix its nonzero elements"
// Promise: spmv.hpp, "The dense matrix; null for a sparse one."
TYPED_TEST(DensePlan, KeepTheMatrixAsItIsAndItsNonzeroElementsWhenAskedFor) {
    using T = TypeParam;
    const DenseMatrix<T> a{2, 3, {1, 0, -0.0, 4, 5, 0}};
    const SpmvPlan<T> plan(a.view(), Device::cpu(1));
    ASSERT_NE(plan.dense(), nullptr);
    EXPECT_EQ(plan.dense()->data, a.values.data());
    EXPECT_EQ(plan.rows(), 2);
    EXPECT_EQ(plan.columns(), 3);
    EXPECT_EQ(plan.matrix().nonzeros(), 3);
    EXPECT_EQ(plan.matrix().row_length(0), 2);
    EXPECT_EQ(plan.matrix().column_indices[1], 2);
    EXPECT_EQ(plan.matrix().values[2], T(4));
    const SpmvPlan<T> copy = plan;
    EXPECT_EQ(copy.matrix().values.data(), plan.matrix().values.data());
    EXPECT_EQ(SpmvPlan<T>(plan.matrix(), Device::cpu(1)).dense(), nullptr);
}

// Promise: spmv.hpp, "Throws InvalidArgument unless one stride is 1"
// Promise: error.hpp, "Shapes that do not fit together."
TYPED_TEST(DensePlan, RefuseLayoutsAndLengths) {
    using T = TypeParam;
    const std::vector<T> values(20);
    const auto plan_of = [&](std::int64_t row_stride, std::int64_t column_stride) {
        return [=, &values] { SpmvPlan<T>({3, 4, row_stride, column_stride, values.data()}, Device::cpu(1)); };
    };
    EXPECT_NO_THROW(plan_of(1, 3)());
    EXPECT_NO_THROW(plan_of(5, 1)());
    for (const auto& [row_stride, column_stride] : {std::pair{1, 2}, {3, 1}, {2, 6}})
        EXPECT_THAT(plan_of(row_stride, column_stride),
                    ThrowsMessage<InvalidArgument>(HasSubstr("the dense A is 3 x 4 with row_stride")));
    const SpmvPlan<T> plan(DenseView<T>{3, 4, 1, 3, values.data()}, Device::cpu(1));
    std::vector<T> x(3), y(3);
    EXPECT_THAT([&] { plan.multiply(T(1), x, T(0), y, Accuracy::fast); },
                ThrowsMessage<DimensionMismatch>(HasSubstr("x has 3 elements, A is 3 x 4; x needs 4, the columns of A")));
}

template <class T>
void expect_bits_of_sparse(std::int64_t columns, bool pair, bool mixed, std::optional<Kind> kind) {
    constexpr std::int64_t n = 90;
    const DenseMatrix<T> a = system_matrix<T>(n);
    const DenseMatrix<T> b = right_hand_sides<T>(n, columns);
    const CsrMatrix<T> sparse = nonzero_elements(a.view());
    SolveOptions options{.preconditioner = kind, .mixed = mixed};
    options.iteration.accuracy = Accuracy::exact;
    options.iteration.keep_history = true;
    struct Found {
        SolveReport report;
        DenseMatrix<T> x, x_low;
    };
    const auto solve_by = [&](const SpmvPlan<T>& plan, const DenseMatrix<T>& of) {
        Found found{{}, {n, of.columns, std::vector<T>(of.values.size())}, {}};
        if (pair) found.x_low = found.x;
        found.report = solve<T>(plan, of, found.x, pair ? &found.x_low : nullptr, options);
        return found;
    };
    const SpmvPlan<T> plan(a.view(), Device::cpu(2));
    const Found found = solve_by(plan, b);
    const Found expected = solve_by(SpmvPlan<T>(sparse, Device::cpu(1)), b);
    EXPECT_EQ(testing::differences<T>(found.x.values, expected.x.values), "");
    EXPECT_EQ(testing::differences<T>(found.x_low.values, expected.x_low.values), "");
    EXPECT_EQ(found.report.attempts.size(), expected.report.attempts.size());
    for (std::int64_t j = 0; j < columns; ++j) {
        EXPECT_EQ(difference(found.report.results[j], expected.report.results[j]), "") << "column " << j;
        if (j % 3 != 0) continue;
        const Found alone = solve_by(plan, {n, 1, column_of(b, j)});
        EXPECT_EQ(testing::differences<T>(column_of(found.x, j), alone.x.values), "") << "column " << j;
        EXPECT_EQ(difference(found.report.results[j], alone.report.result()), "") << "column " << j;
    }
    EXPECT_EQ(found.report.results.front().status, SolveStatus::converged);
}

TEST(DenseSystems, AreSolvedWithTheBitsOfSparseOnesInExact) {
    for (const std::int64_t columns : {1, 2, 7})
        for (const Kind kind : {Kind::none, Kind::jacobi, Kind::ilu0, Kind::klu}) {
            SCOPED_TRACE(::testing::Message() << columns << " columns, " << to_string(kind));
            expect_bits_of_sparse<double>(columns, false, false, kind);
            expect_bits_of_sparse<double>(columns, false, true, kind);
            expect_bits_of_sparse<float>(columns, true, false, kind);
        }
    expect_bits_of_sparse<double>(1, false, false, {});
    expect_bits_of_sparse<double>(1, false, true, {});
}

TEST(DenseSystems, ConvergeInEveryMode) {
    constexpr std::int64_t n = 120;
    const DenseMatrix<double> a = system_matrix<double>(n);
    DenseMatrix<double> b{n, 6, random_values<double>(6 * n, 3, true)};
    for (const DenseView<double>& view : {a.view(), a.view().transposed()})
        for (const Accuracy accuracy : all_accuracies) {
            const SpmvPlan<double> plan(view, Device::cpu(2));
            DenseMatrix<double> x{n, 6, std::vector<double>(b.values.size())};
            SolveOptions options{.preconditioner = Kind::jacobi};
            options.iteration.accuracy = accuracy;
            for (const SolveResult& result : solve<double>(plan, b, x, nullptr, options).results)
                EXPECT_EQ(result.status, SolveStatus::converged);
        }
}

TEST(DenseSystems, OfOtherThanSquareMatricesAreRefused) {
    const DenseMatrix<double> a{2, 3, std::vector<double>(6)};
    std::vector<double> b(2), x(3);
    EXPECT_THAT([&] { solve<double>(SpmvPlan<double>(a.view(), Device::cpu(1)), b, x); },
                ThrowsMessage<DimensionMismatch>(HasSubstr("A is 2 x 3, but must be square")));
}

TEST(DenseSystems, AreRefusedInMixedPrecisionWhereSingleCannotHoldThem) {
    const DenseMatrix<double> a{2, 2, {1e300, 0, 0, 1}};
    const DenseMatrix<float> rounded{2, 2, {std::numeric_limits<float>::infinity(), 0, 0, 1}};
    const DenseMatrix<float> smaller{1, 1, {1}};
    std::vector<double> b(2, 1), x(2);
    const auto m = make_preconditioner<float>(Kind::none, CsrMatrix<float>{2, 2, {0, 0, 0}, {}, {}}, Accuracy::fast);
    const SpmvPlan<double> plan(a.view(), Device::cpu(1));
    EXPECT_THAT([&] { bicgstab(plan, SpmvPlan<float>(rounded.view(), Device::cpu(1)), *m, b, x); },
                ThrowsMessage<InvalidArgument>(HasSubstr("1e+300 of A in column 1 is beyond the range")));
    EXPECT_THAT([&] { bicgstab(plan, SpmvPlan<float>(smaller.view(), Device::cpu(1)), *m, b, x); },
                ThrowsMessage<DimensionMismatch>(HasSubstr("both must be the same matrix")));
}

}  // namespace
}  // namespace solver
