#include "preconditioner/amg/cycle.hpp"
#include "core/multigrid/scale.hpp"
#include "matrices/stencils.hpp"
#include "preconditioner/amg/chebyshev.hpp"
#include "preconditioner/amg/dense_inverse.hpp"
#include "preconditioner/amg/hierarchy.hpp"
#include "preconditioner/amg/host_place.hpp"
#include "preconditioner/amg/nodes.hpp"
#include "preconditioner/amg/prolongator.hpp"
#include "preconditioner/amg/strength.hpp"

#include <gtest/gtest.h>

#include "support/amg.hpp"

#include <cmath>
#include <limits>
#include <random>
#include <utility>
#include <vector>

namespace solver::amg {
namespace {

using testing::Dense;
using testing::dense;
using testing::random_laplacian;
using testing::random_matrix;

/// Higham, corollary 14.7: with rows that are diagonally dominant |I - A X| <= 32 n^2 u |A| e e^T |X|, to first order.
TEST(AmgDenseInverse, Inverts) {
    std::mt19937_64 random(7);
    for (const std::int32_t n : {1, 2, 30, 100}) {
        CsrMatrix<double> a = random_matrix(random, n, n, 0.3);
        for (std::int32_t i = 0; i < n; ++i)
            for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
                if (a.column_indices[k] == i) a.values[k] = n;
        const auto inverse = dense_inverse(a.view(), 2);
        ASSERT_TRUE(inverse);
        check(inverse->view());
        EXPECT_EQ(inverse->values, dense_inverse(a.view(), 1)->values) << "by one thread, " << n << " rows";
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
    const auto inverse = dense_inverse(a.view(), 2);
    ASSERT_TRUE(inverse);
    EXPECT_EQ(inverse->values, (std::vector<double>{0, 0, 0.125, 0.5, 0, 0, 0, 0.25, 0}));
}

TEST(AmgDenseInverse, NoticesThatThereIsNone) {
    std::mt19937_64 random(8);
    const CsrMatrix<double> neumann = random_laplacian(random, 50, 8, 0);
    EXPECT_FALSE(dense_inverse(neumann.view(), 2));
    const auto regularized = regularized_inverse(neumann.view(), true, 2);
    ASSERT_TRUE(regularized);
    EXPECT_EQ(regularized->values, transpose(regularized->view()).values);
    const CsrMatrix<double> pair{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {1, -1, -1, 1}};
    const double larger = 1 + 0x1p-16, determinant = larger * larger - 1;
    const auto inverse = regularized_inverse(pair.view(), true, 2);
    ASSERT_TRUE(inverse);
    const std::vector<double> expected{larger / determinant, 1 / determinant, 1 / determinant, larger / determinant};
    for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(inverse->values[k], expected[k], 1e-8 * expected[k]) << k;
    const CsrMatrix<double> zero{2, 2, {0, 1, 2}, {0, 1}, {0, 0}};
    EXPECT_FALSE(regularized_inverse(zero.view(), true, 2));
    const CsrMatrix<double> nan{1, 1, {0, 1}, {0}, {std::numeric_limits<double>::quiet_NaN()}};
    EXPECT_FALSE(regularized_inverse(nan.view(), true, 2));
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
    EXPECT_EQ(largest_eigenvalue(poisson.view(), std::vector<double>(1600, 0.25), HostPlace(Device::cpu(1))), 2);
    CsrMatrix<double> all_ones{50, 50, {0}, {}, {}};  // eigenvalues 50 and 0
    for (std::int32_t i = 0; i < 50; ++i) {
        for (std::int32_t j = 0; j < 50; ++j) all_ones.column_indices.push_back(j);
        all_ones.values.resize(all_ones.column_indices.size(), 1.0);
        all_ones.row_offsets.push_back(all_ones.nonzeros());
    }
    EXPECT_EQ(largest_eigenvalue(all_ones.view(), std::vector<double>(50, 1.0), HostPlace(Device::cpu(1))), 50);
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

/// On one level the error in an eigenvector of D^-1 A is p(lambda)^2 of before: p once before the correction that is not there,
/// and once after. p is T_d of lambda, the interval moved to [-1, 1], over T_d of 0; T_d(cos t) = cos(d t).
// Promise: preconditioner.hpp, "products with A in a smoothing, before and after"
TEST(AmgCycle, SmoothsByTheSamePolynomialTwice) {
    constexpr double lower = 0.4, upper = 2;
    const auto chebyshev = [](int degree, double t) {
        return std::abs(t) <= 1 ? std::cos(degree * std::acos(t))
                                : std::pow(t < 0 ? -1 : 1, degree) * std::cosh(degree * std::acosh(std::abs(t)));
    };
    const auto moved = [](double lambda) { return (upper + lower - 2 * lambda) / (upper - lower); };
    for (const int degree : {1, 2, 3, 6}) {
        const std::vector<double> eigenvalues{0.1, 0.4, 0.7, 1.1, 1.5, 2, 2.2}, diagonal{3, 7, 0.5, 1, 2, 11, 1e-3};
        std::vector<Entry<double>> entries;  // 1/d_i times a_ii is the eigenvalue
        for (std::int32_t i = 0; i < 7; ++i) entries.push_back({i, i, diagonal[i] * eigenvalues[i]});
        Levels<double> hierarchy;
        Level<double>& level = hierarchy.levels.emplace_back();
        level.a = csr_from_entries<double>(7, 7, entries);
        for (const double d : diagonal) level.inverse_diagonal.push_back(1 / d);
        level.steps = chebyshev_steps<double>(degree, lower, upper);
        std::vector<double> b(7, 1), x(7, std::nan(""));
        Cycle<double>(hierarchy, Device::cpu(1)).apply(b, x, Accuracy::exact);
        for (std::size_t i = 0; i < 7; ++i) {
            const double p = chebyshev(degree, moved(eigenvalues[i])) / chebyshev(degree, moved(0));
            constexpr double roundings = 1e-13;  // some dozens, of numbers below 10
            EXPECT_NEAR(1 - x[i] * level.a.values[i], p * p, roundings) << degree << ' ' << eigenvalues[i];
        }
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

TEST(AmgHierarchy, CountsTheEntriesOfAllMatricesButA) {
    const auto a = matrices::poisson2d(60);
    const auto hierarchy = make_hierarchy<float>(a.view(), {}, Device::cpu(1));
    std::int64_t all = hierarchy.coarsest_inverse.nonzeros();
    for (const auto& level : hierarchy.levels) all += level.a.nonzeros() + level.prolongation.nonzeros();
    EXPECT_GT(hierarchy.levels.size(), 1u);
    EXPECT_EQ(hierarchy.entries(), all - a.nonzeros());
    EXPECT_EQ(Hierarchy<float>().entries(), 0);
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
    const auto a = matrices::poisson2d(90);  // more rows than a block of the hash has
    const Device one = Device::cpu(1);
    const auto hash = [&](const CsrMatrix<double>& matrix) { return make_hierarchy<float>(matrix.view(), {}, one).hash(one); };
    auto changed = a;
    changed.values.back() += 0x1p-20;
    EXPECT_NE(hash(changed), hash(a));
    auto hierarchy = make_hierarchy<float>(a.view(), {}, Device::cpu(1));
    const auto before = hierarchy.hash(one);
    for (const int threads : {2, 3}) EXPECT_EQ(hierarchy.hash(Device::cpu(threads)), before) << threads << " threads";
    for (float* value :
         {&hierarchy.levels[0].a.values[5], &hierarchy.levels[0].a.values.back(), &hierarchy.levels[0].prolongation.values[5],
          &hierarchy.levels[1].a.values[0], &hierarchy.coarsest_inverse.values[3]}) {
        const float kept = std::exchange(*value, *value + 1);
        EXPECT_NE(hierarchy.hash(one), before);
        *value = kept;
        EXPECT_EQ(hierarchy.hash(one), before);
    }
    CsrMatrix<float>& first = hierarchy.levels[0].a;
    --first.row_offsets[4097];  // an entry goes to the next row
    EXPECT_NE(hierarchy.hash(one), before);
}

}  // namespace
}  // namespace solver::amg
