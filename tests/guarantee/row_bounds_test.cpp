#include "guarantee/row_bounds.hpp"

#include "solver/csr_matrix.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace solver::guarantee {
namespace {

TEST(RowBounds, AreThoseOfSingleComponentsOfADiagonalMatrix) {
    const CsrMatrix<double> a{3, 3, {0, 1, 2, 3}, {0, 1, 2}, {2, -4, 0.5}};
    const std::vector<double> sizes{1, 1e-200, 3};
    std::vector<double> bounds{1, 1, 1};
    sharpen_by_rows<double>(a, sizes, bounds);
    EXPECT_NEAR(bounds[0], 0.5, 1e-11);
    EXPECT_NEAR(bounds[1] / 2.5e-201, 1, 1e-11);
    EXPECT_EQ(bounds[2], 1) << "no bound is raised";
}

/// Of a bidiagonal matrix each sweep passes on what the one before has found.
TEST(RowBounds, PassFromRowToRow) {
    const CsrMatrix<double> a{3, 3, {0, 1, 3, 5}, {0, 0, 1, 1, 2}, {1, 0.5, 1, 0.5, 1}};
    const std::vector<double> sizes{0x1p-100, 0x1p-100, 0x1p-100};
    std::vector<double> bounds{1, 1, 1};
    sharpen_by_rows<double>(a, sizes, bounds);
    EXPECT_NEAR(bounds[0] * 0x1p100, 1, 1e-11);
    EXPECT_NEAR(bounds[1] * 0x1p100, 1.5, 1e-11);
    EXPECT_NEAR(bounds[2] * 0x1p100, 1.75, 1e-11);
}

TEST(RowBounds, StayWhereTheDiagonalOrABoundSaysNothing) {
    constexpr double inf = std::numeric_limits<double>::infinity();
    const CsrMatrix<double> a{3, 3, {0, 2, 3, 5}, {0, 1, 0, 1, 2}, {0, 1, 1, 1, 1}};
    std::vector<double> bounds{5, inf, 7};
    sharpen_by_rows<double>(a, std::vector<double>{1, 1, 1}, bounds);
    EXPECT_EQ(bounds, (std::vector<double>{5, inf, 7}));
}

/// A diagonal that is stored in parts counts as their sum: 3 - 2.
TEST(RowBounds, AddUpPartsOfTheDiagonal) {
    const CsrMatrix<double> a{1, 1, {0, 2}, {0, 0}, {3, -2}};
    std::vector<double> bounds{100};
    sharpen_by_rows<double>(a, std::vector<double>{1}, bounds);
    EXPECT_NEAR(bounds[0], 1, 1e-11);
}

/// Bounds that are reached: A = D - C with D, C >= 0, and e = 1, so that row by row d_i e_i = r_i + sum of c_ij e_j. What is
/// rounded down by a digit is below 1 here.
TEST(RowBounds, AreNeverBelowErrorsThatReachThem) {
    std::mt19937_64 random(5);
    constexpr int n = 40;
    for (int trial = 0; trial < 200; ++trial) {
        CsrMatrix<double> a{n, n, {0}, {}, {}};
        std::vector<double> sizes;
        for (int i = 0; i < n; ++i) {
            std::int64_t sum = 0;
            for (int j = 0; j < n; ++j) {
                if (j == i || random() % 3 == 0) continue;
                const auto value = static_cast<std::int64_t>(random() % (std::int64_t{1} << 45));
                a.column_indices.push_back(j);
                a.values.push_back(-static_cast<double>(value));
                sum += value;
            }
            const auto rest = static_cast<std::int64_t>(random() % (std::int64_t{1} << 20));
            a.column_indices.push_back(i);
            a.values.push_back(static_cast<double>(sum + rest));  // below 2^53: exact
            a.row_offsets.push_back(static_cast<std::int64_t>(a.values.size()));
            sizes.push_back(static_cast<double>(rest));
        }
        std::vector<double> bounds(n, 1.0 + 0x1p-30);
        bounds[trial % n] = 1;
        sharpen_by_rows<double>(a, sizes, bounds);
        for (const double bound : bounds) ASSERT_GE(bound, 1);
    }
}

}  // namespace
}  // namespace solver::guarantee
