#include "matrices/stencils.hpp"
#include "preconditioner/amg/aggregates.hpp"
#include "preconditioner/amg/galerkin.hpp"
#include "preconditioner/amg/nodes.hpp"
#include "preconditioner/amg/prolongator.hpp"
#include "preconditioner/amg/strength.hpp"
#include "preconditioner/amg/tentative.hpp"
#include "solver/numeric/bounds.hpp"

#include <gtest/gtest.h>

#include "support/amg.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace solver::amg {
namespace {

using testing::Dense;
using testing::dense;
using testing::graph_of;
using testing::interleaved;
using testing::random_laplacian;
using testing::random_matrix;

TentativeProlongator tentative_of(const Aggregates& aggregates, int unknowns = 1) {
    return {aggregates, {.unknowns_per_node = unknowns}, Device::cpu(1)};
}

/// Of 400 nodes of two unknowns each: two vectors at random, one that is the sum of them on the first half of the nodes only,
/// and how the nodes are aggregated.
struct VectorsOnNodes {
    static constexpr std::int64_t rows = 800;
    Aggregates aggregates;
    NearNullSpace space{.unknowns_per_node = 2, .dimension = 3, .vectors = std::vector<double>(3 * rows)};

    explicit VectorsOnNodes(const Graph& graph) : aggregates(aggregate(graph, Device::cpu(1))) {
        std::mt19937_64 random(21);
        std::uniform_real_distribution<> uniform(-1, 1);
        for (std::int64_t i = 0; i < rows; ++i) {
            space.vectors[i] = uniform(random);
            space.vectors[rows + i] = uniform(random);
            space.vectors[2 * rows + i] = i < rows / 2 ? space.vectors[i] + space.vectors[rows + i] : uniform(random);
        }
    }
};

/// Giraud, Langou, Rozloznik, van den Eshof, Numer. Math. 101, 2005: Gram and Schmidt's process done twice keeps Q orthonormal
/// up to a small multiple of n u. Here n, rows times columns of an aggregate, stays below 1000.
TEST(AmgTentative, FactorsTheVectorsOfEveryAggregate) {
    std::mt19937_64 random(22);
    const VectorsOnNodes given(graph_of(random_laplacian(random, 400, 6, 1)));
    const TentativeProlongator tentative(given.aggregates, given.space, Device::cpu(3));
    const Dense t = dense(tentative.matrix<double>());
    const NearNullSpace& coarse = tentative.coarse_space();
    ASSERT_EQ(tentative.columns(), 3 * given.aggregates.count);
    ASSERT_EQ(coarse.unknowns_per_node, 3);
    ASSERT_EQ(std::ssize(coarse.vectors), 3 * tentative.columns());
    constexpr double allowed = 1000 * unit_roundoff<double>;
    int dropped = 0;
    for (std::int64_t c = 0; c < tentative.columns(); ++c) {
        long double norm = 0;
        for (const auto& row : t) norm += row[c] * row[c];
        if (norm == 0) ++dropped;
        EXPECT_NEAR(static_cast<double>(norm), norm == 0 ? 0 : 1, allowed);
        for (std::int64_t other = c - c % 3; other < c; ++other) {
            long double product = 0;
            for (const auto& row : t) product += row[c] * row[other];
            EXPECT_NEAR(static_cast<double>(product), 0, allowed);
        }
    }
    EXPECT_GT(dropped, 0) << "the third vector depends on the others in some aggregates";
    EXPECT_LT(dropped, given.aggregates.count);
    for (std::int64_t i = 0; i < VectorsOnNodes::rows; ++i)
        for (int v = 0; v < 3 && !tentative.is_empty(i); ++v) {
            long double product = 0;
            for (std::int64_t c = 0; c < tentative.columns(); ++c)
                product += t[i][c] * coarse.vectors[v * tentative.columns() + c];
            EXPECT_NEAR(static_cast<double>(product), given.space.vectors[v * VectorsOnNodes::rows + i], 1e-9)
                << "what a column of zeros leaves out is at most 1e-10 of a norm below 10";
        }
}

/// P times the coarse vectors = (I - W A) B. With m entries a row, each of the terms passes at most 2 m + 10 roundings, and
/// their magnitudes sum to at most (1 + 4/3) times the largest of B; what was left out counts 1e-9 as above.
TEST(AmgProlongator, SmoothsTheVectorsThatAreGiven) {
    std::mt19937_64 random(23);
    const CsrMatrix<double> one = random_laplacian(random, 400, 6, 1);
    const CsrMatrix<double> a = interleaved(one, one);
    const Graph strong = graph_of(one);
    const VectorsOnNodes given(strong);
    const TentativeProlongator tentative(given.aggregates, given.space, Device::cpu(1));
    const CsrMatrix<double> smoothed = smoothed_prolongator<double>(a.view(), strong, tentative, Device::cpu(2));
    check(smoothed.view());
    const Dense p = dense(smoothed), d = dense(a);
    for (int v = 0; v < 3; ++v) {
        const double* b = given.space.vectors.data() + v * VectorsOnNodes::rows;
        const double* coarse = tentative.coarse_space().vectors.data() + v * tentative.columns();
        for (std::int64_t i = 0; i < VectorsOnNodes::rows; ++i) {
            if (strong.of(i / 2).empty()) continue;
            long double magnitudes = 0, image = 0, product = 0;
            for (std::int64_t j = 0; j < VectorsOnNodes::rows; ++j) {
                magnitudes += std::abs(d[i][j]);
                image += d[i][j] * b[j];
            }
            for (std::int64_t c = 0; c < tentative.columns(); ++c) product += p[i][c] * coarse[c];
            EXPECT_NEAR(static_cast<double>(product), static_cast<double>(b[i] - 4.0L / 3 / magnitudes * image), 1e-8);
        }
    }
}

/// Rows that sum to zero keep constants. With m entries, every term of P's row passes m + 3 roundings of double: the products'
/// and the sums'; the terms' magnitudes sum to 1 + 4/3, and rounding to V adds u of V.
template <class V>
void expect_constants_kept() {
    std::mt19937_64 random(5);
    const CsrMatrix<double> a = random_laplacian(random, 3000, 6, 0);
    const Graph graph = graph_of(a);
    const CsrMatrix<V> p =
        smoothed_prolongator<V>(a.view(), graph, tentative_of(aggregate(graph, Device::cpu(2))), Device::cpu(2));
    check(p.view());
    for (std::int64_t i = 0; i < a.rows; ++i) {
        if (graph.of(i).empty()) {
            EXPECT_EQ(p.view().row_length(i), 0);
            continue;
        }
        long double sum = 0;
        for (std::int64_t k = p.row_offsets[i]; k < p.row_offsets[i + 1]; ++k) sum += p.values[k];
        const double roundings = static_cast<double>(2 * a.view().row_length(i) + 6) * unit_roundoff<double>;
        EXPECT_LE(std::abs(static_cast<double>(sum - 1)), 1.01 * (7.0 / 3) * (roundings + unit_roundoff<V>)) << i;
    }
}
TEST(AmgProlongator, KeepsConstants) {
    expect_constants_kept<float>();
    expect_constants_kept<double>();
}

/// The first node has a neighbour in each of 32 aggregates, and in one more.
TEST(AmgProlongator, LeavesTheRowsOfHubsAsTheyAre) {
    for (const std::int32_t count : {32, 33}) {
        const std::int32_t n = 2 * count + 1;
        std::vector<Entry<double>> entries{{0, 0, static_cast<double>(n)}};
        Aggregates aggregates{{0}, count};
        for (std::int32_t i = 1; i < n; ++i) {
            const std::int32_t other = i % 2 == 1 ? i + 1 : i - 1;
            entries.push_back({i, i, 3});
            entries.push_back({i, other, -1});
            if (i % 2 == 1) entries.insert(entries.end(), {{0, i, -1}, {i, 0, -1}});
            aggregates.of.push_back((i - 1) / 2);
        }
        const auto a = csr_from_entries<double>(n, n, entries);
        const Graph strong = strong_connections(a.view(), 1e-3, Device::cpu(1));
        const auto p = smoothed_prolongator<double>(a.view(), strong, tentative_of(aggregates), Device::cpu(1));
        EXPECT_EQ(p.row_offsets[1], count == 32 ? 32 : 1);
        if (count == 33) {
            EXPECT_EQ(p.column_indices[0], 0);
            EXPECT_EQ(p.values[0], 1);
        }
    }
}

// Promise: preconditioner.hpp, "None: the constants, of each unknown of a node apart."
TEST(AmgProlongator, KeepsTheUnknownsOfANodeApart) {
    std::mt19937_64 random(11);
    const CsrMatrix<double> one = random_laplacian(random, 1500, 6, 0);
    CsrMatrix<double> stiffer = one;
    for (double& value : stiffer.values) value *= 3;
    const CsrMatrix<double> a = interleaved(one, stiffer);
    const CsrMatrix<double> of_nodes = magnitudes_of_nodes(a.view(), 2, Device::cpu(1));
    EXPECT_EQ(of_nodes.column_indices, one.column_indices);
    for (std::size_t k = 0; k < one.values.size(); ++k) EXPECT_EQ(of_nodes.values[k], std::abs(stiffer.values[k]));
    const Graph strong = graph_of(one);
    const Aggregates aggregates = aggregate(strong, Device::cpu(1));
    const auto expected = smoothed_prolongator<double>(one.view(), strong, tentative_of(aggregates), Device::cpu(1));
    const auto p = smoothed_prolongator<double>(a.view(), strong, tentative_of(aggregates, 2), Device::cpu(1));
    const auto plain = tentative_of(aggregates, 2).matrix<double>();
    ASSERT_EQ(p.columns, 2 * expected.columns);
    for (std::int64_t i = 0; i < a.rows; ++i) {
        const std::int64_t begin = p.row_offsets[i], from = expected.row_offsets[i / 2];
        ASSERT_EQ(p.view().row_length(i), expected.view().row_length(i / 2));
        for (std::int64_t k = 0; k < p.view().row_length(i); ++k) {
            EXPECT_EQ(p.column_indices[begin + k], 2 * expected.column_indices[from + k] + i % 2);
            EXPECT_NEAR(p.values[begin + k], expected.values[from + k], 100 * unit_roundoff<double>);  // of terms below 1
        }
        ASSERT_EQ(plain.view().row_length(i), p.view().row_length(i) > 0 ? 1 : 0);
    }
}

/// Higham, Accuracy and Stability, eq. (3.5): each of the two sums, over rows of A and of P, has at most as many terms as A has
/// rows, and two products: |C - R A P| <= gamma_{2n+2} |R| |A| |P|.
TEST(AmgGalerkin, IsTheTripleProduct) {
    std::mt19937_64 random(6);
    for (int trial = 0; trial < 20; ++trial) {
        const CsrMatrix<double> a = random_matrix(random, 50, 50, 0.1), p = random_matrix(random, 50, 13, 0.1),
                                r = random_matrix(random, 13, 50, 0.1);
        const CsrMatrix<double> made = galerkin_product<double>(r.view(), a.view(), p.view(), Device::cpu(2)).value();
        check(made.view());
        const Dense da = dense(a), dp = dense(p), dr = dense(r), c = dense(made);
        for (int i = 0; i < 13; ++i)
            for (int j = 0; j < 13; ++j) {
                long double sum = 0, size = 0;
                for (int k = 0; k < 50; ++k)
                    for (int l = 0; l < 50; ++l) {
                        sum += dr[i][k] * da[k][l] * dp[l][j];
                        size += std::abs(dr[i][k] * da[k][l] * dp[l][j]);
                    }
                ASSERT_LE(std::abs(c[i][j] - sum), 1.01L * 102 * unit_roundoff<double> * size) << i << ", " << j;
            }
    }
}

/// As of a vector that depends on others within an aggregate.
TEST(AmgGalerkin, AnEmptyColumnBecomesAnUnknownByItself) {
    const CsrMatrix<double> a{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {2, -1, -1, 2}};
    const CsrMatrix<double> p{2, 3, {0, 1, 2}, {0, 2}, {1, 1}};
    const auto made = galerkin_product<double>(transpose(p.view()).view(), a.view(), p.view(), Device::cpu(1)).value();
    EXPECT_EQ(made.row_offsets, (std::vector<std::int64_t>{0, 2, 3, 5}));
    EXPECT_EQ(made.column_indices, (std::vector<std::int32_t>{0, 2, 1, 0, 2}));
    EXPECT_EQ(made.values, (std::vector<double>{2, -1, 1, -1, 2}));
}

TEST(AmgGalerkin, ColumnsAreSortedAndThreadsDoNotShow) {
    const CsrMatrix<double> a = matrices::poisson3d(30);
    const Graph graph = graph_of(a);
    const auto p =
        smoothed_prolongator<double>(a.view(), graph, tentative_of(aggregate(graph, Device::cpu(1))), Device::cpu(1));
    const auto r = transpose(p.view());
    const auto expected = galerkin_product<double>(r.view(), a.view(), p.view(), Device::cpu(1)).value();
    for (std::int64_t i = 0; i < expected.rows; ++i)
        EXPECT_TRUE(std::is_sorted(expected.column_indices.begin() + expected.row_offsets[i],
                                   expected.column_indices.begin() + expected.row_offsets[i + 1]));
    for (const int threads : {2, 7}) {
        const auto c = galerkin_product<double>(r.view(), a.view(), p.view(), Device::cpu(threads)).value();
        EXPECT_FALSE(galerkin_product<double>(r.view(), a.view(), p.view(), Device::cpu(threads), expected.nonzeros() - 1));
        EXPECT_EQ(c.row_offsets, expected.row_offsets);
        EXPECT_EQ(c.column_indices, expected.column_indices);
        EXPECT_EQ(c.values, expected.values);
    }
}

TEST(AmgGalerkin, MirrorsTheUpperTriangle) {
    CsrMatrix<double> a{3, 3, {0, 3, 5, 7}, {0, 1, 2, 0, 1, 0, 2}, {1, 2, 3, 20, 4, 30, 5}};
    mirror_upper_triangle(a, Device::cpu(1));
    EXPECT_EQ(a.values, (std::vector<double>{1, 2, 3, 2, 4, 3, 5}));
}

}  // namespace
}  // namespace solver::amg
