#include "preconditioner/klu.hpp"

#include "preconditioner/prepared.hpp"
#include "solver/error.hpp"
#include "solver/numeric/rounding.hpp"
#include "support/real_matrices.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace solver {
namespace {

using ::testing::HasSubstr;

template <class T>
CsrMatrix<T> random_matrix(std::mt19937_64& random, std::int32_t n, double density) {
    std::vector<Entry<T>> entries;
    for (std::int32_t i = 0; i < n; ++i)
        for (std::int32_t j = 0; j < n; ++j)
            if (j == (i + 1) % n || std::uniform_real_distribution<>()(random) < density)
                entries.push_back(
                    {i, j,
                     static_cast<T>(std::ldexp(static_cast<T>(random() % 2001) - 1000, static_cast<int>(random() % 12)))});
    return csr_from_entries<T>(n, n, entries);
}

using Dense = std::vector<std::vector<long double>>;

template <class T>
Dense dense(const CsrMatrix<T>& a) {
    Dense d(static_cast<std::size_t>(a.rows), std::vector<long double>(static_cast<std::size_t>(a.columns)));
    for (std::int64_t i = 0; i < a.rows; ++i)
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) d[i][a.column_indices[k]] = a.values[k];
    return d;
}

/// ||b - A z||_2 / ||b||_2 where A is applied in long double.
template <class T>
double relative_residual(const CsrMatrix<T>& a, const std::vector<T>& b, const std::vector<T>& z) {
    long double residual = 0, norm = 0;
    for (std::int64_t i = 0; i < a.rows; ++i) {
        long double r = b[i];
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
            r -= static_cast<long double>(a.values[k]) * z[a.column_indices[k]];
        residual += r * r;
        norm += static_cast<long double>(b[i]) * b[i];
    }
    return static_cast<double>(std::sqrt(residual / norm));
}

template <class T>
std::vector<T> times_known_solution(const CsrMatrix<T>& a) {
    std::vector<T> b;
    for (std::int64_t i = 0; i < a.rows; ++i) {
        long double sum = 0;
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
            sum += static_cast<long double>(a.values[k]) * (1 + (a.column_indices[k] % 8) / 8.0L);
        b.push_back(static_cast<T>(sum));
    }
    return b;
}

template <class T>
std::string message_of(const CsrMatrix<T>& a, const PreconditionerOptions& options = {}) {
    try {
        make_preconditioner(PreconditionerKind::klu, a.view(), Accuracy::exact, Device::cpu(1), options);
    } catch (const InvalidArgument& error) {
        return error.what();
    }
    return "nothing thrown";
}

template <class T>
class Klu : public ::testing::Test {};
using ValueTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Klu, ValueTypes);

/// A pivot is at least a tenth of the largest candidate, so that no multiplier is above 10.
// Promise: preconditioner.hpp, "M = L U, complete, with partial pivoting"
TYPED_TEST(Klu, ChoosesPivotsThatKeepMultipliersSmall) {
    using T = TypeParam;
    std::mt19937_64 random(1);
    for (int trial = 0; trial < 40; ++trial) {
        const auto a = random_matrix<T>(random, 60, 0.1);
        const KluFactors<T> made = factor_klu<T>(a.view(), prepare(a.view(), Ordering::amd), 0);
        for (const T multiplier : made.factors.lower.values) ASSERT_LE(std::abs(multiplier), 10 * (1 + unit_roundoff<T>));
    }
    const CsrMatrix<T> small{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {T(0.0625), 1, 1, 1}};  // with 1 / 16 as the pivot, 16
    Preparation as_it_is = prepare(small.view(), Ordering::amd);
    const KluFactors<T> made = factor_klu<T>(small.view(), as_it_is, 0);
    for (const T multiplier : made.factors.lower.values) EXPECT_LE(std::abs(multiplier), T(10));
}

/// Higham, Accuracy and Stability, theorem 9.3: |B - L U| <= gamma_n |L| |U|; float factors are rounded once more each.
// Promise: preconditioner.hpp, "M = L U, complete, with partial pivoting"
TYPED_TEST(Klu, FactorsMultiplyToThePreparedMatrix) {
    using T = TypeParam;
    std::mt19937_64 random(1);
    const double u = unit_roundoff<T>;
    for (int trial = 0; trial < 40; ++trial) {
        const auto n = static_cast<std::int32_t>(2 + random() % 60);
        const auto a = random_matrix<T>(random, n, 0.1);
        const KluFactors<T> made = factor_klu<T>(a.view(), prepare(a.view(), Ordering::amd), 0);
        ASSERT_NO_THROW(check(made.factors.lower.view()));
        ASSERT_NO_THROW(check(made.factors.upper.view()));
        const Dense b = dense(prepared_matrix(a.view(), made.preparation));
        Dense l = dense(made.factors.lower);
        const Dense upper = dense(made.factors.upper);
        for (std::int32_t i = 0; i < n; ++i) l[i][i] = 1;
        for (std::int32_t i = 0; i < n; ++i)
            for (std::int32_t j = 0; j < n; ++j) {
                long double difference = b[i][j], magnitude = 0;
                for (std::int32_t k = 0; k < n; ++k) {
                    difference -= l[i][k] * upper[k][j];
                    magnitude += std::abs(l[i][k] * upper[k][j]);
                }
                ASSERT_LE(std::abs(difference), 1.01 * ((n + 2) * unit_roundoff<double> + 3 * u) * magnitude) << i << ", " << j;
            }
    }
}

// Promise: preconditioner.hpp, "z = M^-1 r in the accuracy asked for"
TYPED_TEST(Klu, SolvesWithASmallResidualInEveryAccuracy) {
    using T = TypeParam;
    std::mt19937_64 random(2);
    for (int trial = 0; trial < 40; ++trial) {
        const auto n = static_cast<std::int32_t>(1 + random() % 100);
        CsrMatrix<T> a = random_matrix<T>(random, n, 0.05);
        for (T& value : a.values)
            if (value == 0) value = 1;
        const auto m = make_preconditioner(PreconditionerKind::klu, a.view(), Accuracy::exact, Device::cpu(2));
        const std::vector<T> b = times_known_solution(a);
        for (const Accuracy accuracy : all_accuracies) {
            std::vector<T> z(b.size());
            m->apply(b, z, accuracy);
            EXPECT_LE(relative_residual(a, b, z), 1000 * n * unit_roundoff<T>) << n << " " << to_string(accuracy);
        }
        EXPECT_GE(m->factor_entries(), n);
    }
}

TYPED_TEST(Klu, ScalesMatricesOfExtremeExponents) {
    using T = TypeParam;
    std::mt19937_64 random(3);
    CsrMatrix<T> a = random_matrix<T>(random, 30, 0.2);
    std::vector<int> rows(30), columns(30);
    const int reach = std::numeric_limits<T>::max_exponent / 2 - 24;
    for (int& e : rows) e = static_cast<int>(random() % static_cast<unsigned>(2 * reach)) - reach;
    for (int& e : columns) e = static_cast<int>(random() % static_cast<unsigned>(reach / 2));
    for (std::int64_t i = 0; i < 30; ++i)
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
            a.values[k] = std::ldexp(a.values[k], rows[i] + columns[a.column_indices[k]]);
    const auto m = make_preconditioner(PreconditionerKind::klu, a.view(), Accuracy::exact, Device::cpu(1));
    std::vector<T> b, z(30);
    for (std::int64_t i = 0; i < 30; ++i) {  // x_j = 2^-c_j
        long double sum = 0;
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
            sum += std::ldexp(static_cast<long double>(a.values[k]), -columns[a.column_indices[k]]);
        b.push_back(static_cast<T>(sum));
    }
    m->apply(b, z, Accuracy::exact);
    for (std::int64_t j = 0; j < 30; ++j) EXPECT_NEAR(std::ldexp(z[j], columns[j]), 1, 1e5 * unit_roundoff<T>);
}

// Promise: reproducibility.md, "preconditioners ILUT and KLU"
TYPED_TEST(Klu, GivesTheSameBitsForAnyNumberOfThreadsInExact) {
    using T = TypeParam;
    std::mt19937_64 random(4);
    const auto a = random_matrix<T>(random, 3000, 0.001);
    const std::vector<T> b = times_known_solution(a);
    std::vector<T> expected(b.size()), z(b.size());
    const auto one = make_preconditioner(PreconditionerKind::klu, a.view(), Accuracy::exact, Device::cpu(1));
    one->apply(b, expected, Accuracy::exact);
    for (const int threads : {2, 7}) {
        const auto m = make_preconditioner(PreconditionerKind::klu, a.view(), Accuracy::exact, Device::cpu(threads));
        EXPECT_EQ(m->factor_hash(), one->factor_hash());
        m->apply(b, z, Accuracy::exact);
        EXPECT_EQ(z, expected) << threads;
    }
}

TYPED_TEST(Klu, TakesMatricesOfOrderNoneAndOne) {
    using T = TypeParam;
    std::vector<T> r, z;
    const CsrMatrix<T> nothing;
    make_preconditioner(PreconditionerKind::klu, nothing.view(), Accuracy::exact)->apply(r, z, Accuracy::exact);
    r = {3}, z = {0};
    const CsrMatrix<T> one{1, 1, {0, 1}, {0}, {-12}};
    make_preconditioner(PreconditionerKind::klu, one.view(), Accuracy::exact)->apply(r, z, Accuracy::exact);
    EXPECT_EQ(z[0], T(-0.25));
}

TYPED_TEST(Klu, SaysHowAMatrixIsSingular) {
    using T = TypeParam;
    const CsrMatrix<T> structurally{3, 3, {0, 2, 3, 5}, {0, 1, 1, 0, 1}, {1, 2, 3, 4, 5}};
    EXPECT_THAT(message_of(structurally), HasSubstr("structurally singular: its 3 rows have structural rank 2"));
    const CsrMatrix<T> numerically{3, 3, {0, 2, 4, 5}, {0, 1, 0, 1, 2}, {1, 2, 2, 4, 7}};
    EXPECT_THAT(message_of(numerically), ::testing::ContainsRegex("numerically singular: after [12] of 3 pivots"));
    EXPECT_THAT(message_of(numerically), ::testing::ContainsRegex("left in column [12] "));
}

TYPED_TEST(Klu, IsRefusedBeforeItStartsWhereThePredictionExceedsTheLimit) {
    using T = TypeParam;
    std::mt19937_64 random(5);
    const auto a = random_matrix<T>(random, 200, 0.05);
    const Preparation p = prepare(a.view(), Ordering::amd);
    const auto limit = static_cast<std::int64_t>(predict_klu(p).bytes) - 1;
    EXPECT_THROW(factor_klu<T>(a.view(), p, limit), ResourceLimit);
    PreconditionerOptions options;
    options.memory_limit = 1000;
    EXPECT_THAT(message_of(a, options), HasSubstr("the limit is 1e-06 GB; use ilut"));
    EXPECT_THROW(predict_klu(prepare(a.view(), Ordering::natural)), InvalidArgument);
    EXPECT_EQ(predict_klu(a.view()).entries, p.fill->factor_entries);
}

/// All entries are 1, and most pivots leave the diagonal.
TEST(KluOnRealMatrices, GivesUpWherePivotingFillsInMoreThanTheLimit) {
    const auto a = testing::real_matrix("commanche_dual");
    if (!a) GTEST_SKIP() << "commanche_dual is not at hand";
    const Preparation p = prepare(a->view(), Ordering::amd);
    const double predicted = predict_klu(p).bytes;
    EXPECT_THROW(factor_klu<double>(a->view(), p, static_cast<std::int64_t>(1.5 * predicted)), ResourceLimit);
    const KluFactors<double> made = factor_klu<double>(a->view(), p, static_cast<std::int64_t>(8 * predicted));
    EXPECT_GT(static_cast<double>(made.factors.lower.nonzeros() + made.factors.upper.nonzeros()), 1.5 * p.fill->factor_entries);
}

/// Central differences of an advection on a square grid beside a small diagonal: pivots leave the diagonal at every other step.
CsrMatrix<double> advection(std::int32_t side) {
    std::vector<Entry<double>> entries;
    for (std::int32_t y = 0; y < side; ++y)
        for (std::int32_t x = 0; x < side; ++x) {
            const std::int32_t row = y * side + x;
            entries.push_back({row, row, 0x1p-16});
            if (x > 0) entries.push_back({row, row - 1, -1});
            if (x + 1 < side) entries.push_back({row, row + 1, 1});
            if (y > 0) entries.push_back({row, row - side, -1});
            if (y + 1 < side) entries.push_back({row, row + side, 1});
        }
    return csr_from_entries<double>(side * side, side * side, entries);
}

// In the order of A + A^T pivoting makes more than twice the entries that were predicted.
TEST(KluPivots, TakesAnOrderForAnyPivotWherePivotingSpoilsTheOneForTheDiagonal) {
    const CsrMatrix<double> a = advection(80);
    const Preparation p = prepare(a.view(), Ordering::amd);
    const KluFactors<double> made = factor_klu<double>(a.view(), p, 0);
    EXPECT_LT(static_cast<double>(made.factors.lower.nonzeros() + made.factors.upper.nonzeros()), 2 * p.fill->factor_entries);
    const std::vector<double> b = times_known_solution(a);
    std::vector<double> z(b.size());
    make_klu<double>(a.view(), p, {}, Device::cpu(1))->apply(b, z, Accuracy::exact);
    EXPECT_LT(relative_residual(a, b, z), 1e-12);
}

// Where the limit leaves no room for that either, the refusal tells what was expected.
TEST(KluPivots, SaysThatPivotingFillsInMoreThanPredictedWhereNoOrderHasRoom) {
    const CsrMatrix<double> a = advection(80);
    const Preparation p = prepare(a.view(), Ordering::amd);
    const auto limit = static_cast<std::int64_t>(1.05 * predict_klu(p).bytes);
    try {
        factor_klu<double>(a.view(), p, limit);
        FAIL();
    } catch (const ResourceLimit& error) {
        EXPECT_THAT(error.what(), HasSubstr("pivoting fills in more than predicted"));
    }
}

/// Rows far beyond single precision's range, scaled away before anything is rounded to it.
TEST(KluInSingle, TakesAMatrixInDouble) {
    std::mt19937_64 random(6);
    CsrMatrix<double> a = random_matrix<double>(random, 40, 0.1);
    for (std::int64_t i = 0; i < a.rows; i += 2)
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) a.values[k] = std::ldexp(a.values[k], -400);
    const Preparation p = prepare(a.view(), Ordering::amd);
    std::vector<float> r(40), z(40);
    std::vector<double> r_in_double(40), z_in_double(40);
    for (std::size_t i = 1; i < 40; i += 2) r[i] = 1, r_in_double[i] = 1;  // the other rows' are below single's range
    make_klu<float>(a.view(), p, {}, Device::cpu(1))->apply(r, z, Accuracy::exact);
    make_klu<double>(a.view(), p, {}, Device::cpu(1))->apply(r_in_double, z_in_double, Accuracy::exact);
    for (std::size_t j = 0; j < 40; ++j) EXPECT_NEAR(z[j], z_in_double[j], 1e-3 * std::abs(z_in_double[j]));
}

TEST(KluOnRealMatrices, SolvesRealMatricesWithZeroDiagonals) {
    int found = 0;
    for (const char* name : {"west0479", "bayer10", "nnc1374", "cavity14", "bp_1200", "impcol_d", "mahindas", "e05r0500"}) {
        const auto a = testing::real_matrix(name);
        if (!a) continue;
        ++found;
        const auto m = make_preconditioner(PreconditionerKind::klu, a->view(), Accuracy::exact, Device::cpu(2));
        const std::vector<double> b = times_known_solution(*a);
        std::vector<double> z(b.size());
        m->apply(b, z, Accuracy::exact);
        // nnc1374 has a condition number of 1e14: one solve leaves what its solution's size makes of the roundoff.
        EXPECT_LE(relative_residual(*a, b, z), std::string(name) == "nnc1374" ? 1e-4 : 1e-12) << name;
    }
    if (const auto a = testing::real_matrix("mbeacxc")) {
        EXPECT_THAT(message_of(*a), HasSubstr("structurally singular: its 496 rows have structural rank 448"));
    }
    if (found == 0) GTEST_SKIP() << "no real matrices at hand";
}

}  // namespace
}  // namespace solver
