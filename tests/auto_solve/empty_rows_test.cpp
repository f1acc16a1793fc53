#include "auto_solve/empty_rows.hpp"

#include "auto_solve/matrix_facts.hpp"
#include "solver/complex.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/error.hpp"
#include "solver/solve.hpp"
#include "solver/spmv.hpp"
#include "support/empty_rows.hpp"
#include "support/linear_systems.hpp"
#include "support/solved.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <vector>

namespace solver {
namespace {

using testing::solve_by;
using testing::true_residual;
using testing::with_points_apart;

std::vector<double> zero_where_empty(const CsrMatrix<double>& a, std::vector<double> b) {
    for (std::int64_t i = 0; i < a.rows; ++i)
        if (a.row_offsets[i] == a.row_offsets[i + 1]) b[i] = 0;
    return b;
}

TEST(EmptyRows, GetOnesOnTheDiagonal) {
    const CsrMatrix<double> a{4, 4, {0, 2, 2, 4, 6}, {0, 2, 1, 3, 0, 2}, {5, 1, 0, 0, 0, 7}};
    const CsrMatrix<double> filled = with_ones_in_empty_rows(a.view());
    EXPECT_EQ(filled.row_offsets, (std::vector<std::int64_t>{0, 2, 3, 6, 8}));
    EXPECT_EQ(filled.column_indices, (std::vector<std::int32_t>{0, 2, 1, 1, 2, 3, 0, 2}));
    EXPECT_EQ(filled.values, (std::vector<double>{5, 1, 1, 0, 1, 0, 0, 7}));

    // As boundary conditions leave them: zeros in rows and columns, and a diagonal that adds up to zero.
    const CsrMatrix<double> zeroed{2, 2, {0, 2, 5}, {0, 1, 0, 1, 1}, {4, 0, 0, 3, -3}};
    const CsrMatrix<double> with_one = with_ones_in_empty_rows(zeroed.view());
    EXPECT_EQ(with_one.column_indices, (std::vector<std::int32_t>{0, 1, 0, 1}));
    EXPECT_EQ(with_one.values, (std::vector<double>{4, 0, 0, 1}));
    EXPECT_TRUE(facts_of(SpmvPlan<double>(with_one, Device::cpu(1))).is_symmetric);
}

// Promise: solve.hpp, "Rows without entries of an A that is its own transpose stand aside"
TEST(EmptyRows, LeaveTheOtherRowsThePreconditionersTheyHadWithout) {
    for (const double shift : {0.0, 0.25})
        for (const std::int32_t side : {60, 90}) {
            const auto whole = with_points_apart<double>(side, shift, 0), a = with_points_apart<double>(side, shift, 7);
            ASSERT_GT(a.rows, whole.rows);
            const auto all = [](const CsrMatrix<double>& m) {
                std::vector<double> x(static_cast<std::size_t>(m.rows));
                for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i % 5);
                std::vector<double> b(x.size());
                spmv(1.0, m, x, 0.0, b, Accuracy::exact, Device::cpu(1));
                return b;
            };
            const std::vector<double> b = all(a);
            const auto expected = solve_by(whole, all(whole), {});
            const auto [report, x] = solve_by(a, b, {});
            EXPECT_EQ(report.result().status, SolveStatus::converged);
            EXPECT_LE(true_residual(a, b, x), 1e-10);
            for (const Attempt& attempt : report.attempts) EXPECT_EQ(attempt.refusal, "");
            EXPECT_LE(report.result().iterations, 2 * expected.report.result().iterations + 2);
            for (std::int64_t i = 0; i < a.rows; ++i)
                if (a.row_offsets[i] == a.row_offsets[i + 1]) {
                    EXPECT_EQ(x[i], 0);
                }
        }
}

TEST(EmptyRows, KeepTheGuess) {
    const auto a = with_points_apart<double>(40, 0.25, 7);
    const auto b = zero_where_empty(a, testing::random_vector<double>(static_cast<std::size_t>(a.rows), 5));
    for (const bool mixed : {false, true}) {
        std::vector<double> x(b.size(), 3);
        SolveOptions options;
        options.mixed = mixed;
        const SpmvPlan<double> plan(a, Device::cpu(2));
        EXPECT_EQ(solve<double>(plan, b, x, {}, options).result().status, SolveStatus::converged) << mixed;
        EXPECT_LE(true_residual(a, b, x), 1e-10);
        for (std::int64_t i = 0; i < a.rows; ++i)
            if (a.row_offsets[i] == a.row_offsets[i + 1]) {
                EXPECT_EQ(x[i], 3);
            }
    }
}

/// b has what nothing reaches: least squares all the same, without what is in vain.
TEST(EmptyRows, KeepWhatBHasThere) {
    const auto a = with_points_apart<double>(60, 0, 7);
    const auto b = testing::random_vector<double>(static_cast<std::size_t>(a.rows), 5);
    const auto [report, x] = solve_by(a, b, {});
    EXPECT_EQ(report.result().status, SolveStatus::stagnated);
    EXPECT_LT(report.result().iterations, 400);
    std::vector<double> r(b.size()), back(b.size());
    const SpmvPlan<double> plan(a, Device::cpu(1));
    plan.residual(b, x, {}, r, Accuracy::exact);
    plan.multiply(1.0, r, 0.0, back, Accuracy::exact);  // A is its own transpose
    for (const double element : back) EXPECT_NEAR(element, 0, 1e-6);
}

TEST(EmptyRows, StandAsideInComplexMatricesToo) {
    auto a = with_points_apart<std::complex<double>>(40, 0.25, 7);
    for (std::int64_t i = 0; i < a.rows; ++i)
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
            if (a.column_indices[k] != i) a.values[k] *= std::complex<double>(0.6, a.column_indices[k] > i ? 0.8 : -0.8);
    const auto real = real_form(a.view());
    const auto b = zero_where_empty(real, testing::random_vector<double>(static_cast<std::size_t>(real.rows), 5));
    SolveOptions options;
    options.iteration.complex_scalars = true;
    const auto [report, x] = solve_by(real, b, options);
    EXPECT_EQ(report.result().status, SolveStatus::converged);
    EXPECT_EQ(report.attempts.front().preconditioner, PreconditionerKind::jacobi);
    EXPECT_LE(true_residual(real, b, x), 1e-10);
}

/// Rows alone are empty, or the user has named what cannot be made.
TEST(EmptyRows, AreRefusedElsewhere) {
    const auto a = with_points_apart<double>(20, 0.25, 7);
    SolveOptions options;
    options.preconditioner = PreconditionerKind::jacobi;
    const std::vector<double> b(static_cast<std::size_t>(a.rows));
    EXPECT_THROW(solve_by(a, b, options), InvalidArgument);

    const CsrMatrix<double> row_alone{2, 2, {0, 2, 2}, {0, 1}, {1, 1}};
    const MatrixFacts facts = facts_of(SpmvPlan<double>(row_alone, Device::cpu(1)));
    EXPECT_EQ(facts.empty_rows, 0);
    EXPECT_TRUE(facts.zeros_on_diagonal);
    EXPECT_FALSE(facts.positive_diagonal);
    const CsrMatrix<double> nothing{2, 2, {0, 0, 0}, {}, {}};
    EXPECT_TRUE(facts_of(SpmvPlan<double>(nothing, Device::cpu(1))).zeros_on_diagonal);
}

TEST(EmptyRows, StandAsideInDenseMatricesToo) {
    const std::vector<double> elements{2, 1, 0, 1, 3, 0, 0, 0, 0}, b{1, 2, 5};
    std::vector<double> x{0, 0, 7};
    const SpmvPlan<double> plan(DenseView<double>{3, 3, 3, 1, elements.data()}, Device::cpu(1));
    const SolveReport report = solve<double>(plan, b, x);
    EXPECT_EQ(report.result().status, SolveStatus::stagnated);
    EXPECT_THAT(report.obstacle, ::testing::HasSubstr("1 empty row, the first is 3 (counted from 1)"));
    EXPECT_NEAR(x[0], 0.2, 1e-10);
    EXPECT_NEAR(x[1], 0.6, 1e-10);
    EXPECT_EQ(x[2], 7);
}

TEST(EmptyRows, AreCounted) {
    const auto a = with_points_apart<double>(20, 0.25, 7);
    for (const int threads : {1, 2}) {
        const MatrixFacts facts = facts_of(SpmvPlan<double>(a, Device::cpu(threads)));
        EXPECT_EQ(facts.empty_rows, a.rows - 400);
        EXPECT_TRUE(facts.is_symmetric && facts.positive_diagonal && facts.suits_multigrid() && !facts.zeros_on_diagonal);
    }
}

}  // namespace
}  // namespace solver
