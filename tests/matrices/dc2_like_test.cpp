#include "matrices/dc2_like.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <suitesparse/klu.h>
#include <Eigen/IterativeLinearSolvers>
#include <Eigen/Sparse>
#include <algorithm>
#include <numeric>
#include <vector>

namespace solver::matrices {
namespace {

using RowMajor = Eigen::SparseMatrix<double, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;

const CsrMatrix<double>& matrix() {
    static const CsrMatrix<double> made = dc2_like();
    return made;
}

const RowMajor& eigen_matrix() {
    static const RowMajor copy = [] {
        const CsrMatrix<double>& a = matrix();
        const std::vector<int> offsets(a.row_offsets.begin(), a.row_offsets.end());
        return RowMajor(Eigen::Map<const RowMajor>(a.rows, a.columns, a.nonzeros(), offsets.data(), a.column_indices.data(),
                                                   a.values.data()));
    }();
    return copy;
}

std::vector<int> row_lengths(const RowMajor& a) {
    std::vector<int> lengths;
    for (int i = 0; i < a.rows(); ++i) lengths.push_back(a.outerIndexPtr()[i + 1] - a.outerIndexPtr()[i]);
    return lengths;
}

std::int64_t count_near_250(const std::vector<int>& lengths) {
    return std::count_if(lengths.begin(), lengths.end(), [](int length) { return 240 <= length && length <= 260; });
}

/// Row 91, counted from 1, in single precision, in the order of the columns.
std::vector<float> row_91() {
    const CsrMatrix<double>& a = matrix();
    return {a.values.begin() + a.row_offsets[90], a.values.begin() + a.row_offsets[91]};
}

float sum(const std::vector<float>& terms) { return std::accumulate(terms.begin(), terms.end(), 0.0F); }

float sum_in_pairs(const float* terms, std::size_t count) {
    return count == 1 ? *terms : sum_in_pairs(terms, count / 2) + sum_in_pairs(terms + count / 2, count - count / 2);
}

/// As a SIMD register or a warp sums: lane i takes the terms i, i + lanes, ...; then halves are added.
float sum_in_lanes(const std::vector<float>& terms, std::size_t lanes) {
    std::vector<float> partial(lanes, 0.0F);
    for (std::size_t i = 0; i < terms.size(); ++i) partial[i % lanes] += terms[i];
    for (; lanes > 1; lanes /= 2)
        for (std::size_t i = 0; i < lanes / 2; ++i) partial[i] += partial[i + lanes / 2];
    return partial[0];
}

/// b - A x, each row summed in long double.
Vector residual(const Vector& b, const Vector& x) {
    Vector r(b.size());
    for (int i = 0; i < eigen_matrix().rows(); ++i) {
        long double rest = b[i];
        for (RowMajor::InnerIterator entry(eigen_matrix(), i); entry; ++entry)
            rest -= static_cast<long double>(entry.value()) * static_cast<long double>(x[entry.col()]);
        r[i] = static_cast<double>(rest);
    }
    return r;
}

Vector ones() { return Vector::Ones(eigen_matrix().rows()); }
Vector matrix_times_ones() { return residual(Vector::Zero(eigen_matrix().rows()), -ones()); }

TEST(Dc2Like, HasTheSizeOfDc2) {
    EXPECT_EQ(matrix().rows, 116'835);
    EXPECT_EQ(matrix().columns, 116'835);
    EXPECT_EQ(matrix().nonzeros(), 766'396);
    EXPECT_NEAR(static_cast<double>(matrix().nonzeros()) / static_cast<double>(matrix().rows), 6.56, 0.005);
}

TEST(Dc2Like, HasAFullDiagonalAndNoZeros) {
    EXPECT_TRUE((eigen_matrix().diagonal().array() != 0).all());
    EXPECT_EQ(std::count(matrix().values.begin(), matrix().values.end(), 0.0), 0);
}

TEST(Dc2Like, HasTheRangeOfValuesOfDc2AllRepresentableInFloat) {
    const auto [least, greatest] = std::minmax_element(matrix().values.begin(), matrix().values.end());
    EXPECT_NEAR(*least, -98, 0.5);
    EXPECT_NEAR(*greatest, 58'107, 0.5);
    for (const double value : matrix().values) ASSERT_EQ(static_cast<double>(static_cast<float>(value)), value);
}

TEST(Dc2Like, HasTheSymmetryOfDc2) {
    const RowMajor mirrored = eigen_matrix().transpose();
    int mirrors = 0, equal = 0;
    for (int i = 0; i < eigen_matrix().rows(); ++i) {
        RowMajor::InnerIterator a(eigen_matrix(), i), b(mirrored, i);
        while (a && b) {
            const auto column_a = a.col(), column_b = b.col();
            if (column_a == column_b && column_a != i) {
                ++mirrors;
                equal += a.value() == b.value() ? 1 : 0;
            }
            if (column_a <= column_b) ++a;
            if (column_b <= column_a) ++b;
        }
    }
    constexpr double off_diagonal = 766'396 - 116'835;
    EXPECT_NEAR(mirrors / off_diagonal, 0.85, 0.0001);
    EXPECT_NEAR(equal / off_diagonal, 0.24, 0.0001);
}

TEST(Dc2Like, HasTheRowLengthsOfDc2) {
    std::vector<int> lengths = row_lengths(eigen_matrix());
    EXPECT_EQ(lengths[90 - 1], 114'190);
    EXPECT_EQ(lengths[91 - 1], 47'193);
    EXPECT_EQ(count_near_250(lengths), 26);
    std::sort(lengths.begin(), lengths.end());
    const auto quantile = [&](double fraction) { return lengths[static_cast<std::size_t>(fraction * 116'834)]; };
    EXPECT_EQ(lengths.front(), 1);
    EXPECT_EQ(quantile(0.25), 2);
    EXPECT_EQ(quantile(0.5), 5);
    EXPECT_EQ(quantile(0.75), 7);
    EXPECT_LE(lengths[lengths.size() - 29], 10);
}

TEST(Dc2Like, HasTheColumnLengthsOfDc2) {
    const std::vector<int> lengths = row_lengths(RowMajor(eigen_matrix().transpose()));
    EXPECT_EQ(lengths[90 - 1], 114'174);
    EXPECT_EQ(lengths[91 - 1], 47'175);
    EXPECT_EQ(count_near_250(lengths), 26);
}

TEST(Dc2Like, HasRow91MostlyInAdjacentPairsOfColumns) {
    const auto end = matrix().row_offsets[91];
    int in_pairs = 0;
    for (auto k = matrix().row_offsets[90]; k + 1 < end; ++k) {
        if (matrix().column_indices[k] + 1 == matrix().column_indices[k + 1] && matrix().values[k] == matrix().values[k + 1]) {
            in_pairs += 2;
            ++k;
        }
    }
    EXPECT_GT(in_pairs, 0.99 * 47'193);
}

TEST(Dc2Like, HasRow91ThatCancelsToAboutMinusOne) {
    // Every entry is a multiple of 2^-17 below 2^16: sums of integers are exact.
    std::int64_t exact = 0;
    for (const float value : row_91()) {
        const double scaled = static_cast<double>(value) * 0x1p17;
        ASSERT_EQ(scaled, static_cast<double>(static_cast<std::int64_t>(scaled)));
        exact += static_cast<std::int64_t>(scaled);
    }
    EXPECT_EQ(exact, -131'072 - 655);
    EXPECT_NEAR(static_cast<double>(exact) * 0x1p-17, -1.005, 0x1p-17);
}

TEST(Dc2Like, HasRow91WhoseFloatSumsSpreadFromMinusOneToMinusOnePointNine) {
    const std::vector<float> row = row_91();
    EXPECT_NEAR(sum(row), -1.9214, 0.0001);
    EXPECT_NEAR(sum({row.rbegin(), row.rend()}), -1.9226, 0.0001);
    EXPECT_NEAR(sum_in_lanes(row, 4), -1.2051, 0.0001);
    EXPECT_NEAR(sum_in_lanes(row, 32), -1.0410, 0.0001);
    EXPECT_NEAR(sum_in_lanes(row, 256), -1.0000, 0.0001);
    EXPECT_NEAR(sum_in_pairs(row.data(), row.size()), -1.0039, 0.0001);
}

TEST(Dc2Like, IsNonsingular) {
    Eigen::SparseMatrix<double> a = eigen_matrix();
    const int n = static_cast<int>(a.rows());
    klu_common common;
    klu_defaults(&common);
    klu_symbolic* symbolic = klu_analyze(n, a.outerIndexPtr(), a.innerIndexPtr(), &common);
    ASSERT_NE(symbolic, nullptr);
    klu_numeric* factors = klu_factor(a.outerIndexPtr(), a.innerIndexPtr(), a.valuePtr(), symbolic, &common);
    ASSERT_NE(factors, nullptr);
    EXPECT_EQ(klu_condest(a.outerIndexPtr(), a.valuePtr(), symbolic, factors, &common), 1);
    EXPECT_LT(common.condest, 1e11);
    Vector x = matrix_times_ones();
    EXPECT_EQ(klu_solve(symbolic, factors, n, 1, x.data(), &common), 1);
    EXPECT_LT((x - ones()).lpNorm<Eigen::Infinity>(), 1e-11);
    klu_free_numeric(&factors, &common);
    klu_free_symbolic(&symbolic, &common);
}

TEST(Dc2Like, IsSolvedByBicgstabWithJacobiInAFewHundredIterations) {
    const Vector b = matrix_times_ones();
    Eigen::BiCGSTAB<RowMajor> solver(eigen_matrix());
    solver.setTolerance(1e-10);
    solver.setMaxIterations(2000);
    const Vector x = solver.solve(b);
    EXPECT_EQ(solver.info(), Eigen::Success);
    EXPECT_GT(solver.iterations(), 100);
    // Row 91 spoils the true residual where sums are plain: about 1e-9 where the recursive one says 5e-11.
    EXPECT_LT(residual(b, x).norm(), 1e-7 * b.norm());
    EXPECT_LT((x - ones()).lpNorm<Eigen::Infinity>(), 1e-6);
}

}  // namespace
}  // namespace solver::matrices
