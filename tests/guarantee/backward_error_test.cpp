#include "guarantee/backward_error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "guarantee/norms.hpp"
#include "solver/solver.hpp"
#include "support/bounds.hpp"
#include "support/small_system.hpp"

namespace solver::guarantee {
namespace {

using testing::random_rhs;
using testing::random_system;
using testing::SmallSystem;

// Promise: guarantee.hpp, "0 / 0 counts as 0"
/// 0.3 times 3 is a tenth short of 1, of the smallest number, and rounded the residual is 0.
// Promise: guarantee.hpp, "Not finite where A, b or x are not."
// Promise: guarantee.hpp, "Throws DimensionMismatch."
TEST(BackwardError, IsNot0WhereTheResidualIsRoundedAway) {
    constexpr double eta = 5e-324;
    const SmallSystem<double> small({0.3}, {eta}), wide({1e-300, 1e300, 0, 1}, {1, 0}), empty({1, 0, 0, 1}, {0, 1});
    const auto found = [](const SmallSystem<double>& system, const std::vector<double>& x) {
        return backward_error<double>(SpmvPlan<double>(system.a, Device::cpu(1)), system.b, x);
    };
    EXPECT_GE(found(small, {3 * eta}), 0.1 / 1.9);
    EXPECT_GT(found(wide, {1e300, eta}), 0);
    EXPECT_EQ(found(empty, {0, 1}), 0);
    for (const double bad : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
        EXPECT_FALSE(std::isfinite(found(empty, {0, bad})));
    EXPECT_THROW(found(empty, {0}), DimensionMismatch);
}

/// |A| |x| + |b| is beyond the range of numbers, the quotient is not.
/// 1 as 1e16 - 1e16 + 1, and 2 as a solution of x = 1: a third of |A| |x| + |b|.
TEST(BackwardError, CountsRepeatedEntriesAsTheirSum) {
    const CsrMatrix<double> a{1, 1, {0, 3}, {0, 0, 0}, {1e16, -1e16, 1}};
    const std::vector<double> b{1}, x{2};
    EXPECT_NEAR(backward_error<double>(SpmvPlan<double>(a, Device::cpu(1)), b, x), 1.0 / 3, 1e-9);
    EXPECT_GE(backward_error<double>(SpmvPlan<double>(a, Device::cpu(1)), b, x), 1.0 / 3);
}

/// Of the sum floats would lose 13 bits. Sum and difference below are exact in double.
TEST(BackwardError, SumsRepeatedFloatsInDoubles) {
    const CsrMatrix<float> a{1, 1, {0, 2}, {0, 0}, {1, 0x1.0034p-24F}};
    const std::vector<float> b{0x1.70ce5ep-12F}, x{1};
    const double sum = 1 + 0x1.0034p-24, right = 0x1.70ce5ep-12;
    EXPECT_GE(backward_error<float>(SpmvPlan<float>(a, Device::cpu(1)), b, x), (sum - right) / (sum + right));
}

/// A column without entries, in which no residual shows what x is.
TEST(BackwardError, IsNotFiniteWhereXIsNot) {
    const CsrMatrix<double> a{2, 2, {0, 1, 1}, {0}, {1}};
    const std::vector<double> b{1, 0};
    const SpmvPlan<double> plan(a, Device::cpu(1));
    EXPECT_EQ(backward_error<double>(plan, b, std::vector<double>{1, 1}), 0);
    for (const double bad : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
        EXPECT_FALSE(std::isfinite(backward_error<double>(plan, b, std::vector<double>{1, bad})));
        EXPECT_FALSE(std::isfinite(backward_error<double>(plan, b, std::vector<double>{1, 1}, std::vector<double>{0, bad})));
    }
}

TEST(BackwardError, IsNoLessWhereTheTermsOverflow) {
    const SmallSystem<double> one({1.2596071334136636e308}, {1.3145468184105437e308});
    const double x = 1.0436165;  // to some digits
    const Rational ax = Rational(one.dense[0]) * Rational(x), b(one.b[0]);
    const double found = backward_error<double>(SpmvPlan<double>(one.a, Device::cpu(1)), one.b, std::vector{x});
    EXPECT_GE(Rational(found), abs(b - ax) / (ax + b));
    EXPECT_LT(found, 1e-7);
}

/// Both parts of x are numbers; their sum, rounded, is not.
TEST(BackwardError, IsNoLessWhereAPairOverflows) {
    const SmallSystem<double> small({0x1p-5}, {4});
    const std::vector<double> x{std::numeric_limits<double>::max()}, low{0x1.8p970};
    const double found = backward_error<double>(SpmvPlan<double>(small.a, Device::cpu(1)), small.b, x, low);
    EXPECT_GE(found, 1 - 0x1p-52);
    EXPECT_EQ(sum_in_range(x[0], low[0]), x[0]);
    EXPECT_EQ(sum_in_range(-x[0], -low[0]), -x[0]);
    EXPECT_EQ(sum_in_range(1.0F, 0x1p-40F), 1 + 0x1p-40);
}

// Promise: guarantee.hpp, "max_i |b - A x|_i"
/// Oettli and Prager's quotient, by rationals.
TEST(BackwardError, IsAtLeastTheQuotientAndHardlyMore) {
    for (std::uint64_t seed = 100; seed < 300; ++seed) {
        const SmallSystem<double> system = random_system<double>(seed);
        const std::size_t n = system.b.size();
        std::vector<double> x = random_rhs(static_cast<std::int64_t>(n));
        const double found = backward_error<double>(SpmvPlan<double>(system.a, Device::cpu(1)), system.b, x);
        long double expected = 0;
        for (std::size_t i = 0; i < n; ++i) {
            long double r = system.b[i], terms = std::abs(system.b[i]);
            for (std::size_t j = 0; j < n; ++j) {
                r -= static_cast<long double>(system.dense[i * n + j]) * x[j];
                terms += std::abs(static_cast<long double>(system.dense[i * n + j]) * x[j]);
            }
            if (terms > 0) expected = std::max(expected, std::abs(r) / terms);
        }
        EXPECT_GE(found * (1 + 1e-15L), expected) << seed;
        EXPECT_LE(found, expected * (1 + 1e-9L) + 1e-18L) << seed;
    }
}

template <class T>
void expect_backward_errors() {
    Random random(12);
    for (int trial = 0; trial < 2000; ++trial) {
        const std::size_t n = 1 + random.below(3);
        const Residual<T> system(random, n, trial % 3 == 0 ? std::numeric_limits<T>::min_exponent / 2 - 8 : 0, trial % 2 == 0);
        Rational most(0.0);
        for (std::size_t i = 0; i < n; ++i)
            if (!system.terms[i].is_zero()) most = std::max(most, abs(system.exact[i]) / system.terms[i]);
        const double found = backward_error<T>(SpmvPlan<T>(system.a, Device::cpu(1)), system.b, system.x, system.low);
        if (std::isfinite(found)) {
            EXPECT_GE(Rational(found), most) << trial;
        }
        if (trial % 3 != 0) {
            EXPECT_LE(Rational(found), most * Rational(1 + 4 * static_cast<double>(unit_roundoff<T>) + 1e-11)) << trial;
        }
    }
}

/// Twenty thousand terms of which each is rounded up beside the first: b = 0, so that the quotient is 1.
TEST(BackwardError, CountsTheRoundingOfLongRows) {
    constexpr std::int32_t n = 20001;
    CsrMatrix<double> a{n, n, {0}, {}, {}};
    for (std::int32_t j = 0; j < n; ++j) {
        a.column_indices.push_back(j);
        a.values.push_back(j == 0 ? 1 : 0x1p-53 * (1 + 0x1p-20));
    }
    for (std::int32_t i = 0; i < n; ++i) a.row_offsets.push_back(n);
    EXPECT_GE(backward_error<double>(SpmvPlan<double>(a, Device::cpu(1)), std::vector<double>(n), std::vector<double>(n, 1.0)),
              1);
}

/// The backward error where the first row has these entries and the others none.
double backward_error_of_row(const std::vector<double>& row, double b, const std::vector<double>& x,
                             const std::vector<double>& low = {}) {
    const auto n = static_cast<std::int64_t>(row.size());
    CsrMatrix<double> a{n, n, std::vector<std::int64_t>(row.size() + 1, n), std::vector<std::int32_t>(row.size()), row};
    a.row_offsets[0] = 0;
    std::iota(a.column_indices.begin(), a.column_indices.end(), 0);
    std::vector<double> right(row.size());
    right[0] = b;
    return backward_error<double>(SpmvPlan<double>(a, Device::cpu(1)), right, x, low);
}

/// A hundred products of hardly more than half of the smallest number, each of which is rounded to all of it: b = 0, so that
/// the quotient is 1.
TEST(BackwardError, CountsWhatUnderflowAddsToEveryTerm) {
    const std::vector<double> row(100, 0x1p-537 * (1 + 0x1p-20)), x(100, 0x1p-538);
    EXPECT_GE(backward_error_of_row(row, 0, x), 1);
}

/// Residuals that are not 0 and are rounded to 0.
TEST(BackwardError, IsNot0WhereTheLastDigitsOfAProductAreLost) {
    constexpr double a = 1 + 0x1p-52;
    EXPECT_GT(backward_error_of_row({a}, 0x1p-1020 * (1 + 0x1p-51), {0x1p-1020 * a}), 0);
    EXPECT_GT(backward_error_of_row({a, -1}, 0, {1, a}, {0x1p-1050, 0x1p-1050}), 0) << "2^-1102, by the second parts";
}

/// What the terms may be below is 0 in these rows.
TEST(BackwardError, IsAtLeast1WhereTheTermsAreHardlyNumbers) {
    EXPECT_EQ(backward_error_of_row({0}, eta, {1}), 1) << "b alone";
    EXPECT_GE(backward_error_of_row({0x1p-537}, 0, {0}, {0x1p-538}), 1) << "a product with a second part";
}

/// Without A and b every x solves the system.
TEST(BackwardError, Is1AtMost) {
    EXPECT_EQ(backward_error_of_row({2}, 1, {0}), 1);
    EXPECT_EQ(backward_error_of_row({2, -3}, -1, {0.5, -0.25}), 1);
}

/// The first row is 0 / 0, also with second parts; the second one counts.
TEST(BackwardError, TakesARowOfZerosFor0) {
    const CsrMatrix<double> a{2, 2, {0, 1, 2}, {0, 1}, {1, 1}};
    const std::vector<double> b{0, 1}, x{0, 0.5}, low{0, 0};
    EXPECT_NEAR(backward_error<double>(SpmvPlan<double>(a, Device::cpu(1)), b, x, low), 1.0 / 3, 1e-9);
}

TEST(BackwardError, DoesNotUnderflow) {
    EXPECT_GT(backward_error_of_row({0x1p20, -0x1p20, eta}, 0, {1, 1, 1}), 0) << "2^-1094";
}

// Promise: proof.hpp, "x solves exactly a system whose entries differ"
// Promise: solver.h, "x solves exactly a system whose entries"
TEST(BackwardError, IsAtLeastTheQuotientOfOettliAndPrager) {
    expect_backward_errors<double>();
    expect_backward_errors<float>();
}

}  // namespace
}  // namespace solver::guarantee
