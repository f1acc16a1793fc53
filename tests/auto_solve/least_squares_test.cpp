#include "solver/least_squares.hpp"

#include "solver/csr_matrix.hpp"
#include "solver/dense_matrix.hpp"
#include "solver/error.hpp"
#include "support/eigen.hpp"
#include "support/gradients.hpp"
#include "support/least_squares.hpp"
#include "support/linear_systems.hpp"
#include "support/real_matrices.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <Eigen/Dense>
#include <Eigen/Sparse>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <span>
#include <stdexcept>
#include <vector>

namespace solver {
namespace {

using namespace testing;
/// In long double.
double largest_cosine(const CsrMatrix<double>& a, const std::vector<double>& b, const std::vector<double>& x) {
    const Matrix d = long_dense(a);
    const Vector r = long_vector(b) - d * long_vector(x);
    long double largest = 0;
    for (Eigen::Index j = 0; j < d.cols(); ++j)
        if (d.col(j).norm() > 0) largest = std::max(largest, std::abs(d.col(j).dot(r)) / (d.col(j).norm() * r.norm()));
    return static_cast<double>(largest);
}

// Promise: least_squares.hpp, "The x for which ||b - A x|| is least, of any A, by LSMR with a preconditioner"
// Promise: least_squares.hpp, "What is tried, on counts of entries and operations alone"
// Promise: least_squares.hpp, "Least squares by whatever finds them"
// Promise: least_squares.hpp, "LSMR, for as long as the matrix G"
// Promise: least_squares.hpp, "LSMR with complete factors (KLU) of G + D"
// Promise: least_squares.hpp, "Before it, LSMR again"
// Promise: least_squares.hpp, "bytes that a preconditioner may take"
// Promise: least_squares.hpp, "0: half of what the process may use"
// Promise: lsmr.hpp, "of the preconditioner, where least_squares"
TEST(LeastSquares, FactorsOfTheNormalEquationsSaveNearlyAllSteps) {
    const auto a = differences(700);
    const auto b = random_vector<double>(701, 3);
    const auto found = find(a, b);
    EXPECT_EQ(found.result.status, SolveStatus::converged);
    EXPECT_LE(found.result.iterations, 60) << "50 without and a few with factors";
    EXPECT_GT(found.result.factor_entries, 700);
    const Vector expected = long_dense(a).householderQr().solve(long_vector(b));
    EXPECT_LE((long_vector(found.x) - expected).norm(), 1e-8L * expected.norm());
    EXPECT_GT(find(a, b, {with(Accuracy::exact, 1e-10), 1}).result.iterations, 600) << "no memory for factors";
}

// Promise: least_squares.hpp, "Converged means, of r = b - A x computed anew from x"
// Promise: least_squares.hpp, "|a_j'r| <= tolerance ||a_j|| ||r|| for every column"
// Promise: least_squares.hpp, "This does not depend on the units of the columns"
// Promise: lsmr.hpp, "of least_squares the largest |a_j'r| / (||a_j|| ||r||) of a column a_j"
// Promise: least_squares.hpp, "D is 2^-40 of G's diagonal"
TEST(LeastSquares, TheUnitsOfColumnsDoNotMatter) {
    for (const double spread : {0.0, 60.0, 300.0}) {
        const auto a = differences(300, spread);
        const auto b = random_vector<double>(301, 3);
        const auto found = find(a, b);
        EXPECT_EQ(found.result.status, SolveStatus::converged) << spread;
        EXPECT_LE(found.result.iterations, 60) << spread;
        EXPECT_LE(found.result.normal_residual, 1e-10);
        EXPECT_NEAR(found.result.normal_residual, largest_cosine(a, b, found.x), 1e-15);
        for (std::size_t j = 0; j < 300; ++j)
            EXPECT_NEAR(found.x[j] * std::exp2(spread * static_cast<double>(j) / 300), find(differences(300), b).x[j], 1e-6);
    }
}

/// A cubic in t = 0, ..., 99 by its coefficients: the largest column alone hides what the others miss.
TEST(LeastSquares, FitsACubic) {
    std::vector<Entry<double>> entries;
    std::vector<double> b;
    for (std::int32_t i = 0; i < 100; ++i) {
        const double t = i;
        for (std::int32_t j = 0; j < 4; ++j) entries.push_back({i, j, std::pow(t, 3 - j)});
        b.push_back(((t / 64 - 2) * t + 3) * t - 5 + (i % 2 == 0 ? 1 : -1));
    }
    const auto a = csr_from_entries<double>(100, 4, entries);
    const auto found = find(a, b);
    EXPECT_EQ(found.result.status, SolveStatus::converged);
    const Vector expected = long_dense(a).householderQr().solve(long_vector(b));
    for (Eigen::Index j = 0; j < 4; ++j)
        EXPECT_NEAR(found.x[static_cast<std::size_t>(j)], static_cast<double>(expected[j]), 1e-6) << j;
}

// Promise: least_squares.hpp, "Where these are too dear, or a singular value"
// Promise: least_squares.hpp, "G is A'A and D 2^-36"
// Promise: least_squares.hpp, "What is beside the range of A'"
/// The columns of the differences twice: x is the mean of what either would have.
TEST(LeastSquares, IsOfLeastNormWhereRankIsLost) {
    const std::int32_t n = 300;
    std::vector<Entry<double>> entries;
    const auto once = differences(n);
    for (std::int32_t i = 0; i <= n; ++i)
        for (std::int64_t k = once.row_offsets[i]; k < once.row_offsets[i + 1]; ++k)
            for (const std::int32_t j : {once.column_indices[k], once.column_indices[k] + n})
                entries.push_back({i, j, once.values[k]});
    auto a = csr_from_entries<double>(n + 1, 2 * n, entries);
    a.rows = 2 * n + 1;  // tall: rows of zeros
    a.row_offsets.resize(static_cast<std::size_t>(a.rows) + 1, a.nonzeros());
    auto b = random_vector<double>(static_cast<std::size_t>(n + 1), 3);
    const Vector half = long_dense(once).householderQr().solve(long_vector(b)) / 2;
    b.resize(static_cast<std::size_t>(a.rows), 1.0);
    const auto found = find(a, b);
    EXPECT_EQ(found.result.status, SolveStatus::converged);
    EXPECT_GT(found.result.factor_entries, 0);
    EXPECT_LE(found.result.iterations, 80);
    double apart = 0;
    for (std::int32_t j = 0; j < n; ++j) apart = std::max(apart, std::abs(found.x[j] - found.x[j + n]));
    EXPECT_LE(apart, 1e-11 * static_cast<double>(half.norm())) << "u times the square of the condition number, 10^5, at most";
    EXPECT_LE((long_vector(found.x).head(n) - half).norm(), 1e-7L * half.norm());

    std::vector<double> guess(static_cast<std::size_t>(2 * n));
    for (std::int32_t j = 0; j < n; ++j) guess[j] = 1, guess[j + n] = -1;  // in the null space, where it is to stay
    const auto beside = find(a, b, with_factors(), 1, guess);
    EXPECT_EQ(beside.result.status, SolveStatus::converged);
    for (std::int32_t j = 0; j < 2 * n; ++j)
        EXPECT_NEAR(beside.x[j] - guess[j], found.x[j], 1e-6 * static_cast<double>(half.norm()));
}

TEST(LeastSquares, IsOfLeastNormWhereAIsWide) {
    const auto a = transpose(differences(400, 10).view());
    const auto b = random_vector<double>(400, 3);
    const auto found = find(a, b);
    EXPECT_EQ(found.result.status, SolveStatus::converged);
    EXPECT_GT(found.result.factor_entries, 0);
    EXPECT_LE(found.result.iterations, 60);
    const Matrix d = long_dense(a);
    const Vector expected = d.transpose() * (d * d.transpose()).eval().ldlt().solve(long_vector(b));
    EXPECT_LE((long_vector(found.x) - expected).norm(), 1e-7L * expected.norm());
}

/// Rows that contradict one another: factors of A A' would find something else.
TEST(LeastSquares, TakesTheColumnsWhereAWideMatrixHasLostRank) {
    for (const auto& [rows, columns, rank] : shapes_and_ranks) {
        const auto a = matrix_of_rank(rank, rows, columns, 4);
        const auto b = random_vector<double>(static_cast<std::size_t>(rows), 3);
        const auto found = find(a, b, with_factors(1e-13));
        EXPECT_EQ(found.result.status, SolveStatus::converged);
        const Eigen::VectorXd expected = dense_of(a).completeOrthogonalDecomposition().solve(eigen_vector(b));
        EXPECT_LE((eigen_vector(found.x) - expected).norm(), 1e-9 * expected.norm());
    }
    std::vector<Entry<double>> entries;
    for (std::int32_t j = 0; j < 400; ++j)
        for (const std::int32_t i : {j % 200, (j * 7 + 3) % 200, 200 + (j * 7 + 3) % 200})
            entries.push_back({i, j, 1.0 + i % 200});
    const auto wide = transpose(transpose(csr_from_entries<double>(400, 800, entries).view()).view());
    const auto b = random_vector<double>(400, 3);
    const auto found = find(wide, b);
    EXPECT_EQ(found.result.status, SolveStatus::converged);
    EXPECT_GT(found.result.factor_entries, 0);
    const Eigen::VectorXd expected = dense_of(wide).completeOrthogonalDecomposition().solve(eigen_vector(b));
    EXPECT_LE((eigen_vector(found.x) - expected).norm(), 1e-7 * expected.norm());
    EXPECT_LE(largest_cosine(wide, b, found.x), 1.1e-10);
}

// Promise: least_squares.hpp, "In exact the bits of x are the same on every machine"
TEST(LeastSquares, IsTheSameForEveryNumberOfThreadsAndOfADenseMatrixToo) {
    const auto a = differences(500);
    const auto b = random_vector<double>(501, 3);
    EXPECT_EQ(find(a, b).x, find(a, b, with_factors(), 2).x);

    const Eigen::MatrixXd d = dense_of(a);
    const DenseView<double> view{501, 500, 1, 501, d.data()};
    std::vector<std::vector<double>> x;
    for (const int threads : {1, 2}) {
        const SpmvPlan<double> plan(view, Device::cpu(threads)), transposed(view.transposed(), Device::cpu(threads));
        x.emplace_back(500);
        const auto result = least_squares<double>(plan, transposed, b, x.back(), with_factors());
        EXPECT_EQ(result.status, SolveStatus::converged);
        EXPECT_GT(result.factor_entries, 0);
        EXPECT_LE(largest_cosine(a, b, x.back()), 1.1e-10);
    }
    EXPECT_EQ(x[0], x[1]);
}

TEST(LeastSquares, WorksInSinglePrecision) {
    const auto a = differences(200, 20);
    const auto a_single = convert<float>(a.view());
    const auto b = random_vector<float>(201, 3);
    const auto found = find<float>(a_single, b, with_factors(1e-5));
    EXPECT_EQ(found.result.status, SolveStatus::converged);
    EXPECT_GT(found.result.factor_entries, 0);
    EXPECT_LE(largest_cosine(convert<double>(a_single.view()), {b.begin(), b.end()}, {found.x.begin(), found.x.end()}), 1.1e-5);
}

TEST(LeastSquares, NumbersItsIterationsOverAllAttempts) {
    const auto a = differences(700);
    const auto b = random_vector<double>(701, 3);
    LeastSquaresOptions options = with_factors();
    options.iteration.keep_history = true;
    std::vector<std::int64_t> told;
    options.iteration.callback = [&](const Iteration& iteration) {
        told.push_back(iteration.number);
        return true;
    };
    const auto found = find(a, b, options);
    ASSERT_EQ(std::ssize(told), found.result.iterations + 1);
    ASSERT_EQ(found.result.history.size(), told.size());
    for (std::size_t k = 0; k < told.size(); ++k) {
        EXPECT_EQ(told[k], static_cast<std::int64_t>(k));
        EXPECT_EQ(found.result.history[k].number, told[k]);
    }
}

/// Columns that need few steps, many, or factors; of full rank and not.
// Promise: least_squares.hpp, "Of each column of B by itself, with the bits"
// Promise: least_squares.hpp, "X holds the guesses on entry"
TEST(LeastSquares, HasTheBitsOfEachColumnByItself) {
    const auto regular = differences(500);
    std::vector<Entry<double>> entries;  // two equal columns
    for (std::int64_t i = 0; i < regular.rows; ++i)
        for (std::int64_t k = regular.row_offsets[i]; k < regular.row_offsets[i + 1]; ++k) {
            entries.push_back({static_cast<std::int32_t>(i), regular.column_indices[k], regular.values[k]});
            if (regular.column_indices[k] == 7) entries.push_back({static_cast<std::int32_t>(i), 500, regular.values[k]});
        }
    const auto singular = csr_from_entries<double>(501, 501, entries);
    const CsrMatrix<double> wide = transpose(singular.view());
    for (const CsrMatrix<double>* const a : {&regular, &singular, &wide}) {
        const auto rows = static_cast<std::size_t>(a->rows), columns = static_cast<std::size_t>(a->columns);
        DenseMatrix<double> b{a->rows, 4, random_vector<double>(3 * rows, 3)},
            x{a->columns, 4, random_vector<double>(4 * columns, 4)};
        b.values.resize(4 * rows);  // a column of zeros
        LeastSquaresOptions options = with_factors();
        options.iteration.keep_history = true;
        std::vector<std::vector<double>> told(4);
        std::vector<Found<double>> expected;
        for (std::size_t j = 0; j < 4; ++j) {
            const auto part = [&](const std::vector<double>& v, std::size_t n) {
                return std::vector<double>(v.begin() + static_cast<std::ptrdiff_t>(j * n),
                                           v.begin() + static_cast<std::ptrdiff_t>((j + 1) * n));
            };
            expected.push_back(find(*a, part(b.values, rows), options, 1, part(x.values, columns)));
        }
        EXPECT_GT(expected[0].result.factor_entries, 0);
        options.iteration.callback = [&](const Iteration& step) {
            told[static_cast<std::size_t>(step.column)].push_back(step.recursive_residual);
            return true;
        };
        const CsrMatrix<double> t = transpose(a->view());
        const auto found =
            least_squares<double>(SpmvPlan<double>(*a, Device::cpu(1)), SpmvPlan<double>(t, Device::cpu(1)), b, x, options);
        ASSERT_EQ(found.size(), 4u);
        for (std::size_t j = 0; j < 4; ++j) {
            SCOPED_TRACE(j);
            EXPECT_TRUE(std::ranges::equal(std::span(x.values).subspan(j * columns, columns), expected[j].x));
            EXPECT_EQ(found[j].status, expected[j].result.status);
            EXPECT_EQ(found[j].iterations, expected[j].result.iterations);
            EXPECT_EQ(found[j].normal_residual, expected[j].result.normal_residual);
            EXPECT_EQ(found[j].factor_entries, expected[j].result.factor_entries);
            ASSERT_EQ(found[j].history.size(), expected[j].result.history.size());
            ASSERT_EQ(told[j].size(), expected[j].result.history.size());
            for (std::size_t k = 0; k < told[j].size(); ++k) {
                EXPECT_EQ(told[j][k], expected[j].result.history[k].recursive_residual);
                EXPECT_EQ(found[j].history[k].recursive_residual, told[j][k]);
                EXPECT_EQ(found[j].history[k].column, static_cast<std::int64_t>(j));
            }
        }
    }
}

TEST(LeastSquares, RefusesAnXThatOverlapsB) {
    const auto a = csr_from_entries<double>(2, 2, std::vector<Entry<double>>{{0, 0, 1}});
    std::vector<double> both{1, 2};
    const SpmvPlan<double> plan(a, Device::cpu(1));
    EXPECT_THROW(least_squares<double>(plan, plan, both, both), InvalidArgument);
    EXPECT_EQ(both, (std::vector<double>{1, 2}));
}

// Promise: least_squares.hpp, "Throws DimensionMismatch where B or X"
TEST(LeastSquares, RefusesColumnsThatDoNotFit) {
    const auto a = differences(5), t = transpose(a.view());
    const SpmvPlan<double> plan(a, Device::cpu(1)), transposed(t, Device::cpu(1));
    const auto solve = [&](DenseMatrix<double> b, DenseMatrix<double> x) {
        return least_squares<double>(plan, transposed, b, x);
    };
    const auto of = [](std::int64_t rows, std::int64_t columns, std::size_t values) {
        return DenseMatrix<double>{rows, columns, std::vector<double>(values)};
    };
    EXPECT_EQ(solve(of(6, 2, 12), of(5, 2, 10)).size(), 2u);
    EXPECT_TRUE(solve(of(6, 0, 0), of(5, 0, 0)).empty());
    EXPECT_THROW(solve(of(5, 2, 10), of(5, 2, 10)), DimensionMismatch);
    EXPECT_THROW(solve(of(6, 2, 12), of(6, 2, 12)), DimensionMismatch);
    EXPECT_THROW(solve(of(6, 2, 12), of(5, 1, 5)), DimensionMismatch);
    EXPECT_THROW(solve(of(6, 2, 11), of(5, 2, 10)), DimensionMismatch);
    EXPECT_THROW(solve(of(6, 2, 12), of(5, 2, 9)), DimensionMismatch);
    DenseMatrix<double> square = of(5, 1, 5);
    const auto chain = transpose(differences(4).view());  // 4 x 5
    CsrMatrix<double> five = chain;
    five.rows = 5;
    five.row_offsets.push_back(five.row_offsets.back());
    const auto five_transposed = transpose(five.view());
    EXPECT_THROW(least_squares<double>(SpmvPlan<double>(five, Device::cpu(1)),
                                       SpmvPlan<double>(five_transposed, Device::cpu(1)), square, square),
                 InvalidArgument);
}

TEST(LeastSquares, StopsWhereTheCallbackWantsAndThrowsWhatItThrows) {
    const auto a = differences(700);
    const auto b = random_vector<double>(701, 3);
    for (const std::int64_t last : {3, 51}) {
        LeastSquaresOptions options = with_factors(1e-14);
        options.iteration.callback = [&](const Iteration& iteration) { return iteration.number < last; };
        const auto found = find(a, b, options);
        EXPECT_EQ(found.result.iterations, last);
        EXPECT_EQ(found.result.status, SolveStatus::iteration_limit);
        options.iteration.callback = [&](const Iteration& iteration) {
            if (iteration.number == last) throw InvalidArgument("the caller's");
            return true;
        };
        EXPECT_THROW(find(a, b, options), InvalidArgument);
    }
    LeastSquaresOptions options = with_factors(1e-14);
    options.iteration.max_iterations = 51;
    EXPECT_EQ(find(a, b, options).result.iterations, 51);
}

// Promise: least_squares.hpp, "Arguments, x, status and errors are those of lsmr"
TEST(LeastSquares, TakesWhatHasNoNumbersToSpeakOf) {
    const auto zero = csr_from_entries<double>(5, 3, {});
    const auto of_zero = find(zero, std::vector<double>{1, 2, 3, 4, 5});
    EXPECT_EQ(of_zero.result.status, SolveStatus::converged);
    EXPECT_EQ(of_zero.x, std::vector<double>(3));
    const auto a = differences(100);
    const auto of_zero_b = find(a, std::vector<double>(101), with_factors(), 1, std::vector<double>(100, 1.0));
    EXPECT_EQ(of_zero_b.result.status, SolveStatus::converged);
    EXPECT_EQ(of_zero_b.x, std::vector<double>(100));
    auto with_column_of_zeros = differences(400);
    for (std::size_t k = 0; k < with_column_of_zeros.values.size(); ++k)
        if (with_column_of_zeros.column_indices[k] == 7) with_column_of_zeros.values[k] = 0;
    const auto stored_zeros = find(with_column_of_zeros, random_vector<double>(401, 3));
    EXPECT_EQ(stored_zeros.result.status, SolveStatus::converged);
    EXPECT_LE(stored_zeros.result.iterations, 60);
    EXPECT_EQ(stored_zeros.x[7], 0);
    auto small = differences(5);  // whose factors come first
    small.values[0] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(find(small, std::vector<double>(6, 1.0)).result.status, SolveStatus::non_finite);
    auto with_nan = a;
    with_nan.values[7] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(find(with_nan, std::vector<double>(101, 1.0)).result.status, SolveStatus::non_finite);
    for (const double unit : {0x1p-1000, 0x1p1000}) {
        auto scaled = a;
        for (double& value : scaled.values) value *= unit;
        const auto found = find(scaled, random_vector<double>(101, 3));
        EXPECT_EQ(found.result.status, SolveStatus::converged) << unit;
        EXPECT_LE(found.result.iterations, 60) << unit;
    }
    EXPECT_THROW(find(a, std::vector<double>(100)), DimensionMismatch);
    const SpmvPlan<double> plan(a, Device::cpu(1));
    std::vector<double> x(100);
    EXPECT_THROW(least_squares<double>(plan, plan, std::vector<double>(101), x), DimensionMismatch) << "no transpose";
}

/// Of the second column nothing is left where numbers are divided by the first one's unit.
TEST(LeastSquares, ClaimsNothingOfColumnsThatUnderflow) {
    for (const double size : {0x1p500, 0x1p300}) {
        const auto a = csr_from_entries<double>(2, 2, std::vector<Entry<double>>{{0, 0, size}, {1, 1, 0x1p-600}});
        const std::vector<double> b{0, 1};
        const auto found = find(a, b);
        if (found.result.status == SolveStatus::converged) {
            EXPECT_EQ(found.x, (std::vector<double>{0, 0x1p600})) << size;
        }
    }
    const CsrMatrix<float> single{2, 2, {0, 1, 2}, {0, 1}, {1e24F, 1e-24F}};
    const auto found = find<float>(single, {0, 1}, with_factors(1e-5));
    if (found.result.status == SolveStatus::converged) {
        EXPECT_NEAR(found.x[1], 1e24F, 1e19F);
    }
}

/// A row that is full makes A'A so, and LSMR takes few steps.
TEST(LeastSquares, DoesWithoutFactorsWhereTheyAreDearAndStepsFew) {
    std::vector<Entry<double>> entries;
    for (std::int32_t j = 0; j < 3000; ++j) {
        entries.push_back({j, j, 2.0 + j % 7});
        entries.push_back({3000, j, 0.25});
    }
    const auto a = csr_from_entries<double>(3001, 3000, entries);
    const auto found = find(a, random_vector<double>(3001, 3));
    EXPECT_EQ(found.result.status, SolveStatus::converged);
    EXPECT_EQ(found.result.factor_entries, 0);
}

/// Weights of rows over four orders of magnitude: the diagonal stays pivot, and factors fill in as predicted.
TEST(LeastSquares, FactorsOfUnevenWeightsFillInAsThoseOfEvenOnes) {
    const auto fill_of = [](double spread) {
        auto a = gradients(60);
        const auto random = random_vector<double>(static_cast<std::size_t>(a.rows), 9);
        for (std::int64_t i = 0; i < a.rows; ++i)
            for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) a.values[k] *= std::exp2(spread * random[i]);
        const auto b = random_vector<double>(static_cast<std::size_t>(a.rows), 3);
        const auto found = find(a, b);
        EXPECT_EQ(found.result.status, SolveStatus::converged);
        EXPECT_EQ(found.result.preconditioner, PreconditionerKind::klu);
        return found.result.factor_entries;
    };
    EXPECT_EQ(fill_of(7), fill_of(0));
}

/// By complete factors of A'A in double, whose condition number is 10^5.
// Promise: least_squares.hpp, "Before factors, in double, LSMR with a cycle of multigrid"
// Promise: lsmr.hpp, "Of A'A or A A': klu or amg"
// Promise: least_squares.hpp, "Where A has lost rank it does not"
TEST(LeastSquares, TakesMultigridWhereThatCostsLess) {
    const auto a = gradients(250);
    const auto b = random_vector<double>(static_cast<std::size_t>(a.rows), 3);
    const auto found = find(a, b);
    EXPECT_EQ(found.result.status, SolveStatus::converged);
    EXPECT_EQ(found.result.preconditioner, PreconditionerKind::amg);
    EXPECT_GT(found.result.factor_entries, 0);
    EXPECT_EQ(find(a, b, with_factors(), 2).x, found.x);
    const std::vector<std::int64_t> columns(a.column_indices.begin(), a.column_indices.end());
    const Eigen::Map<const Eigen::SparseMatrix<double, Eigen::RowMajor, std::int64_t>> d(
        a.rows, a.columns, a.nonzeros(), a.row_offsets.data(), columns.data(), a.values.data());
    const Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> factors(d.transpose() * d);
    const Eigen::VectorXd expected = factors.solve(d.transpose() * eigen_vector(b));
    EXPECT_LE((eigen_vector(found.x) - expected).norm(), 1e-7 * expected.norm());

    const auto wide = transpose(a.view());
    const auto of_wide = find(wide, random_vector<double>(static_cast<std::size_t>(wide.rows), 4));
    EXPECT_EQ(of_wide.result.status, SolveStatus::converged);
    EXPECT_EQ(of_wide.result.preconditioner, PreconditionerKind::amg);
}

/// The first column, whose guess is good, has too few iterations left for multigrid when it comes to that; the second has not.
// Promise: least_squares.hpp, "Of each column of B by itself, with the bits"
TEST(LeastSquares, MakesMultigridForTheColumnThatHasStepsLeftForIt) {
    const auto a = gradients(250);
    const auto rows = static_cast<std::size_t>(a.rows), columns = static_cast<std::size_t>(a.columns);
    const SpmvPlan<double> plan(a, Device::cpu(1));
    const CsrMatrix<double> t = transpose(a.view());
    DenseMatrix<double> b{a.rows, 2, random_vector<double>(2 * rows, 3)}, x{a.columns, 2, std::vector<double>(2 * columns)};
    const std::vector<double> known = random_vector<double>(columns, 4), noise = random_vector<double>(columns, 5);
    plan.multiply(1.0, known, 0.0, b.column(0), Accuracy::exact);
    for (std::size_t j = 0; j < columns; ++j) x.values[j] = known[j] + 0x1p-24 * noise[j];
    LeastSquaresOptions options = with_factors();
    options.iteration.max_iterations = 150;
    std::vector<Found<double>> expected;
    for (const std::int64_t j : {0, 1}) {
        const auto b_j = b.column(j), x_j = x.column(j);
        expected.push_back(find(a, std::vector<double>(b_j.begin(), b_j.end()), options, 1, {x_j.begin(), x_j.end()}));
    }
    EXPECT_EQ(expected[0].result.preconditioner, PreconditionerKind::klu);
    EXPECT_EQ(expected[1].result.preconditioner, PreconditionerKind::amg);
    const auto found = least_squares<double>(plan, SpmvPlan<double>(t, Device::cpu(1)), b, x, options);
    for (const std::int64_t j : {0, 1}) {
        EXPECT_EQ(found[j].preconditioner, expected[j].result.preconditioner);
        EXPECT_TRUE(std::ranges::equal(x.column(j), expected[j].x));
    }
}

/// A masked measurement, as large as it may be.
// Promise: least_squares.hpp, "Rows of A that are zero stand aside"
// Promise: least_squares.hpp, "Convergence, and what iterations tell"
TEST(LeastSquares, DoesNotLookAtRowsThatNoXChanges) {
    const auto a =
        csr_from_entries<double>(4, 2, std::vector<Entry<double>>{{0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {2, 0, 1}, {2, 1, 2}});
    const auto expected = find(a, {1, 3, 6, 0});
    for (const double masked : {1e12, 0x1p500}) {
        const auto found = find(a, {1, 3, 6, masked});
        EXPECT_EQ(found.result.status, SolveStatus::converged);
        EXPECT_EQ(found.x, expected.x);
        EXPECT_EQ(found.result.relative_residual, 1);
        EXPECT_LE(found.result.normal_residual, 1e-10);
    }
    const auto solved = find(a, {1, 3, 5, 0x1p-20});  // but for what is masked
    EXPECT_EQ(solved.result.status, SolveStatus::converged);
    EXPECT_NEAR(solved.result.relative_residual, 0x1p-20 / std::sqrt(35), 1e-12);
    const double infinity = std::numeric_limits<double>::infinity();
    EXPECT_EQ(find(a, {1, 3, 6, infinity}).result.status, SolveStatus::non_finite);
}

/// x_j = j for the first ten by weights beside equations in all unknowns: r of the others stands at right angles to the columns
/// of the rest.
// Promise: least_squares.hpp, "So do heavy rows hide"
// Promise: least_squares.hpp, "Where more than 2^10 ||S b|| by the tolerance"
TEST(LeastSquares, LooksAtTheRowsBesideHeavyOnes) {
    constexpr std::int32_t rows = 600, columns = 150, held = 10;
    constexpr double weight = 0x1p40;  // of which A'A in double keeps nothing of the other rows
    const std::vector<double> random = random_vector<double>(rows * columns, 5);
    std::vector<double> b = random_vector<double>(rows, 6), rest = b;
    std::vector<Entry<double>> entries, others;
    for (std::int32_t i = 0; i < rows; ++i)
        for (std::int32_t j = 0; j < columns; ++j)
            if (j == i % columns || std::abs(random[i * columns + j]) < 0.05) {
                entries.push_back({i, j, random[i * columns + j]});
                if (j >= held) others.push_back({i, j - held, random[i * columns + j]});
            }
    for (std::int32_t j = 0; j < held; ++j) {
        entries.push_back({rows + j, j, weight});
        b.push_back(weight * j);
    }
    const auto a = csr_from_entries<double>(rows + held, columns, entries);
    LeastSquaresOptions options = with_factors();
    options.iteration.keep_history = true;
    std::vector<double> told;
    options.iteration.callback = [&](const Iteration& iteration) {
        EXPECT_EQ(iteration.number, std::ssize(told));
        told.push_back(iteration.recursive_residual);
        return true;
    };
    const auto found = find(a, b, options);
    EXPECT_EQ(found.result.status, SolveStatus::converged);
    for (std::int32_t j = 0; j < held; ++j) EXPECT_NEAR(found.x[j], j, 1e-10 * held);
    for (const Entry<double>& entry : entries)
        if (entry.row < rows && entry.column < held) rest[entry.row] -= entry.value * found.x[entry.column];
    const std::vector<double> free(found.x.begin() + held, found.x.end());
    const double angle = largest_cosine(csr_from_entries<double>(rows, columns - held, others), rest, free);
    EXPECT_LE(angle, 2e-10);  // of r without the heavy rows, which is the shorter one
    EXPECT_EQ(found.result.iterations, std::ssize(told) - 1);
    ASSERT_EQ(found.result.history.size(), told.size());
    EXPECT_EQ(found.result.history.back().recursive_residual, told.back());

    DenseMatrix<double> several{a.rows, 2, b}, x{a.columns, 2, std::vector<double>(2 * columns)};
    several.values.insert(several.values.end(), b.begin(), b.end());
    const CsrMatrix<double> t = transpose(a.view());
    least_squares<double>(SpmvPlan<double>(a, Device::cpu(1)), SpmvPlan<double>(t, Device::cpu(1)), several, x, with_factors());
    for (const std::int64_t j : {0, 1}) EXPECT_TRUE(std::ranges::equal(x.column(j), found.x));

    options.iteration.absolute_tolerance = 1e-300;
    options.iteration.callback = {};
    const auto by_residual = find(a, b, options);
    EXPECT_EQ(by_residual.result.status, SolveStatus::converged);
    EXPECT_LT(by_residual.result.iterations, found.result.iterations) << "by ||r|| alone";
    LeastSquaresOptions few = with_factors();
    few.iteration.max_iterations = by_residual.result.iterations + 1;
    EXPECT_EQ(find(a, b, few).result.status, SolveStatus::iteration_limit);
}

/// Multigrid does not know that two elements may differ which A only adds up: they are to be equal all the same.
TEST(LeastSquares, IsOfLeastNormWhereMultigridWouldNotSeeThatRankIsLost) {
    auto a = gradients(250);
    const std::int64_t n = a.columns;
    for (int pair = 0; pair < 3; ++pair) {
        a.column_indices.insert(a.column_indices.end(),
                                {static_cast<std::int32_t>(a.columns), static_cast<std::int32_t>(a.columns + 1)});
        a.values.insert(a.values.end(), 2, 1.0);
        a.row_offsets.push_back(a.nonzeros());
        a.rows += 1;
        a.columns += 2;
    }
    const auto b = random_vector<double>(static_cast<std::size_t>(a.rows), 3);
    const auto found = find(a, b);
    EXPECT_EQ(found.result.status, SolveStatus::converged);
    EXPECT_EQ(found.result.preconditioner, PreconditionerKind::klu);
    for (std::int64_t j = n; j < a.columns; j += 2) {
        EXPECT_NEAR(found.x[j], found.x[j + 1], 1e-9);
        EXPECT_NEAR(found.x[j] + found.x[j + 1], b[static_cast<std::size_t>(a.rows - 3 + (j - n) / 2)], 1e-7);
    }
}

}  // namespace
}  // namespace solver
