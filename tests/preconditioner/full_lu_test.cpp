/// Factors of nearly full matrices: the bits of elimination written without blocks, and what is refused.

#include "preconditioner/full_lu.hpp"

#include "preconditioner/klu.hpp"
#include "solver/error.hpp"
#include "support/targets.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "solver/csr_matrix.hpp"

namespace solver {
namespace {

using ::testing::HasSubstr;

/// Some elements are zero, some rows are equally large.
CsrMatrix<double> nearly_full(std::int32_t n, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<Entry<double>> entries;
    for (std::int32_t i = 0; i < n; ++i)
        for (std::int32_t j = 0; j < n; ++j)
            if (random() % 5 != 0) entries.push_back({i, j, static_cast<double>(random() % 15) - 7 + (i == j ? 0.125 : 0)});
    return csr_from_entries<double>(n, n, entries);
}

/// L below the diagonal and U, by rows; by elimination as textbooks have it, with single operations that are rounded.
struct Textbook {
    std::vector<std::vector<double>> a;
    std::vector<std::int32_t> order;

    explicit Textbook(const CsrMatrix<double>& of) : a(of.rows, std::vector<double>(of.rows)) {
        for (std::int32_t i = 0; i < of.rows; ++i) {
            order.push_back(i);
            for (std::int64_t k = of.row_offsets[i]; k < of.row_offsets[i + 1]; ++k) a[i][of.column_indices[k]] = of.values[k];
        }
        for (std::size_t k = 0; k < a.size(); ++k) {
            std::size_t pivot = k;
            for (std::size_t i = k + 1; i < a.size(); ++i)
                if (std::abs(a[i][k]) > std::abs(a[pivot][k])) pivot = i;
            std::swap(a[k], a[pivot]);
            std::swap(order[k], order[pivot]);
            for (std::size_t i = k + 1; i < a.size(); ++i) {
                a[i][k] /= a[k][k];
                for (std::size_t j = k + 1; j < a.size(); ++j) {
                    const volatile double product = a[i][k] * a[k][j];
                    a[i][j] -= product;
                }
            }
        }
    }
};

void expect_bits(const FullFactors& made, const Textbook& expected) {
    const auto n = static_cast<std::int32_t>(expected.a.size());
    ASSERT_EQ(made.pivots, n);
    EXPECT_EQ(made.row_order, expected.order);
    const auto& [lower, upper] = made.factors;
    for (std::int32_t i = 0; i < n; ++i) {
        ASSERT_EQ(lower.row_offsets[i + 1] - lower.row_offsets[i], i);
        ASSERT_EQ(upper.row_offsets[i + 1] - upper.row_offsets[i], n - i);
        for (std::int32_t j = 0; j < n; ++j) {
            const CsrMatrix<double>& factor = j < i ? lower : upper;
            const std::int64_t k = factor.row_offsets[i] + (j < i ? j : j - i);
            EXPECT_EQ(factor.column_indices[k], j);
            ASSERT_EQ(factor.values[k], expected.a[i][j]) << n << ": " << i << ", " << j;
        }
    }
}

TEST(FullLu, HasTheBitsOfEliminationWithoutBlocks) {
    for (const std::int32_t n : {1, 2, 47, 48, 49, 131, 200}) {
        const CsrMatrix<double> matrix = nearly_full(n, 7 + n);
        const Textbook expected(matrix);
        for (const int threads : {1, 2, 3})
            testing::for_each_target([&] { expect_bits(factor_full(matrix, Device::cpu(threads)), expected); });
    }
}

TEST(FullLu, SaysHowManyPivotsASingularMatrixHas) {
    for (const std::int32_t column : {0, 60, 99}) {
        CsrMatrix<double> matrix = nearly_full(100, 3);
        for (std::int64_t k = 0; k < matrix.nonzeros(); ++k)
            if (matrix.column_indices[k] == column) matrix.values[k] = 0;
        const FullFactors made = factor_full(matrix, Device::cpu(2));
        EXPECT_EQ(made.pivots, column);
        EXPECT_EQ(made.factors.upper.nonzeros(), 0);
    }
}

/// Large enough for klu to make them so.
TEST(FullLu, IsWhatKluMakesOfANearlyFullMatrix) {
    constexpr std::int32_t n = 300;
    const CsrMatrix<double> matrix = nearly_full(n, 5);
    ASSERT_TRUE(is_nearly_full(matrix.view()));
    const Preparation preparation = prepare(matrix.view(), Ordering::amd);
    const KluFactors<double> made = factor_klu<double>(matrix.view(), preparation, 0);
    EXPECT_EQ(made.factors.upper.nonzeros(), std::int64_t{n} * (n + 1) / 2);
    const CsrMatrix<double> b = prepared_matrix(matrix.view(), made.preparation);  // rows in the order of the pivots
    const Textbook again(b);
    for (std::int32_t i = 0; i < n; ++i) EXPECT_EQ(again.order[i], i);
    EXPECT_EQ(made.factors.upper.values.front(), again.a[0][0]);
    EXPECT_EQ(made.factors.upper.values.back(), again.a[n - 1][n - 1]);
    const KluFactors<float> single = factor_klu<float>(matrix.view(), preparation, 0);
    EXPECT_EQ(single.factors.upper.values.back(), static_cast<float>(made.factors.upper.values.back()));
}

TEST(FullLu, OfASingularMatrixIsRefusedByTheColumn) {
    constexpr std::int32_t n = 300;
    std::vector<Entry<double>> entries;
    for (std::int32_t i = 0; i < n; ++i)
        for (std::int32_t j = 0; j < n; ++j) entries.push_back({i, j, static_cast<double>(1 + i % 3)});
    const CsrMatrix<double> matrix = csr_from_entries<double>(n, n, entries);
    const Preparation preparation = prepare(matrix.view(), Ordering::amd);
    try {
        factor_klu<double>(matrix.view(), preparation, 0);
        FAIL() << "accepted";
    } catch (const InvalidArgument& error) {
        EXPECT_THAT(error.what(), HasSubstr("numerically singular: after 1 of 300 pivots"));
    }
}

}  // namespace
}  // namespace solver
