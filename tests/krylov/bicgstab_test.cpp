#include "solver/bicgstab.hpp"

#include "solver/csr_matrix.hpp"
#include "solver/error.hpp"
#include "solver/numeric/rounding.hpp"
#include "solver/reduce.hpp"
#include "support/devices.hpp"
#include "support/krylov_promises.hpp"
#include "support/linear_systems.hpp"
#include "support/oracle.hpp"
#include "support/real_matrices.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <thread>
#include <vector>

namespace solver {
namespace {

using namespace testing;

using Kind = PreconditionerKind;

// Promise: bicgstab.hpp, "Solves A x = b by BiCGStab"
TEST(Bicgstab, TakesAnExactInitialGuessAsItIs) {
    const auto problem = dense<double>(2, {2, 1, 1, 3}, {4, 7});
    for (const Accuracy accuracy : all_accuracies) {
        const auto result = solve(problem, with(accuracy), {}, std::vector<double>{1, 2});
        EXPECT_EQ(result.result.status, SolveStatus::converged);
        EXPECT_EQ(result.result.iterations, 0);
        EXPECT_EQ(result.x, (std::vector<double>{1, 2}));
    }
}

// Promise: bicgstab.hpp, "All solves advance together and share every product"
/// But for true residuals, which cost a product, too, and come when a column needs them.
TEST(Bicgstab, AdvancesAllColumnsTogether) {
    const auto problem = convection_diffusion<double>(40, 0.3);
    const DenseMatrix<double> b = several_right_hand_sides(problem);
    const SpmvPlan<double> plan(problem.a, Device::cpu(1));
    const auto m = make_preconditioner<double>(Kind::none, problem.a, Accuracy::exact, Device::cpu(1));
    std::vector<Iteration> seen;
    KrylovOptions options = with(Accuracy::exact);
    options.callback = [&](const Iteration& step) {
        seen.push_back(step);
        return true;
    };
    DenseMatrix<double> x{b.rows, b.columns, std::vector<double>(b.values.size())};
    const auto results = bicgstab<double>(plan, *m, b, x, nullptr, options);
    EXPECT_GT(std::min(results[2].iterations, results[3].iterations), 40);
    std::vector<std::int64_t> latest(results.size(), -1);
    for (const Iteration& step : seen) {
        latest[static_cast<std::size_t>(step.column)] = step.number;
        for (std::size_t j = 0; j < results.size(); ++j)
            EXPECT_GE(latest[j], std::min(step.number - 10, results[j].iterations)) << step.number;
    }
}

// Promise: bicgstab.hpp, "The callback is called for each column"
TEST(Bicgstab, StopsOneColumnWhereItsCallbackAsksFor) {
    const auto problem = convection_diffusion<double>(30, 0.3);
    const DenseMatrix<double> b = several_right_hand_sides(problem);
    const SpmvPlan<double> plan(problem.a, Device::cpu(1));
    const auto m = make_preconditioner<double>(Kind::jacobi, problem.a, Accuracy::fast, Device::cpu(1));
    KrylovOptions options = with(Accuracy::fast);
    options.callback = [](const Iteration& iteration) { return iteration.column != 2 || iteration.number < 3; };
    DenseMatrix<double> x{b.rows, b.columns, std::vector<double>(b.values.size())};
    const auto results = bicgstab<double>(plan, *m, b, x, nullptr, options);
    EXPECT_EQ(results[2].status, SolveStatus::iteration_limit);
    EXPECT_EQ(results[2].iterations, 3);
    EXPECT_EQ(results[3].status, SolveStatus::converged);

    options.callback = [](const Iteration& iteration) -> bool {
        if (iteration.number == 2) throw std::runtime_error("enough");
        return true;
    };
    EXPECT_THROW(bicgstab<double>(plan, *m, b, x, nullptr, options), std::runtime_error);
    x.columns = 3;
    EXPECT_THROW(bicgstab<double>(plan, *m, b, x, nullptr, options), DimensionMismatch);
}

Solve<double> solve_mixed(const Problem<double>& problem, const KrylovOptions& options, Kind kind = Kind::jacobi) {
    const CsrMatrix<float> rounded = convert<float>(problem.a.view());
    const SpmvPlan<double> plan(problem.a, Device::cpu(1));
    const SpmvPlan<float> plan_single(rounded, Device::cpu(1));
    const auto m = make_preconditioner<float>(kind, rounded, options.accuracy, Device::cpu(1));
    Solve<double> solve{{}, std::vector<double>(problem.b.size()), {}};
    solve.result = bicgstab(plan, plan_single, *m, problem.b, solve.x, options);
    return solve;
}

// Promise: bicgstab.hpp, "So the solution is that of A x = b"
TEST(BicgstabInMixedPrecision, ReachesTheResidualOfDoubleInEveryAccuracy) {
    const auto problem = convection_diffusion<double>(40, 0.3);  // 0.3 is not a float: A is rounded too
    for (const Accuracy accuracy : all_accuracies)
        for (const Kind kind : {Kind::none, Kind::jacobi, Kind::ilu0}) {
            const Solve<double> mixed = solve_mixed(problem, with(accuracy, 1e-13), kind);
            EXPECT_EQ(mixed.result.status, SolveStatus::converged) << to_string(accuracy) << ' ' << to_string(kind);
            EXPECT_LE(true_residual(problem, mixed), 1.000001e-13);
        }
}

TEST(BicgstabInMixedPrecision, TakesRightHandSidesBeyondTheRangeOfSingle) {
    auto problem = convection_diffusion<double>(20, 0.3);
    for (const double size : {1e-200, 1e-40, 1e200}) {
        auto scaled = problem;
        for (double& b : scaled.b) b *= size;
        const Solve<double> mixed = solve_mixed(scaled, with(Accuracy::compensated));
        EXPECT_EQ(mixed.result.status, SolveStatus::converged) << size;
        EXPECT_LE(mixed.result.relative_residual, 1e-10);
    }
}

// Promise: bicgstab.hpp, "Throws InvalidArgument where an entry of A is finite"
TEST(BicgstabInMixedPrecision, RefusesEntriesBeyondTheRangeOfSingle) {
    EXPECT_THROW(solve_mixed(dense<double>(1, {1e100}, {1}), with(Accuracy::fast), Kind::none), InvalidArgument);
}

TEST(Bicgstab, EndsInOneIterationWhereTheFirstHalfSolves) {
    for (const Accuracy accuracy : all_accuracies) {
        const auto one = solve(dense<double>(1, {4}, {12}), with(accuracy), {.kind = Kind::none});
        EXPECT_EQ(one.result.status, SolveStatus::converged);
        EXPECT_EQ(one.result.iterations, 1);
        EXPECT_EQ(one.x[0], 3);
        const auto diagonal = solve(dense<double>(3, {2, 0, 0, 0, 4, 0, 0, 0, 8}, {2, 4, 8}), with(accuracy));
        EXPECT_EQ(diagonal.result.status, SolveStatus::converged);
        EXPECT_EQ(diagonal.result.iterations, 1);
        EXPECT_EQ(diagonal.x, (std::vector<double>{1, 1, 1}));
    }
}

// Promise: krylov.hpp, "||b - A x||_2 / ||b||_2 of the x returned"
TEST(Bicgstab, StopsAtTheIterationLimitWithTheResidualOfWhatItReturns) {
    const auto problem = convection_diffusion<double>(30, 0.3);
    for (const Accuracy accuracy : all_accuracies) {
        KrylovOptions options = with(accuracy);
        options.max_iterations = 20;
        const auto result = solve(problem, options);
        EXPECT_EQ(result.result.status, SolveStatus::iteration_limit);
        EXPECT_EQ(result.result.iterations, 20);
        EXPECT_LT(result.result.relative_residual, 1);
        EXPECT_NEAR(true_residual(problem, result) / result.result.relative_residual, 1, 1e-6);
        options.max_iterations = 0;
        EXPECT_EQ(solve(problem, options).result.status, SolveStatus::iteration_limit);
    }
}

// Promise: krylov.hpp, "None of these is an exception"
// Promise: krylov.hpp, "a scalar by which the method divides vanished"
// Promise: bicgstab.hpp, "It ends as stagnated (breakdown, non_finite) once"
// Promise: error.hpp, "How an iteration ends is not an error"
// Promise: solver.h, "scalars of the recursion vanished"
TEST(Bicgstab, BreaksDownOnAMatrixOfZerosAndKeepsTheInitialGuess) {
    for (const Accuracy accuracy : all_accuracies) {
        const auto result =
            solve(dense<double>(2, {0, 0, 0, 0}, {1, 2}), with(accuracy), {.kind = Kind::none}, std::vector<double>{5, 6});
        EXPECT_EQ(result.result.status, SolveStatus::breakdown);
        EXPECT_EQ(result.result.restarts, 12);
        EXPECT_EQ(result.x, (std::vector<double>{5, 6}));
    }
}

/// With A = diag(1, -1) and r = b = (1, 1), (r, A r) = 0: no step begins with r as its own shadow, and r stays as it is.
// Promise: krylov.hpp, "after breakdowns"
TEST(Bicgstab, RestartsWithAnotherShadowWhereTheResidualIsNone) {
    for (const Accuracy accuracy : all_accuracies) {
        const auto problem = dense<double>(2, {1, 0, 0, -1}, {1, 1});
        const auto solved = solve(problem, with(accuracy), {.kind = Kind::none});
        EXPECT_EQ(solved.result.status, SolveStatus::converged) << to_string(accuracy);
        EXPECT_GE(solved.result.restarts, 1);
        expect_honest(problem, solved, with(accuracy));
    }
}

// Promise: krylov.hpp, "the true residual stopped falling"
// Promise: bicgstab.hpp, "The true residual is also computed whenever"
// Promise: solver.h, "the limit of this precision"
TEST(Bicgstab, StagnatesWhereSinglePrecisionCannotHoldTheSolution) {
    const auto problem = convection_diffusion<float>(20, 0.3F);
    for (const Accuracy accuracy : all_accuracies) {
        KrylovOptions options = with(accuracy, 1e-12);
        options.keep_history = true;
        const auto result = solve(problem, options);
        EXPECT_EQ(result.result.status, SolveStatus::stagnated) << to_string(accuracy);
        EXPECT_GT(result.result.relative_residual, 1e-12);
        double least = 1;
        for (const Iteration& step : result.result.history)
            if (step.true_residual >= 0) least = std::min(least, step.true_residual);
        EXPECT_EQ(result.result.relative_residual, least);
        EXPECT_LT(result.result.relative_residual, 1e-6);
        EXPECT_NEAR(true_residual(problem, result) / result.result.relative_residual, 1, 1e-4);
    }
}

// Promise: solver.h, "Inf or NaN in A, b, x or on the way"
TEST(Bicgstab, ReportsInfAndNanWhereverTheyStandAndReturnsTheGuess) {
    expect_reports_what_is_not_finite(KrylovMethod::bicgstab);
    const Problem<double> unseen{{2, 2, {0, 1, 1}, {0}, {1}}, {1, 0}};  // no row reads x_1
    for (const double bad : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
        for (const Accuracy accuracy : all_accuracies)
            EXPECT_EQ(solve(unseen, with(accuracy), {.kind = Kind::none}, std::vector<double>{0, bad}).result.status,
                      SolveStatus::non_finite);
}

TEST(Bicgstab, DoesNotCareAboutTheScaleOfTheRightHandSideAndTheMatrix) {
    const auto problem = convection_diffusion<double>(12, 0.3);
    expect_indifferent_to_scales(KrylovMethod::bicgstab, problem);
    for (const Accuracy accuracy : all_accuracies) {
        Problem<double> scaled = problem;
        for (double& x : scaled.b) x *= 1e-300;
        EXPECT_EQ(solve(scaled, with(accuracy)).result.status, SolveStatus::converged);
        for (double& x : scaled.b) x = x * 1e300 * 1e300;
        EXPECT_EQ(solve(scaled, with(accuracy)).result.status, SolveStatus::converged);
    }
}

// Promise: krylov.hpp, "told of every iteration; false stops"
// Promise: krylov.hpp, "The callback's answer counts after every so many iterations"
// Promise: krylov.hpp, "Called from the solving thread."
TEST(Bicgstab, RecordsEveryStepAndAsksTheCallback) {
    const auto problem = convection_diffusion<double>(20, 0.3);
    for (const Accuracy accuracy : all_accuracies) {
        KrylovOptions options = with(accuracy);
        options.keep_history = true;
        std::vector<std::int64_t> seen;
        options.callback = [&, solving = std::this_thread::get_id()](const Iteration& step) {
            EXPECT_EQ(std::this_thread::get_id(), solving);
            seen.push_back(step.number);
            return true;
        };
        const SolveResult result = solve(problem, options).result;
        ASSERT_EQ(std::ssize(result.history), result.iterations + 1);
        EXPECT_EQ(result.history.front().true_residual, 1);
        EXPECT_EQ(result.history.back().true_residual, result.relative_residual);
        EXPECT_EQ(std::ssize(seen), result.iterations + 1);
        for (std::int64_t i = 0; i <= result.iterations; ++i) EXPECT_EQ(result.history[i].number, i);

        options.callback = [](const Iteration& step) { return step.number < 5; };
        const auto stopped = solve(problem, options);
        EXPECT_EQ(stopped.result.status, SolveStatus::iteration_limit);
        EXPECT_EQ(stopped.result.iterations, 5);
        EXPECT_NEAR(true_residual(problem, stopped) / stopped.result.relative_residual, 1, 1e-6);

        options.callback_interval = 4;
        EXPECT_EQ(solve(problem, options).result.iterations, 8);
    }
}

KrylovOptions absolutely(Accuracy accuracy, double absolute) {
    KrylovOptions options = with(accuracy, 0);
    options.absolute_tolerance = absolute;
    return options;
}

// Promise: krylov.hpp, "or on ||b - A x||_2, whichever is met first"
// Promise: cg.hpp, "Solves A x = b by preconditioned conjugate gradients"
TEST(Bicgstab, EndsWhereTheResidualIsAsSmallAsTheAbsoluteTolerance) {
    const auto problem = dense<double>(2, {2, 1, 1, 3}, {4, 7});
    const std::vector<double> guess{0, 1};  // b - A x = (3, 4), of norm 5
    for (const KrylovMethod method : {KrylovMethod::bicgstab, KrylovMethod::cg})
        for (const Accuracy accuracy : all_accuracies) {
            const auto met = solve(problem, absolutely(accuracy, 5), {.method = method}, guess);
            EXPECT_EQ(met.result.status, SolveStatus::converged);
            EXPECT_EQ(met.result.iterations, 0);
            EXPECT_EQ(met.x, guess);
            const auto missed = solve(problem, absolutely(accuracy, std::nextafter(5, 0)), {.method = method}, guess);
            EXPECT_EQ(missed.result.status, SolveStatus::converged);
            EXPECT_GE(missed.result.iterations, 1);
            KrylovOptions both = absolutely(accuracy, 1e-300);
            both.tolerance = 0.7;  // 5 / ||(4, 7)|| = 0.62
            EXPECT_EQ(solve(problem, both, {.method = method}, guess).result.iterations, 0);
        }
}

TEST(Bicgstab, MeetsAnAbsoluteToleranceAtEveryScale) {
    const auto problem = convection_diffusion<double>(20, 0.3);
    const auto expected = solve(problem, absolutely(Accuracy::exact, 0x1p-20));
    EXPECT_EQ(expected.result.status, SolveStatus::converged);
    EXPECT_LE(expected.result.relative_residual * norm2(problem.b, Accuracy::exact), 0x1.00001p-20);
    EXPECT_GT(expected.result.iterations, 5);
    for (const int exponent : {-900, -30, 30, 900}) {
        auto scaled = problem;
        for (double& x : scaled.b) x = std::ldexp(x, exponent);
        const auto found = solve(scaled, absolutely(Accuracy::exact, std::ldexp(0x1p-20, exponent)));
        EXPECT_EQ(found.result.iterations, expected.result.iterations) << exponent;
        EXPECT_EQ(std::ldexp(found.x[7], -exponent), expected.x[7]) << exponent;
    }
}

TEST(Bicgstab, HoldsEveryColumnToTheSameAbsoluteTolerance) {
    const auto problem = convection_diffusion<double>(20, 0.3);
    const DenseMatrix<double> b = several_right_hand_sides(problem);
    const SpmvPlan<double> plan(problem.a, Device::cpu(1));
    const auto m = make_preconditioner<double>(Kind::jacobi, problem.a, Accuracy::exact, Device::cpu(1));
    DenseMatrix<double> x{b.rows, b.columns, std::vector<double>(b.values.size())};
    const auto results = bicgstab<double>(plan, *m, b, x, nullptr, absolutely(Accuracy::exact, 1));
    const auto n = static_cast<std::size_t>(b.rows);
    for (std::size_t j = 0; j < results.size(); ++j) {
        const auto column = std::span(b.values).subspan(j * n, n);
        EXPECT_EQ(results[j].status, SolveStatus::converged);
        EXPECT_LE(results[j].relative_residual * norm2(column, Accuracy::exact), 1.000001);
    }
    EXPECT_GT(results[3].iterations, results[2].iterations + 5);  // a right-hand side 2^40 times as large
}

template <class T>
void expect_iterates_of(const Problem<T>& problem, Accuracy accuracy, const Setting& setting) {
    KrylovOptions options = with(accuracy, 1e-6);
    options.keep_history = true;
    const auto expected = solve(problem, options, setting);
    std::vector<double> seen(problem.b.size()), short_one(1);
    options.callback = [&](const Iteration& step) {
        step.iterate->copy_to(seen);
        EXPECT_THROW(step.iterate->copy_to(short_one), DimensionMismatch);
        const Solve<double> now{{}, seen, {}};
        const Problem<double> in_double{convert<double>(problem.a.view()), {problem.b.begin(), problem.b.end()}};
        EXPECT_NEAR(true_residual(in_double, now), step.recursive_residual, 1e-3 * step.recursive_residual + 1e-9);
        return true;
    };
    const auto found = solve(problem, options, setting);
    EXPECT_EQ(found.x, expected.x);  // nobody disturbed it
    EXPECT_EQ(found.x_low, expected.x_low);
    EXPECT_EQ(found.result.iterations, expected.result.iterations);
    for (std::size_t i = 0; i < seen.size(); ++i)
        EXPECT_EQ(seen[i], static_cast<double>(found.x[i]) + (setting.pair ? static_cast<double>(found.x_low[i]) : 0));
    for (const Iteration& step : found.result.history) EXPECT_EQ(step.iterate, nullptr);
}

// Promise: bicgstab.hpp, "Solves A x = b by BiCGStab"
// Promise: krylov.hpp, "||r||_2 / ||b||_2 of the recursively updated residual"
// Promise: krylov.hpp, "It changes nothing of the solve."
// Promise: krylov.hpp, "Throws DimensionMismatch."
// Promise: krylov.hpp, "x, for the callback and as long as it runs"
// Promise: krylov.hpp, "x as a step left it."
// Promise: krylov.hpp, "It is computed when it is asked for"
TEST(Bicgstab, ShowsTheCallbackTheIterateOfEveryStep) {
    const auto in_double = convection_diffusion<double>(12, 0.3);
    const auto in_float = convection_diffusion<float>(12, 0.3F);
    for (const Kind kind : {Kind::none, Kind::ilu0}) {
        expect_iterates_of(in_double, Accuracy::exact, {.kind = kind});
        expect_iterates_of(in_float, Accuracy::compensated, {.kind = kind, .pair = true});
    }
    expect_iterates_of(convection_diffusion<double>(12, 0), Accuracy::exact, {.method = KrylovMethod::cg});
}

TEST(BicgstabInMixedPrecision, ShowsTheIterateInDouble) {
    const auto problem = convection_diffusion<double>(12, 0.3);
    KrylovOptions options = with(Accuracy::exact);
    std::vector<double> seen(problem.b.size());
    options.callback = [&](const Iteration& step) {
        step.iterate->copy_to(seen);
        return true;
    };
    const auto found = solve_mixed(problem, options);
    EXPECT_EQ(seen, found.x);
}

// Promise: bicgstab.hpp, "Throws DimensionMismatch and InvalidArgument (neither"
TEST(Bicgstab, RefusesWhatCannotBeMeant) {
    const auto problem = dense<double>(2, {2, 1, 1, 3}, {4, 7});
    const SpmvPlan<double> plan(problem.a, Device::cpu(1));
    const auto m = make_preconditioner<double>(Kind::none, problem.a, Accuracy::fast, Device::cpu(1));
    std::vector<double> x(2), other(3);
    EXPECT_THROW(bicgstab<double>(plan, *m, other, x), DimensionMismatch);
    EXPECT_THROW(bicgstab<double>(plan, *m, problem.b, other), DimensionMismatch);
    EXPECT_THROW(bicgstab<double>(plan, *m, problem.b, x, other), DimensionMismatch);
    EXPECT_THROW(bicgstab<double>(plan, *m, problem.b, x, {}, with(Accuracy::fast, 0)), InvalidArgument);
    EXPECT_THROW(bicgstab<double>(plan, *m, problem.b, x, {}, with(Accuracy::fast, std::nan(""))), InvalidArgument);
    EXPECT_THROW(bicgstab<double>(plan, *m, problem.b, x, {}, absolutely(Accuracy::fast, std::nan(""))), InvalidArgument);
    KrylovOptions options;
    options.absolute_tolerance = -1;
    EXPECT_THROW(bicgstab<double>(plan, *m, problem.b, x, {}, options), InvalidArgument);
    options = {};
    options.max_iterations = -1;
    EXPECT_THROW(bicgstab<double>(plan, *m, problem.b, x, {}, options), InvalidArgument);
    const CsrMatrix<double> wide{1, 2, {0, 1}, {0}, {1}};
    EXPECT_THROW(bicgstab<double>(SpmvPlan<double>(wide, Device::cpu(1)), *m, problem.b, x), DimensionMismatch);
}

template <class T>
void expect_same_bits_everywhere(const Problem<T>& problem, bool pair) {
    for (const Kind kind : {Kind::none, Kind::jacobi, Kind::ilu0}) {
        KrylovOptions options = with(Accuracy::exact);
        options.max_iterations = 25;
        options.keep_history = true;
        const auto expected = solve(problem, options, {.kind = kind, .pair = pair});
        std::vector<Device> devices = testing::cuda_devices();
        for (const int threads : {1, 2, 7}) devices.push_back(Device::cpu(threads));
        for (const Device& device : devices)
            for (const SpmvKernel kernel : {SpmvKernel::general, SpmvKernel::adaptive}) {
                SCOPED_TRACE(to_string(device));
                const auto other = solve(problem, options, {.kind = kind, .pair = pair, .device = device, .kernel = kernel});
                EXPECT_EQ(other.x, expected.x);
                EXPECT_EQ(other.x_low, expected.x_low);
                ASSERT_EQ(other.result.history.size(), expected.result.history.size());
                for (std::size_t i = 0; i < other.result.history.size(); ++i) {
                    EXPECT_EQ(other.result.history[i].recursive_residual, expected.result.history[i].recursive_residual);
                    EXPECT_EQ(other.result.history[i].true_residual, expected.result.history[i].true_residual);
                }
            }
    }
}

/// BiCGStab from x = 0, without a preconditioner, in MPFR: every operation rounds once, in the nesting of
/// core/krylov/updates.hpp and core/krylov/bicgstab_scalars.hpp.
template <class T>
class BicgstabByTheBook {
public:
    using Vector = std::vector<T>;

    explicit BicgstabByTheBook(const Problem<T>& problem)
        : a_(problem.a), scale_(std::ldexp(1.0, -std::ilogb(norm(problem.b)))), r_(problem.b), z_(r_.size()) {
        for (T& element : r_) element *= static_cast<T>(scale_);
        shadow_ = p_ = r_;
        rho_ = dot(shadow_, r_);
    }

    void step() {
        const Vector v = product(p_);
        const T alpha = static_cast<T>(rho_ / dot(shadow_, v));
        for (std::size_t i = 0; i < r_.size(); ++i) r_[i] = plus(r_[i], -times(alpha, v[i]));
        const Vector s = r_;
        half_norm_ = norm(s) / scale_;
        const Vector t = product(s);
        const T omega = static_cast<T>(dot(t, s) / norm(t) / norm(t));
        for (std::size_t i = 0; i < r_.size(); ++i) {
            z_[i] = plus(plus(z_[i], times(alpha, p_[i])), times(omega, s[i]));
            r_[i] = plus(s[i], -times(omega, t[i]));
        }
        const double rho = dot(shadow_, r_);
        const T beta = static_cast<T>((rho / rho_) * (double{alpha} / double{omega}));
        for (std::size_t i = 0; i < r_.size(); ++i) p_[i] = plus(r_[i], times(beta, plus(p_[i], -times(omega, v[i]))));
        rho_ = rho;
    }

    Vector solution() const {
        Vector x = z_;
        for (T& element : x) element /= static_cast<T>(scale_);
        return x;
    }
    double residual_norm() const { return norm(r_) / scale_; }
    double norm_after_half_a_step() const { return half_norm_; }
    static double norm(const Vector& x) { return sum_of_products(x, x).template sqrt_rounded<T>(); }

private:
    static T plus(T a, T b) { return testing::exact_dot<T>(std::array{a, b}, std::array{T(1), T(1)}); }
    static T times(T a, T b) { return testing::exact_dot<T>(std::array{a}, std::array{b}); }

    static testing::Oracle sum_of_products(const Vector& x, const Vector& y) {
        testing::Oracle sum;
        for (std::size_t i = 0; i < x.size(); ++i) sum.add_product(x[i], y[i]);
        return sum;
    }
    static double dot(const Vector& x, const Vector& y) { return testing::exact_dot<T>(x, y); }

    Vector product(const Vector& x) const {
        Vector y;
        for (std::int64_t i = 0; i < a_.rows; ++i) {
            testing::Oracle row;
            for (auto k = a_.row_offsets[i]; k < a_.row_offsets[i + 1]; ++k)
                row.add_product(a_.values[k], x[a_.column_indices[k]]);
            y.push_back(row.rounded<T>());
        }
        return y;
    }

    const CsrMatrix<T>& a_;
    double scale_;  ///< a power of two
    Vector r_;
    Vector z_;
    Vector shadow_;
    Vector p_;
    double rho_ = 0;
    double half_norm_ = 0;
};

template <class T>
void expect_steps_by_the_book(T wind) {
    const Problem<T> problem = convection_diffusion<T>(12, wind);
    BicgstabByTheBook<T> book(problem);
    for (int steps = 1; steps <= 3; ++steps) {
        book.step();
        KrylovOptions options = with(Accuracy::exact);
        options.max_iterations = steps;
        const auto solved = solve(problem, options, {.kind = Kind::none});
        ASSERT_EQ(solved.result.replacements, 0);  // nothing but the recurrence
        EXPECT_EQ(solved.result.recursive_residual, book.residual_norm() / BicgstabByTheBook<T>::norm(problem.b)) << steps;
        EXPECT_EQ(solved.x, book.solution()) << steps;
    }
}

// Promise: krylov.hpp, "||r||_2 / ||b||_2 of the recursively updated residual at the end"
// Promise: krylov.hpp, "of every product, dot, norm and preconditioner step"
// Promise: bicgstab.hpp, "Solves A x = b by BiCGStab"
TEST(Bicgstab, RoundsEveryOperationOfAStepOnceInTheOrderItGives) {
    expect_steps_by_the_book<double>(0.3);
    expect_steps_by_the_book<float>(0.3F);
}

TEST(Bicgstab, LeavesOutTheSecondHalfOfAStepWhereTheFirstSuffices) {
    const Problem<double> problem = convection_diffusion<double>(12, 0.3);
    BicgstabByTheBook<double> book(problem);
    book.step();
    const double after_half = book.norm_after_half_a_step() / BicgstabByTheBook<double>::norm(problem.b);
    const auto solved = solve(problem, with(Accuracy::exact, 1.001 * after_half), {.kind = Kind::none});
    EXPECT_EQ(solved.result.status, SolveStatus::converged);
    EXPECT_EQ(solved.result.iterations, 1);
    EXPECT_EQ(solved.result.recursive_residual, after_half);
}

TEST(Bicgstab, VerifiesInTheIterationThatMeetsTheTolerance) {
    const auto problem = convection_diffusion<double>(30, 0.3);
    for (const Accuracy accuracy : all_accuracies)
        for (const double tolerance : {1e-2, 1e-4, 1e-6, 1e-8, 1e-10}) {
            KrylovOptions options = with(accuracy, tolerance);
            options.keep_history = true;
            const auto solved = solve(problem, options);
            ASSERT_EQ(solved.result.status, SolveStatus::converged);
            for (const Iteration& iteration : solved.result.history)
                EXPECT_TRUE(iteration.recursive_residual > tolerance || iteration.true_residual >= 0) << iteration.number;
        }
}

// Promise: bicgstab.hpp, "The true residual is also computed whenever the updated one has gained a factor 32"
TEST(Bicgstab, VerifiesWhereAFactorOf32IsGained) {
    const auto problem = convection_diffusion<double>(30, 0.3);
    for (const Accuracy accuracy : all_accuracies) {
        KrylovOptions options = with(accuracy);
        options.keep_history = true;
        double best = 1;
        for (const Iteration& step : solve(problem, options).result.history) {
            EXPECT_TRUE(step.recursive_residual > (1 - 1e-12) * best / 32 || step.true_residual >= 0) << step.number;
            if (step.true_residual >= 0) best = std::min(best, step.true_residual);
        }
        EXPECT_LE(best, 1e-10);
    }
}

// Promise: bicgstab.hpp, "In exact the bits of x, the number of iterations"
TEST(Bicgstab, GivesTheSameBitsForEveryDeviceThreadCountAndKernelInExact) {
    expect_same_bits_everywhere(convection_diffusion<double>(150, 0.3), false);
    expect_same_bits_everywhere(convection_diffusion<float>(150, 0.3F), true);
}

/// In exact arithmetic BiCGStab ends within as many iterations as there are unknowns; that many are allowed here. What it takes
/// in `exact` is the same on every machine.
void expect_solved(const char* name, Kind kind, std::int64_t iterations_in_exact) {
    const auto a = testing::real_matrix(name);
    if (!a) GTEST_SKIP() << name << ".mtx.gz is absent";
    const Problem<double> problem = with_random_solution(*a);
    for (const Accuracy accuracy : all_accuracies) {
        SCOPED_TRACE(std::string(name) + " " + std::string(to_string(accuracy)));
        KrylovOptions options = with(accuracy);
        options.max_iterations = a->rows;
        const auto s = solve(problem, options, {.kind = kind});
        EXPECT_EQ(s.result.status, SolveStatus::converged);
        expect_honest(problem, s, options);
        if (accuracy == Accuracy::exact) {
            EXPECT_EQ(s.result.iterations, iterations_in_exact);
        }
    }
}

TEST(BicgstabOnRealMatrices, MemplusJacobi) { expect_solved("memplus", Kind::jacobi, 632); }
TEST(BicgstabOnRealMatrices, MemplusIlu0) { expect_solved("memplus", Kind::ilu0, 273); }
TEST(BicgstabOnRealMatrices, Sherman5Jacobi) { expect_solved("sherman5", Kind::jacobi, 161); }
TEST(BicgstabOnRealMatrices, Sherman5Ilu0) { expect_solved("sherman5", Kind::ilu0, 26); }
TEST(BicgstabOnRealMatrices, Orsreg1Jacobi) { expect_solved("orsreg_1", Kind::jacobi, 366); }
TEST(BicgstabOnRealMatrices, Orsreg1Ilu0) { expect_solved("orsreg_1", Kind::ilu0, 38); }
TEST(BicgstabOnRealMatrices, Pde900Jacobi) { expect_solved("pde900", Kind::jacobi, 81); }
TEST(BicgstabOnRealMatrices, Pde900Ilu0) { expect_solved("pde900", Kind::ilu0, 21); }
TEST(BicgstabOnRealMatrices, Add20Jacobi) { expect_solved("add20", Kind::jacobi, 338); }
TEST(BicgstabOnRealMatrices, Add20Ilu0) { expect_solved("add20", Kind::ilu0, 176); }
TEST(BicgstabOnRealMatrices, Epb0Jacobi) { expect_solved("epb0", Kind::jacobi, 1034); }
TEST(BicgstabOnRealMatrices, Epb0Ilu0) { expect_solved("epb0", Kind::ilu0, 87); }
TEST(BicgstabOnRealMatrices, Cage5Jacobi) { expect_solved("cage5", Kind::jacobi, 13); }
TEST(BicgstabOnRealMatrices, Cage5Ilu0) { expect_solved("cage5", Kind::ilu0, 4); }

/// The limit of plain single precision is that of x itself: about u |A| |x| / ||b||.
TEST(BicgstabOnRealMatrices, PairsOfFloatsReachResidualsThatFloatsCannot) {
    for (const char* const name : {"memplus", "orsreg_1", "pde900"}) {
        const auto a = testing::real_matrix(name);
        if (!a) GTEST_SKIP() << name << ".mtx.gz is absent";
        const Problem<float> problem = with_random_solution(convert<float>(a->view()));
        const auto plain = solve(problem, with(Accuracy::fast, 1e-12));
        const auto pair = solve(problem, with(Accuracy::compensated, 1e-12), {.pair = true});
        EXPECT_EQ(pair.result.status, SolveStatus::converged) << name;
        EXPECT_LE(1000 * true_residual(problem, pair), true_residual(problem, plain)) << name;
    }
}

TEST(BicgstabOnRealMatrices, West0067IsOutOfReachAndSaysSo) {
    const auto a = testing::real_matrix("west0067");
    if (!a) GTEST_SKIP() << "west0067.mtx.gz is absent";
    const Problem<double> problem = with_random_solution(*a);
    for (const Accuracy accuracy : all_accuracies) {
        const auto s = solve(problem, with(accuracy), {.kind = Kind::none});
        EXPECT_NE(s.result.status, SolveStatus::converged);
        expect_honest(problem, s, with(accuracy));
    }
}

}  // namespace
}  // namespace solver
