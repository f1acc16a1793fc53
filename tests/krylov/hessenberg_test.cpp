#include "krylov/hessenberg.hpp"

#include <gtest/gtest.h>
#include <Eigen/Dense>

#include <cmath>
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

TEST(HessenbergLeastSquares, AreThoseOfEigen) {
    std::mt19937_64 random(1);
    constexpr int most = 8;
    Eigen::MatrixXd h = Eigen::MatrixXd::Zero(most + 1, most);
    for (int j = 0; j < most; ++j)
        for (int i = 0; i <= j + 1; ++i) h(i, j) = static_cast<double>(random() % 1000) / 500 - 1;
    HessenbergLeastSquares small;
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
    HessenbergLeastSquares small;
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
