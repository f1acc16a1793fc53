#include "solver/csr_matrix.hpp"
#include "solver/reduce.hpp"
#include "solver/solve.hpp"
#include "support/linear_systems.hpp"
#include "support/solved.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace solver {
namespace {

using Kind = PreconditionerKind;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::image_of_ones;
using ::testing::Not;
using testing::solve_by;
using testing::tridiagonal;

// Promise: solve.hpp, "Where nothing helps, the status is that"
// Promise: solve.hpp, "what is known to stand in the way"
TEST(Obstacle, SaysThatARowIsEmptyAndDoesNotAdviseMoreIterations) {
    std::vector<Entry<double>> entries;
    for (std::int32_t i = 0; i < 60; ++i)
        if (i != 17) entries.push_back({i, i, 2.0 + i});
    const auto a = csr_from_entries<double>(60, 60, entries);
    const auto solved = solve_by(a, std::vector<double>(60, 1), {});
    EXPECT_EQ(solved.report.result().status, SolveStatus::stagnated);
    EXPECT_LT(solved.report.result().iterations, SolveOptions().iteration.max_iterations);
    EXPECT_THAT(solved.report.obstacle, HasSubstr("1 empty row, the first is 18 (counted from 1)"));
    EXPECT_THAT(solved.report.obstacle, HasSubstr("what b has, 1.3e-01 ||b||"));
    for (std::size_t i = 0; i < 60; ++i) EXPECT_NEAR(solved.x[i], i == 17 ? 0 : 1 / (2.0 + static_cast<double>(i)), 1e-10);
}

/// Of 60 rows: the second column is empty where the entries of row 2 stand in the first; rows 1 and 2 share one column
/// otherwise.
TEST(Obstacle, SaysWhichColumnIsEmptyAndWhichRowsShareTooFewColumns) {
    for (const bool column_is_empty : {true, false}) {
        std::vector<Entry<double>> entries{{0, 0, 2.0}, {1, 0, 3.0}};
        for (std::int32_t i = 2; i < 60; ++i) entries.push_back({i, i, 2.0 + i});
        if (!column_is_empty) entries.push_back({5, 1, 1.0});
        const auto a = csr_from_entries<double>(60, 60, entries);
        const auto solved = solve_by(a, std::vector<double>(60, 1), {});
        EXPECT_NE(solved.report.result().status, SolveStatus::converged);
        EXPECT_THAT(solved.report.obstacle, HasSubstr("rank 59 of 60"));
        EXPECT_THAT(solved.report.obstacle,
                    HasSubstr(column_is_empty ? "1 empty column, the first is 2 (counted from 1)" : "1 row, the first is "));
    }
}

TEST(Obstacle, SaysOfADenseMatrixWhichRowIsEmpty) {
    const DenseMatrix<double> a{2, 2, {1, 0, 2, 0}};
    std::vector<double> x(2);
    const SolveReport report = solve<double>(SpmvPlan<double>(a.view(), Device::cpu(1)), std::vector<double>{1, 1}, x);
    EXPECT_NE(report.result().status, SolveStatus::converged);
    EXPECT_THAT(report.obstacle, HasSubstr("1 empty row, the first is 2 (counted from 1)"));
}

/// I + weight D'D of second differences D: the solution is of the size of b, A is `weight` times as large.
CsrMatrix<double> smoother(std::int32_t n, double weight) {
    const double stencil[] = {1, -2, 1};
    std::vector<Entry<double>> entries;
    for (std::int32_t i = 0; i < n; ++i) entries.push_back({i, i, 1});
    for (std::int32_t row = 0; row + 2 < n; ++row)
        for (std::int32_t p = 0; p < 3; ++p)
            for (std::int32_t q = 0; q < 3; ++q) entries.push_back({row + p, row + q, weight * stencil[p] * stencil[q]});
    return csr_from_entries<double>(n, n, entries);
}

// The rounding of the exact solution itself misses the tolerance, and nothing is tried beside complete factors.
// Promise: solve.hpp, "Where rounding x makes more than 16 times"
TEST(Obstacle, SaysWhereRoundingXAloneMissesTheTolerance) {
    for (const auto& [n, weight] : std::vector<std::pair<std::int32_t, double>>{{40, 1e10}, {2000, 1e12}, {20000, 1e10}}) {
        const CsrMatrix<double> a = smoother(n, weight);
        std::vector<double> b;
        for (std::int32_t i = 0; i < n; ++i) b.push_back(std::sin(0.3 * i));
        const auto solved = solve_by(a, b, {});
        EXPECT_EQ(solved.report.result().status, SolveStatus::stagnated);
        EXPECT_EQ(solved.report.attempts.back().preconditioner, Kind::klu) << n;
        EXPECT_THAT(solved.report.obstacle, HasSubstr("to round x to double precision changes b - A x by about"));
        const auto rounded = solve_by(a, b, {.guarantee = Guarantee::rounded});
        EXPECT_EQ(rounded.report.proofs.front().status, ProofStatus::proven);
        std::vector<double> r(b.size());
        SpmvPlan<double>(a, Device::cpu(1)).residual(b, rounded.x, {}, r, Accuracy::exact);
        const double of_rounded = norm2(r, Accuracy::exact, Device::cpu(1)) / norm2(b, Accuracy::exact, Device::cpu(1));
        EXPECT_GT(of_rounded, 1e-10);
        EXPECT_LE(solved.report.result().relative_residual, 16 * of_rounded) << "as good as the rounded solution";
    }
}

// Something else may get there by chance, and is tried.
// Promise: solve.hpp, "Where klu leaves more of b - A x than the tolerance"
// Promise: solve.hpp, "What nothing solved is tried by idr"
TEST(Obstacle, SaysWhereRoundingXBarelyMissesTheTolerance) {
    const CsrMatrix<double> a = smoother(2000, 1e12);
    std::vector<double> b;
    for (std::int32_t i = 0; i < 2000; ++i) b.push_back(std::sin(0.3 * i));
    SolveOptions options;
    const std::vector<double> rounded = solve_by(a, b, {.guarantee = Guarantee::rounded}).x;
    options.iteration.tolerance = true_residual(a, b, rounded) * 0.75;
    const auto solved = solve_by(a, b, options);
    for (std::size_t i = 0; i < b.size(); ++i)
        ASSERT_NEAR(solved.x[i], rounded[i], 1e-10 * std::abs(rounded[i]))
            << "what factors found, not what has less of a residual";
    EXPECT_EQ(solved.report.result().relative_residual, true_residual(a, b, solved.x));
    EXPECT_EQ(solved.report.result().status, SolveStatus::stagnated);
    EXPECT_GT(std::ranges::count(solved.report.attempts, false, &Attempt::repeated), 2);
    for (const Attempt& attempt : solved.report.attempts) {
        EXPECT_FALSE(attempt.least_squares);
        EXPECT_NE(attempt.method, KrylovMethod::idr);
    }
    EXPECT_THAT(solved.report.obstacle, HasSubstr("to round x to double precision changes b - A x by about"));
}

/// Complete factors leave a little more than the tolerance of what others then solve.
TEST(Obstacle, IsEmptyWhereSomethingElseSolvesWhatFactorsBarelyMissed) {
    int solved_by_others = 0;
    for (unsigned seed = 0; seed < 20; ++seed) {
        const CsrMatrix<double> a = smoother(60, 1e8);
        const std::vector<double> b = testing::random_vector<double>(60, seed);
        SolveOptions options;
        options.iteration.tolerance = 1e-15;
        const double least = solve_by(a, b, options).report.result().relative_residual;
        for (const double share : {0.97, 0.9, 0.7, 0.5}) {
            options.iteration.tolerance = share * least;
            const SolveReport report = solve_by(a, b, options).report;
            if (report.result().status != SolveStatus::converged) continue;
            EXPECT_EQ(report.obstacle, "");
            ++solved_by_others;
        }
    }
    EXPECT_GT(solved_by_others, 0);
}

TEST(Obstacle, IsNoLimitOfRoundingWhereSomethingElseIsInTheWayOfAnotherColumn) {
    const CsrMatrix<double> a = smoother(40, 1e10);
    DenseMatrix<double> b{40, 2, std::vector<double>(80, std::numeric_limits<double>::quiet_NaN())},
        x{40, 2, std::vector<double>(80)};
    for (std::int32_t i = 0; i < 40; ++i) b.values[40 + i] = std::sin(0.3 * i);
    const SolveReport report = solve<double>(SpmvPlan<double>(a.view(), Device::cpu(1)), b, x);
    EXPECT_EQ(report.results[1].status, SolveStatus::stagnated);
    EXPECT_THAT(report.obstacle, HasSubstr("b - A x of the initial x is Inf or NaN"));
}

// Rows 1 and 2 differ by 2e-20 in one entry, their right-hand sides by 1e-13: the solution is 10^6 times as large as an x of
// the size of b that meets the tolerance, and what complete factors leave of b - A x is what rounding that solution makes of
// it.
TEST(Obstacle, IsNoLimitOfRoundingWhereFactorsAreNearlySingular) {
    const CsrMatrix<double> a{3,
                              3,
                              {0, 2, 5, 7},
                              {0, 1, 0, 1, 2, 1, 2},
                              {1.430628020414178, 1.5867985714381407, 1.430628020414178, 1.5867985714381407,
                               2.3552093805119526e-20, 3.104202085325134, 1.7378377872921602}};
    SolveOptions options;
    options.iteration.tolerance = 1e-12;
    const auto solved = solve_by(a, {4.60422516329046, 4.60422516329056, 5.339485277004188}, options);
    ASSERT_GE(solved.report.attempts.size(), 2u);
    EXPECT_EQ(solved.report.attempts.front().preconditioner, Kind::klu);
    EXPECT_EQ(solved.report.attempts.front().results.front().status, SolveStatus::stagnated);
    EXPECT_EQ(solved.report.result().status, SolveStatus::converged);
}

/// A kernel matrix, whose condition number is beyond 1 / u.
TEST(Obstacle, CallsNothingSingularThatIsProvenToBeRegular) {
    constexpr std::int32_t n = 60;
    std::vector<Entry<double>> entries;
    std::vector<double> b;
    for (std::int32_t i = 0; i < n; ++i) {
        for (std::int32_t j = 0; j < n; ++j)
            entries.push_back({i, j, std::exp(-2.0 * std::pow((i - j) / static_cast<double>(n), 2))});
        b.push_back(std::sin(0.1 * i));
    }
    const auto a = csr_from_entries<double>(n, n, entries);
    SolveOptions options;
    options.iteration.tolerance = 1e-15;
    EXPECT_THAT(solve_by(a, b, options).report.obstacle,
                AllOf(HasSubstr("A is singular as far as this precision can tell"), HasSubstr("least squares")));
    options.guarantee = Guarantee::bound;
    const auto proven = solve_by(a, b, options);
    ASSERT_EQ(proven.report.proofs.front().status, ProofStatus::proven);
    EXPECT_THAT(proven.report.obstacle, HasSubstr("A is ill-conditioned"));
    EXPECT_THAT(proven.report.obstacle, Not(HasSubstr("least squares")));
}

TEST(Obstacle, SaysThatThePivotsOfHilbertsMatrixVanish) {
    std::vector<Entry<double>> entries;
    for (std::int32_t i = 0; i < 20; ++i)
        for (std::int32_t j = 0; j < 20; ++j) entries.push_back({i, j, 1.0 / (i + j + 1)});
    const auto a = csr_from_entries<double>(20, 20, entries);
    SolveOptions options;
    options.iteration.tolerance = 1e-15;  // beyond reach: x is of order 1e16
    const auto solved = solve_by(a, std::vector<double>(20, 1), options);
    EXPECT_NE(solved.report.result().status, SolveStatus::converged);
    EXPECT_THAT(solved.report.obstacle, HasSubstr("A is ill-conditioned: of the pivots"));
}

TEST(Obstacle, BlamesAnUnsymmetricMatrixAndNotThePreconditioner) {
    CsrMatrix<double> a =
        csr_from_entries<double>(3, 3, std::vector<Entry<double>>{{0, 0, 3}, {0, 1, 1}, {1, 0, -1}, {1, 1, 2}, {2, 2, 1}});
    const std::vector<double> b{1, 1, 1};
    SolveOptions options{.preconditioner = Kind::none};
    options.iteration.max_iterations = 50;
    for (const KrylovMethod method : {KrylovMethod::minres, KrylovMethod::cg, KrylovMethod::cocg}) {
        options.method = method;
        EXPECT_THAT(solve_by(a, b, options).report.obstacle,
                    HasSubstr("A is not symmetric, as " + std::string(to_string(method)) + " needs it"));
    }
    a = csr_from_entries<double>(2, 2, std::vector<Entry<double>>{{0, 0, 1}, {0, 1, 2}, {1, 0, 2}, {1, 1, 1}});
    std::swap(a.column_indices[0], a.column_indices[1]);
    std::swap(a.values[0], a.values[1]);
    options.method = KrylovMethod::cg;
    EXPECT_EQ(solve_by(a, {1, 0}, options).report.obstacle, "") << "symmetric, its first row not sorted";
}

TEST(Obstacle, SaysThatTheInitialResidualIsNoNumber) {
    const auto a = tridiagonal(50, 4);
    for (const double value : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
        auto b = image_of_ones(a);
        b[17] = value;
        const auto solved = solve_by(a, b, {});
        EXPECT_EQ(solved.report.result().status, SolveStatus::non_finite);
        EXPECT_THAT(solved.report.obstacle, HasSubstr("b - A x of the initial x is Inf or NaN"));
    }
}

// Promise: solve.hpp, "what is known to stand in the way"
TEST(Obstacle, KnowsOfNoObstacleWhereItSolves) {
    const auto a = tridiagonal(50, 4);
    EXPECT_EQ(solve_by(a, image_of_ones(a), {}).report.obstacle, "");
}

}  // namespace
}  // namespace solver
