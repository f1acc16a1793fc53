#include "solver/krylov_solve.hpp"
#include "solver/preconditioner.hpp"
#include "support/linear_systems.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <utility>
#include <vector>

namespace solver {
namespace {

using namespace testing;

using Kind = PreconditionerKind;

Solve<double> solve_by(KrylovMethod method, const Problem<double>& problem, const KrylovOptions& options,
                       Kind kind = Kind::none) {
    return solve(problem, options, {.kind = kind, .method = method});
}

// In exact arithmetic BiCG's polynomials of degree n, one degree a step, leave nothing of r.
// Promise: krylov.hpp, "BiCGStab(2), for any A"
TEST(Bicgstab2, EndsWithinTheStepsThatItsTheoremAllows) {
    std::mt19937_64 random(5);
    for (std::int64_t n = 1; n <= 16; ++n) {
        std::vector<double> a(static_cast<std::size_t>(n * n));
        for (double& x : a) x = static_cast<double>(static_cast<int>(random() % 9) - 4);
        for (std::int64_t i = 0; i < n; ++i) a[i * n + i] += 20;
        const auto problem = dense(n, a, random_vector<double>(static_cast<std::size_t>(n), 3));
        for (const Accuracy accuracy : all_accuracies) {
            const auto solved = solve_by(KrylovMethod::bicgstab2, problem, with(accuracy));
            EXPECT_EQ(solved.result.status, SolveStatus::converged) << n;
            EXPECT_LE(solved.result.iterations, n) << n;
            expect_honest(problem, solved, with(accuracy));
        }
    }
}

/// x1' = w x2, x2' = -w x1 for each of so many frequencies w = 1, 2, ...: every eigenvalue is imaginary.
Problem<double> oscillators(std::int32_t count) {
    std::vector<Entry<double>> entries;
    for (std::int32_t k = 0; k < count; ++k) {
        entries.push_back({2 * k, 2 * k + 1, k + 1.0});
        entries.push_back({2 * k + 1, 2 * k, -(k + 1.0)});
    }
    return with_random_solution(csr_from_entries<double>(2 * count, 2 * count, entries));
}

/// A times powers of two: a product of products, or its square, would leave the range of numbers.
template <class T>
void expect_steps_of_any_scale(std::initializer_list<int> exponents) {
    const CsrMatrix<T> a = convert<T, double>(convection_diffusion<double>(12, 0.4).a);
    const std::vector<T> b(static_cast<std::size_t>(a.rows), 1);
    const auto solved = [&](int exponent) {
        CsrMatrix<T> scaled = a;
        for (T& value : scaled.values) value = std::ldexp(value, exponent);
        std::vector<T> x(b.size());
        const SolveResult result = krylov_solve<T>(KrylovMethod::bicgstab2, SpmvPlan<T>(scaled, Device::cpu(1)),
                                                   *make_preconditioner<T>(Kind::none, scaled.view(), Accuracy::exact), b, x,
                                                   {}, {.accuracy = Accuracy::exact, .tolerance = 64 * unit_roundoff<T>});
        EXPECT_EQ(result.status, SolveStatus::converged);
        for (T& element : x) element = std::ldexp(element, exponent);
        return std::pair(result.iterations, x);
    };
    const auto usual = solved(0);
    for (const int exponent : exponents) {
        SCOPED_TRACE(exponent);
        EXPECT_EQ(solved(exponent), usual);
    }
}

TEST(Bicgstab2, TakesTheSameStepsWhateverTheScaleOfA) {
    expect_steps_of_any_scale<float>({-80, -66, -20, 10, 20, 43, 60, 90});
    expect_steps_of_any_scale<double>({-800, -530, -200, 100, 200, 345, 500, 900});
}

// (A r, r) = 0 for every r, so that BiCGStab's second half of a step does nothing, and it breaks down again and again.
// Promise: krylov_solve.hpp, "BiCGStab(2) of Sleijpen and Fokkema"
TEST(Bicgstab2, SolvesWhereAllEigenvaluesAreImaginary) {
    const auto problem = oscillators(10);
    for (const Accuracy accuracy : all_accuracies) {
        KrylovOptions options = with(accuracy);
        options.max_iterations = 60;
        const auto solved = solve_by(KrylovMethod::bicgstab2, problem, options);
        EXPECT_EQ(solved.result.status, SolveStatus::converged);
        EXPECT_TRUE(solved.result.restarts == 0 || accuracy == Accuracy::fast);  // whose roundings are the machine's
        expect_honest(problem, solved, options);
        EXPECT_NE(solve_by(KrylovMethod::bicgstab, problem, options).result.status, SolveStatus::converged);
    }
}

TEST(Bicgstab2, EndsWhereTheSecondVectorIsAlongTheFirst) {
    const auto problem = dense<double>(3, {2, 0, 0, 0, 2, 0, 0, 0, 2}, {1, 2, 3});
    for (const Kind kind : {Kind::none, Kind::jacobi}) {
        const auto solved = solve_by(KrylovMethod::bicgstab2, problem, with(Accuracy::exact), kind);
        EXPECT_EQ(solved.result.status, SolveStatus::converged);
        EXPECT_EQ(solved.result.iterations, 1);
    }
}

TEST(Bicgstab2, ReplacesTheResidualWhereItHasDrifted) {
    const auto problem = convection_diffusion<float>(30, 0.3F);
    const auto solved = solve(problem, with(Accuracy::exact, 1e-13), {.pair = true, .method = KrylovMethod::bicgstab2});
    EXPECT_EQ(solved.result.status, SolveStatus::converged);
    EXPECT_GT(solved.result.replacements, 0);
    EXPECT_LE(true_residual(problem, solved), 1.000001e-13);
}

}  // namespace
}  // namespace solver
