#include "matrices/elasticity.hpp"
#include "matrices/stencils.hpp"
#include "preconditioner/amg/aggregates.hpp"
#include "preconditioner/amg/nodes.hpp"
#include "preconditioner/amg/strength.hpp"

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

// Promise: preconditioner.hpp, "Of a connection, by the strongest of its row"
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

/// Members number the aggregates; what is two steps away goes to the smallest one, sizes counted before any of these.
TEST(AmgAggregates, FollowTheirDefinition) {
    std::mt19937_64 random(5);
    for (const double edges : {1.0, 3.0, 12.0}) {
        const Graph graph = graph_of(random_laplacian(random, 3000, edges, 1));
        const std::vector<bool> members = independent_set(graph, Device::cpu(1));
        std::vector<std::int32_t> near(members.size(), Aggregates::none), size;
        for (std::size_t i = 0; i < members.size(); ++i) {
            if (!members[i]) continue;
            near[i] = static_cast<std::int32_t>(size.size());
            for (const std::int32_t j : graph.of(static_cast<std::int64_t>(i))) near[j] = near[i];
            size.push_back(static_cast<std::int32_t>(std::count(near.begin(), near.end(), near[i])));
        }
        const Aggregates aggregates = aggregate(graph, Device::cpu(2));
        ASSERT_EQ(aggregates.count, std::ssize(size));
        int far = 0;
        for (std::int32_t i = 0; i < std::ssize(near); ++i) {
            std::int32_t expected = near[i];
            if (expected == Aggregates::none)
                for (const std::int32_t j : graph.of(i))
                    if (near[j] != Aggregates::none && (expected == Aggregates::none || size[near[j]] < size[expected]))
                        expected = near[j];
            EXPECT_EQ(aggregates.of[i], expected) << i;
            far += near[i] == Aggregates::none && expected != Aggregates::none ? 1 : 0;
        }
        EXPECT_GT(far, 0);
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

// Promise: preconditioner.hpp, "0: looked for in the pattern"
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

/// Every entry a full block.
CsrMatrix<double> of_blocks(const CsrMatrix<double>& a, std::int32_t size) {
    std::vector<Entry<double>> entries;
    for (std::int32_t i = 0; i < a.rows; ++i)
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
            for (std::int32_t part = 0; part < size * size; ++part)
                entries.push_back({size * i + part / size, size * a.column_indices[k] + part % size, a.values[k]});
    return csr_from_entries<double>(size * a.rows, size * a.columns, entries);
}

// Promise: preconditioner.hpp, "0: looked for in the pattern, up to 6."
TEST(AmgNodes, HaveUpToSixUnknowns) {
    std::mt19937_64 random(25);
    const CsrMatrix<double> one = random_laplacian(random, 500, 6, 1);
    for (const std::int32_t size : {1, 2, 3, 5, 6}) {
        const CsrMatrix<double> a = of_blocks(one, size);
        EXPECT_EQ(unknowns_per_node(a.view(), Device::cpu(2)), size);
    }
    const CsrMatrix<double> seven = of_blocks(one, 7);
    EXPECT_EQ(unknowns_per_node(seven.view(), Device::cpu(2)), 1);
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

}  // namespace
}  // namespace solver::amg
