#include "guarantee/structural_zeros.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "solver/csr_matrix.hpp"
#include "support/rational_system.hpp"

namespace solver::guarantee {
namespace {

std::vector<std::uint8_t> zeros_of(const CsrMatrix<double>& a, const std::vector<double>& b) {
    return structural_zeros<double>(SpmvPlan<double>(a, Device::cpu(2)), b);
}

/// With random values, a component that may be other than zero is so, by rational arithmetic.
TEST(StructuralZeros, AreThoseOfRandomValues) {
    std::mt19937_64 random(1);
    int with_zeros = 0, without_diagonal = 0;
    for (int trial = 0; trial < 2000; ++trial) {
        const std::size_t n = 2 + random() % 6;
        std::vector<std::int32_t> place(n);
        std::iota(place.begin(), place.end(), 0);
        if (trial % 2 == 0) std::shuffle(place.begin(), place.end(), random);
        std::vector<double> dense(n * n), b(n);
        std::vector<Entry<double>> entries;
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < n; ++j) {
                const bool is_there = place[i] == static_cast<std::int32_t>(j) || random() % 5 == 0;
                if (is_there) dense[i * n + j] = static_cast<double>(1 + random() % 1000000);
                if (is_there || random() % 5 == 0)  // stored zeros count as absent
                    entries.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(j), dense[i * n + j]});
            }
        for (double& value : b) value = random() % 4 == 0 ? static_cast<double>(1 + random() % 1000000) : 0;
        const auto x = testing::solve_in_rationals(dense, b);
        if (x.empty()) continue;
        const auto rows = static_cast<std::int64_t>(n);
        const std::vector<std::uint8_t> found = zeros_of(csr_from_entries<double>(rows, rows, entries), b);
        for (std::size_t i = 0; i < n; ++i)
            EXPECT_EQ(!found.empty() && found[i] == 1, x[i] == testing::Rational(0)) << trial << " " << i;
        with_zeros += found.empty() ? 0 : 1;
        for (std::size_t i = 0; i < n; ++i) without_diagonal += dense[i * n + i] == 0 ? 1 : 0;
    }
    EXPECT_GT(with_zeros, 500);
    EXPECT_GT(without_diagonal, 500);
}

/// A path that turns at every row: 0, n - 1, 1, n - 2, ... Sweeps in the order of the rows go along it step by step.
TEST(StructuralZeros, AreFoundAlongPathsThatTurn) {
    constexpr std::int32_t n = 101, start = 40;
    std::vector<std::int32_t> path;
    for (std::int32_t k = 0; k < n; ++k) path.push_back(k % 2 == 0 ? k / 2 : n - 1 - k / 2);
    std::vector<Entry<double>> entries;
    for (std::int32_t k = 0; k < n; ++k) {
        entries.push_back({path[k], path[k], 2.0});
        if (k > 0) entries.push_back({path[k], path[k - 1], -1.0});
    }
    std::vector<double> b(n);
    b[path[start]] = 1;
    const std::vector<std::uint8_t> found = zeros_of(csr_from_entries<double>(n, n, entries), b);
    ASSERT_EQ(found.size(), n);
    for (std::int32_t k = 0; k < n; ++k) EXPECT_EQ(found[path[k]], k < start ? 1 : 0) << k;
}

/// Enough rows for several threads.
TEST(StructuralZeros, AreThoseOfOtherParts) {
    constexpr std::int32_t n = 60000;
    std::vector<Entry<double>> entries;
    for (std::int32_t i = 0; i < n; ++i) {
        entries.push_back({i, i, 2.0});
        if (i % (n / 2) != 0) entries.push_back({i, i - 1, -1.0});
        if ((i + 1) % (n / 2) != 0) entries.push_back({i, i + 1, -1.0});
    }
    std::vector<double> b(n);
    b[n - 1] = 1;
    std::vector<std::uint8_t> expected(n);
    std::fill(expected.begin(), expected.begin() + n / 2, std::uint8_t{1});
    const CsrMatrix<double> a = csr_from_entries<double>(n, n, entries);
    EXPECT_EQ(zeros_of(a, b), expected);
    b[0] = 1;
    EXPECT_TRUE(zeros_of(a, b).empty());
    EXPECT_EQ(zeros_of(a, std::vector<double>(n)), std::vector<std::uint8_t>(n, 1));
    EXPECT_TRUE(zeros_of(a, std::vector<double>(n, 1.0)).empty());
}

TEST(StructuralZeros, AreNotLookedForWhereTheStructureIsSingular) {
    const CsrMatrix<double> a =
        csr_from_entries<double>(3, 3, std::vector<Entry<double>>{{0, 0, 1.0}, {1, 0, 1.0}, {2, 2, 1.0}});
    EXPECT_TRUE(zeros_of(a, {0, 0, 1}).empty());
}

}  // namespace
}  // namespace solver::guarantee
