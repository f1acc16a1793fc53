#include "solver/cg.hpp"

#include "solver/bicgstab.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/error.hpp"
#include "solver/numeric/rounding.hpp"
#include "support/devices.hpp"
#include "support/krylov_promises.hpp"
#include "support/linear_systems.hpp"
#include "support/oracle.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace solver {
namespace {

using namespace testing;

using Kind = PreconditionerKind;

/// Solves by conjugate gradients.
template <class T>
Solve<T> solve_by_cg(const Problem<T>& problem, const KrylovOptions& options, Setting setting = {}, std::vector<T> x = {}) {
    setting.method = KrylovMethod::cg;
    return solve(problem, options, setting, std::move(x));
}

KrylovOptions recorded(Accuracy accuracy, double tolerance = 1e-10) {
    return {.accuracy = accuracy, .tolerance = tolerance, .keep_history = true};
}

/// The five-point Laplace operator on a square of side^2 unknowns, minus `shift`.
template <class T>
CsrMatrix<T> laplacian(std::int32_t side, T shift = 0) {
    std::vector<Entry<T>> entries;
    for (std::int32_t i = 0; i < side * side; ++i) {
        entries.push_back({i, i, T(4) - shift});
        if (i % side > 0) entries.push_back({i, i - 1, T(-1)});
        if (i % side < side - 1) entries.push_back({i, i + 1, T(-1)});
        if (i >= side) entries.push_back({i, i - side, T(-1)});
        if (i < side * (side - 1)) entries.push_back({i, i + side, T(-1)});
    }
    return csr_from_entries<T>(side * side, side * side, entries);
}

/// -1, 2, -1, and `corner` in the first and the last element of the diagonal. With 1 it is singular.
template <class T>
CsrMatrix<T> laplacian_of_an_interval(std::int32_t n, T corner = 2) {
    std::vector<Entry<T>> entries;
    for (std::int32_t i = 0; i < n; ++i) {
        entries.push_back({i, i, i == 0 || i == n - 1 ? corner : T(2)});
        if (i > 0) entries.push_back({i, i - 1, T(-1)});
        if (i < n - 1) entries.push_back({i, i + 1, T(-1)});
    }
    return csr_from_entries<T>(n, n, entries);
}

/// binomial(i + j, i): integers, positive definite, determinant 1, condition about 16^n / (n pi).
template <class T>
std::vector<T> pascal(std::int64_t n) {
    std::vector<T> a(static_cast<std::size_t>(n * n), T(1));
    for (std::int64_t i = 1; i < n; ++i)
        for (std::int64_t j = 1; j < n; ++j) a[i * n + j] = a[i * n + j - 1] + a[(i - 1) * n + j];
    return a;
}

/// A column of the inverse of that, which is a matrix of integers: sum_k (-1)^(i + j) binomial(k, i) binomial(k, j).
template <class T>
std::vector<T> column_of_inverse_pascal(std::int64_t n, std::int64_t j) {
    std::vector<double> row(static_cast<std::size_t>(n));
    std::vector<T> column(static_cast<std::size_t>(n));
    row[0] = 1;
    for (std::int64_t k = 0; k < n; ++k) {
        for (std::int64_t i = 0; i < n; ++i) column[i] += static_cast<T>(((i + j) % 2 == 0 ? 1 : -1) * row[i] * row[j]);
        for (std::int64_t i = n - 1; i > 0; --i) row[i] += row[i - 1];
    }
    return column;
}

/// A tensor product of 2 x 2 blocks with `factors` many distinct eigenvalues: 1, 3 times 3, 7 times 5, 13, each a product.
Problem<double> with_distinct_eigenvalues(int factors) {
    const std::array<std::array<double, 2>, 3> blocks{{{2, 1}, {5, 2}, {9, 4}}};  // diagonal and offdiagonal
    std::vector<double> a{1};
    std::int64_t n = 1;
    for (int f = 0; f < factors; ++f) {
        std::vector<double> next(static_cast<std::size_t>(4 * n * n));
        for (std::int64_t i = 0; i < 2 * n; ++i)
            for (std::int64_t j = 0; j < 2 * n; ++j)
                next[i * 2 * n + j] = a[i / 2 * n + j / 2] * blocks[f][i % 2 == j % 2 ? 0 : 1];
        a = next;
        n *= 2;
    }
    std::vector<double> b(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = 1 + 0.1 * static_cast<double>(i * i % 7) + (i == 0 ? 1 : 0);
    return dense(n, a, b);
}

// Promise: cg.hpp, "In exact arithmetic the error falls"
TEST(Cg, EndsAfterAsManyStepsAsThereAreDistinctEigenvalues) {
    for (const Accuracy accuracy : all_accuracies)
        for (const int factors : {1, 2}) {  // 1, 3; 3, 7, 9, 21
            const auto solved = solve_by_cg(with_distinct_eigenvalues(factors), with(accuracy), {.kind = Kind::none});
            EXPECT_EQ(solved.result.status, SolveStatus::converged);
            EXPECT_EQ(solved.result.iterations, 1 << factors) << to_string(accuracy);
        }
    constexpr std::int64_t n = 40;
    std::vector<double> ones_and_identity(n * n, 1.0);  // eigenvalues 1 and n + 1
    for (std::int64_t i = 0; i < n; ++i) ones_and_identity[i * n + i] = 2;
    const auto solved = solve_by_cg(dense(n, ones_and_identity, random_vector<double>(n, 5)), with(Accuracy::compensated),
                                    {.kind = Kind::none});
    EXPECT_EQ(solved.result.iterations, 2);
}

/// (e'Ae)^(1/2) for e = x - known.
double error_in_the_norm_of_a(const CsrMatrix<double>& a, const std::vector<double>& x, const std::vector<double>& known) {
    long double sum = 0;
    for (std::int64_t i = 0; i < a.rows; ++i)
        for (auto k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) {
            const auto j = a.column_indices[k];
            sum += static_cast<long double>(x[i] - known[i]) * a.values[k] * (x[j] - known[j]);
        }
    return static_cast<double>(std::sqrt(sum));
}

/// A matrix of which the extreme eigenvalues are known, and the bound of Chebyshev's polynomials (Saad, theorem 6.29).
struct Known {
    Problem<double> problem;
    double smallest;
    double largest;

    double bound(std::int64_t steps) const {
        const double root = std::sqrt(largest / smallest);
        return 2 * std::pow((root - 1) / (root + 1), static_cast<double>(steps));
    }
};

std::vector<Known> matrices_with_known_eigenvalues() {
    const auto extreme = [](int n, double dimension, int k) {  // of the Laplace operator, n points in each direction
        const double s = std::sin(k * std::numbers::pi / (2 * (n + 1)));
        return dimension * 4 * s * s;
    };
    return {{with_random_solution(laplacian_of_an_interval<double>(60)), extreme(60, 1, 1), extreme(60, 1, 60)},
            {with_random_solution(laplacian<double>(25)), extreme(25, 2, 1), extreme(25, 2, 25)}};
}

// Promise: cg.hpp, "In exact arithmetic the error falls"
TEST(Cg, ReducesTheErrorAsFastAsChebyshevsPolynomialsPromise) {
    for (const Known& known : matrices_with_known_eigenvalues()) {
        const auto solution = random_vector<double>(known.problem.b.size(), 7);
        const auto& a = known.problem.a;
        const double first = error_in_the_norm_of_a(a, std::vector<double>(solution.size()), solution);
        for (const Accuracy accuracy : all_accuracies) {
            int compared = 0;
            for (std::int64_t steps = 1; steps <= 60; ++steps) {
                KrylovOptions options = recorded(accuracy, 1e-13);
                options.max_iterations = steps;
                const auto solved = solve_by_cg(known.problem, options, {.kind = Kind::none});
                if (solved.result.history.back().true_residual != solved.result.relative_residual) continue;  // x is another
                ++compared;
                EXPECT_LE(error_in_the_norm_of_a(a, solved.x, solution) / first, 1.001 * known.bound(steps) + 1e-12)
                    << steps << " steps, " << to_string(accuracy);
            }
            EXPECT_GE(compared, 30);
        }
    }
}

/// ||r|| <= sqrt(K) (e'Ae / e_0'Ae_0)^(1/2) ||r_0||, whichever x is the best.
TEST(Cg, ReducesTheResidualInEveryStepByWhatFollowsFromThat) {
    for (const Known& known : matrices_with_known_eigenvalues())
        for (const Accuracy accuracy : all_accuracies) {
            const auto solved = solve_by_cg(known.problem, recorded(accuracy), {.kind = Kind::none});
            EXPECT_EQ(solved.result.status, SolveStatus::converged);
            for (const Iteration& step : solved.result.history)
                EXPECT_LE(step.recursive_residual, 1.001 * std::sqrt(known.largest / known.smallest) * known.bound(step.number))
                    << step.number << ", " << to_string(accuracy);
        }
}

/// Conjugate gradients from x = 0, without a preconditioner, in MPFR: every operation rounds once, in the nesting that
/// updates.hpp and cg_scalars.hpp give.
template <class T>
class CgByTheBook {
public:
    using Vector = std::vector<T>;

    explicit CgByTheBook(const Problem<T>& problem)
        : a_(problem.a), scale_(std::ldexp(1.0, -std::ilogb(norm(problem.b)))), r_(problem.b), z_(r_.size()) {
        for (T& element : r_) element *= static_cast<T>(scale_);
        p_ = r_;
        rho_ = exact_dot<T>(r_, r_);
    }

    void step() {
        const Vector q = product(p_);
        const T alpha = static_cast<T>(rho_ / exact_dot<T>(p_, q));
        for (std::size_t i = 0; i < r_.size(); ++i) {
            z_[i] = plus(z_[i], times(alpha, p_[i]));
            r_[i] = plus(r_[i], -times(alpha, q[i]));
        }
        const double rho = exact_dot<T>(r_, r_);
        const T beta = static_cast<T>(rho / rho_);
        for (std::size_t i = 0; i < r_.size(); ++i) p_[i] = plus(r_[i], times(beta, p_[i]));
        rho_ = rho;
    }

    Vector solution() const {
        Vector x = z_;
        for (T& element : x) element /= static_cast<T>(scale_);
        return x;
    }
    double residual_norm() const { return norm(r_) / scale_; }
    static double norm(const Vector& x) {
        Oracle sum;
        for (const T element : x) sum.add_product(element, element);
        return sum.template sqrt_rounded<T>();
    }

private:
    static T plus(T a, T b) { return exact_dot<T>(std::array{a, b}, std::array{T(1), T(1)}); }
    static T times(T a, T b) { return exact_dot<T>(std::array{a}, std::array{b}); }

    Vector product(const Vector& x) const {
        Vector y;
        for (std::int64_t i = 0; i < a_.rows; ++i) {
            Oracle row;
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
    Vector p_;
    double rho_ = 0;
};

template <class T>
void expect_steps_by_the_book() {
    const Problem<T> problem = with_random_solution(laplacian<T>(12));
    CgByTheBook<T> book(problem);
    for (int steps = 1; steps <= 4; ++steps) {
        book.step();
        KrylovOptions options = with(Accuracy::exact);
        options.max_iterations = steps;
        const auto solved = solve_by_cg(problem, options, {.kind = Kind::none});
        ASSERT_EQ(solved.result.replacements, 0);  // nothing but the recurrence
        EXPECT_EQ(solved.result.recursive_residual, book.residual_norm() / CgByTheBook<T>::norm(problem.b)) << steps;
        EXPECT_EQ(solved.x, book.solution()) << steps;
    }
}

// Promise: cg.hpp, "Solves A x = b by preconditioned conjugate gradients"
TEST(Cg, RoundsEveryOperationOfAStepOnceInTheOrderItGives) {
    expect_steps_by_the_book<double>();
    expect_steps_by_the_book<float>();
}

// Promise: krylov.hpp, "A or M is not positive definite to working precision"
/// Where p'Ap <= 0 or r'M^-1 r <= 0 is seen at once, later, exactly zero, or only because of M.
// Promise: cg.hpp, "Definiteness shows on the way"
// Promise: preconditioner.hpp, "Whether it is positive definite, too, shows"
// Promise: solver.h, "A or M in cg, or M in minres, is not positive definite"
TEST(Cg, SaysThatAMatrixIsIndefinite) {
    const std::vector<Problem<double>> at_once{
        dense<double>(1, {-2}, {3}),
        dense<double>(2, {1, 0, 0, -1}, {1, 1}),  // p'Ap = 0
        dense<double>(2, {0, 1, 1, 0}, {1, 0}),   // p'Ap = 0, every product with it zero
        dense<double>(3, {1, 0, 0, 0, 1, 0, 0, 0, -5}, {1, 1, 1}),
    };
    for (const Accuracy accuracy : all_accuracies) {
        SCOPED_TRACE(to_string(accuracy));
        for (const Problem<double>& problem : at_once) {
            const auto solved = solve_by_cg(problem, with(accuracy), {.kind = Kind::none});
            EXPECT_EQ(solved.result.status, SolveStatus::indefinite);
            EXPECT_EQ(solved.result.iterations, 1);
            EXPECT_EQ(solved.result.relative_residual, 1);
            EXPECT_EQ(solved.x, std::vector<double>(problem.b.size()));
        }
        const auto by_m = dense<double>(2, {-1, 0, 0, 2}, {4, 1});
        EXPECT_EQ(solve_by_cg(by_m, with(accuracy), {.kind = Kind::jacobi}).result.status, SolveStatus::indefinite);
        const auto later = with_random_solution(laplacian<double>(20, 1.0));  // eigenvalues on both sides of zero
        const auto solved = solve_by_cg(later, with(accuracy), {.kind = Kind::none});
        EXPECT_EQ(solved.result.status, SolveStatus::indefinite);
        EXPECT_GT(solved.result.iterations, 1);
        expect_honest(later, solved, with(accuracy));
    }
}

template <class T>
void expect_not_called_indefinite(const Problem<T>& problem) {
    for (const Accuracy accuracy : all_accuracies)
        for (const Kind kind : {Kind::none, Kind::jacobi}) {
            KrylovOptions options = with(accuracy, 1e-15);
            options.max_iterations = 2000;
            const auto solved = solve_by_cg(problem, options, {.kind = kind});
            EXPECT_NE(solved.result.status, SolveStatus::indefinite) << to_string(accuracy) << ' ' << to_string(kind);
            expect_honest(problem, solved, options);
        }
}

/// Conditions beyond 1 / u (10^25 in double) and directions near the eigenvector of the smallest eigenvalue, where the rounding
/// of a plain product makes p'Ap negative.
// Promise: cg.hpp, "In fast p'Ap is computed once more"
// Promise: cg.hpp, "Where A is positive definite that happens only"
TEST(Cg, DoesNotCallADefiniteMatrixIndefinite) {
    for (const std::int64_t n : {6, 8, 9})
        for (std::int64_t j = 0; j < n; ++j)
            expect_not_called_indefinite(dense(n, pascal<float>(n), column_of_inverse_pascal<float>(n, j)));
    for (const std::int64_t n : {12, 18, 22})
        for (std::int64_t j = 0; j < n; ++j)
            expect_not_called_indefinite(dense(n, pascal<double>(n), column_of_inverse_pascal<double>(n, j)));
}

/// Products of small numbers underflow, whose sums are then zero: that says nothing of the matrix.
// Promise: cg.hpp, "Definiteness shows on the way"
TEST(Cg, DoesNotTakeUnderflowForIndefiniteness) {
    for (const Accuracy accuracy : all_accuracies)
        for (const float size : {0x1p-120F, 0x1p-60F, 0x1p60F, 0x1p110F}) {
            auto problem = with_random_solution(laplacian<float>(10));
            for (float& value : problem.a.values) value *= size;
            const auto solved = solve_by_cg(problem, with(accuracy, 1e-5), {.kind = Kind::jacobi});
            EXPECT_NE(solved.result.status, SolveStatus::indefinite) << to_string(accuracy) << ' ' << size;
        }
}

// Promise: cg.hpp, "Where nothing has been gained since a restart"
TEST(Cg, BreaksDownOnAMatrixOfZerosAtOnce) {
    for (const Accuracy accuracy : all_accuracies) {
        const auto result = solve_by_cg(dense<double>(2, {0, 0, 0, 0}, {1, 2}), with(accuracy), {.kind = Kind::none},
                                        std::vector<double>{5, 6});
        EXPECT_EQ(result.result.status, SolveStatus::breakdown);
        EXPECT_EQ(result.result.iterations, 1);  // a restart would repeat it
        EXPECT_EQ(result.x, (std::vector<double>{5, 6}));
    }
}

// Promise: cg.hpp, "A singular A is no obstacle"
TEST(Cg, SolvesSingularSystemsThatHaveASolution) {
    for (const Accuracy accuracy : all_accuracies) {
        const auto problem = with_random_solution(laplacian_of_an_interval<double>(300, 1.0));  // constants are mapped to zero
        const auto solved = solve_by_cg(problem, with(accuracy));
        EXPECT_EQ(solved.result.status, SolveStatus::converged);
        EXPECT_LE(true_residual(problem, solved), 1.000001e-10);
    }
}

/// b has a constant part of 1e-13, which A = -Laplace without boundary values cannot reach, and whose image under multigrid is
/// large: directions turn into constants, and residuals grow without end.
// Promise: cg.hpp, "Where more than 12 true residuals in a row are"
TEST(Cg, StagnatesWhereItDiverges) {
    constexpr std::int32_t side = 100, n = side * side;
    std::vector<Entry<double>> entries;
    const auto connect = [&](std::int32_t i, std::int32_t j) {
        for (const auto& [row, column] : {std::pair(i, j), std::pair(j, i)}) {
            entries.push_back({row, column, -1});
            entries.push_back({row, row, 1});
        }
    };
    for (std::int32_t i = 0; i < n; ++i) {
        if (i % side != side - 1) connect(i, i + 1);
        if (i / side != side - 1) connect(i, i + side);
    }
    Problem<double> problem{csr_from_entries<double>(n, n, entries), random_vector<double>(n, 3)};
    double mean = 0;
    for (const double element : problem.b) mean += element / n;
    for (double& element : problem.b) element += 1e-13 - mean;
    const auto solved = solve_by_cg(problem, with(Accuracy::exact, 1e-12), {.kind = Kind::amg});
    EXPECT_EQ(solved.result.status, SolveStatus::stagnated);
    EXPECT_LE(solved.result.iterations, 1000);
    EXPECT_LE(true_residual(problem, solved), 1e-6);
}

TEST(Cg, StagnatesWhereSinglePrecisionCannotHoldTheSolution) {
    const auto problem = with_random_solution(laplacian<float>(20));
    for (const Accuracy accuracy : all_accuracies) {
        const auto result = solve_by_cg(problem, with(accuracy, 1e-12));
        EXPECT_EQ(result.result.status, SolveStatus::stagnated) << to_string(accuracy);
        EXPECT_LT(result.result.relative_residual, 1e-6);
        EXPECT_NEAR(true_residual(problem, result) / result.result.relative_residual, 1, 1e-4);
    }
}

// Promise: cg.hpp, "A step costs one product with A and one application"
// Promise: krylov.hpp, "of every product, dot, norm and preconditioner step"
TEST(Cg, AppliesThePreconditionerOnceAStep) {
    struct Counting final : Preconditioner<double> {
        mutable std::int64_t count = 0;
        void apply(std::span<const double> r, std::span<double> z, Accuracy accuracy) const override {
            EXPECT_EQ(accuracy, Accuracy::compensated);
            ++count;
            for (std::size_t i = 0; i < r.size(); ++i) z[i] = r[i] / 2;
        }
        bool is_symmetric() const override { return true; }
    };
    const auto problem = with_random_solution(laplacian<double>(20));
    const SpmvPlan<double> plan(problem.a, Device::cpu(1));
    const Counting m;
    std::vector<double> x(problem.b.size());
    const SolveResult result = cg<double>(plan, m, problem.b, x, {}, with(Accuracy::compensated));
    EXPECT_EQ(result.status, SolveStatus::converged);
    EXPECT_EQ(m.count, result.iterations);
}

// Promise: cg.hpp, "Solves A X = B, one solve a column of B"
TEST(Cg, SolvesForEveryColumnOfB) {
    const auto problem = dense<double>(2, {2, 1, 1, 3}, {4, 7});
    const SpmvPlan<double> plan(problem.a, Device::cpu(1));
    const auto m = make_preconditioner<double>(Kind::none, problem.a, Accuracy::exact, Device::cpu(1));
    const DenseMatrix<double> b{2, 2, {4, 7, 3, 4}};
    DenseMatrix<double> x{2, 2, std::vector<double>(4)};
    for (const SolveResult& result : cg<double>(plan, *m, b, x, nullptr, with(Accuracy::exact)))
        EXPECT_EQ(result.status, SolveStatus::converged);
    EXPECT_THAT(x.values, ::testing::Pointwise(::testing::DoubleNear(1e-8), {1.0, 2.0, 1.0, 1.0}));
}

// Promise: cg.hpp, "`a_single` is A with every entry rounded, and `indefinite` speaks of that one"
/// Definite, and by rounding to floats (1 1 + u; 1 + u 1 + u), u = 2^-23.
TEST(CgInMixedPrecision, SpeaksOfTheRoundedMatrix) {
    const double beside = 1 + 0x1p-24 + 0x1p-26, below = 1 + 0x1p-23 + 0x1p-25 + 0x1p-26;
    const auto problem = dense<double>(2, {1, beside, beside, below}, {1, -1});
    const CsrMatrix<float> rounded = convert<float>(problem.a.view());
    const SpmvPlan<double> plan(problem.a, Device::cpu(1));
    const SpmvPlan<float> plan_single(rounded, Device::cpu(1));
    const auto m = make_preconditioner<float>(Kind::none, rounded, Accuracy::exact, Device::cpu(1));
    std::vector<double> x(2);
    EXPECT_EQ(cg(plan, plan_single, *m, problem.b, x, with(Accuracy::exact)).status, SolveStatus::indefinite);
    EXPECT_EQ(solve_by_cg(problem, with(Accuracy::exact, 1e-6), {.kind = Kind::none}).result.status, SolveStatus::converged);
}

// Promise: cg.hpp, "Throws DimensionMismatch and InvalidArgument"
TEST(Cg, RefusesWhatCannotBeMeant) {
    const auto problem = dense<double>(2, {2, 1, 1, 3}, {4, 7});
    const SpmvPlan<double> plan(problem.a, Device::cpu(1));
    const auto m = make_preconditioner<double>(Kind::none, problem.a, Accuracy::fast, Device::cpu(1));
    std::vector<double> x(2), other(3);
    EXPECT_THROW(cg<double>(plan, *m, other, x), DimensionMismatch);
    EXPECT_THROW(cg<double>(plan, *m, problem.b, other), DimensionMismatch);
    try {
        cg<double>(plan, *m, problem.b, x, {}, with(Accuracy::fast, 0));
        FAIL() << "a tolerance of 0";
    } catch (const InvalidArgument& error) {
        EXPECT_THAT(error.what(), ::testing::StartsWith("cg: the tolerance is 0"));
    }
}

// Promise: krylov.hpp, "The inverse of to_string"
// Promise: krylov.hpp, ""bicgstab", "cg", "gmres""
// Promise: krylov.hpp, "Throws InvalidArgument that lists the choices."
TEST(KrylovMethods, AreKnownByTheirNames) {
    for (const KrylovMethod method : all_krylov_methods) EXPECT_EQ(krylov_method_from_text(to_string(method)), method);
    try {
        krylov_method_from_text("qmr");
        FAIL() << "qmr is not known";
    } catch (const InvalidArgument& error) {
        EXPECT_STREQ(error.what(), "method 'qmr' is not known; choose bicgstab, cg, gmres, minres, idr, bicgstab2 or cocg");
    }
}

// Promise: krylov.hpp, "As krylov_method_from_text, but nothing for"
TEST(KrylovMethods, NamesMayLeaveTheChoiceToTheLibrary) {
    EXPECT_EQ(krylov_method_or_auto_from_text("auto"), std::nullopt);
    EXPECT_EQ(krylov_method_or_auto_from_text("idr"), KrylovMethod::idr);
    EXPECT_THAT([] { krylov_method_or_auto_from_text("qmr"); },
                ::testing::ThrowsMessage<InvalidArgument>(
                    "method 'qmr' is not known; choose auto, bicgstab, cg, gmres, minres, idr, bicgstab2 or cocg"));
}

// Promise: krylov.hpp, ""converged", "iteration limit", "breakdown""
TEST(SolveStatuses, HaveNames) {
    using enum SolveStatus;
    EXPECT_EQ(to_string(converged), "converged");
    EXPECT_EQ(to_string(iteration_limit), "iteration limit");
    EXPECT_EQ(to_string(breakdown), "breakdown");
    EXPECT_EQ(to_string(stagnated), "stagnated");
    EXPECT_EQ(to_string(non_finite), "non-finite");
    EXPECT_EQ(to_string(indefinite), "indefinite");
}

/// Whether M may be used with it: that of a symmetric A is symmetric for these alone.
// Promise: preconditioner.hpp, "Whether M is symmetric where A is"
TEST(KrylovMethods, KnowWhichPreconditionersAreSymmetric) {
    const CsrMatrix<double> a = laplacian<double>(4);
    for (const Kind kind : {Kind::none, Kind::jacobi, Kind::ilu0, Kind::isai, Kind::ilut, Kind::klu}) {
        const auto m = make_preconditioner<double>(kind, a, Accuracy::fast, Device::cpu(1));
        EXPECT_EQ(m->is_symmetric(), kind == Kind::none || kind == Kind::jacobi) << to_string(kind);
    }
}

}  // namespace
}  // namespace solver
