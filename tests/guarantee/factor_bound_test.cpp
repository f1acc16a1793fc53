#include "guarantee/factor_bound.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "support/bounds.hpp"

namespace solver::guarantee {
namespace {

TEST(FactorBound, HoldsTheErrorsOfEveryRow) {
    Random random(6);
    for (const int exponent : {0, -1050})
        for (int trial = 0; trial < 200; ++trial) {
            const IluFactors<double> factors =
                random_factors(random, static_cast<std::int32_t>(2 + random.below(8)), 2, exponent);
            const std::vector<double> found = error_of_factors_above(factors.lower, factors.upper);
            const std::vector<Rational> exact = errors_of_factors(factors, power(-1075));
            for (std::size_t i = 0; i < found.size(); ++i) {
                EXPECT_GE(Rational(found[i]), exact[i]);
                if (exponent == 0) {
                    EXPECT_LE(Rational(found[i]), exact[i] * Rational(1 + 1e-11));
                }
            }
        }
}

/// p = y + z max(y) / (1 - max z), also where z is not small.
TEST(FactorBound, IsTheSumOfBothParts) {
    Random random(7);
    int close_to_one = 0;
    for (int trial = 0; trial < 2000; ++trial) {
        const auto n = static_cast<std::int32_t>(3 + random.below(6));
        const IluFactors<double> factors = random_factors(random, n, std::ldexp(1, static_cast<int>(3 + random.below(6))), 0);
        const Dense l = magnitudes(factors.lower, true), u = magnitudes(factors.upper, false);
        const std::vector<Rational> z = solve(l, u, errors_of_factors(factors, Rational(0.0)));
        const std::vector<Rational> y = solve(l, u, std::vector<Rational>(z.size(), Rational(1.0)));
        const Rational most_z = *std::max_element(z.begin(), z.end()), most_y = *std::max_element(y.begin(), y.end());
        const Certificate certificate = certificate_by_factors(factors.lower, factors.upper, without_scales(n));
        if (most_z >= Rational(1.0)) {
            EXPECT_FALSE(certificate.is_proof());
            continue;
        }
        if (most_z >= Rational(0.999)) continue;
        close_to_one += most_z > Rational(0.01) ? 1 : 0;
        ASSERT_TRUE(certificate.is_proof());
        EXPECT_EQ(certificate.weights, std::vector<double>(z.size(), 1.0));
        EXPECT_FALSE(certificate.adds_up);
        for (std::size_t i = 0; i < z.size(); ++i)
            expect_tight(y[i] + z[i] * most_y / (Rational(1.0) - most_z), certificate.reach[i], 1 + 1e-8);
    }
    EXPECT_GT(close_to_one, 30);
}

TEST(FactorBound, ReturnsToTheScalesAndTheOrderOfA) {
    const CsrMatrix<double> lower{2, 2, {0, 0, 0}, {}, {}}, upper{2, 2, {0, 1, 2}, {0, 1}, {1, 1}};
    Preparation p = without_scales(2);
    p.column_order = {1, 0};
    p.row_exponents = {3, -4};
    p.column_exponents = {5, -6};
    const Certificate certificate = certificate_by_factors(lower, upper, p);
    EXPECT_NEAR(certificate.reach[0], 32, 1e-10);
    EXPECT_NEAR(certificate.reach[1], 1.0 / 64, 1e-10);
    EXPECT_EQ(certificate.weights, (std::vector<double>{8, 1.0 / 16}));
}

TEST(FactorBound, RoundsUpWhatUnderflows) {
    const CsrMatrix<double> lower{1, 1, {0, 0}, {}, {}}, upper{1, 1, {0, 1}, {0}, {0x1p52 * 0.8}};
    Preparation p = without_scales(1);
    p.column_exponents = {-1022};
    const Rational exact = Rational(1.0) / Rational(upper.values[0]) * power(-1022);
    EXPECT_GE(Rational(certificate_by_factors(lower, upper, p).reach[0]), exact) << "1.25 times the smallest number";
}

TEST(FactorBound, ProvesNothingByWhatIsNoPivot) {
    constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    const CsrMatrix<double> lower{2, 2, {0, 0, 0}, {}, {}};
    for (const double bad : {0.0, inf, nan}) {
        const CsrMatrix<double> upper{2, 2, {0, 1, 2}, {0, 1}, {1, bad}};
        EXPECT_FALSE(certificate_by_factors(lower, upper, without_scales(2)).is_proof()) << bad;
    }
}

/// Twenty thousand terms that are lost one by one beside the first.
TEST(FactorBound, CountsTheRoundingOfLongRows) {
    constexpr std::int32_t n = 20001;
    constexpr double lost = 0x1p-53 * 0.9375;
    CsrMatrix<double> a{n, n, std::vector<std::int64_t>(n + 1), {}, {}};
    a.row_offsets.back() = n - 1;
    for (std::int32_t j = 0; j < n - 1; ++j) {
        a.column_indices.push_back(j);
        a.values.push_back(lost);
    }
    const double found = product_above(a, std::vector<double>(n, 1.0), true).back();
    EXPECT_GE(Rational(found), Rational(1.0) + Rational(static_cast<double>(n - 1)) * Rational(lost));
}

/// Solves in which twenty thousand terms are lost one by one beside the first. In the lower triangle the errors of factors
/// would cover that, were the last pivot not so small that they come to a tenth.
TEST(FactorBound, CountsTheRoundingOfSolvesWithLongRows) {
    constexpr std::int32_t n = 20001;
    constexpr double lost = 0x1p-53 * 0.9375, pivot = 0x1p-73;
    const Rational one(1.0), sum = Rational(n - 1) * Rational(lost), u(0x1p-53), all(n);
    const CsrMatrix<double> none = diagonal_with_long_row(n, false, 1, n, 0);
    const Certificate of_upper = certificate_by_factors(none, diagonal_with_long_row(n, true, 1, 0, lost), without_scales(n));
    ASSERT_TRUE(of_upper.is_proof());
    EXPECT_GE(Rational(of_upper.reach.front()), one + sum);

    const Certificate of_lower = certificate_by_factors(diagonal_with_long_row(n, false, 1, n - 1, lost),
                                                        diagonal_with_long_row(n, true, pivot, n, 0), without_scales(n));
    ASSERT_TRUE(of_lower.is_proof());
    const Rational y = (one + sum) / Rational(pivot);
    const Rational z = (all * u / (one - all * u) * (Rational(pivot) + sum) + sum * u / (one - u)) / Rational(pivot);
    EXPECT_NEAR(z.approximate(), 0.04, 0.02);
    EXPECT_GE(Rational(of_lower.reach.back()), y + z * y / (one - z));
}

/// A hundred products of hardly less than half of the smallest number.
TEST(FactorBound, CountsWhatUnderflowTakesFromProducts) {
    constexpr std::int32_t n = 101;
    CsrMatrix<double> a{n, n, std::vector<std::int64_t>(n + 1), {}, {}};
    a.row_offsets.back() = n - 1;
    for (std::int32_t j = 0; j < n - 1; ++j) {
        a.column_indices.push_back(j);
        a.values.push_back(0x1p-537 * (1 - 0x1p-20));
    }
    const double found = product_above(a, std::vector<double>(n, 0x1p-538), false).back();
    EXPECT_GE(Rational(found), Rational(n - 1) * Rational(0x1p-537 * (1 - 0x1p-20)) * Rational(0x1p-538));
}

}  // namespace
}  // namespace solver::guarantee
