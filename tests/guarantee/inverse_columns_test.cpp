#include "guarantee/inverse_columns.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "support/bounds.hpp"

namespace solver::guarantee {
namespace {

/// Columns that are off by as much as alpha = 0.9.
// Promise: guarantee.hpp, "N(r) is the sum"
TEST(InverseColumns, GrowByWhatIsMissingOfTheIdentity) {
    Random random(10);
    int proven = 0;
    for (int trial = 0; trial < 200; ++trial) {
        const std::size_t n = 1 + random.below(5);
        std::vector<double> dense(n * n);
        for (double& x : dense) x = random.uniform();
        std::vector<Entry<double>> entries;
        for (std::size_t k = 0; k < n * n; ++k)
            entries.push_back({static_cast<std::int32_t>(k / n), static_cast<std::int32_t>(k % n), dense[k]});
        const auto size = static_cast<std::int64_t>(n);
        const CsrMatrix<double> a = csr_from_entries<double>(size, size, entries);
        Preparation p = without_scales(static_cast<std::int32_t>(n));
        for (std::int32_t& e : p.row_exponents) e = static_cast<std::int32_t>(random.below(9)) - 4;
        const double off = std::ldexp(1.0, -static_cast<int>(random.below(12)));
        std::vector<std::vector<double>> y, low;
        for (std::size_t j = 0; j < n; ++j) {
            std::vector<double> unit(n);
            unit[j] = std::ldexp(1.0, -p.row_exponents[j]);
            const std::vector<Rational> column = testing::solve_in_rationals(dense, unit);
            if (column.empty()) break;
            y.emplace_back();
            low.emplace_back();
            for (const Rational& x : column) {
                y.back().push_back(x.rounded() * (1 + off * random.uniform()));
                low.back().push_back(trial % 2 == 0 ? 0 : y.back().back() * 0x1p-3 * off * random.uniform());
            }
        }
        if (y.size() < n) continue;
        Rational alpha(0.0);
        std::vector<Rational> most(n);
        for (std::size_t j = 0; j < n; ++j) {
            Rational column(0.0);
            for (std::size_t i = 0; i < n; ++i) {
                const Rational whole = Rational(y[j][i]) + Rational(low[j][i]);
                most[i] = std::max(most[i], abs(Rational(y[j][i])) + abs(Rational(low[j][i])));
                Rational g(i == j ? 1.0 : 0.0);
                for (std::size_t k = 0; k < n; ++k)
                    g -= Rational(dense[i * n + k]) * power(p.row_exponents[i]) * (Rational(y[j][k]) + Rational(low[j][k]));
                column += abs(g);
                EXPECT_LE(abs(whole), most[i]);
            }
            alpha = std::max(alpha, column);
        }
        const Certificate certificate = certificate_by_inverse(
            SpmvPlan<double>(a, Device::cpu(1)), p, [&](std::int64_t j, std::span<double> to, std::span<double> to_low) {
                std::copy(y[j].begin(), y[j].end(), to.begin());
                std::copy(low[j].begin(), low[j].end(), to_low.begin());
            });
        EXPECT_EQ(certificate.is_proof(), alpha < Rational(1.0)) << alpha.approximate();
        if (!certificate.is_proof() || alpha > Rational(0.99)) continue;
        ++proven;
        EXPECT_TRUE(certificate.adds_up);
        for (std::size_t i = 0; i < n; ++i) {
            expect_tight(most[i] / (Rational(1.0) - alpha), certificate.reach[i], 1 + 1e-9);
            EXPECT_EQ(certificate.weights[i], std::ldexp(1.0, p.row_exponents[i]));
        }
    }
    EXPECT_GT(proven, 80);
}

/// The column that is farthest off stands among those that are made first.
TEST(InverseColumns, AreJudgedByTheWorstOfAll) {
    constexpr std::int32_t n = 40;
    CsrMatrix<double> identity{n, n, {0}, {}, {}};
    for (std::int32_t i = 0; i < n; ++i) {
        identity.column_indices.push_back(i);
        identity.values.push_back(1);
        identity.row_offsets.push_back(i + 1);
    }
    const auto column = [](std::int64_t j, std::span<double> y, std::span<double>) { y[j] = j == 3 ? 0.25 : 1; };
    const Certificate certificate =
        certificate_by_inverse(SpmvPlan<double>(identity, Device::cpu(1)), without_scales(n), column);
    ASSERT_TRUE(certificate.is_proof());
    for (const std::int64_t i : {0, 3, 39}) EXPECT_GE(certificate.reach[i], i == 3 ? 1 : 4);
}

/// A is a multiple of the identity, so small that what its columns miss is rounded to 0: 63 times 0.49 of the smallest number.
TEST(InverseColumns, CountWhatUnderflowTakesFromWhatTheyMiss) {
    constexpr std::int32_t n = 64;
    constexpr double missing = 0.49 * 0x1p-51;
    CsrMatrix<double> a = diagonal_with_long_row(n, true, 1, n, 0);
    a.values.assign(n, 0x1p-1023);
    Preparation p = without_scales(n);
    p.row_exponents.assign(n, 1023);
    const auto column = [&](std::int64_t j, std::span<double> y, std::span<double>) {
        std::fill(y.begin(), y.end(), missing);
        y[j] = 1;
    };
    const Certificate certificate = certificate_by_inverse(SpmvPlan<double>(a, Device::cpu(1)), p, column);
    ASSERT_TRUE(certificate.is_proof());
    EXPECT_GE(Rational(certificate.reach[0]), Rational(1.0) / (Rational(1.0) - Rational(n - 1) * Rational(missing)));
}

/// The first column misses 1, by twenty thousand terms that are lost one by one beside its first.
TEST(InverseColumns, CountTheRoundingOfLongColumns) {
    constexpr std::int32_t n = 20001;
    constexpr double lost = 0x1p-54 * 0.9375, first = 1 - (n - 1) * lost;
    ASSERT_GE(Rational(first) + Rational(n - 1) * Rational(lost), Rational(1 - 0x1p-53));
    const auto column = [&](std::int64_t j, std::span<double> y, std::span<double>) {
        if (j == 0) std::fill(y.begin(), y.end(), lost);
        y[j] = j == 0 ? 1 - first - 0x1p-53 : 1;
    };
    const CsrMatrix<double> identity = diagonal_with_long_row(n, true, 1, n, 0);
    EXPECT_FALSE(certificate_by_inverse(SpmvPlan<double>(identity, Device::cpu(1)), without_scales(n), column).is_proof());
}

}  // namespace
}  // namespace solver::guarantee
