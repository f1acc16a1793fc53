#include "guarantee/shifted_factors.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "support/bounds.hpp"

namespace solver::guarantee {
namespace {

/// delta >= the largest row sum of |L| |U - H L^T| + gamma |L| |U|, and u (2 + s).
TEST(ShiftedFactors, HoldWhatMayBeMissingOfThreeKinds) {
    Random random(8);
    for (int trial = 0; trial < 600; ++trial) {
        IluFactors<double> factors = random_factors(random, static_cast<std::int32_t>(1 + random.below(7)), 1, 0);
        const double shift = std::ldexp(1.0, -static_cast<int>(random.below(20)));
        const auto n = static_cast<std::size_t>(factors.upper.rows);
        if (trial % 3 == 0) {  // H L^T to the last bit or nearly so
            const CsrMatrix<double> columns = transpose(factors.lower.view());
            std::vector<Entry<double>> upper;
            for (std::size_t i = 0; i < n; ++i) {
                const double pivot = factors.upper.values[factors.upper.row_offsets[i]];
                const auto row = static_cast<std::int32_t>(i);
                upper.push_back({row, row, pivot});
                for (std::int64_t k = columns.row_offsets[i]; k < columns.row_offsets[i + 1]; ++k)
                    upper.push_back({row, columns.column_indices[k], pivot * columns.values[k]});
            }
            factors.upper = csr_from_entries<double>(factors.upper.rows, factors.upper.rows, upper);
        }
        Dense l(n, std::vector<Rational>(n)), f = l;
        for (std::size_t i = 0; i < n; ++i) {
            l[i][i] = Rational(1.0);
            for (std::int64_t k = factors.lower.row_offsets[i]; k < factors.lower.row_offsets[i + 1]; ++k)
                l[i][factors.lower.column_indices[k]] = Rational(factors.lower.values[k]);
        }
        for (std::size_t i = 0; i < n; ++i) {
            const Rational pivot(factors.upper.values[factors.upper.row_offsets[i]]);
            for (std::int64_t k = factors.upper.row_offsets[i] + 1; k < factors.upper.row_offsets[i + 1]; ++k)
                f[i][factors.upper.column_indices[k]] = Rational(factors.upper.values[k]);
            for (std::size_t j = i + 1; j < n; ++j) f[i][j] = abs(f[i][j] - pivot * l[j][i]);
        }
        const std::vector<Rational> asymmetry =
            times(magnitudes(factors.lower, true), times(f, std::vector<Rational>(n, Rational(1.0))));
        const std::vector<Rational> error = errors_of_factors(factors, Rational(0.0));
        Rational most(0.0);
        for (std::size_t i = 0; i < n; ++i) most = std::max(most, asymmetry[i] + error[i]);
        most += Rational(0x1p-53) * (Rational(2.0) + Rational(shift));
        const double found = error_of_shifted_factors_above(factors, shift);
        EXPECT_GE(Rational(found), most);
        if (trial % 3 != 0) expect_tight(most, found, 1 + 1e-10);
    }
}

/// With no multiplier and one pivot there is rounding of the diagonal alone.
TEST(ShiftedFactors, CountTheShiftsOwnRounding) {
    const IluFactors<double> factors{{1, 1, {0, 0}, {}, {}}, {1, 1, {0, 1}, {0}, {0x1p-40}}};
    EXPECT_GE(Rational(error_of_shifted_factors_above(factors, 0.5)), Rational(0x1p-53) * Rational(2.5));
    const IluFactors<double> tiny{factors.lower, {1, 1, {0, 1}, {0}, {0x1p-1000}}};
    EXPECT_GE(Rational(error_of_shifted_factors_above(tiny, 0x1p-53)), Rational(0x1p-53) * Rational(2.0) + Rational(0x1p-106));
}

TEST(ShiftedFactors, AreInfinitelyFarOffWhereTheyHaveNoNumbers) {
    constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    const CsrMatrix<double> lower{2, 2, {0, 0, 0}, {}, {}};
    for (const double bad : {inf, -inf, nan}) {
        const IluFactors<double> factors{lower, {2, 2, {0, 2, 3}, {0, 1, 1}, {1, bad, 1}}};
        EXPECT_EQ(error_of_shifted_factors_above(factors, 0.5), inf) << bad;
    }
}

Certificate by_shift(const CsrMatrix<double>& a) {
    const Preparation p = prepare(a.view(), Ordering::amd);
    return certificate_by_shift(a.view(), p, *make_klu<double>(a.view(), p, {}, Device::cpu(1)), 0);
}

/// C = I - (1 - e) q q', q one large element and many small ones: its inverse takes signs of one kind to n^(1/2) / e.
TEST(ShiftedFactors, BoundTheInverseInTheMaximumNorm) {
    constexpr std::int32_t n = 300;
    std::vector<double> q(n, std::sqrt(0.5 / (n - 1)));
    q[0] = std::sqrt(0.5);
    constexpr double e = 0x1p-10;
    std::vector<Entry<double>> entries;
    for (std::int32_t i = 0; i < n; ++i)
        for (std::int32_t j = 0; j < n; ++j) entries.push_back({i, j, (i == j ? 1 : 0) - (1 - e) * (q[i] * q[j])});
    const Certificate certificate = by_shift(csr_from_entries<double>(n, n, entries));
    ASSERT_TRUE(certificate.is_proof()) << certificate.reason;
    double sum = 0;  // (C^-1 1)_0 = 1 + (1 / e - 1) q_0 sum q
    for (const double x : q) sum += x;
    const double weight = *std::max_element(certificate.weights.begin(), certificate.weights.end());
    EXPECT_GE(certificate.reach[0] * weight, (1 + (1 / e - 1) * q[0] * sum) * (1 - 1e-9));
}

/// Takes every matrix for a multiple of the identity.
class Multiple final : public Preconditioner<double> {
public:
    explicit Multiple(double factor) : factor_(factor) {}
    void apply(std::span<const double> r, std::span<double> z, Accuracy) const override {
        std::transform(r.begin(), r.end(), z.begin(), [&](double x) { return x / factor_; });
    }

private:
    double factor_;
};

/// Whatever the estimate of the least eigenvalue is: that of the first is 0.0625, that of the second -1.
TEST(ShiftedFactors, DoNotRelyOnTheEstimate) {
    const CsrMatrix<double> definite{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {1, 0.9375, 0.9375, 1}};
    const CsrMatrix<double> indefinite{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {1, 2, 2, 1}};
    for (const double estimate : {0.03, 0.15, 0.3, 0.6, 1.2}) {
        const auto by = [&](const CsrMatrix<double>& a) {
            return certificate_by_shift(a.view(), prepare(a.view(), Ordering::amd), Multiple(estimate), 0);
        };
        EXPECT_FALSE(by(indefinite).is_proof()) << estimate;
        EXPECT_EQ(by(definite).is_proof(), estimate < 0.5) << estimate;  // shifts of a power of two, and a quarter of it
        for (const double reach : by(definite).reach) EXPECT_GE(reach, 16 / std::sqrt(2.0)) << estimate;
    }
}

TEST(ShiftedFactors, ProveNothingOfWhatIsNotDefinite) {
    const CsrMatrix<double> indefinite{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {1, 2, 2, 1}};
    EXPECT_FALSE(by_shift(indefinite).is_proof());
    const CsrMatrix<double> hardly{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {1, 1, 1, 1 + 0x1p-52}};
    EXPECT_FALSE(by_shift(hardly).is_proof());
    const CsrMatrix<double> definite{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {1, 1, 1, 1 + 0x1p-40}};
    EXPECT_TRUE(by_shift(definite).is_proof());
}

/// |A^-1 r|_i <= reach_i N(r) for unit vectors and signs, A scaled by powers of two.
TEST(ShiftedFactors, BoundTheInverseOfScaledMatrices) {
    Random random(9);
    for (int trial = 0; trial < 40; ++trial) {
        const std::size_t n = 2 + random.below(6);
        std::vector<double> dense(n * n);
        std::vector<int> exponents(n);
        for (int& x : exponents) x = static_cast<int>(random.below(60)) - 30;
        std::vector<Entry<double>> entries;
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < n; ++j) {
                const double value = i == j ? 4 : i > j ? dense[j * n + i] : std::rint(3 * random.uniform());
                dense[i * n + j] = i > j    ? value
                                   : i == j ? std::ldexp(value, 2 * exponents[i])
                                            : std::ldexp(value / static_cast<double>(n), exponents[i] + exponents[j]);
                if (i > j) dense[i * n + j] = dense[j * n + i];
            }
        for (std::size_t k = 0; k < n * n; ++k)
            if (dense[k] != 0)
                entries.push_back({static_cast<std::int32_t>(k / n), static_cast<std::int32_t>(k % n), dense[k]});
        const auto size = static_cast<std::int64_t>(n);
        const Certificate certificate = by_shift(csr_from_entries<double>(size, size, entries));
        if (!certificate.is_proof()) continue;
        expect_bounds_inverse(certificate, dense);
    }
}

/// U has a one beside its first pivot, then thirty thousand terms that are lost one by one.
TEST(ShiftedFactors, CountTheRoundingOfLongRows) {
    constexpr std::int32_t n = 30001;
    constexpr double lost = 0x1p-53 * 0.9375;
    IluFactors<double> factors{diagonal_with_long_row(n, false, 1, n, 0), diagonal_with_long_row(n, true, 1, 0, lost)};
    factors.upper.values[1] = 1;
    EXPECT_GE(Rational(error_of_shifted_factors_above(factors, 1)), Rational(1.0) + Rational(n - 2) * Rational(lost));
}

}  // namespace
}  // namespace solver::guarantee
