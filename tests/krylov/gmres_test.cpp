#include "krylov/orthogonality.hpp"
#include "solver/krylov_solve.hpp"
#include "support/eigen.hpp"
#include "support/linear_systems.hpp"

#include <gtest/gtest.h>
#include <Eigen/Dense>

#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace solver {
namespace {

using namespace testing;

using Kind = PreconditionerKind;

Solve<double> solve_by_gmres(const Problem<double>& problem, KrylovOptions options, std::int64_t restart,
                             Kind kind = Kind::none) {
    options.restart = restart;
    options.keep_history = true;
    return solve(problem, options, {.kind = kind, .method = KrylovMethod::gmres});
}

/// The least ||b - A z|| over Krylov spaces of growing dimension, relative to ||b||, by Householder reflections.
std::vector<double> least_residuals(const Problem<double>& problem, int steps) {
    const Eigen::MatrixXd a = dense_of(problem.a);
    const Eigen::VectorXd b = Eigen::Map<const Eigen::VectorXd>(problem.b.data(), a.rows());
    Eigen::MatrixXd space(a.rows(), steps);
    std::vector<double> residuals{1};
    Eigen::VectorXd v = b.normalized();
    for (int k = 0; k < steps; ++k) {
        space.col(k) = v;
        const Eigen::MatrixXd image = a * space.leftCols(k + 1);
        residuals.push_back((b - image * image.householderQr().solve(b)).norm() / b.norm());
        v = a * v;  // orthogonalised twice
        for (int pass = 0; pass < 2; ++pass) v -= space.leftCols(k + 1) * (space.leftCols(k + 1).transpose() * v);
        v.normalize();
    }
    return residuals;
}

// Promise: krylov.hpp, "for any A, the least residual of each cycle"
TEST(Gmres, HasTheLeastResidualOfEverySpace) {
    const auto problem = convection_diffusion<double>(10, 0.4);
    const std::vector<double> least = least_residuals(problem, 30);
    for (const Accuracy accuracy : all_accuracies) {
        const auto solved = solve_by_gmres(problem, with(accuracy), 100);
        ASSERT_GT(solved.result.history.size(), 30u);
        for (std::size_t k = 0; k <= 30; ++k)  // the bound of the loss of orthogonality, and rounding
            EXPECT_NEAR(solved.result.history[k].recursive_residual, least[k], 2e-3 * least[k]) << k;
        for (std::size_t k = 0; k <= 20; ++k) EXPECT_NEAR(solved.result.history[k].recursive_residual, least[k], 1e-9) << k;
    }
}

// Promise: krylov_solve.hpp, "It needs m + 3"
TEST(Gmres, EndsWithinAsManyStepsAsThereAreUnknowns) {
    std::mt19937_64 random(5);
    for (std::int64_t n = 1; n <= 12; ++n) {
        std::vector<double> a(static_cast<std::size_t>(n * n));
        for (double& x : a) x = static_cast<double>(static_cast<int>(random() % 9) - 4);
        for (std::int64_t i = 0; i < n; ++i) a[i * n + i] += 20;  // dominant at least nearly
        const auto problem = dense(n, a, random_vector<double>(static_cast<std::size_t>(n), 3));
        for (const Accuracy accuracy : all_accuracies) {
            const auto solved = solve_by_gmres(problem, with(accuracy), 30);
            EXPECT_EQ(solved.result.status, SolveStatus::converged) << n;
            EXPECT_LE(solved.result.iterations, n);
        }
    }
}

// Promise: krylov_solve.hpp, "Where more than twelve cycles in a row"
// e_1 under a cyclic shift: nothing is gained before the last of n steps, and nothing ever with shorter cycles.
TEST(Gmres, SaysThatItStagnatesWhereACycleGainsNothing) {
    constexpr std::int64_t n = 20;
    std::vector<double> shift(n * n), b(n);
    for (std::int64_t i = 0; i < n; ++i) shift[(i + 1) % n * n + i] = 1;
    b[0] = 1;
    const auto problem = dense(n, shift, b);
    for (const Accuracy accuracy : all_accuracies) {
        const auto full = solve_by_gmres(problem, with(accuracy), n);
        EXPECT_EQ(full.result.status, SolveStatus::converged);
        EXPECT_EQ(full.result.iterations, n);
        const auto restarted = solve_by_gmres(problem, with(accuracy), n - 1);
        EXPECT_EQ(restarted.result.status, SolveStatus::stagnated);
        EXPECT_EQ(restarted.result.iterations, n - 1);
        EXPECT_EQ(restarted.result.relative_residual, 1);
    }
}

/// A shift with a little of the identity: a cycle that is too short gains about a thousandth of a thousandth.
// Promise: krylov_solve.hpp, "Where more than twelve cycles in a row"
TEST(Gmres, SaysThatItStagnatesAfterMoreThanTwelveCyclesThatGainNextToNothing) {
    constexpr std::int64_t n = 20;
    std::vector<double> shift(n * n), b(n);
    for (std::int64_t i = 0; i < n; ++i) shift[(i + 1) % n * n + i] = 1;
    for (std::int64_t i = 0; i < n; ++i) shift[i * n + i] = 1e-3;
    b[0] = 1;
    const auto problem = dense(n, shift, b);
    for (const Accuracy accuracy : all_accuracies) {
        const auto solved = solve_by_gmres(problem, with(accuracy), n - 1);
        EXPECT_EQ(solved.result.status, SolveStatus::stagnated);
        EXPECT_EQ(solved.result.iterations, 13 * (n - 1));
        EXPECT_LT(solved.result.relative_residual, 1);
    }
}

// Promise: krylov_solve.hpp, "The residual falls in every step, and is computed anew"
// Promise: krylov.hpp, "r was replaced by the true residual"
// Promise: krylov.hpp, "||b - A x||_2 / ||b||_2 where it was computed in this step"
// Promise: krylov.hpp, "gmres: steps of a cycle"
TEST(Gmres, ComputesTheTrueResidualAfterEveryCycle) {
    const auto problem = convection_diffusion<double>(20, 0.3);
    for (const Accuracy accuracy : all_accuracies) {
        const auto solved = solve_by_gmres(problem, with(accuracy), 7);
        EXPECT_EQ(solved.result.status, SolveStatus::converged);
        const auto& history = solved.result.history;
        for (std::size_t k = 1; k + 1 < history.size(); ++k) {
            EXPECT_EQ(history[k].true_residual >= 0, k % 7 == 0) << k;
            EXPECT_EQ(history[k].replaced, k % 7 == 0) << k;
            EXPECT_LE(history[k].recursive_residual, history[k - 1].recursive_residual * (1 + 1e-6));
            if (k % 7 == 0) {
                EXPECT_NEAR(history[k].true_residual, history[k].recursive_residual, 2e-3 * history[k].recursive_residual);
            }
        }
        expect_honest(problem, solved, with(accuracy));
    }
}

/// Another preconditioner in every step.
class Flexible : public Preconditioner<double> {
public:
    void apply(std::span<const double> r, std::span<double> z, Accuracy) const override {
        const double scale = 1.0 / static_cast<double>(3 + calls_++ % 5);
        for (std::size_t i = 0; i < r.size(); ++i) z[i] = scale * r[i] + (i > 0 ? 0.1 * scale * z[i - 1] : 0);
    }

private:
    mutable int calls_ = 0;
};

// Promise: krylov_solve.hpp, "GMRES(m) of Saad and Schultz"
// Promise: preconditioner.hpp, "Implement it to bring your own."
TEST(Gmres, TakesAPreconditionerThatIsAnotherInEveryStep) {
    const auto problem = convection_diffusion<double>(20, 0.3);
    const SpmvPlan<double> plan(problem.a, Device::cpu(1));
    Solve<double> s{{}, std::vector<double>(problem.b.size()), {}};
    s.result = krylov_solve<double>(KrylovMethod::gmres, plan, Flexible(), problem.b, s.x, {}, with(Accuracy::exact));
    EXPECT_EQ(s.result.status, SolveStatus::converged);
    expect_honest(problem, s, with(Accuracy::exact));
}

/// The first step leaves (0, 0, 0, 1), whose norm is 1 in every rounding.
TEST(Gmres, EndsWhereTheNormIsTheTolerance) {
    const CsrMatrix<double> a{4, 4, {0, 1, 2, 3, 5}, {0, 1, 2, 2, 3}, {1, 1, 1, 1, -1}};
    KrylovOptions options = with(Accuracy::exact, 0);
    options.absolute_tolerance = 1;
    const auto solved = solve_by_gmres({a, {1, 1, 1, 1}}, options, 10);
    EXPECT_EQ(solved.result.status, SolveStatus::converged);
    EXPECT_EQ(solved.result.iterations, 1);
}

TEST(Gmres, EndsAfterOneStepWithCompleteFactors) {
    const auto problem = convection_diffusion<double>(20, 0.3);
    for (const Accuracy accuracy : all_accuracies)
        EXPECT_LE(solve_by_gmres(problem, with(accuracy), 30, Kind::klu).result.iterations, 2);
}

// Promise: krylov_solve.hpp, "One pass of Gram-Schmidt"
// The bound holds where its step is made with rounded products, for spaces of which w has a large share.
TEST(OrthogonalityBound, BoundsWhatOnePassLeaves) {
    constexpr int n = 60;
    for (const double share : {0.5, 3.0, 20.0}) {
        OrthogonalityBound bound(unit_roundoff<double>, 0);
        bound.begin();
        Eigen::MatrixXd v(n, 12);
        v.col(0) = Eigen::VectorXd::Ones(n).normalized();
        for (int k = 1; k < 12; ++k) {
            Eigen::VectorXd w(n);
            for (int i = 0; i < n; ++i) w(i) = std::cos(0.37 * (i + 1) * k + i);
            w.normalize();
            w += share * v.leftCols(k) * Eigen::VectorXd::Ones(k);
            const double w_norm = w.norm();
            Eigen::VectorXd h(k);
            for (int i = 0; i < k; ++i) {
                long double dot = 0;
                for (int l = 0; l < n; ++l) dot += static_cast<long double>(v(l, i)) * w(l);
                h(i) = static_cast<double>(dot);
            }
            for (int i = 0; i < k; ++i) w -= h(i) * v.col(i);
            const Eigen::VectorXd shares = h / w_norm;
            bound.add(bound.of_pass(std::span(shares.data(), static_cast<std::size_t>(k)), w.norm() / w_norm));
            v.col(k) = w.normalized();
            const Eigen::MatrixXd gram = v.leftCols(k + 1).transpose() * v.leftCols(k + 1);
            const double measured = (gram - Eigen::MatrixXd::Identity(k + 1, k + 1)).norm();
            EXPECT_LE(measured, bound.loss() + n * unit_roundoff<double>) << share << " " << k;
        }
    }
}

// Whatever the columns before may have lost: what V'w' tells is near the truth, and not below it.
TEST(OrthogonalityBound, KnowsMoreWhereProductsAreMeasured) {
    constexpr int n = 400, k = 8;
    Eigen::MatrixXd v(n, k);
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < k; ++j) v(i, j) = std::cos(0.37 * (i + 1) * (j + 1) + i);
    v = Eigen::MatrixXd(Eigen::HouseholderQR<Eigen::MatrixXd>(v).householderQ() * Eigen::MatrixXd::Identity(n, k));
    const double uncertainty = n * unit_roundoff<double>;
    for (const double lost : {0.0, 1e-12, 1e-5}) {
        OrthogonalityBound bound(unit_roundoff<double>, uncertainty);
        bound.begin();
        for (int j = 1; j < k; ++j) bound.add(0.001);
        Eigen::VectorXd w = Eigen::VectorXd::LinSpaced(n, -1, 2);
        for (int pass = 0; pass < 2; ++pass) w -= v * (v.transpose() * w);
        w += lost * w.norm() * v.col(3);
        const Eigen::VectorXd products = v.transpose() * w;
        const double told = bound.of_products(std::span(products.data(), std::size_t{k}), w.norm());
        const double true_loss =
            (v.cast<long double>().transpose() * w.cast<long double>()).norm() / w.cast<long double>().norm();
        EXPECT_GE(told, true_loss) << lost;
        EXPECT_LE(told, 1.001 * true_loss + 4 * uncertainty) << lost;
    }
}

TEST(OrthogonalityBound, SaysWhereNoPassCanBeEnough) {
    for (const double uncertainty : {0.0, 0x1p-10, 0x1p-6}) {
        OrthogonalityBound bound(unit_roundoff<float>, uncertainty);
        bound.begin();
        EXPECT_EQ(bound.can_be_tolerated(), uncertainty < 0x1p-8);
        EXPECT_EQ(bound.expects_one_pass(), bound.can_be_tolerated());
        bound.add(0x1p-11);
        EXPECT_FALSE(bound.expects_one_pass());
    }
}

// One pass leaves so much that the residual it tells would be far from the true one.
TEST(Gmres, TellsTheTrueResidualWhereMostOfEveryProductIsLost) {
    const auto problem = mostly_of_rank_one(50);
    for (const Accuracy accuracy : all_accuracies)
        for (const std::int64_t restart : {10, 30}) {
            KrylovOptions options = with(accuracy, 1e-7);
            options.max_iterations = restart;
            const auto solved = solve_by_gmres(problem, options, restart);
            EXPECT_NEAR(solved.result.history.back().recursive_residual, solved.result.relative_residual,
                        OrthogonalityBound::tolerated * solved.result.relative_residual)
                << restart;
        }
}

/// Of two columns of length 1 whose dot product is c, V'V - I has c twice.
TEST(OrthogonalityBound, CountsBothTriangles) {
    constexpr double c = 0x1p-10;
    OrthogonalityBound bound(unit_roundoff<double>, 0);
    bound.begin();
    bound.add(c);
    EXPECT_GE(bound.loss(), std::sqrt(2) * c);
    EXPECT_LE(bound.loss(), std::sqrt(2) * c * (1 + 1e-9));
    bound.begin();
    EXPECT_FALSE(bound.tolerates(OrthogonalityBound::tolerated * 0.71));
    EXPECT_TRUE(bound.tolerates(OrthogonalityBound::tolerated * 0.7));
}

}  // namespace
}  // namespace solver
