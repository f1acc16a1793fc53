// What the made problems are in mathematics: entries, symmetry, sums of rows, spectra.

#include "matrices/elasticity.hpp"
#include "matrices/generators.hpp"
#include "solver/csr_matrix.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace solver::matrices {
namespace {

using Dense = Eigen::MatrixXd;
using Row = std::map<std::int32_t, double>;

CsrMatrix<double> model_problem(const std::string& name) { return find_generator(name).value().make(); }

Row row_of(const CsrMatrix<double>& matrix, std::int64_t i) {
    Row row;
    for (std::int64_t k = matrix.row_offsets[i]; k < matrix.row_offsets[i + 1]; ++k)
        row[matrix.column_indices[k]] = matrix.values[k];
    return row;
}

Dense dense(const CsrMatrix<double>& matrix) {
    Dense result = Dense::Zero(matrix.rows, matrix.columns);
    for (std::int64_t i = 0; i < matrix.rows; ++i)
        for (const auto& [column, value] : row_of(matrix, i)) result(i, column) = value;
    return result;
}

/// Of a symmetric matrix, in ascending order.
Eigen::VectorXd eigenvalues(const std::string& name) {
    return Eigen::SelfAdjointEigenSolver<Dense>(dense(model_problem(name)), Eigen::EigenvaluesOnly).eigenvalues();
}

TEST(ModelProblems, AreSymmetricToTheBitWhereTheySaySo) {
    for (const char* name : {"anisotropic_9", "anisotropic_rotated_9", "jumping_blocks_11", "jumping_random_13",
                             "elasticity2d_7", "stokes2d_7", "graph_laplacian_500"}) {
        const CsrMatrix<double> matrix = model_problem(name), mirrored = transpose(matrix.view());
        EXPECT_EQ(mirrored.row_offsets, matrix.row_offsets) << name;
        EXPECT_EQ(mirrored.column_indices, matrix.column_indices) << name;
        EXPECT_EQ(mirrored.values, matrix.values) << name;
    }
}

TEST(ModelProblems, ArePositiveDefiniteWhereTheySaySo) {
    for (const char* name :
         {"anisotropic_1", "anisotropic_9", "anisotropic_rotated_1", "anisotropic_rotated_9", "jumping_blocks_8",
          "jumping_random_8", "elasticity2d_1", "elasticity2d_7", "graph_laplacian_1", "graph_laplacian_300"})
        EXPECT_GT(eigenvalues(name)[0], 0) << name;
}

TEST(ModelProblems, AnisotropicDiffusionHasTheEigenvaluesOfItsTwoDirections) {
    constexpr int n = 6;
    std::vector<double> expected;
    for (int i = 1; i <= n; ++i)
        for (int j = 1; j <= n; ++j) {
            const auto along = [](int k) { return 2 - 2 * std::cos(k * M_PI / (n + 1)); };
            expected.push_back(1000 * along(i) + along(j));
        }
    std::sort(expected.begin(), expected.end());
    const Eigen::VectorXd found = eigenvalues("anisotropic_6");
    for (int i = 0; i < n * n; ++i) EXPECT_NEAR(found[i], expected[i], 1e-11 * 4004);
}

// Strong along x, the index that runs fastest, not along y.
TEST(ModelProblems, AnisotropicDiffusionIsStrongAlongTheRowsOfTheGrid) {
    EXPECT_EQ(row_of(model_problem("anisotropic_3"), 4), (Row{{1, -1.0}, {3, -1000.0}, {4, 2002.0}, {5, -1000.0}, {7, -1.0}}));
}

// Bilinear elements give x'Ax = 150 times the integral of grad u . K grad u exactly where u is bilinear; on a patch whose
// boundary is inside, A applied to a polynomial of degree two is -150 div(K grad u) (h = 1).
TEST(ModelProblems, RotatedAnisotropyIsTheOperatorItSaysItIs) {
    constexpr double cosine = 0.8, sine = 0.6;
    const Eigen::Matrix2d q{{cosine, -sine}, {sine, cosine}};
    const Eigen::Matrix2d k = q * Eigen::Vector2d(1000, 1).asDiagonal() * q.transpose();
    const Row row = row_of(model_problem("anisotropic_rotated_3"), 4);
    ASSERT_EQ(row.size(), 9u);
    double of_one = 0, of_x = 0, of_y = 0, of_xx = 0, of_xy = 0, of_yy = 0;
    for (const auto& [column, value] : row) {
        const int x = column % 3 - 1, y = column / 3 - 1;
        EXPECT_EQ(value, std::round(value));
        of_one += value;
        of_x += value * x;
        of_y += value * y;
        of_xx += value * x * x;
        of_xy += value * x * y;
        of_yy += value * y * y;
    }
    EXPECT_EQ(of_one, 0);
    EXPECT_EQ(of_x, 0);
    EXPECT_EQ(of_y, 0);
    EXPECT_NEAR(of_xx, -150 * 2 * k(0, 0), 1e-6);
    EXPECT_NEAR(of_xy, -150 * 2 * k(0, 1), 1e-6);
    EXPECT_NEAR(of_yy, -150 * 2 * k(1, 1), 1e-6);
    EXPECT_NEAR(k.determinant(), 1000, 1e-9);
    EXPECT_EQ(row.at(4), 200'200);
}

TEST(ModelProblems, JumpsAreHarmonicMeansAndBoundariesTheirPoints) {
    const CsrMatrix<double> matrix = model_problem("jumping_blocks_16");  // blocks of 2 x 2 x 2
    constexpr double strong = 1e4, weak = 1e-4, mean = weak * (2 * strong / (strong + weak));
    // The corner's own block and boundary: 3 boundaries and 3 neighbours of its own block.
    EXPECT_EQ(row_of(matrix, 0), (Row{{0, 6e4}, {1, -1e4}, {16, -1e4}, {256, -1e4}}));
    // Its neighbour along x has another block to the right.
    const Row at_jump = row_of(matrix, 1);
    EXPECT_EQ(at_jump.at(0), -strong);
    EXPECT_EQ(at_jump.at(2), -mean);
    EXPECT_NEAR(at_jump.at(1), 5 * strong + mean, 1e-11);
    // And beyond the jump.
    const Row beyond = row_of(matrix, 2);
    EXPECT_EQ(beyond.at(1), -mean);
    EXPECT_EQ(beyond.at(3), -weak);
    // One jump, two boundaries (y, z), three neighbours of its own block.
    EXPECT_NEAR(beyond.at(2), 5 * weak + mean, 1e-18);
}

TEST(ModelProblems, RowsAwayFromBoundariesSumToZeroWithinTheirRounding) {
    constexpr int n = 9;
    for (const char* name :
         {"jumping_blocks_9", "jumping_random_9", "convection_weak_9", "convection_medium_9", "convection_strong_9"}) {
        const CsrMatrix<double> matrix = model_problem(name);
        for (int z = 1; z < n - 1; ++z)
            for (int y = 1; y < n - 1; ++y)
                for (int x = 1; x < n - 1; ++x) {
                    const int i = (z * n + y) * n + x;
                    double sum = 0;
                    const Row row = row_of(matrix, i);
                    for (const auto& [column, value] : row) sum += value;
                    // At most 13 roundings on the way, of sums below twice the diagonal.
                    EXPECT_LE(std::abs(sum), 13 * 2 * row.at(i) * 0x1p-53) << name;
                }
    }
}

TEST(ModelProblems, RandomInclusionsAreHalfBackgroundAndSpanTheirRange) {
    // In the middle of a block of 4 x 4 x 4 all six couplings are its coefficient.
    constexpr int n = 48;
    const CsrMatrix<double> matrix = model_problem("jumping_random_48");
    std::map<double, int> count;
    for (int z = 1; z < n; z += 4)
        for (int y = 1; y < n; y += 4)
            for (int x = 1; x < n; x += 4) {
                const int i = (z * n + y) * n + x;
                const Row row = row_of(matrix, i);
                // The neighbour to the right is of the same block.
                ++count[-row.at(i + 1)];
            }
    int blocks = 0;
    std::set<double> values;
    for (const auto& [value, times] : count) {
        blocks += times;
        values.insert(value);
    }
    EXPECT_EQ(blocks, 12 * 12 * 12);
    EXPECT_EQ(values.size(), 9u);
    EXPECT_NEAR(*values.begin(), 1e-4, 1e-19);
    EXPECT_NEAR(*values.rbegin(), 1e4, 1e-11);
    // 1/2 + 1/18 of 1728 are expected to be 1; five standard deviations of a binomial count.
    EXPECT_NEAR(count[1.0], blocks * 10 / 18.0, 5 * std::sqrt(blocks * 10.0 * 8 / (18 * 18)));
}

TEST(ModelProblems, ConvectionIsAnUnsymmetricMMatrixOfTheStrengthItSays) {
    const std::map<std::string, double> strength{{"weak", 0.125}, {"medium", 1}, {"strong", 128}};
    for (const auto& [name, peclet] : strength) {
        const CsrMatrix<double> matrix = model_problem("convection_" + name + "_9");
        EXPECT_NE(transpose(matrix.view()).values, matrix.values) << name;
        for (std::int64_t i = 0; i < matrix.rows; ++i)
            for (const auto& [column, value] : row_of(matrix, i)) EXPECT_EQ(value > 0, column == i) << name;
        // The wind is known best along z, 1/2: what differs is 2 P / 2.
        const std::int32_t middle = 4 * 81 + 4 * 9 + 4;
        const Row row = row_of(matrix, middle);
        EXPECT_EQ(row.at(middle + 81) - row.at(middle - 81), peclet) << name;
        // On the axis there is none along x and y.
        EXPECT_EQ(row.at(middle + 1), -1) << name;
        EXPECT_EQ(row.at(middle + 9), row.at(middle - 9)) << name;
        // At x = 0 and y = (2 * 8 - 10)/10 = 0.6 it blows to the right with 0.6.
        const std::int32_t above = 4 * 81 + 7 * 9 + 4;
        const Row moved = row_of(matrix, above);
        EXPECT_NEAR(moved.at(above + 1) - moved.at(above - 1), 2 * peclet * 0.6, 1e-12) << name;
    }
}

// The matrix of one element by Andreassen et al., without the clamped nodes: nodes (1, 0) and (1, 1) are their second and
// third.
TEST(ModelProblems, ElasticityHasThePublishedElement) {
    const Dense expected{{8, -3, 1, 0}, {-3, 8, 0, -5}, {1, 0, 8, 3}, {0, -5, 3, 8}};
    EXPECT_EQ(dense(model_problem("elasticity2d_1")), expected);
}

TEST(ModelProblems, ElasticityFeelsNoRigidBodyMotionAwayFromItsClamp) {
    constexpr int n = 6;
    const Dense a = dense(model_problem("elasticity2d_6"));
    ASSERT_EQ(a.rows(), 2 * n * (n + 1));
    const std::vector<double> given = matrices::elasticity2d_rigid_body_modes(n);
    ASSERT_EQ(std::ssize(given), 3 * a.rows());
    const Dense modes = Eigen::Map<const Eigen::MatrixXd>(given.data(), a.rows(), 3);
    Eigen::VectorXd stretched = Eigen::VectorXd::Zero(a.rows());
    for (int j = 0; j <= n; ++j)
        for (int i = 1; i <= n; ++i) {
            const int at = 2 * (j * n + i - 1);
            EXPECT_EQ(modes.row(at), Eigen::RowVector3d(1, 0, -j));
            EXPECT_EQ(modes.row(at + 1), Eigen::RowVector3d(0, 1, i));
            stretched[at] = i;
        }
    const Dense forces = a * modes;
    const Eigen::VectorXd stretching = a * stretched;
    bool stretching_is_felt = false;
    for (int j = 0; j <= n; ++j)
        for (int i = 2; i <= n; ++i)
            for (int c = 0; c < 2; ++c) {
                const int at = 2 * (j * n + i - 1) + c;
                EXPECT_EQ(forces.row(at).norm(), 0) << i << ' ' << j;
                stretching_is_felt = stretching_is_felt || stretching[at] != 0;
            }
    EXPECT_TRUE(stretching_is_felt);
    EXPECT_NE(forces.row(0).norm(), 0);
}

TEST(ModelProblems, StokesIsASaddlePointWithOnePressureFixed) {
    constexpr int n = 5, velocities = 2 * n * (n - 1), pressures = n * n;
    const Eigen::VectorXd spectrum = eigenvalues("stokes2d_5");
    ASSERT_EQ(spectrum.size(), velocities + pressures);
    EXPECT_EQ((spectrum.array() < -1e-6).count(), pressures);
    EXPECT_EQ((spectrum.array() > 1e-6).count(), velocities);

    const Dense a = dense(model_problem("stokes2d_5"));
    const Dense gradient = a.topRightCorner(velocities, pressures);
    // A constant pressure moves nothing, and all continuity equations together say nothing of the velocities.
    EXPECT_EQ((gradient * Eigen::VectorXd::Ones(pressures)).norm(), 0);
    // Only the last pressure has a diagonal entry, and what has none has none stored.
    Dense c = Dense::Zero(pressures, pressures);
    c(pressures - 1, pressures - 1) = -1;
    EXPECT_EQ(a.bottomRightCorner(pressures, pressures), c);
    const CsrMatrix<double> stored = model_problem("stokes2d_5");
    for (std::int64_t i = velocities; i < stored.rows - 1; ++i)
        EXPECT_EQ(row_of(stored, i).count(static_cast<std::int32_t>(i)), 0u);
}

TEST(ModelProblems, StokesHasTheSchemesRows) {
    const CsrMatrix<double> matrix = model_problem("stokes2d_3");  // u 0..5, v 6..11, p 12..20
    // u between the first two cells: a wall below and one to the left, whose face is an eliminated zero.
    EXPECT_EQ(row_of(matrix, 0), (Row{{0, 5.0}, {1, -1.0}, {2, -1.0}, {12, -1.0}, {13, 1.0}}));
    EXPECT_EQ(row_of(matrix, 2), (Row{{0, -1.0}, {2, 4.0}, {3, -1.0}, {4, -1.0}, {15, -1.0}, {16, 1.0}}));
    // v between the first cell and the one above.
    EXPECT_EQ(row_of(matrix, 6), (Row{{6, 5.0}, {7, -1.0}, {9, -1.0}, {12, -1.0}, {15, 1.0}}));
    EXPECT_EQ(row_of(matrix, 7), (Row{{6, -1.0}, {7, 4.0}, {8, -1.0}, {10, -1.0}, {13, -1.0}, {16, 1.0}}));
    // What flows into the middle cell less what flows out of it.
    EXPECT_EQ(row_of(matrix, 16), (Row{{2, 1.0}, {3, -1.0}, {7, 1.0}, {10, -1.0}}));
}

TEST(ModelProblems, AGraphIsConnectedGroundedAndHasHubs) {
    const CsrMatrix<double> matrix = model_problem("graph_laplacian_20000");
    std::int64_t edges = 0;
    std::vector<std::int64_t> degrees;
    for (std::int64_t i = 0; i < matrix.rows; ++i) {
        const Row row = row_of(matrix, i);
        double sum = 0;
        int earlier = 0;
        for (const auto& [column, value] : row) {
            sum += value;
            earlier += column < i ? 1 : 0;
            if (column != i) {
                ASSERT_EQ(value, -1);
            }
        }
        ASSERT_EQ(sum, i == 0 ? 1 : 0);
        ASSERT_EQ(earlier, std::min<std::int64_t>(i, 3));  // hence connected
        edges += earlier;
        degrees.push_back(static_cast<std::int64_t>(row.size()) - 1);
    }
    EXPECT_EQ(edges, 3 * 20'000 - 6);
    std::sort(degrees.begin(), degrees.end());
    EXPECT_EQ(degrees.front(), 3);
    EXPECT_LE(degrees[10'000], 5);
    // Hubs: a random graph with as many edges has no vertex beyond 30, this one some of 3 sqrt(n) = 424 in order of magnitude.
    EXPECT_GT(degrees.back(), 150);
    // Degrees above 3 d come about n / d^2 times: d = 10 gives 200.
    const auto above = degrees.end() - std::upper_bound(degrees.begin(), degrees.end(), 30);
    EXPECT_GT(above, 100);
    EXPECT_LT(above, 400);
}

}  // namespace
}  // namespace solver::matrices
