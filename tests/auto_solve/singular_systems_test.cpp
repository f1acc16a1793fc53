#include "matrices/generators.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/dense_matrix.hpp"
#include "solver/device.hpp"
#include "solver/least_squares.hpp"
#include "solver/reduce.hpp"
#include "solver/solve.hpp"
#include "solver/spmv.hpp"
#include "support/eigen.hpp"
#include "support/least_squares.hpp"
#include "support/linear_systems.hpp"
#include "support/solved.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <Eigen/Dense>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <utility>
#include <vector>

namespace solver {
namespace {

using namespace testing;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Not;

/// I - D^-1/2 G D^-1/2 of a random graph with some `degree` edges a point and a ring through all points: symmetric, and zero
/// times D^1/2 e.
CsrMatrix<double> normalised_laplacian(std::int32_t n, std::int32_t degree) {
    std::mt19937 random(7);
    std::vector<std::vector<std::int32_t>> neighbours(static_cast<std::size_t>(n));
    const auto connect = [&](std::int32_t i, std::int32_t j) {
        if (i == j || std::ranges::count(neighbours[i], j) > 0) return;
        neighbours[i].push_back(j);
        neighbours[j].push_back(i);
    };
    for (std::int32_t i = 0; i < n; ++i) {
        connect(i, (i + 1) % n);
        for (std::int32_t k = 2; k < degree; k += 2) connect(i, static_cast<std::int32_t>(random() % n));
    }
    std::vector<Entry<double>> entries;
    for (std::int32_t i = 0; i < n; ++i) {
        entries.push_back({i, i, 1});
        for (const std::int32_t j : neighbours[i])
            entries.push_back({i, j, -1 / std::sqrt(static_cast<double>(neighbours[i].size() * neighbours[j].size()))});
    }
    return csr_from_entries<double>(n, n, entries);
}

/// The least ||b - A x|| by ||b||, where A is zero times D^1/2 e, D the numbers of edges, and nothing else, and symmetric.
double least_of_laplacian(const CsrMatrix<double>& a, const std::vector<double>& b) {
    double along = 0, size = 0, edges = 0;
    for (std::size_t i = 0; i < b.size(); ++i) {
        const auto degree = static_cast<double>(a.row_offsets[i + 1] - a.row_offsets[i] - 1);
        along += b[i] * std::sqrt(degree);
        size += b[i] * b[i];
        edges += degree;
    }
    return std::abs(along) / std::sqrt(edges * size);
}

// Promise: solve.hpp, "by LSMR (least_squares.hpp), not by"
// Promise: solve.hpp, "Its method by name, which is lsmr"
void expect_least_squares(const SolveReport& report, double least) {
    EXPECT_EQ(report.result().status, SolveStatus::stagnated);
    EXPECT_NEAR(report.result().relative_residual, least, 1e-9 * least);
    EXPECT_TRUE(report.attempts.back().least_squares);
    EXPECT_EQ(method_name(report.attempts.back()), "lsmr");
    EXPECT_THAT(report.obstacle, AllOf(HasSubstr("singular"), HasSubstr("no x that solves this system was found")));
    EXPECT_LE(report.result().iterations, SolveOptions().iteration.max_iterations);
}

/// The large one shows at the first attempt that stands still, long before factors are made.
// Promise: solve.hpp, "Least squares (least_squares.hpp) are looked for where A is singular"
// Promise: solve.hpp, "They are looked for, too, where the residual stood still"
// Promise: solve.hpp, "Where what they leave of b stands at right angles"
TEST(SingularSystems, FindLeastSquaresWhereTheNullVectorIsNotConstant) {
    for (const std::int32_t n : {60, 5000}) {
        const CsrMatrix<double> a = normalised_laplacian(n, 6);
        const std::vector<double> b = random_vector<double>(n, 3);
        const auto solved = solve_by(a, b, {});
        const double least = least_of_laplacian(a, b);
        expect_least_squares(solved.report, least);
        EXPECT_NEAR(true_residual(a, b, solved.x), least, 1e-9 * least);
        EXPECT_EQ(solved.x, solve_by(a, b, {}, Device::cpu(2)).x);
        const auto has_factors = [](const Attempt& attempt) { return attempt.preconditioner == PreconditionerKind::klu; };
        EXPECT_EQ(std::ranges::any_of(solved.report.attempts, has_factors), n == 60);
    }
}

// Factors of a large random graph fill in, and would not help.
// Promise: solve.hpp, "They are looked for, too, where the residual stood still"
TEST(SingularSystems, FindLeastSquaresOfLargeGraphsBeforeFactorsAreMade) {
    const CsrMatrix<double> a = normalised_laplacian(100000, 8);
    const std::vector<double> b = random_vector<double>(100000, 3);
    const auto solved = solve_by(a, b, {});
    expect_least_squares(solved.report, least_of_laplacian(a, b));
    for (const Attempt& attempt : solved.report.attempts)
        EXPECT_TRUE(attempt.least_squares || attempt.preconditioner == PreconditionerKind::jacobi);
}

// Promise: krylov_solve.hpp, "Where nothing solves the system the solve ends as stagnated"
TEST(SingularSystems, EndMinresByNameWithTheLeastResidual) {
    const CsrMatrix<double> a = normalised_laplacian(20000, 8);
    const std::vector<double> b = random_vector<double>(20000, 3);
    SolveOptions options;
    options.method = KrylovMethod::minres;
    const auto solved = solve_by(a, b, options);
    const double least = least_of_laplacian(a, b);
    EXPECT_EQ(solved.report.result().status, SolveStatus::stagnated);
    EXPECT_NEAR(solved.report.result().relative_residual, least, 1e-9 * least);
    for (const Attempt& attempt : solved.report.attempts) EXPECT_NE(attempt.preconditioner, PreconditionerKind::klu);
}

/// Rows in other units, so that conjugate gradients have no part in it; ILUT's iterations do not break down.
// Promise: solve.hpp, "They are looked for, too, where the residual stood still"
TEST(SingularSystems, FindLeastSquaresWhereAnAttemptIsStuckBeforeItGoesOn) {
    CsrMatrix<double> a = normalised_laplacian(20000, 4);
    std::vector<double> b = random_vector<double>(20000, 3), from_left = b;
    for (std::int64_t i = 0; i < a.rows; ++i) {
        const double unit = 1 + static_cast<double>(i % 97) / 97;
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) a.values[k] *= unit;
        from_left[i] = std::sqrt(static_cast<double>(a.row_offsets[i + 1] - a.row_offsets[i] - 1)) / unit;
    }
    const double least = std::abs(eigen_vector(from_left).normalized().dot(eigen_vector(b).normalized()));
    const auto solved = solve_by(a, b, {});
    expect_least_squares(solved.report, least);
    const Attempt& stuck = solved.report.attempts[solved.report.attempts.size() - 2];
    EXPECT_EQ(stuck.preconditioner, PreconditionerKind::ilut);
    EXPECT_EQ(stuck.results.front().iterations, 256);
}

/// What is updated misses what is computed by a hair at some tolerances: it goes on where a claim was nearly true.
TEST(SingularSystems, HaveLeastSquaresToEveryToleranceDownToRounding) {
    const CsrMatrix<double> a = normalised_laplacian(5000, 6);
    const SpmvPlan<double> plan(a, Device::cpu(2));
    const std::vector<double> b = random_vector<double>(5000, 3);
    for (double tolerance = 0x1p-36; tolerance > 0x1p-49; tolerance *= 0.7) {
        std::vector<double> x(5000);
        const LeastSquaresResult found = least_squares<double>(plan, plan, b, x, {.iteration = {.tolerance = tolerance}});
        EXPECT_EQ(found.status, SolveStatus::converged) << tolerance;
        EXPECT_EQ(found.factor_entries, 0) << "or this tests something else";
    }
}

TEST(SingularSystems, OfLowRankHaveLeastSquaresOfLeastNorm) {
    for (const std::int64_t rank : {1, 3, 7, 9}) {
        const CsrMatrix<double> a = matrix_of_rank(rank, 10, 10, static_cast<unsigned>(rank));
        const std::vector<double> b = random_vector<double>(10, 5);
        const auto solved = solve_by(a, b, {});
        const Eigen::VectorXd x = dense_of(a).completeOrthogonalDecomposition().solve(eigen_vector(b));
        const double least = (eigen_vector(b) - dense_of(a) * x).norm() / eigen_vector(b).norm();
        expect_least_squares(solved.report, least);
        EXPECT_LE((eigen_vector(solved.x) - x).norm(), 1e-8 * x.norm()) << rank;
        const auto consistent = solve_by(a, image_of_ones(a), {});
        EXPECT_EQ(consistent.report.result().status, SolveStatus::converged) << rank;
        EXPECT_LE(true_residual(a, image_of_ones(a), consistent.x), 1.000001e-10) << rank;
    }
}

TEST(SingularSystems, WorkInSinglePrecision) {
    const auto a =
        csr_from_entries<float>(3, 3, std::vector<Entry<float>>{{0, 0, 1}, {0, 1, 2}, {1, 0, 2}, {1, 1, 4}, {2, 2, 5}});
    const auto solved = solve_by(a, std::vector<float>{1, 3, 5}, {.iteration = {.tolerance = 1e-5}});
    EXPECT_EQ(solved.report.result().status, SolveStatus::stagnated);
    EXPECT_NEAR(solved.x[0], 0.28, 1e-5);
    EXPECT_NEAR(solved.x[1], 0.56, 1e-5);
    EXPECT_NEAR(solved.x[2], 1, 1e-5);
}

// Promise: solve.hpp, "An x that solves the system is taken"
TEST(SingularSystems, AreSolvedWhereTheyCanBe) {
    const CsrMatrix<double> a = matrix_of_rank(7, 10, 10, 1);
    const std::vector<double> can_be = image_of_ones(a), cannot_be = random_vector<double>(10, 5);
    DenseMatrix<double> b{10, 2, can_be}, x{10, 2, std::vector<double>(20)};
    b.values.insert(b.values.end(), cannot_be.begin(), cannot_be.end());
    const SolveReport report = solve<double>(SpmvPlan<double>(a, Device::cpu(1)), b, x);
    EXPECT_EQ(report.results[0].status, SolveStatus::converged);
    EXPECT_EQ(report.results[1].status, SolveStatus::stagnated);
    EXPECT_THAT(report.obstacle, HasSubstr("to this precision this one is its least squares"));
}

/// Where A is singular x may grow until compensated sums of b - A x are nothing but errors: here to 10^34, told as solved.
// Promise: krylov.hpp, "||b - A x||_2 / ||b||_2 of the x returned"
TEST(SingularSystems, AreNotSaidToBeSolvedByAnXWhoseResidualIsLostInRounding) {
    const auto [a, b] = dense<double>(5, {11, 3, 1, -1, 0, 3, 3, -3, 3, 0, 1, -3, 11, 1, 0, -1, 3, 1, 11, 0, 0, 0, 0, 0, 12},
                                      {-6, 7, -7, 0, -1});
    for (const Accuracy accuracy : all_accuracies)
        for (const bool named : {false, true}) {
            SolveOptions options;
            options.iteration.accuracy = accuracy;
            if (named) options.method = KrylovMethod::bicgstab, options.preconditioner = PreconditionerKind::jacobi;
            std::vector<double> x(5), r(5);
            const SpmvPlan<double> plan(a, Device::cpu(1));
            const SolveReport report = solve<double>(plan, b, x, {}, options);
            EXPECT_NE(report.result().status, SolveStatus::converged) << to_string(accuracy) << named;
            plan.residual(b, x, {}, r, Accuracy::exact);
            EXPECT_NEAR(report.result().relative_residual, norm2(r, Accuracy::exact) / norm2(b, Accuracy::exact), 1e-14);
        }
}

/// The precision matrix of a process x_i = rho x_(i-1) + noise, 1 - rho = 2^-40: singular as far as pivots tell, and yet
/// factored with all digits. What factors make of b is taken, though least squares leave less of it, or hardly more, and even
/// where rounding it leaves more than b.
// Promise: solve.hpp, "So it is where A^-1 b is so large"
TEST(SingularSystems, AreNotTakenForNearlySingularOnes) {
    for (const int exponent : {-40, -44}) {
        constexpr std::int32_t n = 2000;
        const double rho = 1 - std::exp2(exponent);
        std::vector<Entry<double>> entries;
        for (std::int32_t i = 0; i < n; ++i) {
            entries.push_back({i, i, i == 0 || i == n - 1 ? 1 : 1 + rho * rho});
            if (i > 0) entries.push_back({i, i - 1, -rho});
            if (i < n - 1) entries.push_back({i, i + 1, -rho});
        }
        const auto a = csr_from_entries<double>(n, n, entries);
        const std::vector<double> b = random_vector<double>(n, 5);
        const auto solved = solve_by(a, b, {});
        SolveOptions rounded;
        rounded.guarantee = Guarantee::rounded;
        const auto proven = solve_by(a, b, rounded);
        ASSERT_EQ(proven.report.proofs.front().status, ProofStatus::proven);
        EXPECT_EQ(solved.report.result().status, SolveStatus::stagnated);
        EXPECT_THAT(solved.report.obstacle, HasSubstr("to round x to double precision changes b - A x"));
        EXPECT_EQ(solved.report.result().relative_residual, true_residual(a, b, solved.x));
        for (std::size_t i = 0; i < b.size(); ++i) EXPECT_NEAR(solved.x[i] / proven.x[i], 1, 0x1p-50);
    }
}

/// Expected times until a walk that leaks 2^-46 a step ends: jacobi stands still, and what it stands at is no least squares.
// Promise: solve.hpp, "If klu was not tried by then"
TEST(SingularSystems, AreNotTakenForMatricesThatCompleteFactorsWereNotMadeOf) {
    constexpr std::int32_t n = 1000;
    std::mt19937 random(3);
    std::vector<Entry<double>> entries;
    for (std::int32_t i = 0; i < n; ++i) {
        std::vector<std::int32_t> to{(i + 1) % n, (i + n - 1) % n};
        while (to.size() < 7) to.push_back(static_cast<std::int32_t>(random() % n));
        std::vector<double> weights;
        for (std::size_t k = 0; k < to.size(); ++k) weights.push_back(k < 2 ? 1 : std::ldexp(random(), -32));
        const double all = sum(weights, Accuracy::exact);
        entries.push_back({i, i, 1});
        for (std::size_t k = 0; k < to.size(); ++k) entries.push_back({i, to[k], -(1 - 0x1p-46) * weights[k] / all});
    }
    const auto a = csr_from_entries<double>(n, n, entries);
    const std::vector<double> b(n, 1);
    const auto solved = solve_by(a, b, {});
    EXPECT_THAT(solved.report.attempts, Contains(Field(&Attempt::least_squares, true)));
    EXPECT_EQ(solved.report.attempts.back().preconditioner, PreconditionerKind::klu);
    for (const double x : solved.x) EXPECT_NEAR(x * 0x1p-46, 1, 0.02);  // as the row sums are 2^-46, but for rounding
}

/// Some ones a row and some rows twice: factors break down, and BiCGStab does, too.
// Promise: solve.hpp, "What nothing solved is tried by idr without a preconditioner at last"
TEST(SingularSystems, OfConsistentEquationsAreSolvedByLeastSquaresOrByIdrAtLast) {
    std::int64_t at_last = 0, by_least_squares = 0;
    for (std::uint32_t seed = 1; seed <= 40; ++seed) {
        std::mt19937 random(seed);
        constexpr std::int32_t n = 60;
        std::vector<Entry<double>> entries;
        for (std::int32_t i = 0; i < n; ++i) {
            const std::int32_t like = i % 10 == 9 ? i - 5 : i;  // rows 10 k + 9 and 10 k + 4 are the same
            std::mt19937 of_row(1000 * seed + static_cast<std::uint32_t>(like));
            for (int k = 0; k < 5; ++k) entries.push_back({i, static_cast<std::int32_t>(of_row() % n), 1});
        }
        const CsrMatrix<double> a = csr_from_entries<double>(n, n, entries);
        const std::vector<double> b = image_of_ones(a);
        const auto [report, x] = solve_by(a, b, {});
        EXPECT_EQ(report.results.front().status, SolveStatus::converged) << seed;
        EXPECT_LE(true_residual(a, b, x), 1.000001e-10) << seed;
        by_least_squares += report.attempts.back().least_squares;

        std::vector<double> high(b.size()), low(b.size());  // a pair, of which there are no least squares
        const SolveReport of_pair = solve<double>(SpmvPlan<double>(a, Device::cpu(1)), b, high, low);
        EXPECT_TRUE(std::ranges::none_of(of_pair.attempts, &Attempt::least_squares)) << seed;
        at_last += of_pair.attempts.back().method == KrylovMethod::idr && of_pair.result().status == SolveStatus::converged;
    }
    EXPECT_GT(at_last, 0);
    EXPECT_GT(by_least_squares, 0);
}

// Promise: solve.hpp, "where nothing solves a singular system"
// Promise: solve.hpp, "None of this is done where a method, a preconditioner or a guarantee is asked for, or x_low"
TEST(SingularSystems, HaveNoLeastSquaresWhereSomethingElseIsAskedFor) {
    const CsrMatrix<double> a = matrix_of_rank(7, 10, 10, 1);
    const std::vector<double> b = random_vector<double>(10, 5);
    SolveOptions method, preconditioner, guarantee, none;
    method.method = KrylovMethod::gmres;
    preconditioner.preconditioner = PreconditionerKind::none;
    guarantee.guarantee = Guarantee::bound;
    none.least_squares = false;
    for (const SolveOptions& options : {method, preconditioner, guarantee, none})
        EXPECT_TRUE(std::ranges::none_of(solve_by(a, b, options).report.attempts, &Attempt::least_squares));
}

/// Condition numbers beyond 1 / u of matrices that are not singular: x of before stays, and is called as good as rounding lets
/// it be.
// Promise: solve.hpp, "Where klu leaves more of b - A x than"
TEST(SingularSystems, AreNotWhatIsOnlyIllConditioned) {
    const Eigen::MatrixXd left = Eigen::MatrixXd::Random(50, 50).householderQr().householderQ(),
                          right = Eigen::MatrixXd::Random(50, 50).householderQr().householderQ();
    Eigen::VectorXd values(50);
    for (int i = 0; i < 50; ++i) values[i] = std::pow(10.0, -15.0 * i / 49);
    const Eigen::MatrixXd dense = left * values.asDiagonal() * right.transpose();
    std::vector<Entry<double>> entries;
    for (std::int32_t i = 0; i < 50; ++i)
        for (std::int32_t j = 0; j < 50; ++j) entries.push_back({i, j, dense(i, j)});
    const auto a = csr_from_entries<double>(50, 50, entries);
    const std::vector<double> b = random_vector<double>(50, 1);
    const auto solved = solve_by(a, b, {});
    EXPECT_THAT(solved.report.obstacle, HasSubstr("to round x to double precision changes b - A x"));
    EXPECT_FALSE(std::ranges::any_of(solved.report.attempts, &Attempt::least_squares));
    const auto by_factors = solve_by(a, b, {.preconditioner = PreconditionerKind::klu});
    EXPECT_LE(solved.report.result().relative_residual, by_factors.report.result().relative_residual);
}

/// u_i = c u_(i-1) + b_i: bidiagonal, u of 10^18 after some steps. To round u leaves more of b - A u than u = 0 does, which is
/// no reason to hand that over: with a power of two all is exact but for the last digit of u.
// Promise: solve.hpp, "So it is where A^-1 b is so large that"
// Promise: solve.hpp, "Of a singular A, w'A = 0, it"
// Promise: solve.hpp, "With klu it pauses after 100"
TEST(SingularSystems, AreNotWhatGrowsFromRowToRow) {
    for (const auto& [factor, n] : {std::pair{1.25, 190}, std::pair{3.0, 40}, std::pair{-10.0, 20}, std::pair{2.0, 100}}) {
        std::vector<Entry<double>> entries;
        std::vector<long double> expected;
        for (std::int32_t i = 0; i < n; ++i) {
            entries.push_back({i, i, 1});
            if (i > 0) entries.push_back({i, i - 1, -factor});
            expected.push_back(1 + (i > 0 ? factor * expected.back() : 0));
        }
        const auto a = csr_from_entries<double>(n, n, entries);
        const std::vector<double> b(static_cast<std::size_t>(n), 1.0);
        for (const auto& preconditioner : {std::optional<PreconditionerKind>(), std::optional(PreconditionerKind::klu)}) {
            SCOPED_TRACE(::testing::Message() << factor << (preconditioner ? " klu" : ""));
            const auto solved = solve_by(a, b, {.preconditioner = preconditioner});
            EXPECT_EQ(solved.report.result().status, SolveStatus::stagnated);
            EXPECT_THAT(solved.report.obstacle, HasSubstr("to round x to double precision changes b - A x"));
            EXPECT_NEAR(solved.report.result().relative_residual, true_residual(a, b, solved.x), 1e-9);
            // Each step of refinement leaves u |A^-1| |A| |x| at most, each row of which adds up 2 n terms of x's size.
            for (std::int32_t i = 0; i < n; ++i)
                EXPECT_LE(std::abs(solved.x[i] - expected[i]), 2 * n * 0x1p-52 * std::abs(expected[i])) << i;
        }
    }
}

/// L^2 - s I, L a grid's Laplacian, s between its two smallest eigenvalues, and no memory for factors: conjugate gradients are
/// stuck before they see that it is indefinite. After a look in vain they go on, and end with MINRES.
// Promise: solve.hpp, "An attempt that is not given up as too slow pauses for that"
// Promise: solve.hpp, "Where no least squares are found"
TEST(SingularSystems, AreNotWhatIsStuckForAWhile) {
    const CsrMatrix<double> l = matrices::find_generator("poisson2d_40").value().make();
    const double smallest = 8 * std::pow(std::sin(std::acos(-1.0) / 82), 2);
    std::vector<Entry<double>> entries;  // those at one place are added up
    for (std::int32_t i = 0; i < l.rows; ++i) {
        entries.push_back({i, i, -1.01 * smallest * smallest});
        for (std::int64_t k = l.row_offsets[i]; k < l.row_offsets[i + 1]; ++k)
            for (std::int64_t m = l.row_offsets[l.column_indices[k]]; m < l.row_offsets[l.column_indices[k] + 1]; ++m)
                entries.push_back({i, l.column_indices[m], l.values[k] * l.values[m]});
    }
    const auto a = csr_from_entries<double>(l.rows, l.rows, entries);
    const std::vector<double> b = random_vector<double>(1600, 1);
    SolveOptions options;
    options.factors.memory_limit = 1;
    options.iteration.tolerance = 1e-8;  // rounding x leaves 6e-10
    const auto solved = solve_by(a, b, options);
    EXPECT_EQ(solved.report.result().status, SolveStatus::converged);
    const std::vector<Attempt>& attempts = solved.report.attempts;
    const auto look = std::ranges::find_if(attempts, &Attempt::least_squares);
    ASSERT_TRUE(look != attempts.end() && look + 1 != attempts.end());
    EXPECT_EQ((look - 1)->results.front().iterations, 256);
    EXPECT_EQ((look + 1)->preconditioner, (look - 1)->preconditioner);
    EXPECT_EQ(attempts.back().method, KrylovMethod::minres);
    options.iteration.callback = [](const Iteration&) { return true; };
    EXPECT_EQ(solve_by(a, b, options).x, solved.x);
    options.iteration.max_iterations = std::numeric_limits<std::int64_t>::max();
    EXPECT_EQ(solve_by(a, b, options).report.result().status, SolveStatus::converged);
}

/// Entries anywhere: incomplete factors do not get nearer, before a look and after it.
// Promise: solve.hpp, "An attempt that is not given up as too slow pauses for that"
TEST(SingularSystems, AreLookedForOnceInWhatIsTooSlowAfterwards) {
    constexpr std::int32_t n = 2000;
    std::mt19937_64 random(1);
    std::vector<Entry<double>> entries;
    for (std::int32_t i = 0; i < n; ++i) {
        entries.push_back({i, i, 1});
        for (int k = 0; k < 6; ++k) {
            const auto j = static_cast<std::int32_t>(random() % n);
            entries.push_back({i, j, std::ldexp(static_cast<double>(random() % 1024), -9) - 1});
        }
    }
    const auto solved = solve_by(csr_from_entries<double>(n, n, entries), std::vector<double>(n, 1), {});
    EXPECT_EQ(solved.report.result().status, SolveStatus::converged);
    const std::vector<Attempt>& attempts = solved.report.attempts;
    const auto look = std::ranges::find_if(attempts, &Attempt::least_squares);
    ASSERT_TRUE(look != attempts.end() && attempts.end() - look == 3);
    EXPECT_EQ((look - 1)->preconditioner, PreconditionerKind::ilut);
    EXPECT_EQ((look - 1)->results.front().iterations, 256);
    EXPECT_EQ((look + 1)->preconditioner, PreconditionerKind::ilut);
    EXPECT_LE((look + 1)->results.front().iterations, 128) << "a quarter of its share";
    EXPECT_EQ((look + 2)->preconditioner, PreconditionerKind::klu);
}

/// Two small singular values of a symmetric matrix, some 200 u and 2 u by its Frobenius norm: complete factors leave of b what
/// rounding x makes of it, least squares would leave all that b has along the two.
TEST(SingularSystems, AreNotWhatFactorsStillSolveFurther) {
    constexpr std::int32_t n = 110;
    const Eigen::MatrixXd q = Eigen::MatrixXd::Random(n, n).householderQr().householderQ();
    for (const double exponent : {12.7, 13.3}) {
        Eigen::VectorXd values = Eigen::VectorXd::Ones(n);
        values[0] = values[1] = std::pow(10.0, -exponent);
        const Eigen::MatrixXd dense = q * values.asDiagonal() * q.transpose();
        std::vector<Entry<double>> entries;
        for (std::int32_t i = 0; i < n; ++i)
            for (std::int32_t j = 0; j < n; ++j) entries.push_back({i, j, (dense(i, j) + dense(j, i)) / 2});
        const auto a = csr_from_entries<double>(n, n, entries);
        const std::vector<double> b = random_vector<double>(n, 1);
        const auto solved = solve_by(a, b, {}), by_factors = solve_by(a, b, {.preconditioner = PreconditionerKind::klu});
        EXPECT_LE(solved.report.result().relative_residual, 2 * by_factors.report.result().relative_residual) << exponent;
        EXPECT_THAT(solved.report.obstacle, Not(HasSubstr("least squares"))) << exponent;
    }
}

/// D R, D with numbers from 1e-6 to 1 on its diagonal, times x with large elements where these are small: a loose tolerance
/// allows least squares to leave that part, which others find.
TEST(SingularSystems, AreSolvedToALooseToleranceWhereTheyCanBe) {
    for (unsigned seed = 1; seed <= 20; ++seed) {
        const CsrMatrix<double> low = matrix_of_rank(12, 15, 15, seed);
        std::mt19937_64 random(seed);
        std::vector<Entry<double>> entries;
        for (std::int32_t i = 0; i < 15; ++i) {
            const double unit = std::exp2(-static_cast<double>(random() % 20));
            for (std::int64_t k = low.row_offsets[i]; k < low.row_offsets[i + 1]; ++k)
                entries.push_back({i, low.column_indices[k], unit * low.values[k]});
        }
        const auto a = csr_from_entries<double>(15, 15, entries);
        const auto b = image_of_ones(a);
        for (const double tolerance : {1e-1, 1e-2, 1e-3, 1e-6}) {
            const auto solved = solve_by(a, b, {.iteration = {.tolerance = tolerance}});
            EXPECT_EQ(solved.report.result().status, SolveStatus::converged) << seed << " " << tolerance;
            EXPECT_THAT(solved.report.obstacle, Not(HasSubstr("least squares"))) << seed << " " << tolerance;
        }
    }
}

TEST(SingularSystems, NumberIterationsOnAndStopWhereTheCallbackWants) {
    const CsrMatrix<double> a = normalised_laplacian(5000, 6);
    const std::vector<double> b = random_vector<double>(5000, 3);
    std::int64_t last = -1, end = 0;
    bool stops = false;
    SolveOptions options;
    options.iteration.callback = [&](const Iteration& iteration) {
        EXPECT_EQ(iteration.number, last + 1);
        last = iteration.number;
        return !stops || last < end;
    };
    const auto whole = solve_by(a, b, options);
    EXPECT_EQ(last, whole.report.result().iterations);
    const auto& results = whole.report.attempts.back().results;
    EXPECT_GT(results.front().iterations, 10);
    EXPECT_GT(last - results.front().iterations, 0);
    stops = true;
    for (const std::int64_t before : {1, 20}) {  // in what is left of b, and in the least squares themselves
        end = whole.report.result().iterations - before;
        last = -1;
        const auto stopped = solve_by(a, b, options);
        EXPECT_EQ(stopped.report.result().status, SolveStatus::iteration_limit);
        EXPECT_EQ(last, end);
        EXPECT_TRUE(stopped.report.attempts.back().least_squares);
        EXPECT_NEAR(stopped.report.result().relative_residual, true_residual(a, b, stopped.x), 1e-14);
    }
}

/// A row without entries beside two rows that are one: what is left of b without that row is not solved by jacobi, and so
/// nothing is said to be least.
TEST(SingularSystems, AreNotSaidToBeSolvedAsFarAsCanBeWhereTheyAreNot) {
    const auto a =
        csr_from_entries<double>(4, 4, std::vector<Entry<double>>{{0, 0, 1}, {0, 1, 2}, {1, 0, 2}, {1, 1, 4}, {3, 3, 5}});
    const std::vector<double> b{1, 3, 1, 1};
    const auto solved = solve_by(a, b, {});
    expect_least_squares(solved.report, std::sqrt((0.2 + 1) / 12));
    EXPECT_NEAR(solved.x[1], 0.56, 1e-9);
    const auto by_name = solve_by(a, b, {.preconditioner = PreconditionerKind::none});
    EXPECT_NE(by_name.report.result().status, SolveStatus::converged);
    EXPECT_THAT(by_name.report.obstacle, Not(HasSubstr("is least")));
}

/// Of two columns, one that nothing solves and one that holds no number.
TEST(SingularSystems, AreSaidToHaveLeastSquaresWhereAllThatIsNotSolvedAre) {
    const double none = std::numeric_limits<double>::quiet_NaN();
    const auto a =
        csr_from_entries<double>(3, 3, std::vector<Entry<double>>{{0, 0, 1}, {0, 1, 2}, {1, 0, 2}, {1, 1, 4}, {2, 2, 5}});
    const DenseMatrix<double> both_bad{3, 2, {1, 3, 5, 1, none, 5}}, one_good{3, 2, {1, 3, 5, 1, 2, 5}};
    DenseMatrix<double> x{3, 2, std::vector<double>(6)}, y = x;
    const SolveReport bad = solve<double>(SpmvPlan<double>(a), both_bad, x);
    EXPECT_EQ(bad.results[0].status, SolveStatus::stagnated);
    EXPECT_EQ(bad.results[1].status, SolveStatus::non_finite);
    EXPECT_THAT(bad.obstacle, Not(HasSubstr("its least squares")));
    const SolveReport good = solve<double>(SpmvPlan<double>(a), one_good, y);
    EXPECT_EQ(good.results[0].status, SolveStatus::stagnated);
    EXPECT_EQ(good.results[1].status, SolveStatus::converged);
    EXPECT_THAT(good.obstacle, HasSubstr("its least squares"));
}

}  // namespace
}  // namespace solver
