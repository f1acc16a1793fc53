#include "auto_solve/row_equilibration.hpp"

#include "solver/complex.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/dense_matrix.hpp"
#include "solver/error.hpp"
#include "solver/solve.hpp"
#include "solver/spmv.hpp"
#include "support/penalty.hpp"
#include "support/solved.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace solver {
namespace {

using namespace testing;

/// Of a solution with ||S (b - A x)|| <= 10^-10 ||S b||: S A is an M-matrix, so that the largest row sum of its inverse is the
/// largest element of w, S A w >= e. S is 1/4 or less inside, and A times i (m + 1 - i) / 2 is 1 or more there, i the number of
/// a point in its line: w = 2 i (m + 1 - i), (m + 1)^2 / 2 at most.
double error_bound(std::int32_t m, const std::vector<double>& known) {
    double size = 0;  // of S b: rows of S A have magnitudes of 8 / 4 in all, at most
    for (const double x : known) size = std::max(size, 2 * std::abs(x));
    return 0.5 * (m + 1) * (m + 1) * 1e-10 * size * m;
}

double largest_difference(std::span<const double> x, const std::vector<double>& y) {
    double largest = 0;
    for (std::size_t i = 0; i < y.size(); ++i) largest = std::max(largest, std::abs(x[i] - y[i]));
    return largest;
}

// Promise: solve.hpp, "Rows of A that are far smaller than others are looked at"
// Promise: solve.hpp, "That x is taken where it meets"
// Promise: solve.hpp, "S scales each row by a power of two"
// Promise: solve.hpp, "The relative residual says nothing of them"
TEST(RowEquilibration, SolvesInsideOfABoundaryHeldByAPenalty) {
    constexpr std::int32_t m = 50;
    for (const double penalty : {0x1p30, 0x1p40, 0x1p50}) {
        SCOPED_TRACE(penalty);
        const Penalty p = penalty_problem(m, penalty);
        const auto solved = solve_by(p.a, p.b, {});
        const SolveResult& result = solved.report.result();
        EXPECT_EQ(result.status, SolveStatus::converged);
        EXPECT_EQ(result.relative_residual, true_residual(p.a, p.b, solved.x));
        EXPECT_LE(largest_difference(solved.x, p.known), error_bound(m, p.known));
        EXPECT_EQ(solved.report.obstacle, "");
        EXPECT_EQ(solved.x, solve_by(p.a, p.b, {}, Device::cpu(2)).x);
        std::int64_t iterations = 0;
        for (const Attempt& attempt : solved.report.attempts) iterations += attempt.results.front().iterations;
        EXPECT_EQ(result.iterations, iterations);
    }
}

/// By the residual alone, and said.
// Promise: solve.hpp, "Where more than s is left all the same"
TEST(RowEquilibration, IsToldOfWhereSomethingIsAskedForByName) {
    const Penalty p = penalty_problem(50, 0x1p40);
    SolveOptions by_name, by_method, by_both;
    by_name.preconditioner = by_both.preconditioner = PreconditionerKind::jacobi;
    by_method.method = by_both.method = KrylovMethod::cg;
    for (const SolveOptions& options : {by_name, by_method, by_both}) {
        const auto solved = solve_by(p.a, p.b, options);
        EXPECT_EQ(solved.report.result().status, SolveStatus::converged);
        EXPECT_EQ(solved.report.attempts.size(), 1u);
        EXPECT_GT(largest_difference(solved.x, p.known), 1e-3);
        EXPECT_THAT(solved.report.obstacle, ::testing::HasSubstr("the small ones are not solved"));
    }
}

/// ||S (b - A x)|| / ||S b||, S dividing each row by its diagonal entry.
template <class T>
double share_by_diagonal(const CsrMatrix<T>& a, const std::vector<T>& b, const std::vector<T>& x) {
    double rest = 0, all = 0;
    for (std::int64_t i = 0; i < a.rows; ++i) {
        double r = b[i], diagonal = 1;
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) {
            r -= static_cast<double>(a.values[k]) * x[a.column_indices[k]];
            if (a.column_indices[k] == i) diagonal = a.values[k];
        }
        rest += r / diagonal * (r / diagonal);
        all += b[i] / diagonal * (b[i] / diagonal);
    }
    return std::sqrt(rest / all);
}

/// Powers of two beside the diagonal differ by less than a factor of two from row to row.
// Promise: solve.hpp, "For each column that has converged with more than a share s"
TEST(RowEquilibration, IsForEveryTolerance) {
    const Penalty p = penalty_problem(50, 0x1p40);
    double size = 0;
    for (const double b : p.b) size = std::hypot(size, b);
    for (const auto& [relative, absolute] :
         {std::pair{1e-3, 0.0}, {1e-4, 0.0}, {1e-6, 0.0}, {1e-10, 1e-300}, {1e-10, 1e-5}, {0.0, 1e-8}}) {
        SCOPED_TRACE(::testing::Message() << relative << ' ' << absolute);
        SolveOptions options;
        options.iteration.tolerance = relative;
        options.iteration.absolute_tolerance = absolute * size;
        const auto solved = solve_by(p.a, p.b, options);
        EXPECT_EQ(solved.report.result().status, SolveStatus::converged);
        EXPECT_EQ(solved.report.obstacle, "");
        EXPECT_LE(share_by_diagonal(p.a, p.b, solved.x), 2 * std::max(relative, absolute));
    }
    const auto in_floats = convert<float>(p.a.view());
    const std::vector<float> b(p.b.begin(), p.b.end());
    SolveOptions options;
    options.iteration.tolerance = 1e-5;
    const auto solved = solve_by(in_floats, b, options);
    EXPECT_EQ(solved.report.result().status, SolveStatus::converged);
    EXPECT_EQ(solved.report.obstacle, "");
    EXPECT_LE(share_by_diagonal(in_floats, b, solved.x), 2e-5);
}

/// Rows of one size leave no more than twice the tolerance, whatever that is.
TEST(RowEquilibration, IsNotForRowsOfOneSize) {
    const CsrMatrix<double> a = penalty_problem(20, 0).a;
    const std::vector<double> b(400, 1);
    SolveOptions automatic, by_name;
    by_name.method = KrylovMethod::cg;
    for (SolveOptions options : {automatic, by_name})
        for (const auto& [relative, absolute] :
             {std::pair{0.2, 0.0}, {0.3, 0.0}, {0.5, 0.0}, {0.99, 0.0}, {1e-10, 10.0}, {1e-10, 1e3}, {2.0, 0.0}}) {
            SCOPED_TRACE(::testing::Message() << relative << ' ' << absolute);
            options.iteration.tolerance = relative;
            options.iteration.absolute_tolerance = absolute;
            for (const Guarantee guarantee : {Guarantee::none, Guarantee::bound}) {
                options.guarantee = guarantee;
                const auto solved = solve_by(a, b, options);
                EXPECT_EQ(solved.report.result().status, SolveStatus::converged);
                EXPECT_EQ(solved.report.obstacle, "");
                EXPECT_LE(solved.report.attempts.size(), 1u);
            }
        }
    SolveOptions absolute;
    absolute.iteration.absolute_tolerance = 1e4;
    std::vector<double> x(400, 1);
    for (const double size : {0.0, 1e-320}) {
        const SolveReport report =
            solve<double>(SpmvPlan<double>(a, Device::cpu(1)), std::vector<double>(400, size), x, {}, absolute);
        EXPECT_EQ(report.result().status, SolveStatus::converged);
        EXPECT_EQ(report.obstacle, "");
    }
}

/// x + x_low, in single precision.
TEST(RowEquilibration, SolvesForPairs) {
    const Penalty p = penalty_problem(50, 0x1p40);
    const auto a = convert<float>(p.a.view());
    const std::vector<float> b(p.b.begin(), p.b.end());
    std::vector<float> x(b.size()), x_low(b.size());
    const SolveReport report = solve<float>(SpmvPlan<float>(a, Device::cpu(1)), b, x, x_low);
    EXPECT_EQ(report.result().status, SolveStatus::converged);
    EXPECT_EQ(report.obstacle, "");
    double largest = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
        largest = std::max(largest, std::abs(static_cast<double>(x[i]) + static_cast<double>(x_low[i]) - p.known[i]));
    EXPECT_LE(largest, error_bound(50, p.known));
}

/// Where something is to be proven a small bound is what is asked for; rounding needs no such look.
// Promise: solve.hpp, "Where x is to be rounded this is left to the proof"
TEST(RowEquilibration, ComesBeforeProofs) {
    constexpr std::int32_t m = 50;
    const Penalty p = penalty_problem(m, 0x1p40);
    SolveOptions options;
    options.guarantee = Guarantee::bound;
    const auto solved = solve_by(p.a, p.b, options);
    EXPECT_EQ(solved.report.proof().status, ProofStatus::proven);
    EXPECT_LE(largest_difference(solved.x, p.known), error_bound(m, p.known));
    EXPECT_LE(std::ranges::max(solved.report.proof().bounds), 2 * error_bound(m, p.known));
    options.preconditioner = PreconditionerKind::jacobi;
    const auto by_name = solve_by(p.a, p.b, options);
    EXPECT_EQ(by_name.report.proof().status, ProofStatus::proven);
    EXPECT_EQ(by_name.report.attempts.size(), 1u);
    EXPECT_THAT(by_name.report.obstacle, ::testing::HasSubstr("the small ones are not solved"));
    options = {};
    options.guarantee = Guarantee::rounded;
    const auto rounded = solve_by(p.a, p.b, options);
    EXPECT_EQ(rounded.report.obstacle, "");
    EXPECT_EQ(rounded.report.attempts.size(), 1u);
    EXPECT_EQ(rounded.x, p.known);
}

/// Their quotient and the residual are beyond all numbers.
TEST(RowEquilibration, SolvesRowsThatLieBeyondTheRangeOfNumbersApart) {
    for (const int exponent : {548, 700, 1000}) {
        SCOPED_TRACE(exponent);
        const double large = std::ldexp(1.0, exponent), small = 1 / large;
        const auto a =
            csr_from_entries<double>(2, 2, std::vector<Entry<double>>{{0, 0, large}, {0, 1, large / 2}, {1, 1, small}});
        for (const Guarantee guarantee : {Guarantee::none, Guarantee::bound}) {
            SolveOptions options;
            options.guarantee = guarantee;
            const auto solved = solve_by<double>(a, {1.5 * large, small}, options);
            EXPECT_EQ(solved.report.result().status, SolveStatus::converged);
            for (const double x : solved.x) EXPECT_NEAR(x, 1, 1e-9);
        }
    }
}

/// Two columns with unsolved rows, 0 and 3, beside one of zeros and one without boundary values.
TEST(RowEquilibration, TakesTheColumnsThatNeedIt) {
    constexpr std::int32_t m = 50;
    const Penalty p = penalty_problem(m, 0x1p40), q = penalty_problem(m, 0x1p40, 2);
    const auto n = static_cast<std::size_t>(p.a.rows);
    std::vector<double> inside = p.known, image(n);
    std::fill_n(inside.begin(), m, 0.0);
    spmv(1.0, p.a, inside, 0.0, image, Accuracy::exact, Device::cpu(1));
    DenseMatrix<double> b{p.a.rows, 4, p.b}, x{p.a.rows, 4, std::vector<double>(4 * n)};
    b.values.insert(b.values.end(), n, 0.0);
    b.values.insert(b.values.end(), image.begin(), image.end());
    b.values.insert(b.values.end(), q.b.begin(), q.b.end());
    std::vector<std::int64_t> numbers[4];
    SolveOptions options;
    options.iteration.keep_history = true;
    options.iteration.callback = [&](const Iteration& iteration) {
        numbers[iteration.column].push_back(iteration.number);
        return true;
    };
    const SolveReport report = solve<double>(SpmvPlan<double>(p.a, Device::cpu(1)), b, x, nullptr, options);
    for (const SolveResult& result : report.results) EXPECT_EQ(result.status, SolveStatus::converged);
    EXPECT_LE(largest_difference(x.column(0), p.known), error_bound(m, p.known));
    EXPECT_LE(largest_difference(x.column(2), inside), error_bound(m, inside));
    EXPECT_LE(largest_difference(x.column(3), q.known), error_bound(m, q.known));
    EXPECT_EQ(report.attempts.back().columns, (std::vector<std::int64_t>{0, 3}));
    for (std::size_t j = 0; j < 4; ++j) {
        const SolveResult& result = report.results[j];
        ASSERT_EQ(numbers[j].size(), result.history.size());
        for (std::size_t k = 0; k < numbers[j].size(); ++k) {
            EXPECT_EQ(numbers[j][k], static_cast<std::int64_t>(k));
            EXPECT_EQ(result.history[k].number, numbers[j][k]);
            EXPECT_EQ(result.history[k].column, static_cast<std::int64_t>(j));
        }
        EXPECT_EQ(result.iterations, numbers[j].back());
    }
}

/// With (1 + i) A.
TEST(RowEquilibration, SolvesComplexSystemsToo) {
    constexpr std::int32_t m = 50;
    const Penalty p = penalty_problem(m, 0x1p40);
    CsrMatrix<std::complex<double>> a{p.a.rows, p.a.columns, p.a.row_offsets, p.a.column_indices, {}};
    for (const double value : p.a.values) a.values.emplace_back(value, value);
    std::vector<double> b;
    for (const double value : p.b) b.insert(b.end(), {value, value});
    SolveOptions options;
    options.iteration.complex_scalars = true;
    const auto solved = solve_by(real_form(a.view()), b, options);
    EXPECT_EQ(solved.report.result().status, SolveStatus::converged);
    std::vector<double> real, imaginary;
    for (std::size_t i = 0; i < solved.x.size(); ++i) (i % 2 == 0 ? real : imaginary).push_back(solved.x[i]);
    EXPECT_LE(largest_difference(real, p.known), 2 * error_bound(m, p.known));
    EXPECT_LE(largest_difference(imaginary, std::vector<double>(imaginary.size())), 2 * error_bound(m, p.known));
}

/// Few iterations are too few: that the small rows are not solved is told of.
// Promise: solve.hpp, "Where more than s is left all the same"
TEST(RowEquilibration, TellsWhatItCannotSolve) {
    const Penalty p = penalty_problem(50, 0x1p40);
    SolveOptions options;
    options.iteration.max_iterations = 4;
    const auto solved = solve_by(p.a, p.b, options);
    EXPECT_EQ(solved.report.result().status, SolveStatus::converged);
    EXPECT_LE(solved.report.result().relative_residual, 1e-10);
    EXPECT_LE(solved.report.result().iterations, 4);
    EXPECT_THAT(solved.report.obstacle, ::testing::HasSubstr("the small ones are not solved"));
}

/// After the iterations of A x = b: what is known stays, and what the callback throws arrives.
TEST(RowEquilibration, EndsWhereTheCallbackWants) {
    const Penalty p = penalty_problem(50, 0x1p40);
    SolveOptions options;
    std::int64_t last = 0;
    options.iteration.callback = [&](const Iteration& iteration) { return (last = iteration.number) < 5; };
    const auto solved = solve_by(p.a, p.b, options);
    EXPECT_EQ(last, 5);
    EXPECT_EQ(solved.report.result().iterations, 5);
    EXPECT_EQ(solved.report.result().status, SolveStatus::converged);
    EXPECT_EQ(solved.report.result().relative_residual, true_residual(p.a, p.b, solved.x));
    EXPECT_THAT(solved.report.obstacle, ::testing::HasSubstr("the small ones are not solved"));
    options.iteration.callback = [](const Iteration& iteration) -> bool {
        if (iteration.number == 5) throw InvalidArgument("of the caller");
        return true;
    };
    EXPECT_THROW(solve_by(p.a, p.b, options), InvalidArgument);
}

}  // namespace
}  // namespace solver
