#include "core/multigrid/scale.hpp"
#include "matrices/elasticity.hpp"
#include "matrices/stencils.hpp"
#include "preconditioner/amg/aggregates.hpp"
#include "preconditioner/amg/chebyshev.hpp"
#include "preconditioner/amg/cycle.hpp"
#include "preconditioner/amg/dense_inverse.hpp"
#include "preconditioner/amg/galerkin.hpp"
#include "preconditioner/amg/hierarchy.hpp"
#include "preconditioner/amg/nodes.hpp"
#include "preconditioner/amg/prolongator.hpp"
#include "preconditioner/amg/strength.hpp"
#include "preconditioner/amg/tentative.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <utility>
#include <vector>

namespace solver::amg {
namespace {

using Dense = std::vector<std::vector<long double>>;

template <class T>
Dense dense(const CsrMatrix<T>& a) {
    Dense d(static_cast<std::size_t>(a.rows), std::vector<long double>(static_cast<std::size_t>(a.columns)));
    for (std::int64_t i = 0; i < a.rows; ++i)
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) d[i][a.column_indices[k]] += a.values[k];
    return d;
}

/// Symmetric, negative off the diagonal, `excess` more on the diagonal than the rest of the row.
CsrMatrix<double> random_laplacian(std::mt19937_64& random, std::int32_t n, double edges_a_row, double excess) {
    std::vector<Entry<double>> entries;
    std::vector<double> degree(static_cast<std::size_t>(n), excess);
    for (int e = 0; e < static_cast<int>(edges_a_row * n / 2); ++e) {
        const auto i = static_cast<std::int32_t>(random() % n), j = static_cast<std::int32_t>(random() % n);
        if (i == j) continue;
        const double weight = static_cast<double>(1 + random() % 1000);
        entries.push_back({i, j, -weight});
        entries.push_back({j, i, -weight});
        degree[i] += weight;
        degree[j] += weight;
    }
    for (std::int32_t i = 0; i < n; ++i) entries.push_back({i, i, degree[i] + (degree[i] == 0)});
    return csr_from_entries<double>(n, n, entries);
}

CsrMatrix<double> random_matrix(std::mt19937_64& random, std::int32_t rows, std::int32_t columns, double density) {
    std::vector<Entry<double>> entries;
    std::uniform_real_distribution<> uniform(-1, 1);
    for (std::int32_t i = 0; i < rows; ++i)
        for (std::int32_t j = 0; j < columns; ++j)
            if (i == j || std::abs(uniform(random)) < density) entries.push_back({i, j, uniform(random)});
    return csr_from_entries<double>(rows, columns, entries);
}

Graph graph_of(const CsrMatrix<double>& a, int threads = 1) { return strong_connections(a.view(), 0.25, Device::cpu(threads)); }

TEST(AmgStrength, FollowsItsDefinition) {
    std::mt19937_64 random(1);
    for (int trial = 0; trial < 50; ++trial) {
        const CsrMatrix<double> a = random_laplacian(random, 40, 6, 1);
        const Dense d = dense(a);
        const auto s = [&](int i, int j) { return i == j ? 0 : std::abs(d[i][j]) / std::sqrt(d[i][i] * d[j][j]); };
        const auto largest = [&](int i) {
            long double most = 0;
            for (int k = 0; k < 40; ++k) most = std::max(most, s(i, k));
            return most;
        };
        const Graph graph = graph_of(a);
        for (int i = 0; i < 40; ++i)
            for (int j = 0; j < 40; ++j) {
                const long double excess = s(i, j) - 0.25L * std::min(largest(i), largest(j));
                if (std::abs(excess) < 1e-14L) continue;  // decided by rounding
                const auto row = graph.of(i);
                EXPECT_EQ(std::find(row.begin(), row.end(), j) != row.end(), excess > 0) << i << ", " << j;
            }
    }
}

/// On 27 points every connection is 1/26 of the diagonal.
TEST(AmgStrength, KeepsLongStencils) {
    const CsrMatrix<double> a = matrices::stencil27(5);
    EXPECT_EQ(std::ssize(graph_of(a).neighbours), a.nonzeros() - a.rows);
}

TEST(AmgStrength, MagnitudesOfAnUnsymmetricMatrixAreSymmetric) {
    std::mt19937_64 random(2);
    const CsrMatrix<double> a = random_matrix(random, 60, 60, 0.05);
    const CsrMatrix<double> magnitudes = symmetric_magnitudes(a.view(), transpose(a.view()).view(), Device::cpu(2));
    check(magnitudes.view());
    const Dense d = dense(a), m = dense(magnitudes);
    for (int i = 0; i < 60; ++i)
        for (int j = 0; j < 60; ++j)
            EXPECT_EQ(static_cast<double>(m[i][j]),
                      std::abs(static_cast<double>(d[i][j])) + std::abs(static_cast<double>(d[j][i])));
}

/// Within distance 1 or 2 of node i, i left out.
std::vector<std::int32_t> within_two(const Graph& graph, std::int32_t i) {
    std::vector<std::int32_t> nodes;
    for (const std::int32_t j : graph.of(i)) {
        nodes.push_back(j);
        for (const std::int32_t k : graph.of(j))
            if (k != i) nodes.push_back(k);
    }
    return nodes;
}

TEST(AmgAggregates, BeginWithAMaximalIndependentSet) {
    std::mt19937_64 random(3);
    for (const double edges : {1.0, 3.0, 12.0}) {
        const Graph graph = graph_of(random_laplacian(random, 2000, edges, 1));
        const std::vector<bool> members = independent_set(graph, Device::cpu(1));
        for (std::int32_t i = 0; i < 2000; ++i) {
            const std::vector<std::int32_t> near = within_two(graph, i);
            const bool has_member = std::any_of(near.begin(), near.end(), [&](std::int32_t j) { return members[j]; });
            EXPECT_EQ(members[i], !has_member && !graph.of(i).empty()) << i;
        }
    }
}

TEST(AmgAggregates, CoverEveryNodeThatHasNeighboursAndAreConnected) {
    std::mt19937_64 random(4);
    for (const double edges : {1.0, 3.0, 12.0}) {
        const Graph graph = graph_of(random_laplacian(random, 2000, edges, 1));
        const Aggregates aggregates = aggregate(graph, Device::cpu(1));
        std::vector<int> size(static_cast<std::size_t>(aggregates.count));
        for (std::int32_t i = 0; i < 2000; ++i) {
            const std::int32_t mine = aggregates.of[i];
            ASSERT_EQ(mine == Aggregates::none, graph.of(i).empty()) << i;
            if (mine == Aggregates::none) continue;
            ASSERT_LT(mine, aggregates.count);
            ++size[mine];
            const auto row = graph.of(i);
            EXPECT_TRUE(std::any_of(row.begin(), row.end(), [&](std::int32_t j) { return aggregates.of[j] == mine; })) << i;
        }
        EXPECT_TRUE(std::all_of(size.begin(), size.end(), [](int s) { return s >= 2; }));
    }
}

TEST(AmgAggregates, DoNotDependOnThreads) {
    const CsrMatrix<double> a = matrices::poisson3d(45);  // enough rows for seven threads
    const Aggregates expected = aggregate(graph_of(a), Device::cpu(1));
    for (const int threads : {2, 7}) {
        const Aggregates aggregates = aggregate(graph_of(a, threads), Device::cpu(threads));
        EXPECT_EQ(aggregates.count, expected.count);
        EXPECT_EQ(aggregates.of, expected.of);
    }
}

/// Two problems that have nothing to do with each other but their nodes.
CsrMatrix<double> interleaved(const CsrMatrix<double>& a, const CsrMatrix<double>& b) {
    std::vector<Entry<double>> entries;
    for (std::int32_t which = 0; which < 2; ++which) {
        const CsrMatrix<double>& one = which == 0 ? a : b;
        for (std::int32_t i = 0; i < one.rows; ++i)
            for (std::int64_t k = one.row_offsets[i]; k < one.row_offsets[i + 1]; ++k)
                entries.push_back({2 * i + which, 2 * one.column_indices[k] + which, one.values[k]});
    }
    return csr_from_entries<double>(2 * a.rows, 2 * a.rows, entries);
}

TentativeProlongator tentative_of(const Aggregates& aggregates, int unknowns = 1) {
    return {aggregates, {.unknowns_per_node = unknowns}, Device::cpu(1)};
}

TEST(AmgNodes, AreFoundInThePattern) {
    std::mt19937_64 random(24);
    const CsrMatrix<double> one = random_laplacian(random, 1200, 6, 1);
    const CsrMatrix<double> pairs = interleaved(one, one);
    const auto found = [](const CsrMatrix<double>& a) { return unknowns_per_node(a.view(), Device::cpu(2)); };
    EXPECT_EQ(found(one), 1);
    EXPECT_EQ(found(pairs), 2);
    EXPECT_EQ(found(interleaved(pairs, pairs)), 4) << "not 2, which would do as well";
    EXPECT_EQ(found(matrices::stencil27(9)), 1);
    EXPECT_EQ(found(matrices::poisson3d(12)), 1);
    EXPECT_EQ(found(matrices::elasticity2d(20)), 2) << "where entries between unlike displacements are zero and left out";
}

/// One row in twenty of a node with an entry more is allowed, one in five is not: beyond the first look, too.
TEST(AmgNodes, MayHaveFewExceptions) {
    const auto with_exceptions = [](std::int64_t nodes, std::int64_t every) {
        std::vector<Entry<double>> entries;
        for (std::int32_t i = 0; i < 2 * nodes; ++i) entries.push_back({i, i, 1});
        for (std::int32_t node = 1100; node + 1 < nodes; node += static_cast<std::int32_t>(every))
            entries.push_back({2 * node, 2 * node + 2, 1});
        return csr_from_entries<double>(2 * nodes, 2 * nodes, entries);
    };
    EXPECT_EQ(unknowns_per_node(with_exceptions(100003, 20).view(), Device::cpu(3)), 2);
    EXPECT_EQ(unknowns_per_node(with_exceptions(100003, 5).view(), Device::cpu(3)), 1);
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

/// Higham, corollary 14.7: with rows that are diagonally dominant |I - A X| <= 32 n^2 u |A| e e^T |X|, to first order.
TEST(AmgDenseInverse, Inverts) {
    std::mt19937_64 random(7);
    for (const std::int32_t n : {1, 2, 30, 100}) {
        CsrMatrix<double> a = random_matrix(random, n, n, 0.3);
        for (std::int32_t i = 0; i < n; ++i)
            for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
                if (a.column_indices[k] == i) a.values[k] = n;
        const auto inverse = dense_inverse(a.view());
        ASSERT_TRUE(inverse);
        check(inverse->view());
        const Dense d = dense(a), x = dense(*inverse);
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j) {
                long double product = i == j ? -1 : 0, row = 0, column = 0;
                for (int k = 0; k < n; ++k) {
                    product += d[i][k] * x[k][j];
                    row += std::abs(d[i][k]);
                    column += std::abs(x[k][j]);
                }
                EXPECT_LE(std::abs(product), 33.0L * n * n * unit_roundoff<double> * row * column);
            }
    }
}

TEST(AmgDenseInverse, ExchangesRows) {
    const CsrMatrix<double> a{3, 3, {0, 1, 2, 3}, {1, 2, 0}, {2, 4, 8}};
    const auto inverse = dense_inverse(a.view());
    ASSERT_TRUE(inverse);
    EXPECT_EQ(inverse->values, (std::vector<double>{0, 0, 0.125, 0.5, 0, 0, 0, 0.25, 0}));
}

TEST(AmgDenseInverse, NoticesThatThereIsNone) {
    std::mt19937_64 random(8);
    const CsrMatrix<double> neumann = random_laplacian(random, 50, 8, 0);
    EXPECT_FALSE(dense_inverse(neumann.view()));
    const auto regularized = regularized_inverse(neumann.view(), true);
    ASSERT_TRUE(regularized);
    EXPECT_EQ(regularized->values, transpose(regularized->view()).values);
    const CsrMatrix<double> pair{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {1, -1, -1, 1}};
    const double larger = 1 + 0x1p-16, determinant = larger * larger - 1;
    const auto inverse = regularized_inverse(pair.view(), true);
    ASSERT_TRUE(inverse);
    const std::vector<double> expected{larger / determinant, 1 / determinant, 1 / determinant, larger / determinant};
    for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(inverse->values[k], expected[k], 1e-8 * expected[k]) << k;
    const CsrMatrix<double> zero{2, 2, {0, 1, 2}, {0, 1}, {0, 0}};
    EXPECT_FALSE(regularized_inverse(zero.view(), true));
    const CsrMatrix<double> nan{1, 1, {0, 1}, {0}, {std::numeric_limits<double>::quiet_NaN()}};
    EXPECT_FALSE(regularized_inverse(nan.view(), true));
}

/// After the steps the error in an eigenvector is p(lambda) of before, |p| <= 1 / |T_degree(sigma)| on the interval, reached at
/// its ends; sigma = (upper + lower) / (upper - lower).
TEST(AmgChebyshev, DampsItsIntervalEqually) {
    for (const int degree : {1, 2, 3, 6}) {
        const double lower = 0.4, upper = 2, sigma = (upper + lower) / (upper - lower);
        const auto steps = chebyshev_steps<double>(degree, lower, upper);
        ASSERT_EQ(std::ssize(steps), degree);
        const auto error_after = [&](double lambda) {
            double x = 0, d = 0;  // of lambda x = lambda, so that the error is 1 - x
            for (const SmootherStep<double>& step : steps) {
                d = step.beta * d + step.alpha * (lambda - lambda * x);
                x += d;
            }
            return std::abs(1 - x);
        };
        const double bound = 1 / std::cosh(degree * std::acosh(sigma));
        constexpr double roundings = 1e-14;  // a dozen, of numbers below 4
        EXPECT_NEAR(error_after(lower), bound, roundings);
        EXPECT_NEAR(error_after(upper), bound, roundings);
        for (double lambda = lower; lambda < upper; lambda += 0.01) EXPECT_LE(error_after(lambda), bound + roundings);
    }
}

TEST(AmgChebyshev, BoundsTheLargestEigenvalue) {
    const CsrMatrix<double> poisson = matrices::poisson2d(40);  // 1 + cos(pi / 41)
    EXPECT_EQ(largest_eigenvalue(poisson.view(), std::vector<double>(1600, 0.25), Device::cpu(1)), 2);
    CsrMatrix<double> all_ones{50, 50, {0}, {}, {}};  // eigenvalues 50 and 0
    for (std::int32_t i = 0; i < 50; ++i) {
        for (std::int32_t j = 0; j < 50; ++j) all_ones.column_indices.push_back(j);
        all_ones.values.resize(all_ones.column_indices.size(), 1.0);
        all_ones.row_offsets.push_back(all_ones.nonzeros());
    }
    EXPECT_EQ(largest_eigenvalue(all_ones.view(), std::vector<double>(50, 1.0), Device::cpu(1)), 50);
}

TEST(AmgScale, BringsTheLargestElementNearOne) {
    for (const double x : {1.0, 1.9, -3e100, 5e-300, 0x1p-1022}) {
        const double scaled = std::abs(x * scale_of(magnitude_bits(x)));
        EXPECT_GE(scaled, 1) << x;
        EXPECT_LT(scaled, 2) << x;
    }
    EXPECT_EQ(scale_of(magnitude_bits(0x1p1023)), 0x1p-1022);
    EXPECT_EQ(scale_of(magnitude_bits(0)), 0x1p1022);
    EXPECT_EQ(scale_of(magnitude_bits(-std::numeric_limits<double>::infinity())), 1);
    EXPECT_EQ(scale_of(magnitude_bits(-std::numeric_limits<double>::quiet_NaN())), 1);
}

/// M^-1 of a symmetric A is symmetric; in double precision nothing but rounding is seen, and one missing step of the smoother
/// would show as a difference of several percent.
TEST(AmgCycle, IsSymmetricWhereAIs) {
    std::mt19937_64 random(9);
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (const auto& a : {matrices::poisson2d(60), random_laplacian(random, 3000, 5, 1)}) {
        const auto hierarchy = make_hierarchy<double>(a.view(), {}, Device::cpu(1));
        EXPECT_TRUE(hierarchy.is_symmetric);
        EXPECT_GE(hierarchy.levels.size(), 2u);
        Cycle<double> cycle(hierarchy, Device::cpu(1));
        const auto n = static_cast<std::size_t>(a.rows);
        std::vector<double> r(n), s(n), mr(n), ms(n);
        for (std::size_t i = 0; i < n; ++i) r[i] = uniform(random), s[i] = uniform(random);
        cycle.apply(r, mr, Accuracy::exact);
        cycle.apply(s, ms, Accuracy::exact);
        long double left = 0, right = 0, size = 0;
        for (std::size_t i = 0; i < n; ++i) {
            left += static_cast<long double>(s[i]) * mr[i];
            right += static_cast<long double>(r[i]) * ms[i];
            size += std::abs(static_cast<long double>(s[i]) * mr[i]) + std::abs(static_cast<long double>(r[i]) * ms[i]);
        }
        // Each level makes six products and four updates of at most four roundings, down and up again; a rounding is amplified
        // by the condition of the coarsest matrix, below 10^4 here, at most.
        const auto roundings = static_cast<long double>(2 * (6 + 4 * 4) * hierarchy.levels.size());
        EXPECT_LE(std::abs(left - right), roundings * 1e4L * unit_roundoff<double> * size);
    }
}

TEST(AmgHierarchy, CoarsensQuicklyAtLittleCost) {
    for (const auto& a : {matrices::poisson2d(150), matrices::poisson3d(30), matrices::stencil27(25)}) {
        const auto hierarchy = make_hierarchy<float>(a.view(), {}, Device::cpu(2));
        std::int64_t nonzeros = 0;
        for (const LevelSummary& level : hierarchy.summary) nonzeros += level.nonzeros;
        EXPECT_LE(static_cast<double>(nonzeros), 1.6 * static_cast<double>(a.nonzeros()));
        for (std::size_t l = 1; l < hierarchy.summary.size(); ++l)
            EXPECT_LE(hierarchy.summary[l].rows, hierarchy.summary[l - 1].rows / 4);
        EXPECT_GT(hierarchy.coarsest_inverse.rows, 0);
    }
}

/// A hub with 5000 neighbours, each of which has two of its own: smoothed as other rows are, the hub would fill the next level.
TEST(AmgHierarchy, HubsDoNotFillTheNextLevel) {
    const std::int32_t n = 5001;
    std::vector<Entry<double>> entries{{0, 0, n}};
    for (std::int32_t i = 1; i < n; ++i) {
        const std::int32_t next = i + 1 < n ? i + 1 : 1;
        for (const auto& [a, b] : {std::pair{0, i}, std::pair{i, next}}) {
            entries.push_back({a, b, -1});
            entries.push_back({b, a, -1});
        }
        entries.push_back({i, i, 3.5});
    }
    const auto a = csr_from_entries<double>(n, n, entries);
    std::int64_t nonzeros = 0;
    for (const LevelSummary& level : make_hierarchy<float>(a.view(), {}, Device::cpu(1)).summary) nonzeros += level.nonzeros;
    EXPECT_LE(static_cast<double>(nonzeros), 2 * static_cast<double>(a.nonzeros()));
}

/// Short distances between all nodes: smoothed prolongators would couple everything with everything.
TEST(AmgHierarchy, RandomGraphsDoNotFillTheNextLevel) {
    std::mt19937_64 random(10);
    const auto a = random_laplacian(random, 20000, 8, 1);
    std::int64_t before = a.nonzeros();
    for (const LevelSummary& level : make_hierarchy<float>(a.view(), {}, Device::cpu(2)).summary) {
        EXPECT_LE(level.nonzeros, before);
        before = level.nonzeros;
    }
}

TEST(AmgHierarchy, HashDependsOnEveryKindOfValue) {
    const auto a = matrices::poisson2d(60);
    const auto hash = [](const CsrMatrix<double>& matrix) {
        return make_hierarchy<float>(matrix.view(), {}, Device::cpu(1)).hash();
    };
    auto changed = a;
    changed.values.back() += 0x1p-20;
    EXPECT_NE(hash(changed), hash(a));
    auto hierarchy = make_hierarchy<float>(a.view(), {}, Device::cpu(1));
    const auto before = hierarchy.hash();
    hierarchy.levels[0].prolongation.values[5] += 1;
    EXPECT_NE(hierarchy.hash(), before);
    hierarchy.levels[0].prolongation.values[5] -= 1;
    hierarchy.coarsest_inverse.values[3] += 1;
    EXPECT_NE(hierarchy.hash(), before);
}

}  // namespace
}  // namespace solver::amg
