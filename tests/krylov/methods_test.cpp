// What the Krylov methods have in common, on systems that all of them can solve.

#include "solver/error.hpp"
#include "solver/krylov_solve.hpp"
#include "support/devices.hpp"
#include "support/krylov_promises.hpp"
#include "support/linear_systems.hpp"
#include "support/oracle.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace solver {
namespace {

using namespace testing;

using Kind = PreconditionerKind;

class EveryMethod : public ::testing::TestWithParam<KrylovMethod> {
protected:
    Setting setting(Kind kind = Kind::jacobi, bool pair = false) const {
        return {.kind = kind, .pair = pair, .method = GetParam()};
    }

    bool takes_unsymmetric() const { return GetParam() != KrylovMethod::cg && GetParam() != KrylovMethod::minres; }

    /// Symmetric for the methods that need it.
    template <class T>
    Problem<T> problem(std::int32_t side) const {
        return convection_diffusion<T>(side, takes_unsymmetric() ? T(0.3) : T(0));
    }

    std::vector<Kind> kinds() const {
        return takes_unsymmetric() ? std::vector{Kind::none, Kind::jacobi, Kind::ilu0} : std::vector{Kind::none, Kind::jacobi};
    }
};

INSTANTIATE_TEST_SUITE_P(Methods, EveryMethod,
                         ::testing::Values(KrylovMethod::bicgstab, KrylovMethod::cg, KrylovMethod::gmres, KrylovMethod::minres,
                                           KrylovMethod::idr, KrylovMethod::bicgstab2),
                         [](const auto& of) { return std::string(to_string(of.param)); });

// Promise: krylov_solve.hpp, "Solves A x = b for a square A."
// Promise: bicgstab.hpp, "A is square. x_low is empty, or as long as x"
// Promise: krylov.hpp, "on ||b - A x||_2 / ||b||_2"
// Promise: krylov.hpp, "for any A (bicgstab.hpp)"
// Promise: krylov.hpp, "conjugate gradients, for symmetric positive"
TEST_P(EveryMethod, ConvergesInEveryAccuracyPrecisionAndPreconditioner) {
    const auto in_double = problem<double>(30);
    const auto in_float = problem<float>(30);
    for (const Accuracy accuracy : all_accuracies)
        for (const Kind kind : kinds()) {
            SCOPED_TRACE(std::string(to_string(accuracy)) + " " + std::string(to_string(kind)));
            const auto d = solve(in_double, with(accuracy), setting(kind));
            EXPECT_EQ(d.result.status, SolveStatus::converged);
            EXPECT_LE(true_residual(in_double, d), 1.000001e-10);
            const auto f = solve(in_float, with(accuracy, 1e-13), setting(kind, true));
            EXPECT_EQ(f.result.status, SolveStatus::converged);  // far below the unit roundoff of float
            EXPECT_LE(true_residual(in_float, f), 1.000001e-13);
            const auto plain = solve(in_float, with(accuracy, 1e-5), setting(kind));
            EXPECT_EQ(plain.result.status, SolveStatus::converged);
            EXPECT_LE(true_residual(in_float, plain), 1.000001e-5);
        }
}

/// 0.3 x = 5e-324, in multiples of that number: of all x 3 is the best, and leaves a tenth of b, which is rounded to 0.
TEST(EveryKrylovMethod, TellsTheResidualThatIsSmallerThanAllNumbers) {
    constexpr double eta = std::numeric_limits<double>::denorm_min();
    for (const KrylovMethod method : {KrylovMethod::bicgstab, KrylovMethod::cg, KrylovMethod::gmres, KrylovMethod::minres,
                                      KrylovMethod::idr, KrylovMethod::bicgstab2}) {
        SCOPED_TRACE(std::string(to_string(method)));
        const Setting setting{.kind = Kind::none, .method = method};
        const auto rough = solve(dense<double>(1, {0.3}, {eta}), with(Accuracy::exact), setting);
        EXPECT_NE(rough.result.status, SolveStatus::converged);
        EXPECT_EQ(rough.x, std::vector<double>{3 * eta});
        EXPECT_NEAR(rough.result.relative_residual, 0.1, 1e-15);
        const auto exact = solve(dense<double>(1, {4}, {8 * eta}), with(Accuracy::exact), setting);
        EXPECT_EQ(exact.result.status, SolveStatus::converged);
        EXPECT_EQ(exact.x, std::vector<double>{2 * eta});
        const auto in_float = solve(dense<float>(1, {0.3F}, {0x1p-149F}), with(Accuracy::exact), setting);
        EXPECT_NE(in_float.result.status, SolveStatus::converged);
        EXPECT_NEAR(in_float.result.relative_residual, 0.1, 1e-6);
    }
}

/// From a guess whose residual is far larger than b, the residual of what is found would be rounded to 0 in the guess's unit.
// Promise: bicgstab.hpp, "Where ||b|| is below 2^-511"
TEST(EveryKrylovMethod, BeginsAtZeroWhereTheGuessIsFarFromATinySolution) {
    const auto expect_honest = []<class T>(const Problem<T>& problem, KrylovMethod method, double guess) {
        const std::vector<T> x(2, static_cast<T>(guess));
        const auto rough = solve(problem, with(Accuracy::exact, 1e-2), {.kind = Kind::none, .method = method}, x);
        EXPECT_NE(rough.result.status, SolveStatus::converged) << guess;
        EXPECT_NEAR(rough.result.relative_residual, 0.3 / std::sqrt(5), 1e-6) << guess;
    };
    for (const KrylovMethod method : {KrylovMethod::bicgstab, KrylovMethod::gmres, KrylovMethod::idr, KrylovMethod::bicgstab2})
        for (const double guess : {1e-3, 1e10}) {
            SCOPED_TRACE(std::string(to_string(method)));
            expect_honest(dense<float>(2, {1.7F, 1, -1, 2.3F}, {0x3p-149F, 0x1p-149F}), method, guess);
            expect_honest(dense<double>(2, {1.7, 1, -1, 2.3}, {0x3p-1074, 0x1p-1074}), method, guess);
        }
}

TEST(EveryKrylovMethod, SolvesWhereTheNormOfBIsBeyondAllNumbers) {
    const Problem<double> problem = dense<double>(3, {4, -1, 0, -1, 4, -1, 0, -1, 4}, {1.5e308, 1.5e308, -1.5e308});
    const double share = 1.5e308 / 56;
    const std::vector<double> shares{18, 16, -10};  // A^-1 (1, 1, -1) = (18, 16, -10) / 56
    for (const KrylovMethod method : {KrylovMethod::bicgstab, KrylovMethod::cg, KrylovMethod::gmres, KrylovMethod::minres,
                                      KrylovMethod::idr, KrylovMethod::bicgstab2})
        for (const Accuracy accuracy : all_accuracies) {
            SCOPED_TRACE(std::string(to_string(method)) + " " + std::string(to_string(accuracy)));
            const auto found = solve(problem, with(accuracy), {.kind = Kind::none, .method = method});
            EXPECT_EQ(found.result.status, SolveStatus::converged);
            EXPECT_LE(found.result.relative_residual, 1e-10);
            for (int i = 0; i < 3; ++i) EXPECT_NEAR(found.x[i] / share, shares[i], 1e-8) << i;
        }
}

/// b is nothing beside the residual of the guess, whose norm is beyond all numbers.
TEST(EveryKrylovMethod, ClaimsNothingOfAGuessWhoseResidualIsBeyondAllNumbers) {
    for (const KrylovMethod method : {KrylovMethod::bicgstab, KrylovMethod::cg, KrylovMethod::gmres, KrylovMethod::minres,
                                      KrylovMethod::idr, KrylovMethod::bicgstab2})
        for (const double b : {1e-200, 1e-160, 1.0}) {
            SCOPED_TRACE(std::string(to_string(method)) + " " + std::to_string(b));
            const Problem<double> problem = dense<double>(2, {1e160, 0, 0, 1e160}, {b, b});
            const auto found =
                solve(problem, with(Accuracy::exact), {.kind = Kind::none, .method = method}, {1.7e148, 1.7e148});
            EXPECT_EQ(found.result.status, SolveStatus::non_finite);
        }
}

/// Products of numbers in multiples of the smallest one underflow: plain and compensated sums of them are 0.
TEST(EveryKrylovMethod, ClaimsNoResidualOfProductsThatUnderflow) {
    constexpr double eta = std::numeric_limits<double>::denorm_min();
    const Problem<double> problem = dense<double>(2, {-4 * eta, 7 * eta, 8 * eta, 0}, {-eta, -5 * eta});
    for (const KrylovMethod method : {KrylovMethod::bicgstab, KrylovMethod::gmres, KrylovMethod::idr, KrylovMethod::bicgstab2})
        for (const Accuracy accuracy : all_accuracies) {
            SCOPED_TRACE(std::string(to_string(method)) + " " + std::string(to_string(accuracy)));
            const auto found = solve(problem, with(accuracy), {.kind = Kind::none, .method = method});
            const double r_0 = -1 - (-4 * found.x[0] + 7 * found.x[1]), r_1 = -5 - 8 * found.x[0];
            EXPECT_NEAR(found.result.relative_residual, std::hypot(r_0, r_1) / std::sqrt(26), 1e-15);
        }
}

// Promise: bicgstab.hpp, "A zero right-hand side gives x = 0"
TEST_P(EveryMethod, LeavesNothingToDoForNothing) {
    for (const Accuracy accuracy : all_accuracies) {
        const auto empty = solve(Problem<double>{}, with(accuracy), setting());
        EXPECT_EQ(empty.result.status, SolveStatus::converged);
        EXPECT_EQ(empty.result.iterations, 0);
        auto nothing = problem<double>(5);
        nothing.b.assign(25, 0);
        const auto zero = solve(nothing, with(accuracy), setting(), std::vector<double>(25, 3));
        EXPECT_EQ(zero.result.status, SolveStatus::converged);
        EXPECT_EQ(zero.result.iterations, 0);
        EXPECT_EQ(zero.result.relative_residual, 0);
        EXPECT_EQ(zero.x, std::vector<double>(25));
        const auto one = solve(dense<double>(1, {4}, {12}), with(accuracy), setting(Kind::none));
        EXPECT_EQ(one.result.status, SolveStatus::converged);
        EXPECT_EQ(one.result.iterations, 1);
        EXPECT_EQ(one.x, std::vector<double>{3});
    }
}

TEST_P(EveryMethod, BreaksDownOnAMatrixOfZerosAndKeepsTheGuess) {
    for (const Accuracy accuracy : all_accuracies) {
        const auto result =
            solve(dense<double>(2, {0, 0, 0, 0}, {1, 2}), with(accuracy), setting(Kind::none), std::vector<double>{5, 6});
        EXPECT_EQ(result.result.status, SolveStatus::breakdown);
        EXPECT_EQ(result.x, (std::vector<double>{5, 6}));
    }
}

// The last row is the first: b either fits or does not.
TEST_P(EveryMethod, SolvesASingularSystemThatHasASolutionAndClaimsNoOther) {
    for (const Accuracy accuracy : all_accuracies) {
        const auto fits = dense<double>(3, {2, 1, 2, 1, 3, 1, 2, 1, 2}, {5, 5, 5});
        const auto solved = solve(fits, with(accuracy), setting(Kind::none));
        EXPECT_EQ(solved.result.status, SolveStatus::converged) << to_string(accuracy);
        expect_honest(fits, solved, with(accuracy));
        const auto does_not = dense<double>(3, {2, 1, 2, 1, 3, 1, 2, 1, 2}, {5, 5, 6});
        const auto unsolved = solve(does_not, with(accuracy), setting(Kind::none));
        EXPECT_NE(unsolved.result.status, SolveStatus::converged);
        expect_honest(does_not, unsolved, with(accuracy));
    }
}

// Promise: krylov.hpp, "Inf or NaN in A, b, x or on the way"
TEST_P(EveryMethod, ReportsInfAndNanWhereverTheyStandAndReturnsTheGuess) { expect_reports_what_is_not_finite(GetParam()); }

// Promise: krylov.hpp, "the true residual meets the tolerance"
// Promise: bicgstab.hpp, "In every mode convergence is claimed only on a true residual"
// Promise: solver.h, "the true residual meets the tolerance"
// Promise: cg.hpp, "Symmetry is not checked"
/// Symmetric or not: CG and MINRES may fail on these, but must know it.
TEST_P(EveryMethod, NeverClaimsConvergenceFalsely) {
    if (GetParam() == KrylovMethod::bicgstab) return expect_no_false_claims(GetParam(), 1500, 1000, 300);
    expect_no_false_claims(GetParam(), 1000, 100, 300);
}

TEST_P(EveryMethod, DoesNotCareAboutTheScaleOfTheRightHandSideAndTheMatrix) {
    expect_indifferent_to_scales(GetParam(), problem<double>(12));
}

// Promise: krylov.hpp, "Writes x, in single precision the sum of both its parts"
TEST_P(EveryMethod, ShowsTheCallbackTheIterateOfEveryStep) {
    const auto a = problem<double>(12);
    std::vector<double> seen(a.b.size());
    KrylovOptions options = with(Accuracy::exact, 1e-6);
    const auto expected = solve(a, options, setting());
    options.callback = [&](const Iteration& step) {
        step.iterate->copy_to(seen);
        EXPECT_NEAR(true_residual(a, Solve<double>{{}, seen, {}}), step.recursive_residual,
                    1e-3 * step.recursive_residual + 1e-9);
        return true;
    };
    const auto found = solve(a, options, setting());
    EXPECT_EQ(found.x, expected.x);  // nobody disturbed it
    EXPECT_EQ(found.result.iterations, expected.result.iterations);
    EXPECT_EQ(seen, found.x);
}

// Promise: krylov.hpp, "max_iterations were made, or the callback"
TEST_P(EveryMethod, StopsAtTheIterationLimitAndWhereTheCallbackAsksFor) {
    const auto a = problem<double>(30);
    for (const Accuracy accuracy : all_accuracies) {
        KrylovOptions options = with(accuracy);
        options.max_iterations = 7;
        const auto limited = solve(a, options, setting());
        EXPECT_EQ(limited.result.status, SolveStatus::iteration_limit);
        EXPECT_EQ(limited.result.iterations, 7);
        EXPECT_LT(limited.result.relative_residual, 1);
        expect_honest(a, limited, options);
        options.max_iterations = 100;
        options.callback = [](const Iteration& step) { return step.number < 7; };
        EXPECT_EQ(solve(a, options, setting()).x, limited.x);
        options.callback_interval = 4;
        options.keep_history = true;
        const auto stopped = solve(a, options, setting());
        EXPECT_EQ(stopped.result.status, SolveStatus::iteration_limit);
        EXPECT_EQ(stopped.result.iterations, 8);
        ASSERT_EQ(stopped.result.history.size(), 9u);
        for (std::int64_t i = 0; i <= 8; ++i) EXPECT_EQ(stopped.result.history[i].number, i);
    }
}

template <class T>
void expect_columns_as_if_alone(const Problem<T>& problem, const Setting& setting, Accuracy accuracy) {
    const DenseMatrix<T> b = several_right_hand_sides(problem);
    const SpmvPlan<T> plan(problem.a, Device::cpu(2), SpmvKernel::adaptive);
    const auto m = make_preconditioner<T>(setting.kind, problem.a, accuracy, Device::cpu(1));
    KrylovOptions options = with(accuracy);
    options.keep_history = true;
    DenseMatrix<T> x{b.rows, b.columns, std::vector<T>(b.values.size())};
    DenseMatrix<T> x_low = x;
    const auto together = krylov_solve<T>(setting.method, plan, *m, b, x, setting.pair ? &x_low : nullptr, options);
    ASSERT_EQ(together.size(), 4);
    for (std::int64_t j = 0; j < b.columns; ++j) {
        const auto column = [&](const DenseMatrix<T>& matrix) {
            return std::vector<T>(matrix.values.begin() + j * b.rows, matrix.values.begin() + (j + 1) * b.rows);
        };
        Solve<T> alone{{}, std::vector<T>(problem.b.size()), std::vector<T>(setting.pair ? problem.b.size() : 0)};
        alone.result = krylov_solve<T>(setting.method, plan, *m, column(b), alone.x, alone.x_low, options);
        EXPECT_EQ(alone.result.status, SolveStatus::converged);
        EXPECT_EQ(difference(together[j], alone.result), "");
        EXPECT_EQ(column(x), alone.x);
        EXPECT_TRUE(!setting.pair || column(x_low) == alone.x_low);
        ASSERT_FALSE(together[j].history.empty());
        EXPECT_EQ(together[j].history.back().column, j);
    }
    EXPECT_LT(together[0].iterations, together[3].iterations);
}

// Promise: krylov_solve.hpp, "Solves A X = B, as bicgstab does"
// Promise: bicgstab.hpp, "Solves A X = B, one solve a column of B"
// Promise: bicgstab.hpp, "Column for column the result is"
// Promise: krylov.hpp, "of several right-hand sides, from 0"
TEST_P(EveryMethod, SolvesSeveralRightHandSidesEachAsIfAlone) {
    for (const Accuracy accuracy : all_accuracies) {
        expect_columns_as_if_alone(problem<double>(40), setting(kinds().back()), accuracy);
        expect_columns_as_if_alone(problem<float>(40), setting(kinds().back(), true), accuracy);
    }
}

// Promise: krylov_solve.hpp, "In mixed precision, as bicgstab"
// Promise: cg.hpp, "Mixed precision, as for bicgstab"
TEST_P(EveryMethod, ReachesTheResidualOfDoubleInMixedPrecision) {
    auto a = problem<double>(40);
    for (double& value : a.a.values) value *= 1.1;  // no float: A is rounded, too
    const CsrMatrix<float> single = convert<float>(a.a.view());
    const SpmvPlan<double> plan(a.a, Device::cpu(1));
    const SpmvPlan<float> plan_single(single, Device::cpu(1));
    for (const Accuracy accuracy : all_accuracies) {
        const auto m = make_preconditioner<float>(Kind::jacobi, single, accuracy, Device::cpu(1));
        Solve<double> s{{}, std::vector<double>(a.b.size()), {}};
        s.result = krylov_solve(GetParam(), plan, plan_single, *m, a.b, s.x, with(accuracy, 1e-13));
        EXPECT_EQ(s.result.status, SolveStatus::converged) << to_string(accuracy);
        EXPECT_LE(true_residual(a, s), 1.000001e-13);
        expect_honest(a, s, with(accuracy, 1e-13));
    }
}

template <class T>
void expect_same_bits_on_threads(const Problem<T>& problem, Setting setting) {
    KrylovOptions options = with(Accuracy::exact);
    options.keep_history = true;
    options.max_iterations = 60;
    const auto expected = solve(problem, options, setting);
    for (const int threads : {1, 2, 7})
        for (const SpmvKernel kernel : {SpmvKernel::general, SpmvKernel::adaptive}) {
            SCOPED_TRACE(threads);
            setting.device = Device::cpu(threads);
            setting.kernel = kernel;
            const auto found = solve(problem, options, setting);
            EXPECT_EQ(difference(found.result, expected.result), "");
            EXPECT_EQ(found.x, expected.x);
            EXPECT_EQ(found.x_low, expected.x_low);
        }
}

// Promise: krylov_solve.hpp, "What else is promised of status"
// Promise: cg.hpp, "All else is as for bicgstab"
// Promise: reproducibility.md, "It does not depend on the device, threads"
TEST_P(EveryMethod, GivesTheSameBitsForEveryThreadCountAndKernelInExact) {
    for (const Kind kind : {Kind::none, Kind::jacobi}) {
        expect_same_bits_on_threads(problem<double>(150), setting(kind));
        expect_same_bits_on_threads(problem<float>(150), setting(kind, true));
    }
}

TEST(Methods, RefuseWhatCannotBeMeant) {
    const auto a = convection_diffusion<double>(4, 0);
    const SpmvPlan<double> plan(a.a, Device::cpu(1));
    const auto m = make_preconditioner<double>(Kind::ilu0, a.a, Accuracy::fast, Device::cpu(1));
    std::vector<double> x(a.b.size());
    EXPECT_THAT([&] { krylov_solve<double>(KrylovMethod::minres, plan, *m, a.b, x); },
                ::testing::ThrowsMessage<InvalidArgument>(::testing::StartsWith("minres: the preconditioner is not known")));
    KrylovOptions options;
    options.restart = 0;
    EXPECT_THAT([&] { krylov_solve<double>(KrylovMethod::gmres, plan, *m, a.b, x, {}, options); },
                ::testing::ThrowsMessage<InvalidArgument>(::testing::StartsWith("gmres: restart is 0")));
}

}  // namespace
}  // namespace solver
