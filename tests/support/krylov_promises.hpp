#pragma once

/// What every Krylov method promises, whatever it is.

#include "support/linear_systems.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace solver::testing {

/// Inf or NaN in A, b or the guess end the solve, which gives back the guess.
inline void expect_reports_what_is_not_finite(KrylovMethod method) {
    const Setting setting{.method = method};
    const double inf = std::numeric_limits<double>::infinity();
    for (const double bad : {inf, -inf, std::numeric_limits<double>::quiet_NaN()})
        for (const Accuracy accuracy : all_accuracies) {
            auto in_a = dense<double>(2, {2, 1, 1, 3}, {4, 7});
            in_a.a.values[1] = bad;
            EXPECT_EQ(solve(in_a, with(accuracy), setting).result.status, SolveStatus::non_finite);
            in_a.b = {0, 0};
            EXPECT_EQ(solve(in_a, with(accuracy), setting).result.status, SolveStatus::non_finite);
            const auto result = solve(dense<double>(2, {2, 1, 1, 3}, {4, bad}), with(accuracy), setting);
            EXPECT_EQ(result.result.status, SolveStatus::non_finite);
            EXPECT_EQ(result.x, (std::vector<double>{0, 0}));
            const auto good = dense<double>(2, {2, 1, 1, 3}, {4, 7});
            EXPECT_EQ(solve(good, with(accuracy), setting, std::vector<double>{bad, 1}).result.status, SolveStatus::non_finite);
        }
}

/// On `trials` nasty matrices, of which at least so many converge and so many do not (in double).
inline void expect_no_false_claims(KrylovMethod method, int trials, int least_converged, int least_others) {
    std::mt19937_64 random(3);
    int converged = 0, others = 0;
    const Setting alone{.kind = PreconditionerKind::none, .method = method};
    const Setting pair{.kind = PreconditionerKind::none, .pair = true, .method = method};
    for (int trial = 0; trial < trials; ++trial) {
        SCOPED_TRACE(trial);
        std::mt19937_64 copy = random;
        const auto d = nasty<double>(random);
        const auto f = nasty<float>(copy);
        for (const Accuracy accuracy : all_accuracies) {
            KrylovOptions options = with(accuracy);
            options.max_iterations = 200;
            const auto in_double = solve(d, options, alone);
            expect_honest(d, in_double, options);
            expect_honest(f, solve(f, options, alone), options);
            expect_honest(f, solve(f, options, pair), options);
            ++(in_double.result.status == SolveStatus::converged ? converged : others);
        }
        if (::testing::Test::HasFailure()) return;
    }
    EXPECT_GT(converged, least_converged);
    EXPECT_GT(others, least_others);
}

/// Powers of two in A and b change exponents alone.
inline void expect_indifferent_to_scales(KrylovMethod method, const Problem<double>& problem) {
    const Setting setting{.method = method};
    const auto expected = solve(problem, with(Accuracy::exact), setting);
    for (const int scale : {-900, 900})
        for (const int matrix_scale : {-60, 0, 60}) {
            Problem<double> scaled = problem;
            for (double& x : scaled.b) x = std::ldexp(x, scale);
            for (double& x : scaled.a.values) x = std::ldexp(x, matrix_scale);
            auto result = solve(scaled, with(Accuracy::exact), setting);
            EXPECT_EQ(result.result.status, SolveStatus::converged);
            EXPECT_EQ(result.result.iterations, expected.result.iterations);
            for (double& x : result.x) x = std::ldexp(x, matrix_scale - scale);
            EXPECT_EQ(result.x, expected.x);
        }
}

}  // namespace solver::testing
