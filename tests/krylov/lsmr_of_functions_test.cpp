#include "solver/csr_matrix.hpp"
#include "solver/error.hpp"
#include "solver/lsmr.hpp"
#include "support/eigen.hpp"
#include "support/least_squares.hpp"
#include "support/linear_systems.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <Eigen/Dense>

#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace solver {
namespace {

using namespace testing;
using ::testing::ThrowsMessage;

/// A matrix of integers as a function, whose products are exact.
class AsFunctions final : public OperatorWithTranspose<double> {
public:
    AsFunctions(std::int64_t rows, std::int64_t columns, std::int64_t rank)
        : AsFunctions(matrix_of_rank(rank, rows, columns, 7)) {}
    explicit AsFunctions(CsrMatrix<double> a)
        : csr_(std::move(a)), transposed_csr_(transpose(csr_.view())), a_(dense_of(csr_)) {}

    std::int64_t rows() const override { return a_.rows(); }
    std::int64_t columns() const override { return a_.cols(); }
    void apply(std::span<const double> x, std::span<double> y) const override { plan_.multiply(1, x, 0, y, Accuracy::exact); }
    void apply_transposed(std::span<const double> y, std::span<double> x) const override {
        transposed_.multiply(1, y, 0, x, Accuracy::exact);
    }
    const Eigen::MatrixXd& matrix() const { return a_; }

private:
    CsrMatrix<double> csr_, transposed_csr_;
    Eigen::MatrixXd a_;
    SpmvPlan<double> plan_{csr_, Device::cpu(1)}, transposed_{transposed_csr_, Device::cpu(1)};
};

// Promise: lsmr.hpp, "An A of any shape by its products and those with its transpose"
// Promise: lsmr.hpp, "Least squares by LSMR, as above"
// Promise: lsmr.hpp, "Derive from it to bring your own."
// Promise: lsmr.hpp, "y = A x"
// Promise: lsmr.hpp, "x = A' y"
// Promise: lsmr.hpp, "||A||_F, or of a function what was seen of it"
// Promise: lsmr.hpp, "As its entries are not known, the largest ||A v||"
TEST(LsmrOfFunctions, FindsTheLeastSquaresSolutionOfLeastNormAndClaimsNoMoreThanIsTrue) {
    for (const auto& [rows, columns, rank] : shapes_and_ranks)
        for (const Accuracy accuracy : all_accuracies) {
            SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(columns) + ", rank " + std::to_string(rank));
            const AsFunctions a(rows, columns, rank);
            const auto b = random_vector<double>(static_cast<std::size_t>(rows), 3);
            std::vector<double> x(static_cast<std::size_t>(columns));
            const LeastSquaresResult found = lsmr<double>(a, b, x, with(accuracy, 1e-12));
            EXPECT_EQ(found.status, SolveStatus::converged);
            const Eigen::MatrixXd& d = a.matrix();
            const Eigen::VectorXd expected = d.completeOrthogonalDecomposition().solve(eigen_vector(b));
            EXPECT_LE((eigen_vector(x) - expected).norm(), 1e-8 * expected.norm());
            EXPECT_GT(found.matrix_norm, 0);
            EXPECT_LE(found.matrix_norm, d.norm() * (1 + 1e-12));
            const Eigen::VectorXd r = eigen_vector(b) - d * eigen_vector(x);
            EXPECT_NEAR(found.relative_residual, r.norm() / eigen_vector(b).norm(), 1e-12);
            if (found.relative_residual > 1e-6) {
                EXPECT_LE(found.normal_residual, 1e-12);
            }
        }
}

// The first step sees ||A v|| of one v alone; what was divided by it must not stand for the later, larger norm.
TEST(LsmrOfFunctions, TellsTheNormalResidualByTheNormThatItTells) {
    const AsFunctions a(40, 25, 25);
    const auto b = random_vector<double>(40, 3);
    for (const std::int64_t steps : {0, 1, 2, 5, 10, 20}) {
        std::vector<double> x(25);
        KrylovOptions options = with(Accuracy::exact, 1e-14);
        options.max_iterations = steps;
        const LeastSquaresResult found = lsmr<double>(a, b, x, options);
        const Eigen::VectorXd r = eigen_vector(b) - a.matrix() * eigen_vector(x);
        const double normal = (a.matrix().transpose() * r).norm();
        EXPECT_NEAR(found.normal_residual * found.matrix_norm * r.norm(), normal, 1e-10 * a.matrix().norm() * r.norm());
    }
}

/// A times a factor by which squares of norms leave the range of numbers.
class Magnified final : public OperatorWithTranspose<double> {
public:
    Magnified(const AsFunctions& a, double factor) : a_(a), factor_(factor) {}

    std::int64_t rows() const override { return a_.rows(); }
    std::int64_t columns() const override { return a_.columns(); }
    void apply(std::span<const double> x, std::span<double> y) const override {
        a_.apply(x, y);
        for (double& element : y) element *= factor_;
    }
    void apply_transposed(std::span<const double> y, std::span<double> x) const override {
        a_.apply_transposed(y, x);
        for (double& element : x) element *= factor_;
    }

private:
    const AsFunctions& a_;
    double factor_;
};

TEST(LsmrOfFunctions, TakesTheSameStepsWhateverTheScale) {
    const AsFunctions a(40, 25, 25);
    const auto b = random_vector<double>(40, 3);
    std::vector<double> expected(25);
    const LeastSquaresResult usual = lsmr<double>(a, b, expected, with(Accuracy::exact, 1e-10));
    for (const int exponent : {-900, -550, 520, 900}) {
        SCOPED_TRACE(exponent);
        std::vector<double> scaled_b = b, x(25);
        for (double& element : scaled_b) element = std::ldexp(element, exponent);
        const LeastSquaresResult found =
            lsmr<double>(Magnified(a, std::ldexp(1.0, exponent)), scaled_b, x, with(Accuracy::exact, 1e-10));
        EXPECT_EQ(found.status, SolveStatus::converged);
        EXPECT_EQ(found.iterations, usual.iterations);
        EXPECT_EQ(found.normal_residual, usual.normal_residual);
        EXPECT_EQ(x, expected);
    }
}

/// (0.1, 0.3)' of one number: each product is rounded, and then its difference from b.
// Promise: lsmr.hpp, "Residuals are b minus the function's product"
TEST(LsmrOfFunctions, ComputesResidualsOfProductsAsTheyAreReturned) {
    class Column final : public OperatorWithTranspose<double> {
        std::int64_t rows() const override { return 2; }
        std::int64_t columns() const override { return 1; }
        void apply(std::span<const double> x, std::span<double> y) const override {
            y[0] = 0.1 * x[0];
            y[1] = 0.3 * x[0];
        }
        void apply_transposed(std::span<const double> y, std::span<double> x) const override { x[0] = 0.1 * y[0] + 0.3 * y[1]; }
    };
    for (const Accuracy accuracy : all_accuracies) {
        const std::vector<double> b{1, 2};
        std::vector<double> x{3};
        KrylovOptions options = with(accuracy, 1e-12);
        options.max_iterations = 0;
        const LeastSquaresResult found = lsmr<double>(Column(), b, x, options);
        const double product[] = {0.1 * 3, 0.3 * 3};
        const double r_0 = 1 - product[0], r_1 = 2 - product[1];
        EXPECT_DOUBLE_EQ(found.relative_residual, std::sqrt((r_0 * r_0 + r_1 * r_1) / 5));
        EXPECT_DOUBLE_EQ(found.normal_residual * found.matrix_norm * std::hypot(r_0, r_1), 0.1 * r_0 + 0.3 * r_1);
    }
}

// Promise: lsmr.hpp, "In exact all but the products is as exact as ever"
TEST(LsmrOfFunctions, GivesTheSameBitsForEveryThreadCountInExact) {
    const AsFunctions a(60, 40, 30);
    const auto b = random_vector<double>(60, 3);
    std::vector<double> expected(40);
    const LeastSquaresResult alone = lsmr<double>(a, b, expected, with(Accuracy::exact, 1e-10), Device::cpu(1));
    for (const int threads : {2, 3}) {
        std::vector<double> x(40);
        const LeastSquaresResult found = lsmr<double>(a, b, x, with(Accuracy::exact, 1e-10), Device::cpu(threads));
        EXPECT_EQ(x, expected);
        EXPECT_EQ(found.iterations, alone.iterations);
        EXPECT_EQ(found.normal_residual, alone.normal_residual);
    }
}

/// ||A'r|| / ||r|| of the first r is all that is known of the norm then, and may be far below it.
TEST(LsmrOfFunctions, LearnsTheNormWhereTheFirstResidualIsNearlyOrthogonalToA) {
    for (const double tiny : {1e-150, 1e-160, 1e-200, 1e-300}) {
        SCOPED_TRACE(tiny);
        const AsFunctions column(CsrMatrix<double>{2, 1, {0, 1, 1}, {0}, {1}});
        std::vector<double> one(1);
        const LeastSquaresResult found = lsmr<double>(column, std::vector<double>{tiny, 1}, one);
        EXPECT_EQ(found.status, SolveStatus::converged);
        EXPECT_NEAR(found.matrix_norm, 1, 1e-12);
        EXPECT_LE(found.normal_residual, 1e-12);
        EXPECT_LE(std::abs(tiny - one[0]), 1e-12) << "||A'r||, where ||A|| ||r|| is 1";

        const AsFunctions a(CsrMatrix<double>{3, 2, {0, 2, 4, 4}, {0, 1, 0, 1}, {1, 2, 3, 1}});
        std::vector<double> x(2);
        const LeastSquaresResult of_a = lsmr<double>(a, std::vector<double>{tiny, 2 * tiny, 1}, x);
        EXPECT_EQ(of_a.status, SolveStatus::converged);
        EXPECT_GE(of_a.matrix_norm, 1);
        EXPECT_LE(of_a.matrix_norm, std::sqrt(15.0) * (1 + 1e-12));
        const double most = of_a.normal_residual * of_a.matrix_norm * (1 + 1e-12);
        EXPECT_LE(std::hypot((tiny - x[0] - 2 * x[1]) + 3 * (2 * tiny - 3 * x[0] - x[1]),
                             2 * (tiny - x[0] - 2 * x[1]) + (2 * tiny - 3 * x[0] - x[1])),
                  std::max(most, 1e-15 * tiny));
    }
}

/// What throws, or returns what is no number.
class Broken final : public OperatorWithTranspose<double> {
public:
    Broken(int good_calls, double value) : good_calls_(good_calls), value_(value) {}
    std::int64_t rows() const override { return 3; }
    std::int64_t columns() const override { return 3; }
    void apply(std::span<const double> x, std::span<double> y) const override { fill(x, y); }
    void apply_transposed(std::span<const double> y, std::span<double> x) const override { fill(y, x); }

private:
    void fill(std::span<const double> from, std::span<double> to) const {
        for (int i = 0; i < 3; ++i) to[i] = (i + 1) * from[i];
        if (good_calls_-- > 0) return;
        if (value_ == 0) throw std::runtime_error("the product failed");
        to[1] = value_;
    }
    mutable int good_calls_;
    double value_;
};

// Promise: lsmr.hpp, "What it throws goes through lsmr to whoever called it"
TEST(LsmrOfFunctions, LetsThroughWhatAFunctionThrows) {
    const std::vector<double> b{1, 2, 4};
    for (const int good : {0, 1, 2, 3, 4}) {
        std::vector<double> x(3);
        EXPECT_THAT([&] { lsmr<double>(Broken(good, 0), b, x); }, ThrowsMessage<std::runtime_error>("the product failed"));
    }
}

TEST(LsmrOfFunctions, ClaimsNothingOfWhatIsNoNumber) {
    const std::vector<double> b{1, 2, 4};
    for (const double value : {NAN, INFINITY})
        for (const int good : {0, 1, 2, 3, 4}) {
            std::vector<double> x(3);
            EXPECT_NE(lsmr<double>(Broken(good, value), b, x).status, SolveStatus::converged) << good;
        }
}

// Promise: lsmr.hpp, "Throws DimensionMismatch where b or x does not fit A, and InvalidArgument"
TEST(LsmrOfFunctions, RefusesWhatDoesNotFit) {
    const AsFunctions a(3, 2, 2);
    std::vector<double> b(3, 1), x(2);
    EXPECT_THAT([&] { lsmr<double>(a, x, x); },
                ThrowsMessage<DimensionMismatch>("lsmr: b has 2 elements, A is 3 x 2; b needs 3"));
    EXPECT_THAT([&] { lsmr<double>(a, b, b); },
                ThrowsMessage<DimensionMismatch>("lsmr: x has 3 elements, A is 3 x 2; x needs 2"));
    EXPECT_THROW(lsmr<double>(a, b, x, with(Accuracy::exact, 0)), InvalidArgument);
    EXPECT_THROW(lsmr<double>(a, b, std::span(b).first(2)), InvalidArgument);
}

}  // namespace
}  // namespace solver
