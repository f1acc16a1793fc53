#include "guarantee/inverse_in_pairs.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "solver/csr_matrix.hpp"
#include "support/rational_system.hpp"

namespace solver::guarantee {
namespace {

using testing::Rational;

/// The n x n matrix of 1 / (i + j + 1), rounded: its condition is 1e16 for 12 rows, more for more.
std::vector<double> hilbert(std::size_t n) {
    std::vector<double> a;
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
            a.push_back(std::ldexp(1.0 / static_cast<double>(i + j + 1), static_cast<int>(3 * i)));
    return a;
}

CsrMatrix<double> sparse(const std::vector<double>& a, std::size_t n) {
    std::vector<Entry<double>> entries;
    for (std::size_t k = 0; k < n * n; ++k)
        entries.push_back({static_cast<std::int32_t>(k / n), static_cast<std::int32_t>(k % n), a[k]});
    return csr_from_entries<double>(static_cast<std::int64_t>(n), static_cast<std::int64_t>(n), entries);
}

TEST(InverseInPairs, HasMoreDigitsThanADouble) {
    for (const std::size_t n : {1, 2, 9, 14}) {
        const std::vector<double> dense = hilbert(n);
        const CsrMatrix<double> a = sparse(dense, n);
        const Preparation p = prepare(a.view(), Ordering::amd);
        const InverseInPairs inverse(a.view(), p);
        for (std::size_t j = 0; j < n; ++j) {
            std::vector<double> y(n), low(n), r(n), z(n, 7), z_low(n, 7), unit(n);
            r[j] = 1;
            unit[j] = std::ldexp(1.0, -p.row_exponents[j]);
            inverse.column(static_cast<std::int64_t>(j), y, low);
            inverse.apply(r, z, z_low);
            const std::vector<Rational> of_unit = testing::solve_in_rationals(dense, unit),
                                        of_r = testing::solve_in_rationals(dense, r);
            Rational most(0.0);
            for (const Rational& x : of_unit) most = std::max(most, abs(x));
            for (std::size_t i = 0; i < n; ++i) {
                EXPECT_LE(abs(Rational(y[i]) + Rational(low[i]) - of_unit[i]), most * Rational(1e-9)) << n << ", " << i;
                EXPECT_LE(abs(Rational(z[i]) + Rational(z_low[i]) - of_r[i]), abs(of_r[i]) * Rational(1e-9)) << n << ", " << i;
            }
        }
    }
}

/// What one double a number cannot prove.
// Promise: guarantee.hpp, "A is symmetric positive definite if factors"
TEST(InverseInPairs, ProvesConditionsBeyondThatOfDoubles) {
    const CsrMatrix<double> a = sparse(hilbert(14), 14);
    const Preparation p = prepare(a.view(), Ordering::amd);
    const InverseInPairs inverse(a.view(), p);
    const SpmvPlan<double> plan(a, Device::cpu(1));
    const auto in_pairs = [&](std::int64_t j, std::span<double> y, std::span<double> low) { inverse.column(j, y, low); };
    EXPECT_TRUE(certificate_by_inverse(plan, p, in_pairs).is_proof());
    const auto rounded = [&](std::int64_t j, std::span<double> y, std::span<double>) {
        std::vector<double> low(y.size());
        inverse.column(j, y, low);
    };
    EXPECT_FALSE(certificate_by_inverse(plan, p, rounded).is_proof());
}

TEST(InverseInPairs, OfASingularMatrixProvesNothing) {
    const CsrMatrix<double> a = sparse({1, 1, 1, 1}, 2);
    const Preparation p = prepare(a.view(), Ordering::amd);
    const InverseInPairs inverse(a.view(), p);
    EXPECT_FALSE(
        certificate_by_inverse(SpmvPlan<double>(a, Device::cpu(1)), p,
                               [&](std::int64_t j, std::span<double> y, std::span<double> low) { inverse.column(j, y, low); })
            .is_proof());
}

}  // namespace
}  // namespace solver::guarantee
