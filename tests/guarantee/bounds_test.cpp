/// Every bound is at least what it bounds, by rational arithmetic and without any allowance, and hardly more: a term that is
/// left out shows here.

#include "guarantee/comparison_matrix.hpp"
#include "guarantee/factor_bound.hpp"
#include "guarantee/inverse_columns.hpp"
#include "guarantee/norms.hpp"
#include "guarantee/shifted_factors.hpp"
#include "preconditioner/klu.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "solver/csr_matrix.hpp"
#include "support/rational_system.hpp"

namespace solver::guarantee {
namespace {

using testing::Rational;

constexpr double eta = std::numeric_limits<double>::denorm_min();

class Random {
public:
    explicit Random(std::uint64_t seed) : engine_(seed) {}
    std::size_t below(std::size_t n) { return engine_() % n; }
    double uniform() { return std::uniform_real_distribution<double>(-1, 1)(engine_); }
    double wide(int low, int high) {
        return std::ldexp(1 + uniform() / 2, low + static_cast<int>(below(static_cast<std::size_t>(high - low + 1))));
    }

private:
    std::mt19937_64 engine_;
};

Rational power(int exponent) {
    Rational result(1.0);
    const Rational factor(exponent < 0 ? 0.5 : 2.0);
    for (int k = 0; k < std::abs(exponent); ++k) result *= factor;
    return result;
}

/// bound >= exact, and not by more than this factor and so many times the smallest number.
void expect_tight(const Rational& exact, double bound, double factor, double more = 0) {
    EXPECT_GE(Rational(bound), exact) << bound;
    EXPECT_LE(Rational(bound), exact * Rational(factor) + Rational(more)) << bound << " for " << exact.approximate();
}

Certificate random_certificate(Random& random, std::size_t n, bool adds_up, int low, int high) {
    Certificate certificate;
    certificate.status = ProofStatus::proven;
    certificate.adds_up = adds_up;
    for (std::size_t i = 0; i < n; ++i) {
        certificate.reach.push_back(random.wide(low, high));
        certificate.weights.push_back(random.wide(low, high));
    }
    return certificate;
}

Rational norm(const Certificate& certificate, const std::vector<Rational>& r) {
    Rational most(0.0), sum(0.0);
    for (std::size_t i = 0; i < r.size(); ++i) {
        const Rational term = Rational(certificate.weights[i]) * abs(r[i]);
        most = std::max(most, term);
        sum += term;
    }
    return certificate.adds_up ? sum : most;
}

TEST(Norms, AreAboveTheirTerms) {
    Random random(1);
    for (int trial = 0; trial < 2000; ++trial) {
        const std::size_t n = 1 + random.below(4);
        const bool tiny = trial % 4 == 0;
        const Certificate certificate = random_certificate(random, n, trial % 2 == 0, tiny ? -600 : -4, tiny ? -500 : 4);
        std::vector<double> sizes(n);
        std::vector<Rational> exact;
        for (double& size : sizes) exact.emplace_back(size = random.wide(tiny ? -600 : -3, tiny ? -450 : 3));
        const double found = norm_above(certificate, [&](std::int64_t i) { return sizes[static_cast<std::size_t>(i)]; });
        expect_tight(norm(certificate, exact), found, 1 + 1e-11, 3 * static_cast<double>(n) * eta);
    }
}

TEST(Norms, AreInfiniteForWhatIsNoNumber) {
    Random random(2);
    for (const bool adds_up : {false, true}) {
        const Certificate certificate = random_certificate(random, 3, adds_up, 0, 1);
        const auto size = [](std::int64_t i) { return i == 1 ? std::numeric_limits<double>::quiet_NaN() : 1.0; };
        EXPECT_EQ(norm_above(certificate, size), std::numeric_limits<double>::infinity());
    }
}

/// Whichever thread finds it, and whichever ends last.
TEST(Norms, AreTheLargestOfAllThreads) {
    constexpr std::int64_t size = 1 << 20;
    for (const std::int64_t place : {std::int64_t{0}, size / 2, size - 1})
        EXPECT_EQ(largest(size, [&](std::int64_t i) { return i == place ? 2.0 : 1.0; }), 2) << place;
}

/// Up to half an ulp, also where the number is a power of two, and below the smallest one.
template <class T>
void expect_sizes_before_rounding() {
    Random random(3);
    for (int trial = 0; trial < 2000; ++trial) {
        const T rounded = static_cast<T>(trial % 3 == 0 ? 1.0 : random.wide(-3, 3));
        const double half_ulp = (static_cast<double>(std::nextafter(rounded, T(100))) - static_cast<double>(rounded)) / 2;
        const Rational before = Rational(static_cast<double>(rounded)) +
                                Rational(half_ulp) * Rational(trial % 2 == 0 ? 1 : std::abs(random.uniform()));
        EXPECT_GE(Rational(size_before_rounding(rounded)) * Rational(inflation), before);
        EXPECT_GE(Rational(size_before_rounding(-rounded)) * Rational(inflation), before);
        EXPECT_LE(size_before_rounding(rounded),
                  static_cast<double>(rounded) * (1 + 4 * static_cast<double>(unit_roundoff<T>)));
    }
    EXPECT_GE(size_before_rounding(T(0)), static_cast<double>(smallest_subnormal<T>) / 2);
    EXPECT_GT(size_before_rounding(T(0)), 0);
    EXPECT_EQ(size_before_rounding(T(0), 1.0), 1.0);
}

TEST(Norms, KnowHowLargeANumberWasBeforeItWasRounded) {
    expect_sizes_before_rounding<double>();
    expect_sizes_before_rounding<float>();
}

/// 1 / w <= weight for every w that was rounded to what is given.
TEST(ComparisonMatrix, WeighsByWhatSumsWereBeforeRounding) {
    Random random(4);
    std::vector<double> v, w;
    std::vector<Rational> exact;
    for (int k = 0; k < 20000; ++k) {
        v.push_back(random.wide(-10, 10));
        w.push_back(random.wide(-10, 10));
        const double half_ulp = (w.back() - std::nextafter(w.back(), 0.0)) / 2;
        exact.push_back(Rational(w.back()) - Rational(half_ulp));
    }
    std::vector<double> taken_v = v, taken_w = w;
    const Certificate certificate = certificate_of(taken_v, taken_w);
    ASSERT_TRUE(certificate.is_proof());
    EXPECT_EQ(certificate.reach, v);
    for (std::size_t i = 0; i < w.size(); ++i) {
        ASSERT_GE(Rational(certificate.weights[i]) * exact[i], Rational(1.0));
        ASSERT_LE(certificate.weights[i] * w[i], 1 + 1e-15);
    }
}

TEST(ComparisonMatrix, NeedsNormalPositiveNumbers) {
    constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    for (const double bad : {0.0, -1.0, eta, std::numeric_limits<double>::min() / 2, inf, nan}) {
        std::vector one{1.0, bad}, other{1.0, 1.0};
        EXPECT_FALSE(certificate_of(one, other).is_proof()) << bad;
        EXPECT_FALSE(certificate_of(other, one).is_proof()) << bad;
        EXPECT_EQ(other, std::vector(2, 1.0)) << "left for another try";
    }
}

/// Two or three parts of a diagonal element whose sum is no number: <A> has less.
TEST(ComparisonMatrix, HasNoMoreOnTheDiagonalThanA) {
    Random random(5);
    for (int trial = 0; trial < 500; ++trial) {
        std::vector<double> parts{random.wide(-60, -50), random.wide(-2, 2), -random.wide(-2, 2)};
        if (trial % 2 == 0) parts.erase(parts.begin() + trial % 4 / 2);
        const std::vector<std::int32_t> columns(parts.size());
        const CsrMatrix<double> a{1, 1, {0, static_cast<std::int64_t>(parts.size())}, columns, parts};
        const CsrMatrix<double> c = comparison_matrix(a.view());
        Rational exact(0.0), found(0.0);
        for (const double part : parts) exact += Rational(part);
        for (const double value : c.values) found += Rational(value);
        EXPECT_LE(found, abs(exact));
        EXPECT_GE(found * Rational(1 + 1e-14) + Rational(eta), abs(exact));
    }
}

TEST(ComparisonMatrix, IsAWhereTheDiagonalIsPositiveAndStoredOnce) {
    const auto is_its_own = [](double first, double beside, std::int32_t column = 0) {
        const CsrMatrix<double> a{2, 2, {0, 2, 3}, {column, 1, 1}, {first, beside, 1}};
        return is_its_comparison_matrix(a.view());
    };
    EXPECT_TRUE(is_its_own(2, -1));
    EXPECT_TRUE(is_its_own(2, 0));
    EXPECT_FALSE(is_its_own(2, 1));
    EXPECT_FALSE(is_its_own(0, -1));
    EXPECT_FALSE(is_its_own(-2, -1));
    EXPECT_FALSE(is_its_own(-2, -1, 1)) << "no diagonal";
    EXPECT_FALSE(is_its_own(std::numeric_limits<double>::quiet_NaN(), -1));
    EXPECT_FALSE(is_its_own(2, std::numeric_limits<double>::quiet_NaN()));
    EXPECT_FALSE(is_its_comparison_matrix(CsrMatrix<double>{1, 1, {0, 2}, {0, 0}, {1, 1}}.view())) << "in two parts";
}

using Dense = std::vector<std::vector<Rational>>;

/// |A|, with ones on the diagonal if that is not stored.
Dense magnitudes(const CsrMatrix<double>& a, bool has_unit_diagonal) {
    const auto n = static_cast<std::size_t>(a.rows);
    Dense dense(n, std::vector<Rational>(n));
    for (std::size_t i = 0; i < n; ++i) {
        if (has_unit_diagonal) dense[i][i] = Rational(1.0);
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
            dense[i][a.column_indices[k]] = abs(Rational(a.values[k]));
    }
    return dense;
}

std::vector<Rational> times(const Dense& a, const std::vector<Rational>& x) {
    std::vector<Rational> y(a.size());
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t j = 0; j < a.size(); ++j) y[i] += a[i][j] * x[j];
    return y;
}

/// <U>^-1 <L>^-1 x
std::vector<Rational> solve(const Dense& l, const Dense& u, std::vector<Rational> x) {
    const std::size_t n = x.size();
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < i; ++j) x[i] += l[i][j] * x[j];
    for (std::size_t i = n; i-- > 0;) {
        for (std::size_t j = i + 1; j < n; ++j) x[i] += u[i][j] * x[j];
        x[i] /= u[i][i];
    }
    return x;
}

/// Triangles with so large entries beside the diagonal that rounding errors may add up to nearly anything.
IluFactors<double> random_factors(Random& random, std::int32_t n, double size, int exponent) {
    std::vector<Entry<double>> lower, upper;
    for (std::int32_t i = 0; i < n; ++i)
        for (std::int32_t j = 0; j < n; ++j) {
            if (i != j && random.below(3) == 0) continue;
            const double value = i == j ? std::ldexp(1 + random.uniform() / 2, exponent) : size * random.uniform();
            if (j < i) lower.push_back({i, j, value});
            if (j >= i) upper.push_back({i, j, i == j ? value : std::ldexp(value, exponent)});
        }
    return {csr_from_entries<double>(n, n, lower), csr_from_entries<double>(n, n, upper)};
}

Preparation without_scales(std::int32_t n) {
    Preparation p;
    p.row_exponents.assign(static_cast<std::size_t>(n), 0);
    p.column_exponents = p.row_exponents;
    p.row_order.resize(static_cast<std::size_t>(n));
    std::iota(p.row_order.begin(), p.row_order.end(), 0);
    p.column_order = p.row_order;
    p.structural_rank = n;
    return p;
}

/// Row by row gamma_k (|L| |U| 1)_i, k one more than the entries of row i of L; `lost` for each of its products.
std::vector<Rational> errors_of_factors(const IluFactors<double>& factors, const Rational& lost) {
    const Dense l = magnitudes(factors.lower, true), u = magnitudes(factors.upper, false);
    const std::vector<Rational> ones(l.size(), Rational(1.0));
    std::vector<Rational> t = times(l, times(u, ones));
    for (std::size_t i = 0; i < t.size(); ++i) {
        const Rational k(static_cast<double>(factors.lower.view().row_length(static_cast<std::int64_t>(i)) + 1));
        const Rational ku = k * Rational(0x1p-53);
        t[i] = t[i] * ku / (Rational(1.0) - ku) + k * Rational(static_cast<double>(l.size())) * lost;
    }
    return t;
}

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
        std::vector<double> dense(n * n), rhs(n);
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
        for (std::size_t j = 0; j < n; ++j) {
            std::fill(rhs.begin(), rhs.end(), 0.0);
            rhs[j] = 1;
            const std::vector<Rational> column = testing::solve_in_rationals(dense, rhs);
            for (std::size_t i = 0; i < n; ++i)
                EXPECT_LE(abs(column[i]), Rational(certificate.reach[i]) * Rational(certificate.weights[j]));
        }
    }
}

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

/// A diagonal of ones and `last`, if any, with such entries beside it in one row, if any.
CsrMatrix<double> diagonal_with_long_row(std::int32_t n, bool has_diagonal, double last, std::int32_t long_row, double entry) {
    std::vector<Entry<double>> entries;
    for (std::int32_t i = 0; i < n; ++i) {
        if (has_diagonal) entries.push_back({i, i, i == n - 1 ? last : 1});
        if (long_row < n && i != long_row) entries.push_back({long_row, i, entry});
    }
    return csr_from_entries<double>(n, n, entries);
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

/// U has a one beside its first pivot, then thirty thousand terms that are lost one by one.
TEST(ShiftedFactors, CountTheRoundingOfLongRows) {
    constexpr std::int32_t n = 30001;
    constexpr double lost = 0x1p-53 * 0.9375;
    IluFactors<double> factors{diagonal_with_long_row(n, false, 1, n, 0), diagonal_with_long_row(n, true, 1, 0, lost)};
    factors.upper.values[1] = 1;
    EXPECT_GE(Rational(error_of_shifted_factors_above(factors, 1)), Rational(1.0) + Rational(n - 2) * Rational(lost));
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

/// A random A, x and b, and b - A (x + low).
template <class T>
struct Residual {
    CsrMatrix<T> a;
    std::vector<T> b, x, low;
    std::vector<Rational> exact;
    std::vector<Rational> terms;  ///< |A| |x + low| + |b|

    Residual(Random& random, std::size_t n, int exponent, bool is_pair) {
        std::vector<Entry<T>> entries;
        const auto number = [&] { return static_cast<T>(std::ldexp(random.uniform(), exponent)); };
        for (std::size_t i = 0; i < n; ++i) {
            b.push_back(static_cast<T>(std::ldexp(random.uniform(), 2 * exponent)));
            x.push_back(number());
            if (is_pair) low.push_back(static_cast<T>(static_cast<double>(x.back()) * 0x1p-25 * random.uniform()));
            for (std::size_t j = 0; j < n; ++j)
                entries.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(j), number()});
        }
        a = csr_from_entries<T>(static_cast<std::int64_t>(n), static_cast<std::int64_t>(n), entries);
        for (std::size_t i = 0; i < n; ++i) {
            Rational r(static_cast<double>(b[i])), sum = abs(r);
            for (std::size_t j = 0; j < n; ++j) {
                const Rational whole =
                    Rational(static_cast<double>(x[j])) + Rational(is_pair ? static_cast<double>(low[j]) : 0);
                const Rational product = Rational(static_cast<double>(a.values[i * n + j])) * whole;
                r -= product;
                sum += abs(product);
            }
            exact.push_back(r);
            terms.push_back(sum);
        }
    }
};

template <class T>
void expect_error_bounds() {
    Random random(11);
    const int tiny = std::numeric_limits<T>::min_exponent / 2 - 8;
    for (int trial = 0; trial < 600; ++trial) {
        const std::size_t n = 1 + random.below(4);
        const Residual<T> system(random, n, trial % 3 == 0 ? tiny : 0, trial % 2 == 0);
        const Certificate certificate =
            random_certificate(random, n, trial % 4 < 2, trial % 5 == 0 ? -540 : -3, trial % 5 == 0 ? -500 : 3);
        std::vector<double> bounds(n);
        error_bound<T>(SpmvPlan<T>(system.a, Device::cpu(1)), certificate, system.b, system.x, system.low, bounds);
        const Rational size = norm(certificate, system.exact);
        for (std::size_t i = 0; i < n; ++i) EXPECT_GE(Rational(bounds[i]), Rational(certificate.reach[i]) * size) << trial;
        if (trial % 3 != 0 && trial % 5 != 0) {
            for (std::size_t i = 0; i < n; ++i)
                EXPECT_LE(Rational(bounds[i]), Rational(certificate.reach[i]) * size *
                                                   Rational(1 + 4 * static_cast<double>(unit_roundoff<T>) + 1e-11));
        }
    }
}

TEST(ErrorBound, IsAtLeastTheCertificatesBoundOfTheTrueResidual) {
    expect_error_bounds<double>();
    expect_error_bounds<float>();
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
    EXPECT_GE(backward_error_of_row({0}, eta, {1}), 1) << "b alone";
    EXPECT_GE(backward_error_of_row({0x1p-537}, 0, {0}, {0x1p-538}), 1) << "a product with a second part";
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
