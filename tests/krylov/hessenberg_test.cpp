#include "krylov/hessenberg.hpp"

#include <gtest/gtest.h>
#include <Eigen/Dense>

#include <cmath>
#include <complex>
#include <random>
#include <utility>
#include <vector>

namespace solver {
namespace {

TEST(Rotation, LeavesNothingOfTheSecondElement) {
    for (const double scale : {1.0, 0x1p-1000, 0x1p1000})
        for (const auto& [a, b] : {std::pair{3.0, 4.0}, {-3.0, 4.0}, {4.0, -3.0}, {0.0, 2.0}, {2.0, 0.0}}) {
            double length = 0;
            const Rotation rotation = Rotation::of(a * scale, b * scale, length);
            EXPECT_NEAR(length / scale, std::hypot(a, b), 1e-15 * 5);
            double x = a * scale, y = b * scale;
            rotation.apply(x, y);
            EXPECT_NEAR(x / scale, std::hypot(a, b), 1e-14);
            EXPECT_NEAR(y / scale, 0, 1e-15 * 5);
        }
    double length = 1;
    const Rotation none = Rotation::of(0, 0, length);
    EXPECT_EQ(length, 0);
    EXPECT_EQ(none.c, 1);
    EXPECT_EQ(none.s, 0);
}

TEST(ComplexRotation, LeavesNothingOfTheSecondElement) {
    using Complex = std::complex<double>;
    for (const double scale : {1.0, 0x1p-900, 0x1p900})
        for (const auto& [a, b] :
             {std::pair{Complex(3, 1), Complex(4, -2)}, {Complex(0), Complex(0, 2)}, {Complex(-1, 2), Complex(0)}}) {
            Complex length, x = a * scale, y = b * scale;
            const ComplexRotation rotation = ComplexRotation::of(x, y, length);
            rotation.apply(x, y);
            EXPECT_NEAR(std::abs(x / scale), std::hypot(std::abs(a), std::abs(b)), 1e-14);
            EXPECT_NEAR(std::abs((x - length) / scale), 0, 1e-14);
            EXPECT_NEAR(std::abs(y / scale), 0, 1e-14);
            EXPECT_NEAR(rotation.c * rotation.c + std::norm(rotation.s), 1, 1e-15);
        }
    Complex length = 1;
    EXPECT_EQ(ComplexRotation::of(0, 0, length).c, 1);
    EXPECT_EQ(length, Complex(0));
}

TEST(HessenbergLeastSquares, OfComplexNumbersAreThoseOfEigen) {
    using Complex = std::complex<double>;
    std::mt19937_64 random(2);
    const auto part = [&] { return static_cast<double>(random() % 1000) / 500 - 1; };
    constexpr int most = 8;
    Eigen::MatrixXcd h = Eigen::MatrixXcd::Zero(most + 1, most);
    for (int j = 0; j < most; ++j) {
        for (int i = 0; i <= j; ++i) h(i, j) = Complex(part(), part());
        h(j + 1, j) = 1 + part() / 2;
    }
    HessenbergLeastSquares<Complex> small;
    small.begin(2);
    for (int k = 1; k <= most; ++k) {
        std::vector<Complex> column(static_cast<std::size_t>(k + 1));
        for (int i = 0; i <= k; ++i) column[i] = h(i, k - 1);
        EXPECT_TRUE(small.append(column, 0));
        const Eigen::MatrixXcd corner = h.topLeftCorner(k + 1, k);
        const Eigen::VectorXcd right = 2 * Eigen::VectorXcd::Unit(k + 1, 0);
        const Eigen::VectorXcd expected = corner.colPivHouseholderQr().solve(right);
        EXPECT_NEAR(small.residual(), (right - corner * expected).norm(), 1e-13);
        const std::vector<Complex> y = small.solution();
        for (int i = 0; i < k; ++i) EXPECT_NEAR(std::abs(y[i] - expected(i)), 0, 1e-12 * expected.norm());
    }
}

TEST(HessenbergLeastSquares, AreThoseOfEigen) {
    std::mt19937_64 random(1);
    constexpr int most = 8;
    Eigen::MatrixXd h = Eigen::MatrixXd::Zero(most + 1, most);
    for (int j = 0; j < most; ++j)
        for (int i = 0; i <= j + 1; ++i) h(i, j) = static_cast<double>(random() % 1000) / 500 - 1;
    HessenbergLeastSquares<double> small;
    small.begin(2);
    for (int k = 1; k <= most; ++k) {
        std::vector<double> column(static_cast<std::size_t>(k + 1));
        for (int i = 0; i <= k; ++i) column[i] = h(i, k - 1);
        EXPECT_TRUE(small.append(column, 0));
        const Eigen::MatrixXd part = h.topLeftCorner(k + 1, k);
        const Eigen::VectorXd right = 2 * Eigen::VectorXd::Unit(k + 1, 0);
        const Eigen::VectorXd expected = part.colPivHouseholderQr().solve(right);
        EXPECT_NEAR(small.residual(), (right - part * expected).norm(), 1e-13);
        const std::vector<double> y = small.solution();
        for (int i = 0; i < k; ++i) EXPECT_NEAR(y[i], expected(i), 1e-12 * expected.norm());
    }
}

TEST(HessenbergLeastSquares, LeaveOutAColumnThatDependsOnThoseBefore) {
    HessenbergLeastSquares<double> small;
    small.begin(1);
    EXPECT_FALSE(small.append({0, 0}, 0));
    EXPECT_EQ(small.residual(), 1);
    EXPECT_TRUE(small.solution().empty());
    EXPECT_TRUE(small.append({1, 1}, 0));
    const double residual = small.residual();
    EXPECT_FALSE(small.append({1, 1, 1e-20}, 1e-15));
    EXPECT_EQ(small.residual(), residual);
    EXPECT_EQ(small.solution().size(), 1u);
}

}  // namespace
}  // namespace solver
