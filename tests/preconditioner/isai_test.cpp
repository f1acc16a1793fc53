#include "preconditioner/isai.hpp"

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

template <class T>
class ApproximateInverse : public ::testing::Test {};
using ValueTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(ApproximateInverse, ValueTypes);

/// Random entries beside a full diagonal; row and column n / 2 full if `cross`.
template <class T>
CsrMatrix<T> random_matrix(std::mt19937_64& random, std::int32_t n, int entries_a_row, bool cross) {
    std::vector<Entry<T>> entries;
    const auto value = [&] { return static_cast<T>(std::ldexp(static_cast<double>(random() >> 12) - 2e15, -51)); };
    for (std::int32_t i = 0; i < n; ++i) {
        entries.push_back({i, i, T(3) + value()});
        for (int k = 1; k < entries_a_row; ++k) entries.push_back({i, static_cast<std::int32_t>(random() % n), value()});
        if (cross && i != n / 2) entries.insert(entries.end(), {{n / 2, i, value()}, {i, n / 2, value()}});
    }
    return csr_from_entries<T>(n, n, entries);
}

template <class T>
std::vector<std::vector<long double>> to_dense(const CsrMatrix<T>& a, bool unit_diagonal) {
    std::vector<std::vector<long double>> dense(a.rows, std::vector<long double>(a.columns));
    for (std::int64_t i = 0; i < a.rows; ++i) {
        if (unit_diagonal) dense[i][i] = 1;
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) dense[i][a.column_indices[k]] = a.values[k];
    }
    return dense;
}

/// (X F)_ij = delta_ij on the pattern of X, within Higham's bound for substitution (theorem 8.5): gamma_n (|X| |F|)_ij.
template <class T>
void expect_inverse_on_pattern(const CsrMatrix<T>& inverse, const CsrMatrix<T>& factor, bool unit_diagonal) {
    const auto x = to_dense(inverse, false);
    const auto f = to_dense(factor, unit_diagonal);
    for (std::int64_t i = 0; i < inverse.rows; ++i)
        for (std::int64_t e = inverse.row_offsets[i]; e < inverse.row_offsets[i + 1]; ++e) {
            const std::int64_t j = inverse.column_indices[e];
            long double difference = i == j ? -1 : 0, size = 0;
            for (std::int64_t k = 0; k < inverse.rows; ++k) {
                difference += x[i][k] * f[k][j];
                size += std::abs(x[i][k] * f[k][j]);
            }
            ASSERT_LE(std::abs(difference), static_cast<long double>(inverse.rows + 2) * unit_roundoff<T> * size)
                << i << ", " << j;
        }
}

TYPED_TEST(ApproximateInverse, TimesItsFactorIsTheIdentityOnThePattern) {
    using T = TypeParam;
    std::mt19937_64 random(1);
    for (const bool cross : {false, true})
        for (const std::int32_t n : {1, 2, 5, 17, 100}) {
            SCOPED_TRACE(n);
            const IluFactors<T> factors = factor_ilu0(random_matrix<T>(random, n, 6, cross).view(), Accuracy::exact);
            const CsrMatrix<T> w = invert_unit_lower(factors.lower.view(), 1);
            const CsrMatrix<T> v = invert_upper(factors.upper.view(), 1);
            EXPECT_EQ(w.nonzeros(), factors.lower.nonzeros() + n);
            EXPECT_EQ(v.column_indices, factors.upper.column_indices);
            expect_inverse_on_pattern(w, factors.lower, true);
            expect_inverse_on_pattern(v, factors.upper, false);
        }
}

TYPED_TEST(ApproximateInverse, IsTheInverseWhereThePatternIsFull) {
    using T = TypeParam;
    const CsrMatrix<T> lower{3, 3, {0, 0, 1, 3}, {0, 0, 1}, {2, 3, 4}};
    EXPECT_THAT(invert_unit_lower(lower.view(), 1).values, ElementsAre(T(1), T(-2), T(1), T(5), T(-4), T(1)));
    const CsrMatrix<T> upper{3, 3, {0, 3, 5, 6}, {0, 1, 2, 1, 2, 2}, {2, 8, 4, 4, 8, 0.5}};
    EXPECT_THAT(invert_upper(upper.view(), 1).values, ElementsAre(T(0.5), T(-1), T(12), T(0.25), T(-4), T(2)));
}

TYPED_TEST(ApproximateInverse, DoesNotDependOnTheNumberOfThreads) {
    using T = TypeParam;
    std::mt19937_64 random(2);
    const IluFactors<T> factors = factor_ilu0(random_matrix<T>(random, 20000, 5, true).view(), Accuracy::fast);
    const CsrMatrix<T> w = invert_unit_lower(factors.lower.view(), 1);
    const CsrMatrix<T> v = invert_upper(factors.upper.view(), 1);
    for (const int threads : {2, 7}) {
        EXPECT_EQ(invert_unit_lower(factors.lower.view(), threads).values, w.values);
        EXPECT_EQ(invert_upper(factors.upper.view(), threads).values, v.values);
    }
}

/// Rows of 300000 elements, and as many rows that meet them: walking everything would take 1e11 steps.
TYPED_TEST(ApproximateInverse, CostsLittleForAFullRowAndColumn) {
    using T = TypeParam;
    std::mt19937_64 random(3);
    const IluFactors<T> factors = factor_ilu0(random_matrix<T>(random, 300000, 1, true).view(), Accuracy::fast);
    EXPECT_EQ(invert_unit_lower(factors.lower.view(), 2).nonzeros(), factors.lower.nonzeros() + 300000);
    EXPECT_EQ(invert_upper(factors.upper.view(), 2).nonzeros(), factors.upper.nonzeros());
}

TYPED_TEST(ApproximateInverse, RefusesPivotsWhoseInverseOverflows) {
    using T = TypeParam;
    const CsrMatrix<T> upper{2, 2, {0, 1, 2}, {0, 1}, {1, std::numeric_limits<T>::denorm_min()}};
    try {
        invert_upper(upper.view(), 1);
        FAIL() << "accepted";
    } catch (const InvalidArgument& error) {
        EXPECT_THAT(error.what(), HasSubstr("row 2 (counted from 1) of the inverse of U has an entry that is not finite"));
    }
}

TYPED_TEST(ApproximateInverse, NamesItselfWhereThereAreNoFactors) {
    using T = TypeParam;
    const CsrMatrix<T> no_diagonal{2, 2, {0, 1, 2}, {0, 0}, {1, 1}};
    try {
        make_preconditioner<T>(PreconditionerKind::isai, no_diagonal.view(), Accuracy::exact, Device::cpu(1));
        FAIL() << "accepted";
    } catch (const InvalidArgument& error) {
        EXPECT_THAT(error.what(), HasSubstr("preconditioner isai: row 2 (counted from 1) has no diagonal entry"));
    }
}

// Promise: preconditioner.hpp, "M^-1 = V W, sparse approximate inverses"
TYPED_TEST(ApproximateInverse, AppliesBothProductsInAnyAccuracy) {
    using T = TypeParam;
    std::mt19937_64 random(4);
    const CsrMatrix<T> a = random_matrix<T>(random, 30000, 5, false);
    std::vector<T> r(30000);
    for (T& element : r) element = static_cast<T>(static_cast<int>(random() % 2001) - 1000);
    for (const Accuracy accuracy : all_accuracies) {
        const IluFactors<T> factors = factor_ilu0(a.view(), accuracy);
        std::vector<T> between(30000), expected(30000), z(30000);
        spmv(T(1), invert_unit_lower(factors.lower.view(), 1), r, T(0), std::span<T>(between), accuracy, Device::cpu(2));
        spmv(T(1), invert_upper(factors.upper.view(), 1), between, T(0), std::span<T>(expected), accuracy, Device::cpu(2));
        Isai<T>(a, accuracy, Device::cpu(2)).apply(r, z, accuracy);
        EXPECT_EQ(z, expected);
    }
}

TYPED_TEST(ApproximateInverse, GivesTheSameBitsInExactForAnyNumberOfThreads) {
    using T = TypeParam;
    std::mt19937_64 random(5);
    const CsrMatrix<T> a = random_matrix<T>(random, 30000, 5, true);
    std::vector<T> r(30000, T(1) / 3), expected(30000);
    const Isai<T> one(a, Accuracy::exact, Device::cpu(1));
    one.apply(r, expected, Accuracy::exact);
    for (const int threads : {2, 7}) {
        std::vector<T> z(30000);
        const Isai<T> isai(a, Accuracy::exact, Device::cpu(threads));
        isai.apply(r, z, Accuracy::exact);
        EXPECT_EQ(z, expected);
        EXPECT_EQ(isai.factor_hash(), one.factor_hash());
    }
}

}  // namespace
}  // namespace solver
