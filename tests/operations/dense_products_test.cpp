#include "operations/dense_products.hpp"

#include "core/nonzero_elements.hpp"
#include "solver/bicgstab.hpp"
#include "solver/dense_matrix.hpp"
#include "solver/error.hpp"
#include "solver/numeric/bounds.hpp"
#include "solver/solve.hpp"
#include "support/expected.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace solver {
namespace {

using Kind = PreconditionerKind;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

template <class T>
class DensePlan : public ::testing::Test {};
using ValueTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(DensePlan, ValueTypes);

/// In (0, 1) or, `signed_values`, in (-1, 1), of very different sizes.
template <class T>
std::vector<T> random_values(std::size_t count, unsigned seed, bool signed_values) {
    std::mt19937_64 random(seed);
    std::vector<T> values(count);
    for (T& value : values) {
        value = static_cast<T>((static_cast<double>(random() >> 12) + 0.5) * 0x1p-52 *
                               std::exp2(-static_cast<double>(random() % 20)));
        if (signed_values && random() % 2 == 0) value = -value;
    }
    return values;
}

/// Diagonally dominant, unsymmetric, every seventh element zero.
template <class T>
DenseMatrix<T> system_matrix(std::int64_t n) {
    DenseMatrix<T> a{n, n, random_values<T>(static_cast<std::size_t>(n * n), 5, true)};
    for (std::int64_t i = 0; i < n * n; i += 7) a.values[i] = T(0);
    for (std::int64_t i = 0; i < n; ++i) a.values[i * (n + 1)] = static_cast<T>(std::sqrt(static_cast<double>(n)));
    return a;
}

/// One that converges at once, zeros, Inf, and ones that take their time.
template <class T>
DenseMatrix<T> right_hand_sides(std::int64_t n, std::int64_t columns) {
    DenseMatrix<T> b{n, columns, random_values<T>(static_cast<std::size_t>(n * columns), 9, true)};
    if (columns > 2) std::fill_n(b.values.begin() + n, n, T(0));
    if (columns > 3) b.values[2 * n + 1] = std::numeric_limits<T>::infinity();
    return b;
}

template <class T>
std::vector<T> column_of(const DenseMatrix<T>& a, std::int64_t j) {
    return {a.values.begin() + j * a.rows, a.values.begin() + (j + 1) * a.rows};
}

/// Every kind of task on a few vectors.
template <class T>
struct Tasks {
    std::int64_t rows, columns;
    std::vector<std::vector<T>> x, x_low, y;

    Tasks(std::int64_t rows_of_a, std::int64_t columns_of_a, int count, bool signed_values)
        : rows(rows_of_a), columns(columns_of_a) {
        for (int i = 0; i < count; ++i) {
            x.push_back(random_values<T>(columns, 10 + i, signed_values));
            x_low.push_back(random_values<T>(columns, 50 + i, signed_values));
            for (T& low : x_low.back()) low *= std::numeric_limits<T>::epsilon();
            y.push_back(random_values<T>(rows, 90 + i, signed_values));
        }
    }

    std::vector<std::vector<T>> made_by(const SpmvPlan<T>& plan, Accuracy accuracy) const {
        std::vector<std::vector<T>> out(x.size(), std::vector<T>(rows, T(7)));
        std::vector<SpmvTask<T>> tasks;
        for (std::size_t i = 0; i < x.size(); ++i) {
            SpmvTask<T> task{.x = x[i], .y = out[i]};
            if (i % 3 == 1) task = {.alpha = T(-1), .x = x[i], .beta = T(1), .y_in = y[i], .y = out[i]};
            if (i % 5 == 4) task = {.x = x[i], .beta = T(2), .y_in = y[i], .y = out[i]};  // alpha as of those without beta
            if (i % 7 == 3) task.x_low = x_low[i];
            if (i % 7 == 6) task.alpha = T(0);
            if (i % 3 == 2) task.alpha = static_cast<T>(i);  // beta as of others of another alpha
            tasks.push_back(task);
        }
        plan.multiply(tasks, accuracy);
        return out;
    }
};

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
}

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

/// "", or the first difference.
std::string difference(const SolveResult& found, const SolveResult& expected) {
    const auto same = [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); };
    if (found.status != expected.status) return "another status";
    if (found.iterations != expected.iterations) return "another number of iterations";
    if (found.history.size() != expected.history.size()) return "histories of different lengths";
    for (std::size_t i = 0; i < found.history.size(); ++i)
        if (!same(found.history[i].recursive_residual, expected.history[i].recursive_residual) ||
            !same(found.history[i].true_residual, expected.history[i].true_residual))
            return "another record " + std::to_string(i);
    return same(found.relative_residual, expected.relative_residual) ? "" : "another residual";
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
