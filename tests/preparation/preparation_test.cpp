#include "solver/preparation.hpp"

#include "preparation/exponents.hpp"
#include "preparation/log2.hpp"
#include "preparation/matching.hpp"
#include "solver/device.hpp"
#include "solver/error.hpp"
#include "support/broken_matrices.hpp"
#include "support/real_matrices.hpp"

#include <btf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace solver {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr double log2_unit = 1.0 / (1 << log2_fraction_bits);

template <class T>
CsrMatrix<T> from_dense(const std::vector<std::vector<T>>& dense) {
    std::vector<Entry<T>> entries;
    const auto n = static_cast<std::int32_t>(dense.size());
    for (std::int32_t i = 0; i < n; ++i)
        for (std::int32_t j = 0; j < n; ++j)
            if (dense[i][j] != 0) entries.push_back({i, j, dense[i][j]});
    return csr_from_entries<T>(n, n, entries);
}

/// Entries at a share of all places, each from value().
template <class T, class Value>
CsrMatrix<T> random_matrix(std::mt19937_64& random, std::int32_t n, double density, const Value& value) {
    std::vector<Entry<T>> entries;
    for (std::int32_t i = 0; i < n; ++i)
        for (std::int32_t j = 0; j < n; ++j)
            if (std::uniform_real_distribution<>()(random) < density) entries.push_back({i, j, static_cast<T>(value())});
    return csr_from_entries<T>(n, n, entries);
}

template <class T>
T element(const CsrMatrix<T>& a, std::int64_t i, std::int64_t j) {
    for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
        if (a.column_indices[k] == j) return a.values[k];
    return 0;
}

struct Best {
    int nonzeros = 0;
    double log2_product = 0;  ///< of the permutation with most nonzeros
};

/// All permutations tried.
Best best_permutation(const CsrMatrix<double>& a) {
    std::vector<std::int64_t> row_of(static_cast<std::size_t>(a.rows));
    std::iota(row_of.begin(), row_of.end(), 0);
    Best best{-1, 0};
    do {
        Best tried;
        for (std::int64_t j = 0; j < a.columns; ++j)
            if (const double value = element(a, row_of[j], j); value != 0) {
                ++tried.nonzeros;
                tried.log2_product += std::log2(std::abs(value));
            }
        if (tried.nonzeros > best.nonzeros || (tried.nonzeros == best.nonzeros && tried.log2_product > best.log2_product))
            best = tried;
    } while (std::next_permutation(row_of.begin(), row_of.end()));
    return best;
}

bool is_permutation(std::vector<std::int32_t> order, std::int64_t n) {
    std::sort(order.begin(), order.end());
    for (std::size_t k = 0; k < order.size(); ++k)
        if (order[k] != static_cast<std::int32_t>(k)) return false;
    return static_cast<std::int64_t>(order.size()) == n;
}

/// u_i + v_j >= log2|a_ij| for all nonzeros, and, where it is optimal, equal on the new diagonal; up to rounding down.
template <class T>
void expect_feasible_duals(const CsrMatrix<T>& a, const Transversal& t) {
    for (std::int64_t i = 0; i < a.rows; ++i)
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) {
            if (a.values[k] == 0) continue;
            const std::int32_t j = a.column_indices[k];
            const double slack =
                static_cast<double>(t.row_duals[i] + t.column_duals[j]) * log2_unit - std::log2(std::abs(a.values[k]));
            ASSERT_GE(slack, -2 * log2_unit) << i << ", " << j;
            if (t.optimal && t.row_of_column[j] == i) {
                ASSERT_LE(slack, 2 * log2_unit) << i << ", " << j;
            }
        }
}

// Promise: preparation.hpp, "Among all permutations that put stored nonzeros"
// Promise: preparation.hpp, "the most nonzeros that a permutation"
// Promise: preparation.hpp, "false where the structural rank is below n"
// Promise: preparation.hpp, "A permutation that brings large entries to the diagonal"
// Promise: preparation.hpp, "The maximum product transversal by shortest augmenting"
TEST(MaximumProductTransversal, IsTheBestOfAllPermutations) {
    std::mt19937_64 random(2);
    int singular = 0;
    for (int trial = 0; trial < 1500; ++trial) {
        const auto n = static_cast<std::int32_t>(1 + random() % (trial % 50 == 0 ? 7 : 6));
        const auto value = [&] {
            if (trial % 3 == 0) return static_cast<double>(random() % 7) - 3;             // ties, stored zeros
            if (trial % 3 == 1) return std::ldexp(1.0, static_cast<int>(random() % 40));  // sums without rounding
            return std::ldexp(static_cast<double>(random() >> 11) + 1, -static_cast<int>(random() % 90));
        };
        const auto a = random_matrix<double>(random, n, 0.2 + 0.6 * std::uniform_real_distribution<>()(random), value);
        const Transversal t = maximum_product_transversal(a.view());
        const Best best = best_permutation(a);
        ASSERT_TRUE(is_permutation(t.row_of_column, n));
        ASSERT_EQ(t.structural_rank, best.nonzeros);
        expect_feasible_duals(a, t);
        int nonzeros = 0;
        double log2_product = 0;
        for (std::int32_t j = 0; j < n; ++j)
            if (const double x = element(a, t.row_of_column[j], j); x != 0) {
                ++nonzeros;
                log2_product += std::log2(std::abs(x));
            }
        ASSERT_EQ(nonzeros, best.nonzeros);
        ASSERT_EQ(t.optimal, best.nonzeros == n);
        if (best.nonzeros < n)
            ++singular;
        else
            ASSERT_GE(log2_product, best.log2_product - 2 * n * log2_unit);
    }
    EXPECT_GT(singular, 200);
    EXPECT_LT(singular, 1200);
}

// Promise: preparation.hpp, "The duals prove it"
TEST(MaximumProductTransversal, HasOptimalDualsOnLargerMatrices) {
    std::mt19937_64 random(3);
    for (int trial = 0; trial < 60; ++trial) {
        const auto n = static_cast<std::int32_t>(50 + random() % 300);
        const auto a = random_matrix<double>(random, n, 3.0 / n + 0.01 * (trial % 5), [&] {
            return std::ldexp(static_cast<double>(random() >> 11) + 1,
                              trial % 2 == 0 ? -52 : -static_cast<int>(random() % 200));
        });
        expect_feasible_duals(a, maximum_product_transversal(a.view()));
    }
}

// Promise: preparation.hpp, "the most nonzeros that a permutation"
TEST(MaximumProductTransversal, FindsTheStructuralRankThatBtfFinds) {
    std::mt19937_64 random(4);
    for (int trial = 0; trial < 200; ++trial) {
        const auto n = static_cast<std::int32_t>(1 + random() % 200);
        const auto a = random_matrix<double>(random, n, (0.5 + static_cast<double>(trial % 8) / 2) / n, [] { return 1; });
        std::vector<int> offsets(a.row_offsets.begin(), a.row_offsets.end()), columns(a.column_indices), match(n), work(5 * n);
        columns.push_back(0);
        double effort = 0;
        const int rank = btf_maxtrans(n, n, offsets.data(), columns.data(), 0, &effort, match.data(), work.data());
        const Transversal t = maximum_product_transversal(a.view());
        ASSERT_EQ(t.structural_rank, rank);
        ASSERT_EQ(diagnose(a.view()).structural_rank, rank);
        ASSERT_TRUE(is_permutation(t.row_of_column, n));
    }
}

// Promise: preparation.hpp, "Ties are decided by position, diagonal first."
TEST(MaximumProductTransversal, LeavesALargeDiagonalAlone) {
    const auto a = from_dense<double>({{4, 1, 0}, {-2, 4, 1}, {0, 4, 4}});
    EXPECT_THAT(maximum_product_transversal(a.view()).row_of_column, ElementsAre(0, 1, 2));
}

TEST(MaximumProductTransversal, TakesFewStepsWhereEveryRowIsFullOfTies) {
    const std::int32_t n = 400;
    std::mt19937_64 random(5);
    const auto a = random_matrix<double>(random, n, 1, [] { return 1; });
    const Transversal t = maximum_product_transversal(a.view());
    for (std::int32_t j = 0; j < n; ++j) ASSERT_EQ(t.row_of_column[j], j);
}

// Promise: preparation.hpp, "Otherwise `optimal` is false"
// Promise: preparation.hpp, "false where the structural rank is below n"
TEST(MaximumProductTransversal, StillPutsMostNonzerosOnTheDiagonalWhereItGivesUp) {
    std::mt19937_64 random(8);
    int given_up = 0;
    for (int trial = 0; trial < 200; ++trial) {
        const auto n = static_cast<std::int32_t>(1 + random() % 100);
        const auto a =
            random_matrix<double>(random, n, 4.0 / n, [&] { return std::ldexp(1.0, -static_cast<int>(random() % 50)); });
        preparation::WeightedGraph graph{a.row_offsets, a.column_indices, {}};
        for (const double value : a.values) graph.weights.push_back(preparation::log2_magnitude(value));
        const Transversal best = maximum_product_transversal(a.view());
        const Transversal t = maximum_weight_matching(graph, trial % 2 == 0 ? 0 : preparation::no_steps);
        ASSERT_EQ(best.optimal, best.structural_rank == n);
        ASSERT_TRUE(is_permutation(t.row_of_column, n));
        ASSERT_EQ(t.structural_rank, best.structural_rank);
        expect_feasible_duals(a, t);
        given_up += best.optimal && !t.optimal;
    }
    EXPECT_GT(given_up, 20);
}

// Promise: preparation.hpp, "The search looks at five times as many"
TEST(MaximumProductTransversal, MayLookFiveTimesAtEveryEntryAndAtThirtyMillionInAnyCase) {
    preparation::WeightedGraph graph;
    EXPECT_EQ(affordable_steps(graph), 30'000'000);
    graph.columns.resize(6'000'001);
    EXPECT_EQ(affordable_steps(graph), 30'000'005);
}

template <class T>
class Preparations : public ::testing::Test {};
using ValueTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Preparations, ValueTypes);

/// Element (k, l) of the prepared matrix is a_ij 2^(r_i + c_j): ldexp is exact, or rounds once.
template <class T>
void expect_prepared(const CsrMatrix<T>& a, const Preparation& p) {
    const CsrMatrix<T> b = prepared_matrix(a.view(), p);
    ASSERT_NO_THROW(check(b.view()));
    ASSERT_EQ(b.nonzeros(), a.nonzeros());
    ASSERT_TRUE(is_permutation(p.row_order, a.rows));
    ASSERT_TRUE(is_permutation(p.column_order, a.rows));
    for (std::int64_t k = 0; k < b.rows; ++k)
        for (std::int64_t e = b.row_offsets[k]; e < b.row_offsets[k + 1]; ++e) {
            const std::int32_t i = p.row_order[k], l = b.column_indices[e], j = p.column_order[l];
            ASSERT_TRUE(e == b.row_offsets[k] || b.column_indices[e - 1] < l);
            ASSERT_EQ(b.values[e], std::ldexp(element(a, i, j), p.row_exponents[i] + p.column_exponents[j]));
            ASSERT_LE(std::abs(b.values[e]), 2 * (1 + 2 * log2_unit));
        }
}

template <class T>
void expect_diagonal_near_one(const CsrMatrix<T>& b) {
    for (std::int64_t k = 0; k < b.rows; ++k) {
        ASSERT_GE(std::abs(element(b, k, k)), 0.5 * (1 - 2 * log2_unit));
        ASSERT_LE(std::abs(element(b, k, k)), 2 * (1 + 2 * log2_unit));
    }
}

// Promise: preparation.hpp, "Scaling is exact, except that"
// Promise: preparation.hpp, "A becomes P_r D_r A D_c P_c"
// Promise: preparation.hpp, "The exponents are the negated duals"
// Promise: preparation.hpp, "P_r D_r A D_c P_c, columns sorted"
// Promise: preparation.hpp, "columns stay where they are"
// Promise: preparation.hpp, "of each row of A"
// Promise: preparation.hpp, "of each column of A"
// Promise: preparation.hpp, "which row of A comes k-th"
// Promise: preparation.hpp, "which column of A comes l-th"
// Promise: preparation.hpp, "known with Ordering::amd"
// Promise: preparation.hpp, "Computes the preparation of A."
TYPED_TEST(Preparations, ScaleExactlyAndBringEntriesNearOneToTheDiagonal) {
    using T = TypeParam;
    std::mt19937_64 random(6);
    int regular = 0;
    for (int trial = 0; trial < 200; ++trial) {
        const auto n = static_cast<std::int32_t>(1 + random() % 40);
        const auto a = random_matrix<T>(random, n, 0.3, [&] {
            return std::ldexp(static_cast<T>(random() % 1000) - 500, static_cast<int>(random() % 20) - 10);
        });
        for (const Ordering ordering : {Ordering::natural, Ordering::amd}) {
            const Preparation p = prepare(a.view(), ordering);
            expect_prepared(a, p);
            EXPECT_EQ(p.fill.has_value(), ordering == Ordering::amd);
            if (ordering == Ordering::natural) {
                EXPECT_TRUE(std::is_sorted(p.column_order.begin(), p.column_order.end()));
            }
            if (p.structural_rank < n) continue;
            ++regular;
            expect_diagonal_near_one(prepared_matrix(a.view(), p));
        }
    }
    EXPECT_GT(regular, 100);
}

// Promise: preparation.hpp, "They are shifted against each other"
// Promise: preparation.hpp, "By the device's threads, but for the matching and AMD"
// Promise: preparation.hpp, "By the device's threads."
TYPED_TEST(Preparations, HaveTheSameBitsForEveryNumberOfThreads) {
    using T = TypeParam;
    std::mt19937_64 random(17);
    auto a = random_matrix<T>(random, 600, 0.35, [&] { return static_cast<T>(random() % 1000 + 1); });
    for (std::size_t k = 0; k < a.values.size(); k += 1000) a.values[k] = 0;
    ASSERT_GT(a.nonzeros(), 3 * 32768);  // enough for three threads
    const Preparation one = prepare(a.view(), Ordering::amd), three = prepare(a.view(), Ordering::amd, Device::cpu(3));
    EXPECT_EQ(three.row_order, one.row_order);
    EXPECT_EQ(three.column_order, one.column_order);
    EXPECT_EQ(three.row_exponents, one.row_exponents);
    EXPECT_EQ(three.column_exponents, one.column_exponents);
    const CsrMatrix<T> by_one = prepared_matrix(a.view(), one), by_three = prepared_matrix(a.view(), one, Device::cpu(3));
    EXPECT_EQ(by_three.row_offsets, by_one.row_offsets);
    EXPECT_EQ(by_three.column_indices, by_one.column_indices);
    EXPECT_EQ(by_three.values, by_one.values);
    expect_prepared(a, one);
}

TYPED_TEST(Preparations, StayFiniteOverTheFullRangeOfExponents) {
    using T = TypeParam;
    using Limits = std::numeric_limits<T>;
    std::mt19937_64 random(7);
    const int lowest = Limits::min_exponent - Limits::digits, range = Limits::max_exponent - lowest;
    for (int trial = 0; trial < 300; ++trial) {
        const auto n = static_cast<std::int32_t>(1 + random() % 12);
        const auto a = random_matrix<T>(random, n, 0.4, [&] {
            return std::ldexp(T(1.5), lowest + static_cast<int>(random() % static_cast<unsigned>(range)));
        });
        const Preparation p = prepare(a.view(), Ordering::natural);
        expect_prepared(a, p);
        for (const auto& exponents : {p.row_exponents, p.column_exponents})
            for (const std::int32_t exponent : exponents) ASSERT_TRUE(std::isnormal(std::ldexp(T(1), exponent)));
    }
}

// Promise: preparation.hpp, "They are shifted against each other"
/// A chain whose duals grow by the whole range of exponents at every step.
TYPED_TEST(Preparations, ClampChainsOfExtremeRatios) {
    using T = TypeParam;
    const T large = std::numeric_limits<T>::max() / 2, small = std::numeric_limits<T>::denorm_min();
    for (const bool upper : {false, true}) {
        std::vector<std::vector<T>> dense(20, std::vector<T>(20));
        for (std::size_t i = 0; i < 20; ++i) {
            dense[i][i] = small;
            if (i > 0) (upper ? dense[i - 1][i] : dense[i][i - 1]) = large;
        }
        const auto a = from_dense(dense);
        expect_prepared(a, prepare(a.view(), Ordering::natural));
    }
}

/// Both permutations have one product, so that the ratio of the rows' scales is fixed. The first row's exponent is one below
/// the range, or the second's one above it, unless columns give way by one.
TYPED_TEST(Preparations, ShiftAsFarAsExponentsNeed) {
    using T = TypeParam;
    constexpr int most = std::numeric_limits<T>::max_exponent - 1;
    for (const int sign : {1, -1}) {
        const T extreme = std::ldexp(T(1), sign * most), other = std::ldexp(T(1), -sign * (most - 20));
        const auto a = from_dense<T>({{extreme, extreme}, {other, other}});
        const Preparation p = prepare(a.view(), Ordering::natural);
        EXPECT_THAT(prepared_matrix(a.view(), p).values, ElementsAre(1, 1, 1, 1));
        EXPECT_THAT(p.column_exponents, ElementsAre(-sign, -sign));
    }
}

/// Rows need a shift of 2 `most` at least, or of `most` at most: what is between them makes the largest exponent least.
TYPED_TEST(Preparations, ShiftByTheMiddleWhereNoShiftServes) {
    using T = TypeParam;
    constexpr std::int64_t most = 1 - std::numeric_limits<T>::min_exponent, unit = std::int64_t{1} << log2_fraction_bits;
    Transversal transversal;
    for (const std::int64_t row : {-3 * most, std::int64_t{0}, -most}) transversal.row_duals.push_back(-row * unit);
    for (const std::int64_t column : {std::int64_t{0}, most, std::int64_t{0}})
        transversal.column_duals.push_back(-column * unit);
    const CsrMatrix<T> a{3, 3, {0, 0, 0, 0}, {}, {}};
    Preparation p;
    preparation::set_exponents(p, a.view(), transversal);
    const auto limit = static_cast<std::int32_t>(most);
    EXPECT_THAT(p.row_exponents, ElementsAre(-limit, limit, limit / 2));
    EXPECT_THAT(p.column_exponents, ElementsAre(-limit, -limit / 2, -limit));
}

TYPED_TEST(Preparations, LeaveColumnsOfOneMagnitudeAlone) {
    using T = TypeParam;
    const T x = std::ldexp(T(1), std::numeric_limits<T>::max_exponent - 2);
    const auto a = from_dense<T>({{x, 0}, {0, x}});
    const Preparation p = prepare(a.view(), Ordering::natural);
    EXPECT_THAT(prepared_matrix(a.view(), p).values, ElementsAre(1, 1));
    EXPECT_THAT(p.column_exponents, ElementsAre(0, 0));
}

// Promise: preparation.hpp, "below n:"
// Promise: preparation.hpp, "A is singular whatever its values are"
TYPED_TEST(Preparations, TakeEmptyAndSingularMatrices) {
    using T = TypeParam;
    const CsrMatrix<T> nothing;
    EXPECT_EQ(prepare(nothing.view(), Ordering::amd).structural_rank, 0);
    EXPECT_EQ(prepared_matrix(nothing.view(), prepare(nothing.view(), Ordering::amd)).rows, 0);
    const CsrMatrix<T> empty{1, 1, {0, 0}, {}, {}};
    EXPECT_EQ(prepare(empty.view(), Ordering::amd).structural_rank, 0);
    const CsrMatrix<T> zero{1, 1, {0, 1}, {0}, {0}};
    EXPECT_EQ(prepare(zero.view(), Ordering::amd).structural_rank, 0);
    EXPECT_THAT(prepared_matrix(zero.view(), prepare(zero.view(), Ordering::amd)).values, ElementsAre(0));
    const CsrMatrix<T> one{1, 1, {0, 1}, {0}, {-12}};
    const Preparation p = prepare(one.view(), Ordering::amd);
    EXPECT_EQ(p.structural_rank, 1);
    EXPECT_THAT(prepared_matrix(one.view(), p).values, ElementsAre(-0.75));
}

// Promise: preparation.hpp, "Stored zeros count as absent, repeated entries"
TYPED_TEST(Preparations, SumRepeatedEntriesAndSortRows) {
    using T = TypeParam;
    const CsrMatrix<T> a{2, 2, {0, 3, 5}, {1, 0, 1, 1, 0}, {3, 1, -3, 1, 8}};  // (0, 1) cancels
    const Preparation p = prepare(a.view(), Ordering::natural);
    EXPECT_EQ(p.structural_rank, 2);
    EXPECT_THAT(p.row_order, ElementsAre(0, 1));
    EXPECT_THAT(prepared_matrix(a.view(), p).column_indices, ElementsAre(0, 1, 0, 1));
}

// Promise: preparation.hpp, "approximate minimum degree on the pattern"
// Promise: preparation.hpp, "What complete factors without further"
// Promise: preparation.hpp, "of L and U together, the diagonal once"
// Promise: preparation.hpp, "additions, multiplications and divisions"
// Promise: preparation.hpp, "In AMD's pattern stored zeros count"
TEST(Prepare, OrdersAnArrowWithoutFill) {
    std::vector<std::vector<double>> dense(50, std::vector<double>(50));
    for (std::size_t i = 0; i < 50; ++i) dense[i][i] = 4, dense[0][i] = dense[i][0] = 1;
    const auto a = from_dense(dense);
    const Preparation p = prepare(a.view(), Ordering::amd);
    EXPECT_EQ(p.fill->factor_entries, 3 * 50 - 2);
    EXPECT_EQ(p.fill->flops, 49 + 2 * 49);  // a division, a multiplication and a subtraction a row
    const CsrMatrix<double> with_zeros{3, 3, {0, 3, 6, 9}, {0, 1, 2, 0, 1, 2, 0, 1, 2}, {4, 0, 0, 0, 4, 0, 0, 0, 4}};
    EXPECT_EQ(prepare(with_zeros.view(), Ordering::amd).fill->factor_entries, 9);
}

// Promise: preparation.hpp, "Throws DimensionMismatch where A is not square, InvalidArgument"
// Promise: preparation.hpp, "Throws DimensionMismatch where the sizes differ."
// Promise: preparation.hpp, "Throws as maximum_product_transversal does."
// Promise: preparation.hpp, "Throws as maximum_product_transversal does, and"
TEST(Prepare, RefusesWhatIsNotASquareOfNumbers) {
    const CsrMatrix<double> wide{1, 2, {0, 1}, {0}, {1}};
    EXPECT_THROW(prepare(wide.view(), Ordering::natural), DimensionMismatch);
    EXPECT_THROW(diagnose(wide.view()), DimensionMismatch);
    const CsrMatrix<double> infinite{2, 2, {0, 1, 2}, {0, 1}, {1, std::numeric_limits<double>::infinity()}};
    try {
        prepare(infinite.view(), Ordering::natural);
        FAIL();
    } catch (const InvalidArgument& error) {
        EXPECT_THAT(error.what(), HasSubstr("entry (2, 2)"));
    }
    EXPECT_THROW(diagnose(infinite.view()), InvalidArgument);
    const CsrMatrix<double> overflows{1, 1, {0, 2}, {0, 0}, {1e308, 1e308}};
    EXPECT_THROW(maximum_product_transversal(overflows.view()), InvalidArgument);
    const CsrMatrix<double> one{1, 1, {0, 1}, {0}, {1}};
    EXPECT_THROW(prepared_matrix(one.view(), Preparation{}), DimensionMismatch);
    const CsrMatrix<double> one_row{1, 2, {0, 1}, {0}, {1}};
    EXPECT_THROW(prepared_matrix(one_row.view(), prepare(one.view(), Ordering::amd)), DimensionMismatch);
}

TEST(Prepare, RefusesBrokenMatrices) {
    const Preparation of_four =
        prepare(CsrMatrix<double>{4, 4, {0, 1, 2, 3, 4}, {0, 1, 2, 3}, {1, 2, 3, 4}}.view(), Ordering::amd);
    testing::expect_broken_matrices_refused<double>([&](const CsrView<double>& a) { prepared_matrix(a, of_four); });
    testing::expect_broken_matrices_refused<double>([](const CsrView<double>& a) { prepare(a, Ordering::amd); });
    testing::expect_broken_matrices_refused<double>([](const CsrView<double>& a) { diagnose(a); });
    testing::expect_broken_matrices_refused<double>([](const CsrView<double>& a) { maximum_product_transversal(a); });
}

TEST(Prepare, BringsRealMatricesToANonzeroDiagonal) {
    int found = 0;
    for (const char* name : {"west0479", "bayer10", "bp_1200", "impcol_d", "nnc1374", "cavity14", "mahindas", "memplus"}) {
        const auto a = testing::real_matrix(name);
        if (!a) continue;
        ++found;
        SCOPED_TRACE(name);
        expect_feasible_duals(*a, maximum_product_transversal(a->view()));
        const Preparation p = prepare(a->view(), Ordering::amd);
        EXPECT_EQ(p.structural_rank, a->rows);
        expect_diagonal_near_one(prepared_matrix(a->view(), p));
    }
    if (const auto a = testing::real_matrix("mbeacxc")) {
        const Diagnosis d = diagnose(a->view());
        EXPECT_EQ(d.structural_rank, 448);
        EXPECT_EQ(d.empty_rows.count, 48);
    }
    if (found == 0) GTEST_SKIP() << "no real matrices at hand";
}

}  // namespace
}  // namespace solver
