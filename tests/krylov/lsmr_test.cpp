#include "solver/lsmr.hpp"

#include "solver/csr_matrix.hpp"
#include "solver/error.hpp"
#include "support/eigen.hpp"
#include "support/least_squares.hpp"
#include "support/linear_systems.hpp"
#include "support/real_matrices.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <Eigen/Dense>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace solver {
namespace {

using namespace testing;

template <class T>
struct LeastSquares {
    LeastSquaresResult result;
    std::vector<T> x;
};

template <class T>
LeastSquares<T> solve_by_lsmr(const CsrMatrix<T>& a, const std::vector<T>& b, const KrylovOptions& options, int threads = 1,
                              std::vector<T> x = {}) {
    const CsrMatrix<T> t = transpose(a.view());
    const SpmvPlan<T> plan(a, Device::cpu(threads)), transposed(t, Device::cpu(threads));
    LeastSquares<T> solve{{}, x.empty() ? std::vector<T>(static_cast<std::size_t>(a.columns)) : x};
    solve.result = lsmr<T>(plan, transposed, b, solve.x, options);
    return solve;
}

// Promise: lsmr.hpp, "`transposed` is a plan of A'"
// Promise: lsmr.hpp, "Least squares by LSMR (Fong"
// Promise: lsmr.hpp, "||b - A x|| / ||b|| of the x returned"
// Promise: lsmr.hpp, "0 for the least squares"
TEST(Lsmr, FindsTheLeastSquaresSolutionOfLeastNorm) {
    for (const auto& [rows, columns, rank] : shapes_and_ranks)
        for (const Accuracy accuracy : all_accuracies) {
            SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(columns) + ", rank " + std::to_string(rank));
            const auto a = matrix_of_rank(rank, rows, columns, 4);
            const auto b = random_vector<double>(static_cast<std::size_t>(rows), 3);
            const auto solved = solve_by_lsmr(a, b, with(accuracy, 1e-13));
            EXPECT_EQ(solved.result.status, SolveStatus::converged);
            const Eigen::MatrixXd d = dense_of(a);
            const Eigen::VectorXd expected = d.completeOrthogonalDecomposition().solve(eigen_vector(b));
            EXPECT_LE((eigen_vector(solved.x) - expected).norm(), 1e-9 * expected.norm());
            const Eigen::VectorXd r = eigen_vector(b) - d * eigen_vector(solved.x);
            EXPECT_NEAR(solved.result.relative_residual, r.norm() / eigen_vector(b).norm(), 1e-12);
            EXPECT_NEAR(solved.result.matrix_norm, d.norm(), 1e-13 * d.norm());
            if (solved.result.relative_residual > 1e-6) {
                EXPECT_LE(solved.result.normal_residual, 1e-13);
            }
        }
}

// 1, 2, 3, 1, 2, 3, ... and rows of zeros.
TEST(Lsmr, EndsAfterAsManyStepsAsThereAreDistinctSingularValues) {
    std::vector<Entry<double>> entries;
    for (std::int32_t i = 0; i < 30; ++i) entries.push_back({i, i, 1.0 + i % 3});
    const auto a = csr_from_entries<double>(40, 30, entries);
    for (const Accuracy accuracy : all_accuracies) {
        const auto solved = solve_by_lsmr(a, random_vector<double>(40, 3), with(accuracy, 1e-12));
        EXPECT_EQ(solved.result.status, SolveStatus::converged);
        EXPECT_EQ(solved.result.iterations, 3);
    }
}

// Promise: lsmr.hpp, "where options.keep_history asks for it"
// Promise: lsmr.hpp, "||r|| / ||b||, updated and, where known, true"
TEST(Lsmr, ReducesTheNormalResidualAndTheResidualInEveryStep) {
    const auto a = matrix_of_rank(25, 40, 25, 9);
    const auto b = random_vector<double>(40, 3);
    KrylovOptions options = with(Accuracy::exact, 1e-12);
    options.keep_history = true;
    const Eigen::MatrixXd d = dense_of(a);
    double before = std::numeric_limits<double>::infinity();
    options.callback = [&](const Iteration& step) {
        std::vector<double> x(25);
        step.iterate->copy_to(x);
        const Eigen::VectorXd r = eigen_vector(b) - d * eigen_vector(x);
        EXPECT_NEAR(step.recursive_residual, r.norm() / eigen_vector(b).norm(), 1e-9);
        const double normal = (d.transpose() * r).norm();
        EXPECT_LE(normal, before * (1 + 1e-9) + 1e-10);
        before = normal;
        return true;
    };
    const auto solved = solve_by_lsmr(a, b, options);
    EXPECT_EQ(solved.result.status, SolveStatus::converged);
    EXPECT_EQ(solved.result.history.size(), static_cast<std::size_t>(solved.result.iterations + 1));
    for (std::size_t k = 1; k < solved.result.history.size(); ++k)
        EXPECT_LE(solved.result.history[k].recursive_residual, solved.result.history[k - 1].recursive_residual * (1 + 1e-9));
}

// Promise: lsmr.hpp, "A zero b gives x = 0"
TEST(Lsmr, TakesWhatIsDegenerate) {
    for (const Accuracy accuracy : all_accuracies) {
        const auto a = matrix_of_rank(4, 6, 4, 1);
        const auto zero = solve_by_lsmr(a, std::vector<double>(6), with(accuracy), 1, std::vector<double>(4, 2));
        EXPECT_EQ(zero.result.status, SolveStatus::converged);
        EXPECT_EQ(zero.result.iterations, 0);
        EXPECT_EQ(zero.x, std::vector<double>(4));
        EXPECT_EQ(zero.result.relative_residual, 0);
        CsrMatrix<double> nothing = a;
        nothing.values.assign(nothing.values.size(), 0.0);
        const auto of_nothing = solve_by_lsmr(nothing, std::vector<double>(6, 1), with(accuracy));
        EXPECT_EQ(of_nothing.result.status, SolveStatus::converged);
        EXPECT_EQ(of_nothing.result.relative_residual, 1);
        for (const double bad : {std::numeric_limits<double>::infinity(), std::nan("")}) {
            CsrMatrix<double> broken = a;
            broken.values[3] = bad;
            EXPECT_EQ(solve_by_lsmr(broken, std::vector<double>(6, 1), with(accuracy)).result.status, SolveStatus::non_finite);
            EXPECT_EQ(solve_by_lsmr(a, std::vector<double>(6, bad), with(accuracy)).result.status, SolveStatus::non_finite);
            const CsrMatrix<double> with_empty_column{1, 2, {0, 1}, {0}, {1}};
            EXPECT_EQ(solve_by_lsmr(with_empty_column, {1}, with(accuracy), 1, {0, bad}).result.status,
                      SolveStatus::non_finite);
        }
        const auto empty = solve_by_lsmr(csr_from_entries<double>(0, 0, std::vector<Entry<double>>{}), {}, with(accuracy));
        EXPECT_EQ(empty.result.status, SolveStatus::converged);
        const auto no_columns = solve_by_lsmr(csr_from_entries<double>(3, 0, std::vector<Entry<double>>{}),
                                              std::vector<double>(3, 1), with(accuracy));
        EXPECT_EQ(no_columns.result.status, SolveStatus::converged);
        EXPECT_EQ(no_columns.result.relative_residual, 1);
    }
}

/// A = (1, 2; 3, 4; 5, 7), b = (1, 2, 5), whose solution is (3 / 14, 1 / 2), each times a power of two. ||x - x*|| is at most
/// ||(A'A)^-1|| ||A'r||, which is 61 times the tolerance.
template <class T>
void expect_the_solution_for_all_sizes(T tolerance, const std::vector<T>& sizes) {
    for (const T of_a : sizes)
        for (const T of_b : sizes) {
            const T unit = of_b / of_a;
            if (unit < std::numeric_limits<T>::min() || !std::isfinite(unit)) continue;  // no x to be had
            SCOPED_TRACE(std::to_string(of_a) + " and " + std::to_string(of_b));
            const auto a = csr_from_entries<T>(
                3, 2,
                std::vector<Entry<T>>{
                    {0, 0, of_a}, {0, 1, 2 * of_a}, {1, 0, 3 * of_a}, {1, 1, 4 * of_a}, {2, 0, 5 * of_a}, {2, 1, 7 * of_a}});
            for (const Accuracy accuracy : all_accuracies) {
                const auto solved = solve_by_lsmr<T>(a, {of_b, 2 * of_b, 5 * of_b}, with(accuracy, tolerance));
                EXPECT_EQ(solved.result.status, SolveStatus::converged);
                EXPECT_NEAR(solved.x[0] / unit, 3.0 / 14, 64 * tolerance);
                EXPECT_NEAR(solved.x[1] / unit, 0.5, 64 * tolerance);
            }
        }
}

// Promise: lsmr.hpp, "Converged means, of residuals computed anew"
TEST(Lsmr, FindsTheSolutionWhereTheNormalResidualIsBeyondTheRangeOfNumbers) {
    expect_the_solution_for_all_sizes<double>(1e-12, {0x1p-1000, 0x1p-700, 1, 0x1p700, 0x1p1000});
    expect_the_solution_for_all_sizes<float>(1e-5F, {0x1p-110F, 0x1p-70F, 1, 0x1p70F, 0x1p110F});
}

/// (1, 1)' x = (1, 0)', the first 1 as 1e16 - 1e16 + 1.
TEST(Lsmr, CountsRepeatedEntriesAsTheirSum) {
    const CsrMatrix<double> a{2, 1, {0, 3, 4}, {0, 0, 0, 0}, {1e16, -1e16, 1, 1}};
    const auto found = solve_by_lsmr<double>(a, {1, 0}, with(Accuracy::exact, 1e-10));
    EXPECT_EQ(found.result.status, SolveStatus::converged);
    EXPECT_NEAR(found.x[0], 0.5, 1e-9);
    EXPECT_DOUBLE_EQ(found.result.matrix_norm, std::sqrt(2.0));
}

/// In multiples of the smallest number, of which the residual keeps no fraction.
TEST(Lsmr, TellsTheResidualThatIsSmallerThanAllNumbers) {
    constexpr double eta = std::numeric_limits<double>::denorm_min();
    const auto a = csr_from_entries<double>(
        2, 3,
        std::vector<Entry<double>>{
            {0, 0, 4 * eta}, {0, 1, -8 * eta}, {0, 2, 6 * eta}, {1, 0, 2 * eta}, {1, 1, 9 * eta}, {1, 2, 8 * eta}});
    for (const Accuracy accuracy : all_accuracies) {
        const auto found = solve_by_lsmr<double>(a, {-3 * eta, 7 * eta}, with(accuracy, 1e-10));
        const std::vector<double>& x = found.x;
        const double r_0 = -3 - (4 * x[0] - 8 * x[1] + 6 * x[2]), r_1 = 7 - (2 * x[0] + 9 * x[1] + 8 * x[2]);
        EXPECT_EQ(found.result.status, SolveStatus::converged);
        EXPECT_NEAR(found.result.relative_residual, std::hypot(r_0, r_1) / std::sqrt(58), 1e-14);
    }
}

TEST(Lsmr, KnowsNoNormalResidualWhereTheResidualIsBeyondAllNumbers) {
    const auto a = csr_from_entries<double>(3, 1, std::vector<Entry<double>>{{0, 0, 1}, {1, 0, 2}, {2, 0, 3}});
    const auto found = solve_by_lsmr<double>(a, {1e308, -1.5e308, 1.6e308}, with(Accuracy::exact, 1e-10));
    EXPECT_EQ(found.result.status, SolveStatus::non_finite);
    EXPECT_TRUE(std::isnan(found.result.normal_residual));
}

// Promise: lsmr.hpp, "Where the iteration claims that and it is not so"
// Promise: lsmr.hpp, "The x returned is that with the least ||A'r|| seen"
// Columns that are nearly dependent: more than single precision can tell.
// Promise: lsmr.hpp, "from the true residual of a better x"
TEST(Lsmr, SaysThatItStagnates) {
    std::vector<Entry<float>> entries;
    for (std::int32_t i = 0; i < 30; ++i)
        for (std::int32_t j = 0; j < 10; ++j) entries.push_back({i, j, static_cast<float>(1 / (1.0 + i + j))});  // Hilbert's
    const auto a = csr_from_entries<float>(30, 10, entries);
    const Eigen::MatrixXd d = dense_of(convert<double>(a.view()));
    const std::vector<float> b = random_vector<float>(30, 3);
    const auto normal_residual = [&](const std::vector<double>& x) {
        return (d.transpose() * (eigen_vector({b.begin(), b.end()}) - d * eigen_vector(x))).norm();
    };
    KrylovOptions options = with(Accuracy::exact, 1e-14);
    double least = std::numeric_limits<double>::infinity();
    options.callback = [&](const Iteration& step) {
        std::vector<double> x(10);
        step.iterate->copy_to(x);
        if (step.true_residual >= 0) least = std::min(least, normal_residual(x));
        return true;
    };
    const auto solved = solve_by_lsmr(a, b, options);
    EXPECT_LE(normal_residual({solved.x.begin(), solved.x.end()}), least * (1 + 1e-6));
    EXPECT_EQ(solved.result.status, SolveStatus::stagnated);
    EXPECT_GT(solved.result.restarts, 0);
    EXPECT_LT(solved.result.normal_residual, 1e-5);
    EXPECT_LT(solved.result.iterations, 1000);
    const auto again = solve_by_lsmr(a, b, with(Accuracy::exact, 1e-14), 1, solved.x);  // which is not to be halved any more
    EXPECT_EQ(again.result.status, SolveStatus::stagnated);
    EXPECT_EQ(again.result.restarts, 3);
}

// Promise: lsmr.hpp, "from the true residual of a better x"
TEST(Lsmr, DoesNotRestartWhereTheIterationIsRight) {
    const auto a = matrix_of_rank(5, 12, 5, 4);
    const auto solved = solve_by_lsmr(a, random_vector<double>(12, 3), with(Accuracy::exact, 1e-10));
    EXPECT_EQ(solved.result.status, SolveStatus::converged);
    EXPECT_EQ(solved.result.restarts, 0);
}

// Promise: lsmr.hpp, "||A'r|| / (||A||_F ||r||), r = b - A x"
TEST(Lsmr, StopsAtTheIterationLimitAndWhereTheCallbackAsksFor) {
    const auto a = matrix_of_rank(40, 60, 40, 2);
    const auto b = random_vector<double>(60, 3);
    KrylovOptions options = with(Accuracy::exact);
    options.max_iterations = 5;
    const auto limited = solve_by_lsmr(a, b, options);
    EXPECT_EQ(limited.result.status, SolveStatus::iteration_limit);
    EXPECT_EQ(limited.result.iterations, 5);
    EXPECT_LT(limited.result.relative_residual, 1);
    const Eigen::MatrixXd d = dense_of(a);
    const Eigen::VectorXd r = eigen_vector(b) - d * eigen_vector(limited.x);
    EXPECT_NEAR(limited.result.normal_residual, (d.transpose() * r).norm() / (d.norm() * r.norm()), 1e-12);
    options.max_iterations = 100;
    options.callback = [](const Iteration& step) { return step.number < 5; };
    EXPECT_EQ(solve_by_lsmr(a, b, options).x, limited.x);
}

// Promise: lsmr.hpp, "Converged means, of residuals computed anew"
TEST(Lsmr, EndsWhereTheResidualIsAsSmallAsTheAbsoluteTolerance) {
    const auto a = csr_from_entries<double>(2, 2, std::vector<Entry<double>>{{0, 0, 2}, {0, 1, 1}, {1, 0, 1}, {1, 1, 3}});
    const auto iterations = [&](double absolute_tolerance) {
        KrylovOptions options = with(Accuracy::exact, 0);
        options.absolute_tolerance = absolute_tolerance;
        const auto solved = solve_by_lsmr<double>(a, {4, 7}, options, 1, {0, 1});  // b - A x = (3, 4) at first
        EXPECT_EQ(solved.result.status, SolveStatus::converged);
        return solved.result.iterations;
    };
    EXPECT_EQ(iterations(5), 0);
    EXPECT_GE(iterations(std::nextafter(5, 0)), 1);
}

// Promise: lsmr.hpp, "In exact the bits of x, the number of iterations"
TEST(Lsmr, GivesTheSameBitsForEveryThreadCountInExact) {
    const auto grid = convection_diffusion<double>(150, 0.3);
    CsrMatrix<double> wide = grid.a;
    wide.rows -= 7000;  // the upper rows of it
    wide.row_offsets.resize(static_cast<std::size_t>(wide.rows + 1));
    const auto entries = static_cast<std::size_t>(wide.row_offsets.back());
    wide.column_indices.resize(entries);
    wide.values.resize(entries);
    const auto b = random_vector<double>(static_cast<std::size_t>(wide.rows), 3);
    KrylovOptions options = with(Accuracy::exact, 1e-6);
    options.max_iterations = 30;
    const auto expected = solve_by_lsmr(wide, b, options);
    for (const int threads : {2, 3}) {
        const auto found = solve_by_lsmr(wide, b, options, threads);
        EXPECT_EQ(found.x, expected.x);
        EXPECT_EQ(found.result.iterations, expected.result.iterations);
        EXPECT_EQ(found.result.normal_residual, expected.result.normal_residual);
    }
}

/// b - A x = 2 - 1, of terms of so many sizes that a pair of numbers loses some of them.
TEST(Lsmr, ComputesTheResidualOfTheGuessWithoutRoundingInExact) {
    std::vector<Entry<double>> entries;
    for (const int exponent : {300, 250, 200, 150, 100, 50, 0, -50, -150, -250, -100, -300, -200})
        entries.push_back({0, static_cast<std::int32_t>(entries.size()),
                           exponent < 0 ? -std::ldexp(1.0, -exponent) : std::ldexp(1.0, exponent)});
    KrylovOptions options = with(Accuracy::exact);
    options.max_iterations = 0;
    const auto a = csr_from_entries<double>(1, 13, entries);
    const auto found = solve_by_lsmr(a, std::vector<double>{2}, options, 1, std::vector<double>(13, 1));
    EXPECT_EQ(found.result.relative_residual, 0.5);
}

// Promise: lsmr.hpp, "Throws DimensionMismatch where b, x"
TEST(Lsmr, RefusesWhatDoesNotFit) {
    const auto a = matrix_of_rank(2, 3, 2, 1);
    const SpmvPlan<double> plan(a, Device::cpu(1));
    std::vector<double> b(3, 1), x(2);
    EXPECT_THAT([&] { lsmr<double>(plan, plan, b, x); },
                ::testing::ThrowsMessage<DimensionMismatch>("lsmr: A is 3 x 2 and its transpose 3 x 2; expected 2 x 3"));
    const CsrMatrix<double> t = transpose(a.view());
    const SpmvPlan<double> transposed(t, Device::cpu(1));
    EXPECT_THAT([&] { lsmr<double>(plan, transposed, x, x); },
                ::testing::ThrowsMessage<DimensionMismatch>("lsmr: b has 2 elements, A is 3 x 2; b needs 3"));
    EXPECT_THROW(lsmr<double>(plan, transposed, b, x, with(Accuracy::exact, 0)), InvalidArgument);
    EXPECT_THAT([&] { lsmr<double>(plan, transposed, b, std::span(b).first(2)); },
                ::testing::ThrowsMessage<InvalidArgument>(::testing::HasSubstr("lsmr: x overlaps b in memory")));
}

}  // namespace
}  // namespace solver
