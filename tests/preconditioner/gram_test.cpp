#include "preconditioner/gram.hpp"

#include "support/real_matrices.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace solver {
namespace {

using ::testing::ElementsAre;

constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

/// So many rows of so many entries each, in columns at random, some of them twice.
CsrMatrix<double> scattered(std::int64_t rows, std::int64_t columns, std::int64_t each) {
    std::mt19937_64 random(5);
    CsrMatrix<double> a{rows, columns, {0}, {}, {}};
    for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t k = 0; k < each; ++k) {
            a.column_indices.push_back(static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(columns)));
            a.values.push_back(std::uniform_real_distribution<double>(-1, 1)(random));
        }
        a.row_offsets.push_back(a.nonzeros());
    }
    return a;
}

double element(const CsrMatrix<double>& a, std::int64_t i, std::int64_t j) {
    for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
        if (a.column_indices[k] == j) return a.values[k];
    return 0;
}

CsrMatrix<double> gram_of(const CsrMatrix<double>& a, double scale, int threads) {
    return *gram_matrix(a.view(), transpose(a.view()).view(), scale, no_limit, Device::cpu(threads));
}

TEST(GramMatrix, AddsRoundedProductsInTheOrderOfTheRows) {
    const auto a = scattered(3000, 700, 5);
    const auto g = gram_of(a, 1, 2);
    EXPECT_EQ(g.values, gram_of(a, 1, 1).values);
    for (std::int64_t i = 0; i < g.rows; i += 7)
        for (std::int64_t k = g.row_offsets[i]; k < g.row_offsets[i + 1]; ++k) {
            const std::int64_t j = g.column_indices[k];
            double sum = 0;
            for (std::int64_t r = 0; r < a.rows; ++r)
                for (std::int64_t p = a.row_offsets[r]; p < a.row_offsets[r + 1]; ++p)
                    for (std::int64_t q = a.row_offsets[r]; q < a.row_offsets[r + 1]; ++q)
                        if (a.column_indices[p] == i && a.column_indices[q] == j) sum += a.values[p] * a.values[q];
            ASSERT_EQ(g.values[k], sum) << i << ", " << j;
            ASSERT_EQ(element(g, j, i), sum) << "symmetric to the bit";
        }
}

TEST(GramMatrix, IsTheSameOfTheSameNumbersStoredAsDense) {
    std::mt19937_64 random(9);
    constexpr std::int64_t rows = 700, columns = 37;  // more rows than are multiplied at once, and odd tiles
    std::vector<double> numbers(rows * columns);
    for (double& x : numbers) x = std::uniform_real_distribution<double>(-1, 1)(random);
    CsrMatrix<double> sparse{rows, columns, {0}, {}, {}};
    for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; j < columns; ++j) {
            sparse.column_indices.push_back(static_cast<std::int32_t>(j));
            sparse.values.push_back(numbers[static_cast<std::size_t>(j * rows + i)]);
        }
        sparse.row_offsets.push_back(sparse.nonzeros());
    }
    const DenseView<double> dense{rows, columns, 1, rows, numbers.data()};
    for (const int threads : {1, 2}) {
        const auto g = gram_matrix(dense, 0.5, Device::cpu(threads));
        const auto expected = gram_of(sparse, 0.5, 1);
        EXPECT_EQ(g.row_offsets, expected.row_offsets);
        EXPECT_EQ(g.column_indices, expected.column_indices);
        EXPECT_EQ(g.values, expected.values);
    }
}

TEST(GramMatrix, ScalesBeforeItMultiplies) {
    const auto a = csr_from_entries<double>(2, 1, std::vector<Entry<double>>{{0, 0, 0x1p600}, {1, 0, -0x1p600}});
    EXPECT_THAT(gram_of(a, 0x1p-600, 1).values, ElementsAre(2));
}

TEST(GramMatrix, GivesAnEmptyColumnADiagonalOfOne) {
    const auto a = csr_from_entries<double>(2, 3, std::vector<Entry<double>>{{0, 0, 3.0}, {1, 2, 4.0}});
    EXPECT_THAT(gram_of(a, 1, 1).values, ElementsAre(9, 1, 16));
    const std::vector<double> numbers{3, 0, 0, 0, 0, 4};
    EXPECT_EQ(element(gram_matrix(DenseView<double>{2, 3, 3, 1, numbers.data()}, 1, Device::cpu(1)), 1, 1), 1);
}

TEST(GramMatrix, IsNotMadeWhereItIsTooLarge) {
    const auto a = scattered(100, 50, 4);
    const auto t = transpose(a.view());
    const std::int64_t entries = gram_of(a, 1, 1).nonzeros();
    EXPECT_TRUE(gram_matrix(a.view(), t.view(), 1, entries, Device::cpu(1)));
    EXPECT_FALSE(gram_matrix(a.view(), t.view(), 1, entries - 1, Device::cpu(1)));
}

}  // namespace
}  // namespace solver
