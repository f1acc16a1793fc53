#include "solver/krylov_solve.hpp"
#include "support/linear_systems.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace solver {
namespace {

using namespace testing;

using Kind = PreconditionerKind;

Solve<double> solve_by_idr(const Problem<double>& problem, const KrylovOptions& options, Kind kind = Kind::none) {
    return solve(problem, options, {.kind = kind, .method = KrylovMethod::idr});
}

// In exact arithmetic IDR(s) needs at most n + n / s products (Sonneveld, van Gijzen, SIAM J. Sci. Comput. 31(2), 2008).
// Promise: krylov_solve.hpp, "IDR(4) of van Gijzen and Sonneveld"
// Promise: krylov.hpp, "IDR(4), for any A"
TEST(Idr, EndsWithinTheStepsThatItsTheoremAllows) {
    std::mt19937_64 random(5);
    for (std::int64_t n = 1; n <= 16; ++n) {
        std::vector<double> a(static_cast<std::size_t>(n * n));
        for (double& x : a) x = static_cast<double>(static_cast<int>(random() % 9) - 4);
        for (std::int64_t i = 0; i < n; ++i) a[i * n + i] += 20;
        const auto problem = dense(n, a, random_vector<double>(static_cast<std::size_t>(n), 3));
        for (const Accuracy accuracy : all_accuracies) {
            const auto solved = solve_by_idr(problem, with(accuracy));
            EXPECT_EQ(solved.result.status, SolveStatus::converged) << n;
            EXPECT_LE(solved.result.iterations, n + (n + 3) / 4) << n;
            expect_honest(problem, solved, with(accuracy));
        }
    }
}

// A rotation by a right angle: the first shadow vector of BiCGStab is orthogonal to A r, and (t, r) vanishes.
TEST(Idr, SolvesWhereBicgstabNeedsARestart) {
    const auto problem = dense<double>(2, {0, 1, -1, 0}, {1, 2});
    for (const Accuracy accuracy : all_accuracies) {
        const auto solved = solve_by_idr(problem, with(accuracy));
        EXPECT_EQ(solved.result.status, SolveStatus::converged);
        expect_honest(problem, solved, with(accuracy));
    }
}

// Promise: krylov.hpp, "how often r was replaced by a true residual"
TEST(Idr, ReplacesTheResidualWhereItHasDrifted) {
    const auto problem = convection_diffusion<float>(30, 0.3F);
    const auto solved = solve(problem, with(Accuracy::exact, 1e-13), {.pair = true, .method = KrylovMethod::idr});
    EXPECT_EQ(solved.result.status, SolveStatus::converged);
    EXPECT_GT(solved.result.replacements, 0);
    EXPECT_LE(true_residual(problem, solved), 1.000001e-13);
}

}  // namespace
}  // namespace solver
