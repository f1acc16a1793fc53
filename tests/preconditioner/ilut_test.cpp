#include "preconditioner/ilut.hpp"

#include "solver/csr_matrix.hpp"
#include "solver/error.hpp"
#include "solver/numeric/rounding.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace solver {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

template <class T>
class IlutFactors : public ::testing::Test {};
using ValueTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(IlutFactors, ValueTypes);

template <class T>
class IlutPreconditioner : public ::testing::Test {};
TYPED_TEST_SUITE(IlutPreconditioner, ValueTypes);

/// Nothing is dropped.
constexpr PreconditionerOptions complete{.drop_tolerance = 0, .fill_factor = 1e9};

template <class T>
CsrMatrix<T> from_dense(const std::vector<std::vector<T>>& rows) {
    CsrMatrix<T> a;
    a.rows = a.columns = std::ssize(rows);
    for (const auto& row : rows) {
        for (std::size_t j = 0; j < row.size(); ++j) {
            if (row[j] == 0) continue;
            a.column_indices.push_back(static_cast<std::int32_t>(j));
            a.values.push_back(row[j]);
        }
        a.row_offsets.push_back(a.nonzeros());
    }
    return a;
}

template <class T>
std::vector<std::vector<long double>> to_dense(const CsrMatrix<T>& a) {
    std::vector<std::vector<long double>> dense(a.rows, std::vector<long double>(a.columns));
    for (std::int64_t i = 0; i < a.rows; ++i)
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) dense[i][a.column_indices[k]] = a.values[k];
    return dense;
}

template <class T>
std::vector<std::int32_t> columns_of_row(const CsrMatrix<T>& a, std::int64_t row) {
    return {a.column_indices.begin() + a.row_offsets[row], a.column_indices.begin() + a.row_offsets[row + 1]};
}

template <class T>
std::vector<T> values_of_row(const CsrMatrix<T>& a, std::int64_t row) {
    return {a.values.begin() + a.row_offsets[row], a.values.begin() + a.row_offsets[row + 1]};
}

template <class T>
CsrMatrix<T> random_matrix(std::mt19937_64& random, std::int64_t n, std::int64_t entries_a_row, T diagonal) {
    std::vector<Entry<T>> entries;
    for (std::int32_t i = 0; i < n; ++i) {
        entries.push_back({i, i, diagonal});
        for (std::int64_t k = 1; k < entries_a_row; ++k)
            entries.push_back({i, static_cast<std::int32_t>(random() % n),
                               static_cast<T>(std::ldexp(static_cast<double>(random() >> 12) - 2e15, -51))});
    }
    return csr_from_entries<T>(n, n, entries);
}

template <class T>
std::string refusal(const CsrMatrix<T>& a, const PreconditionerOptions& options = complete) {
    try {
        factor_ilut(a.view(), options);
    } catch (const InvalidArgument& error) {
        return error.what();
    }
    return "accepted";
}

/// Higham, Accuracy and Stability, theorem 9.3: |A - L U| <= gamma_n |L| |U|, whatever the order of the operations.
TYPED_TEST(IlutFactors, AreCompleteWhereNothingIsDropped) {
    using T = TypeParam;
    std::mt19937_64 random(1);
    for (int trial = 0; trial < 40; ++trial) {
        const std::int64_t n = 1 + static_cast<std::int64_t>(random() % 40);
        const CsrMatrix<T> a = random_matrix<T>(random, n, 4, trial % 2 == 0 ? T(4) : T(0.5));
        const IluFactors<T> factors = factor_ilut(a.view(), complete);
        const auto expected = to_dense(a);
        auto l = to_dense(factors.lower);
        const auto u = to_dense(factors.upper);
        for (std::int64_t i = 0; i < n; ++i) l[i][i] = 1;
        for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t j = 0; j < n; ++j) {
                long double difference = expected[i][j], size = 0;
                for (std::int64_t k = 0; k <= std::min(i, j); ++k) {
                    difference -= l[i][k] * u[k][j];
                    size += std::abs(l[i][k] * u[k][j]);
                }
                ASSERT_LE(std::abs(difference), static_cast<long double>(n + 1) * unit_roundoff<T> * size) << i << ", " << j;
            }
    }
}

// Promise: preconditioner.hpp, "ILUT: at most this times"
/// p = 1 a row: the mean row of A has 2.
TYPED_TEST(IlutFactors, KeepTheLargestEntriesOfARow) {
    using T = TypeParam;
    const CsrMatrix<T> a = from_dense<T>({{1, 2, -5, 3}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}});
    const IluFactors<T> one = factor_ilut(a.view(), {.drop_tolerance = 0, .fill_factor = 0.5});
    EXPECT_EQ(longest_ilut_row(a.view(), 0.5), 1);
    EXPECT_THAT(columns_of_row(one.upper, 0), ElementsAre(0, 2));
    EXPECT_THAT(values_of_row(one.upper, 0), ElementsAre(T(1), T(-5)));
    const IluFactors<T> two = factor_ilut(a.view(), {.drop_tolerance = 0, .fill_factor = 1});
    EXPECT_THAT(columns_of_row(two.upper, 0), ElementsAre(0, 2, 3));
    const IluFactors<T> none = factor_ilut(a.view(), {.drop_tolerance = 0, .fill_factor = 0});
    EXPECT_THAT(columns_of_row(none.upper, 0), ElementsAre(0));
}

TYPED_TEST(IlutFactors, KeepTheLowerColumnsOfEqualEntries) {
    using T = TypeParam;
    const CsrMatrix<T> a =
        from_dense<T>({{1, 0, 0, 0, 0}, {0, 1, 3, -3, 3}, {0, 0, 1, 0, 0}, {0, 0, 0, 1, 0}, {2, -2, 0, 2, 1}});
    const IluFactors<T> factors = factor_ilut(a.view(), {.drop_tolerance = 0, .fill_factor = 0.8});  // p = 2 of 12 entries
    ASSERT_EQ(longest_ilut_row(a.view(), 0.8), 2);
    EXPECT_THAT(columns_of_row(factors.upper, 1), ElementsAre(1, 2, 3));
    const CsrMatrix<T> b = from_dense<T>({{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {2, -2, 2, 1}});
    EXPECT_THAT(columns_of_row(factor_ilut(b.view(), {.drop_tolerance = 0, .fill_factor = 0.5}).lower, 3), ElementsAre(0));
    EXPECT_THAT(columns_of_row(factor_ilut(b.view(), {.drop_tolerance = 0, .fill_factor = 1}).lower, 3), ElementsAre(0, 1));
}

// Promise: preconditioner.hpp, "ILUT: entries below this times"
/// Row 1 has the mean magnitude 4: 1 is dropped for tau > 1/4, kept for tau = 1/4.
// Promise: preconditioner.hpp, "M = L U with a threshold"
TYPED_TEST(IlutFactors, LackWhatIsSmallerThanTheThreshold) {
    using T = TypeParam;
    const CsrMatrix<T> a = from_dense<T>({{4, 0, 0}, {0, 10, -1}, {1, 0, 7}});
    CsrMatrix<T> b = a;
    b.values[1] = 7;
    const auto upper = [](const CsrMatrix<T>& m, double tau) {
        return columns_of_row(factor_ilut(m.view(), {.drop_tolerance = tau, .fill_factor = 9}).upper, 1);
    };
    EXPECT_THAT(upper(b, 0.25), ElementsAre(1, 2));
    EXPECT_THAT(upper(b, 0.26), ElementsAre(1));
    EXPECT_THAT(upper(a, 0.25), ElementsAre(1));
    const auto lower = [&](double tau) {
        return columns_of_row(factor_ilut(a.view(), {.drop_tolerance = tau, .fill_factor = 9}).lower, 2);
    };
    EXPECT_THAT(lower(0.25), ElementsAre(0));
    EXPECT_THAT(lower(0.26), IsEmpty());
}

TYPED_TEST(IlutFactors, HoldNoZeros) {
    using T = TypeParam;
    CsrMatrix<T> a = from_dense<T>({{1, 1, 1}, {1, 3, 1}, {1, 1, 3}});  // (2, 3) is eliminated to zero
    const IluFactors<T> factors = factor_ilut(a.view(), complete);
    EXPECT_THAT(columns_of_row(factors.upper, 1), ElementsAre(1));
    EXPECT_THAT(columns_of_row(factors.lower, 2), ElementsAre(0));
}

TYPED_TEST(IlutFactors, ReplacePivotsThatVanish) {
    using T = TypeParam;
    const T tau = T(0.5);
    const PreconditionerOptions options{.drop_tolerance = tau, .fill_factor = 9};
    const auto pivot = [&](const CsrMatrix<T>& a, std::int64_t row) {
        return values_of_row(factor_ilut(a.view(), options).upper, row)[0];
    };
    const CsrMatrix<T> cancels = from_dense<T>({{2, 2}, {2, 2}});
    EXPECT_EQ(pivot(cancels, 1), (T(1e-4) + tau) * 2);
    const CsrMatrix<T> missing = from_dense<T>({{0, 8}, {8, 0}});
    EXPECT_EQ(pivot(missing, 0), (T(1e-4) + tau) * 8);
    const T limit = 4096 * unit_roundoff<T> / 4;  // the mean of 2 entries, one of them 1/2
    const CsrMatrix<T> tiny = from_dense<T>({{-limit, T(0.5)}, {0, 1}});
    EXPECT_NEAR(pivot(tiny, 0), -(1e-4 + tau) * 0.25, 1e-3);
    const CsrMatrix<T> small = from_dense<T>({{-2 * limit, T(0.5)}, {0, 1}});
    EXPECT_EQ(pivot(small, 0), -2 * limit);
    const CsrMatrix<T> empty = from_dense<T>({{0, 0}, {0, 1}});
    EXPECT_EQ(pivot(empty, 0), T(1));
}

TYPED_TEST(IlutFactors, OfNothingOneNumberAndADiagonal) {
    using T = TypeParam;
    EXPECT_EQ(factor_ilut(CsrMatrix<T>{}.view(), complete).upper.nonzeros(), 0);
    EXPECT_THAT(factor_ilut(from_dense<T>({{-3}}).view(), complete).upper.values, ElementsAre(T(-3)));
    const IluFactors<T> factors = factor_ilut(from_dense<T>({{5, 0, 0}, {0, -6, 0}, {0, 0, 7}}).view(), {});
    EXPECT_THAT(factors.upper.values, ElementsAre(T(5), T(-6), T(7)));
    EXPECT_EQ(factors.lower.nonzeros(), 0);
}

TYPED_TEST(IlutFactors, DoNotDependOnTheOrderOfEntries) {
    using T = TypeParam;
    std::mt19937_64 random(3);
    const CsrMatrix<T> sorted = random_matrix<T>(random, 60, 5, T(2));
    CsrMatrix<T> reversed = sorted;
    for (std::int64_t i = 0; i < sorted.rows; ++i) {
        const auto begin = sorted.row_offsets[i], end = sorted.row_offsets[i + 1];
        std::reverse(reversed.column_indices.begin() + begin, reversed.column_indices.begin() + end);
        std::reverse(reversed.values.begin() + begin, reversed.values.begin() + end);
    }
    const IluFactors<T> expected = factor_ilut(sorted.view(), complete);
    const IluFactors<T> factors = factor_ilut(reversed.view(), complete);
    EXPECT_EQ(factors.lower.column_indices, expected.lower.column_indices);
    EXPECT_EQ(factors.lower.values, expected.lower.values);
    EXPECT_EQ(factors.upper.column_indices, expected.upper.column_indices);
    EXPECT_EQ(factors.upper.values, expected.upper.values);
}

/// The first row and column are full: fill is cut to p a row.
TYPED_TEST(IlutFactors, CostLittleForAFullRowAndColumn) {
    using T = TypeParam;
    const std::int32_t n = 100000;
    CsrMatrix<T> a;
    a.rows = a.columns = n;
    for (std::int32_t i = 0; i < n; ++i) {
        for (std::int32_t j = 0; j < (i == 0 ? n : 1); ++j) {
            a.column_indices.push_back(j);
            a.values.push_back(j == 0 ? T(1) : T(0.5));
        }
        if (i > 0) {
            a.column_indices.push_back(i);
            a.values.push_back(T(2));
        }
        a.row_offsets.push_back(a.nonzeros());
    }
    const IluFactors<T> factors = factor_ilut(a.view(), {.drop_tolerance = 0, .fill_factor = 10});
    EXPECT_LE(factors.upper.nonzeros(), n * (1 + longest_ilut_row(a.view(), 10)));
    EXPECT_EQ(factors.upper.values.back(), T(2));  // beyond the entries kept of the first row
}

TYPED_TEST(IlutFactors, RefusalsNameTheRow) {
    using T = TypeParam;
    constexpr T huge = std::numeric_limits<T>::max();
    constexpr T tiny = std::numeric_limits<T>::min();
    EXPECT_THAT(refusal<T>(from_dense<T>({{1, 0}, {std::numeric_limits<T>::infinity(), 1}})),
                HasSubstr("row 2 (counted from 1)"));
    EXPECT_THAT(refusal<T>(from_dense<T>({{std::numeric_limits<T>::quiet_NaN(), 0}, {1, 1}})),
                HasSubstr("row 1 (counted from 1)"));
    EXPECT_THAT(refusal<T>(from_dense<T>({{1, std::numeric_limits<T>::quiet_NaN()}, {1, 1}})), HasSubstr("in column 2"));
    EXPECT_THAT(refusal<T>(from_dense<T>({{tiny, 0}, {huge, 1}})), HasSubstr("row 2 (counted from 1)"));
    EXPECT_THAT(refusal<T>(from_dense<T>({{1, huge}, {huge, 1}})), HasSubstr("row 2 (counted from 1)"));
    EXPECT_EQ(refusal<T>(from_dense<T>({{huge, huge}, {huge, huge}})), "accepted");
}

TYPED_TEST(IlutFactors, RefusesOptionsThatMakeNoSense) {
    using T = TypeParam;
    const CsrMatrix<T> a = from_dense<T>({{1}});
    const double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_THAT(refusal<T>(a, {.drop_tolerance = -1}), HasSubstr("the drop tolerance is -1"));
    EXPECT_THAT(refusal<T>(a, {.drop_tolerance = nan}), HasSubstr("the drop tolerance is nan"));
    EXPECT_THAT(refusal<T>(a, {.fill_factor = -2}), HasSubstr("the fill factor is -2"));
    EXPECT_THAT(refusal<T>(a, {.fill_factor = nan}), HasSubstr("the fill factor is nan"));
    EXPECT_EQ(refusal<T>(a, {.drop_tolerance = 1e300}), "accepted");
}

// Promise: preconditioner.hpp, "ILUT, KLU, multigrid, Schur: bytes they may take;"
TYPED_TEST(IlutFactors, RefusesWhatWouldNotFitTheMemoryLimit) {
    using T = TypeParam;
    std::mt19937_64 random(5);
    const CsrMatrix<T> a = random_matrix<T>(random, 1000, 5, T(2));
    EXPECT_THAT(refusal<T>(a, {.memory_limit = 100000}), HasSubstr("the limit is 0.0001 GB; choose a smaller fill factor"));
    EXPECT_EQ(refusal<T>(a, {.memory_limit = 10000000}), "accepted");

    // What complete factors of a full matrix really take is the least limit under which they are made.
    constexpr std::int64_t n = 40;
    const CsrMatrix<T> full = random_matrix<T>(random, n, 20 * n, T(1000));
    const IluFactors<T> factors = factor_ilut(full.view(), complete);
    const std::int64_t entries = factors.lower.nonzeros() + factors.upper.nonzeros();
    ASSERT_EQ(entries, n * n);
    PreconditionerOptions options = complete;
    options.memory_limit = entries * static_cast<std::int64_t>(sizeof(T) + sizeof(std::int32_t)) + 2 * n * 8;
    EXPECT_EQ(refusal<T>(full, options), "accepted");
    --options.memory_limit;
    EXPECT_THAT(refusal<T>(full, options), HasSubstr("choose a smaller fill factor"));

    // Of sparse ones, m entries on either side of the diagonal.
    const std::int64_t m = longest_ilut_row(a.view(), 1);
    ASSERT_LT(m, 10);
    options = {.fill_factor = 1};
    options.memory_limit = a.rows * (2 * m + 1) * static_cast<std::int64_t>(sizeof(T) + sizeof(std::int32_t)) + 2 * a.rows * 8;
    EXPECT_EQ(refusal<T>(a, options), "accepted");
    --options.memory_limit;
    EXPECT_THAT(refusal<T>(a, options), HasSubstr("choose a smaller fill factor"));
}

/// A permuted, badly scaled triangle: only the preparation brings nonzeros to the diagonal, and then nothing fills in.
// Promise: preconditioner.hpp, "M = L U with a threshold"
TYPED_TEST(IlutPreconditioner, SolvesWhatThePreparationMakesTriangular) {
    using T = TypeParam;
    const CsrMatrix<T> a{3, 3, {0, 2, 3, 5}, {1, 2, 0, 0, 2}, {4, 2, 1024, 3, 0.125}};  // x = (1, 2, 4)
    for (const Accuracy accuracy : all_accuracies) {
        std::vector<T> z(3);
        make_preconditioner<T>(PreconditionerKind::ilut, a, accuracy, Device::cpu(2), complete)
            ->apply(std::vector<T>{16, 1024, 3.5}, z, accuracy);
        EXPECT_THAT(z, ElementsAre(T(1), T(2), T(4)));
    }
}

// Promise: reproducibility.md, "preconditioners ILUT and KLU"
TYPED_TEST(IlutPreconditioner, GivesTheSameBitsInExactForAnyNumberOfThreads) {
    using T = TypeParam;
    std::mt19937_64 random(6);
    const CsrMatrix<T> a = random_matrix<T>(random, 3000, 4, T(2));
    const std::vector<T> r(3000, T(1) / 3);
    std::vector<T> expected(3000);
    const auto make = [&](int threads) {
        return make_preconditioner<T>(PreconditionerKind::ilut, a, Accuracy::exact, Device::cpu(threads),
                                      {.drop_tolerance = 1e-2, .fill_factor = 2});
    };
    const auto one = make(1);
    one->apply(r, expected, Accuracy::exact);
    for (const int threads : {1, 2, 7}) {
        std::vector<T> z(3000);
        const auto again = make(threads);
        again->apply(r, z, Accuracy::exact);
        EXPECT_EQ(z, expected);
        EXPECT_EQ(again->factor_hash(), one->factor_hash());
        EXPECT_EQ(again->factor_entries(), one->factor_entries());
    }
}

}  // namespace
}  // namespace solver
