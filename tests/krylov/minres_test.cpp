#include "krylov/minres_scalars.hpp"
#include "solver/krylov_solve.hpp"
#include "solver/preconditioner.hpp"
#include "support/eigen.hpp"
#include "support/linear_systems.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <numbers>
#include <span>
#include <vector>

namespace solver {
namespace {

using namespace testing;

using Kind = PreconditionerKind;

Solve<double> solve_by_minres(const Problem<double>& problem, KrylovOptions options, Kind kind = Kind::none) {
    options.keep_history = true;
    return solve(problem, options, {.kind = kind, .method = KrylovMethod::minres});
}

/// The five-point Laplace operator minus `shift`: indefinite where the shift lies among its eigenvalues, which are below 8.
Problem<double> shifted_laplacian(std::int32_t side, double shift) {
    auto problem = convection_diffusion<double>(side, 0);
    for (std::int64_t i = 0; i < problem.a.rows; ++i)
        for (auto k = problem.a.row_offsets[i]; k < problem.a.row_offsets[i + 1]; ++k)
            if (problem.a.column_indices[k] == i) problem.a.values[k] -= shift;
    return with_random_solution(problem.a);
}

// Promise: krylov_solve.hpp, "Without M the residual falls in every step"
// Promise: krylov_solve.hpp, "MINRES of Paige and Saunders"
// Promise: krylov.hpp, "for symmetric A, definite or not"
TEST(Minres, SolvesIndefiniteSystemsWhoseResidualFallsInEveryStep) {
    for (const Accuracy accuracy : all_accuracies)
        for (const double shift : {0.0, 0.3, 2.1}) {
            const auto problem = shifted_laplacian(20, shift);
            const auto solved = solve_by_minres(problem, with(accuracy));
            EXPECT_EQ(solved.result.status, SolveStatus::converged) << shift;
            expect_honest(problem, solved, with(accuracy));
            const auto& history = solved.result.history;
            for (std::size_t k = 1; k < history.size(); ++k)
                EXPECT_LE(history[k].recursive_residual, history[k - 1].recursive_residual * (1 + 1e-6)) << k;
        }
}

// In exact arithmetic the two are one method.
// Promise: krylov_solve.hpp, "MINRES of Paige and Saunders"
TEST(Minres, HasTheResidualsOfGmresForSymmetricA) {
    const auto problem = shifted_laplacian(12, 0.3);
    KrylovOptions options = with(Accuracy::exact);
    options.keep_history = true;
    options.restart = 200;
    const auto gmres = solve(problem, options, {.kind = Kind::none, .method = KrylovMethod::gmres});
    const auto minres = solve_by_minres(problem, options);
    for (std::size_t k = 0; k < 25; ++k)
        EXPECT_NEAR(minres.result.history[k].recursive_residual, gmres.result.history[k].recursive_residual,
                    2e-3 * gmres.result.history[k].recursive_residual)
            << k;
}

TEST(Minres, EndsAfterAsManyStepsAsThereAreDistinctEigenvalues) {
    constexpr std::int64_t n = 40;
    std::vector<double> ones_and_identity(n * n, 1.0);  // eigenvalues -2 and n - 2
    for (std::int64_t i = 0; i < n; ++i) ones_and_identity[i * n + i] = -1;
    for (const Accuracy accuracy : all_accuracies) {
        const auto solved = solve_by_minres(dense(n, ones_and_identity, random_vector<double>(n, 5)), with(accuracy));
        EXPECT_EQ(solved.result.status, SolveStatus::converged);
        EXPECT_EQ(solved.result.iterations, 2);
    }
}

// Rows and columns out of scale, which Jacobi's M puts right: here A is positive definite.
// Promise: krylov_solve.hpp, "Without M the residual falls in every step"
TEST(Minres, UsesAPositiveDefinitePreconditioner) {
    auto problem = convection_diffusion<double>(20, 0);
    const auto scale = [](std::int64_t i) { return std::ldexp(1.0, static_cast<int>(i % 7) - 3); };
    for (std::int64_t i = 0; i < problem.a.rows; ++i)
        for (auto k = problem.a.row_offsets[i]; k < problem.a.row_offsets[i + 1]; ++k)
            problem.a.values[k] *= scale(i) * scale(problem.a.column_indices[k]);
    problem = with_random_solution(problem.a);
    const Eigen::MatrixXd a = dense_of(problem.a);
    const Eigen::VectorXd b = Eigen::Map<const Eigen::VectorXd>(problem.b.data(), a.rows());
    for (const Accuracy accuracy : all_accuracies) {
        const auto plain = solve_by_minres(problem, with(accuracy));
        KrylovOptions options = with(accuracy);
        double last = std::numeric_limits<double>::infinity();
        options.callback = [&](const Iteration& step) {
            Eigen::VectorXd x(a.rows());
            step.iterate->copy_to({x.data(), problem.b.size()});
            const Eigen::VectorXd r = b - a * x;
            const double norm = std::sqrt(r.dot(r.cwiseQuotient(a.diagonal())));
            EXPECT_LE(norm, last * (1 + 1e-9) + 1e-12 * b.norm()) << step.number;
            last = norm;
            return true;
        };
        const auto with_m = solve_by_minres(problem, options, Kind::jacobi);
        EXPECT_EQ(with_m.result.status, SolveStatus::converged);
        EXPECT_LT(with_m.result.iterations, plain.result.iterations / 2);
        expect_honest(problem, with_m, with(accuracy));
    }
}

/// A times powers of two: what an absolute threshold would take for nothing, or squares of which leave the range of numbers.
template <class T>
void expect_scale_does_not_matter(std::initializer_list<int> exponents) {
    const auto problem = convert<T, double>(shifted_laplacian(12, 0.3).a);
    for (const Kind kind : {Kind::none, Kind::jacobi})
        for (const int exponent : exponents) {
            SCOPED_TRACE(::testing::Message() << to_string(kind) << ", 2^" << exponent);
            CsrMatrix<T> a = problem;
            for (T& value : a.values) value = std::ldexp(value, exponent);
            const std::vector<T> b(static_cast<std::size_t>(a.rows), 1);
            std::vector<T> x(b.size());
            const SpmvPlan<T> plan(a, Device::cpu(1));
            const auto m = make_preconditioner<T>(kind, plan, Accuracy::exact);
            const SolveResult result = krylov_solve<T>(KrylovMethod::minres, plan, *m, b, x, {},
                                                       {.accuracy = Accuracy::exact, .tolerance = 64 * unit_roundoff<T>});
            EXPECT_EQ(result.status, SolveStatus::converged);
        }
}

// Promise: krylov.hpp, "for symmetric A, definite or not"
TEST(Minres, SolvesWhateverTheScaleOfA) {
    expect_scale_does_not_matter<float>({-90, -60, -24, 0, 24, 60, 90});
    expect_scale_does_not_matter<double>({-700, -300, -57, 0, 57, 300, 700});
}

// Promise: krylov_solve.hpp, "M must be symmetric and positive definite"
// Promise: solver.h, "A or M in cg, or M in minres, is not positive definite"
TEST(Minres, SaysThatThePreconditionerIsIndefinite) {
    auto problem = shifted_laplacian(5, 5);  // a diagonal of -1
    for (const Accuracy accuracy : all_accuracies) {
        const auto solved = solve_by_minres(problem, with(accuracy), Kind::jacobi);
        EXPECT_EQ(solved.result.status, SolveStatus::indefinite);
        EXPECT_EQ(solved.x, std::vector<double>(25));
    }
}

/// S L S for the graph Laplacian L of a circulant graph and a diagonal S: singular, and S^-1 of ones spans the null space.
template <class T>
CsrMatrix<T> scaled_graph(std::int32_t n, const std::vector<T>& scale) {
    CsrMatrix<T> a{n, n, {0}, {}, {}};
    for (std::int32_t i = 0; i < n; ++i) {
        std::map<std::int32_t, T> row{{i, 8 * scale[i] * scale[i]}};
        for (const std::int32_t step : {1, 7, 31, 101})
            for (const std::int32_t j : {(i + step) % n, (i + n - step) % n}) row[j] -= scale[i] * scale[j];
        for (const auto& [j, value] : row) {
            a.column_indices.push_back(j);
            a.values.push_back(value);
        }
        a.row_offsets.push_back(a.nonzeros());
    }
    return a;
}

/// The least eigenvalue but 0 where nothing is scaled.
double second_eigenvalue(std::int32_t n) {
    double least = 16;
    for (std::int32_t k = 1; k < n; ++k) {
        double value = 0;
        for (const int step : {1, 7, 31, 101}) value += 2 - 2 * std::cos(2 * std::numbers::pi * k * step / n);
        least = std::min(least, value);
    }
    return least;
}

/// The residual of a b that no x solves for falls to its component in the null space. A r is MinresScalars::nothing() of
/// ||A|| ||r|| there at most, so that the component of r in the range of A, which is orthogonal, is as much times the condition
/// number without the eigenvalue 0.
template <class T>
void expect_least_squares(int scales) {
    constexpr std::int32_t n = 2000;
    std::vector<T> scale(n);
    for (std::int32_t i = 0; i < n; ++i) scale[i] = static_cast<T>(1 << (i % scales));
    const double condition = 16 * std::pow(4, scales - 1) / second_eigenvalue(n);
    const double in_range = MinresScalars<T>::nothing() * condition;
    const CsrMatrix<T> a = scaled_graph(n, scale);
    const std::vector<T> b = random_vector<T>(n, 3);
    double product = 0, square = 0;
    for (std::int32_t i = 0; i < n; ++i) product += b[i] / scale[i], square += 1 / (scale[i] * scale[i]);
    const double least = std::fabs(product) / std::sqrt(square) / norm2(std::span(b), Accuracy::exact);
    const SpmvPlan<T> plan(a, Device::cpu(1));
    for (const Kind kind : {Kind::none, Kind::jacobi}) {
        std::vector<T> x(n);
        const auto m = make_preconditioner<T>(kind, plan, Accuracy::exact);
        const SolveResult result = krylov_solve<T>(KrylovMethod::minres, plan, *m, b, x, {}, {.tolerance = 1e-10});
        EXPECT_EQ(result.status, SolveStatus::stagnated);
        EXPECT_LT(result.iterations, 300);
        if (kind == Kind::none) {  // whose residual is least in the norm that is measured
            EXPECT_LE(result.relative_residual, least * std::sqrt(1 + in_range * in_range));
        }
        EXPECT_LT(norm2(std::span(x), Accuracy::exact), 10 * norm2(std::span(b), Accuracy::exact) / second_eigenvalue(n));
    }
}

// Nothing solves these: what would be added from the null space is in the way.
// Promise: krylov_solve.hpp, "Where nothing solves the system the solve ends as stagnated"
TEST(Minres, EndsWithLeastSquaresWhereNothingSolvesTheSystem) {
    expect_least_squares<double>(1);
    expect_least_squares<double>(3);
    expect_least_squares<float>(1);
}

// r is orthogonal to all but one eigenvector long before the last component of x is found.
TEST(Minres, GoesOnWhereAnEigenvalueIsNearZero) {
    constexpr std::int32_t n = 300;
    CsrMatrix<double> a{n, n, {0}, {}, {}};
    for (std::int32_t i = 0; i < n; ++i) {
        a.column_indices.push_back(i);
        a.values.push_back(i == 77 ? 1e-10 : (i % 2 == 0 ? 1.0 : -1.0) * (1 + i / 100.0));
        a.row_offsets.push_back(i + 1);
    }
    const SpmvPlan<double> plan(a, Device::cpu(1));
    const auto m = make_preconditioner<double>(Kind::none, plan, Accuracy::exact);
    const std::vector<double> b(n, 1.0);
    std::vector<double> x(n);
    const SolveResult result = krylov_solve<double>(KrylovMethod::minres, plan, *m, b, x, {}, {.tolerance = 1e-9});
    EXPECT_EQ(result.status, SolveStatus::converged);
    EXPECT_NEAR(x[77], 1e10, 1e3);
}

}  // namespace
}  // namespace solver
