#pragma once

/// For tests of bounds: what is bounded, in rational arithmetic, and how close to it a bound has to be.

#include "guarantee/norms.hpp"
#include "preconditioner/klu.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/guarantee.hpp"
#include "support/rational_system.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

namespace solver::guarantee {

using testing::Rational;

inline constexpr double eta = std::numeric_limits<double>::denorm_min();

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

inline Rational power(int exponent) {
    Rational result(1.0);
    const Rational factor(exponent < 0 ? 0.5 : 2.0);
    for (int k = 0; k < std::abs(exponent); ++k) result *= factor;
    return result;
}

/// bound >= exact, and not by more than this factor and so many times the smallest number.
inline void expect_tight(const Rational& exact, double bound, double factor, double more = 0) {
    EXPECT_GE(Rational(bound), exact) << bound;
    EXPECT_LE(Rational(bound), exact * Rational(factor) + Rational(more)) << bound << " for " << exact.approximate();
}

inline Certificate random_certificate(Random& random, std::size_t n, bool adds_up, int low, int high) {
    Certificate certificate;
    certificate.status = ProofStatus::proven;
    certificate.adds_up = adds_up;
    for (std::size_t i = 0; i < n; ++i) {
        certificate.reach.push_back(random.wide(low, high));
        certificate.weights.push_back(random.wide(low, high));
    }
    return certificate;
}

/// |A^-1|_ij <= reach_i weights_j for the square A whose rows these are.
inline void expect_bounds_inverse(const Certificate& certificate, const std::vector<double>& dense) {
    const std::size_t n = certificate.reach.size();
    for (std::size_t j = 0; j < n; ++j) {
        std::vector<double> unit(n);
        unit[j] = 1;
        const std::vector<Rational> column = testing::solve_in_rationals(dense, unit);
        for (std::size_t i = 0; i < n; ++i)
            EXPECT_LE(abs(column[i]), Rational(certificate.reach[i]) * Rational(certificate.weights[j]));
    }
}

inline Rational norm(const Certificate& certificate, const std::vector<Rational>& r) {
    Rational most(0.0), sum(0.0);
    for (std::size_t i = 0; i < r.size(); ++i) {
        const Rational term = Rational(certificate.weights[i]) * abs(r[i]);
        most = std::max(most, term);
        sum += term;
    }
    return certificate.adds_up ? sum : most;
}

using Dense = std::vector<std::vector<Rational>>;

/// |A|, with ones on the diagonal if that is not stored.
inline Dense magnitudes(const CsrMatrix<double>& a, bool has_unit_diagonal) {
    const auto n = static_cast<std::size_t>(a.rows);
    Dense dense(n, std::vector<Rational>(n));
    for (std::size_t i = 0; i < n; ++i) {
        if (has_unit_diagonal) dense[i][i] = Rational(1.0);
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
            dense[i][a.column_indices[k]] = abs(Rational(a.values[k]));
    }
    return dense;
}

inline std::vector<Rational> times(const Dense& a, const std::vector<Rational>& x) {
    std::vector<Rational> y(a.size());
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t j = 0; j < a.size(); ++j) y[i] += a[i][j] * x[j];
    return y;
}

/// <U>^-1 <L>^-1 x
inline std::vector<Rational> solve(const Dense& l, const Dense& u, std::vector<Rational> x) {
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
inline IluFactors<double> random_factors(Random& random, std::int32_t n, double size, int exponent) {
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

inline Preparation without_scales(std::int32_t n) {
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
inline std::vector<Rational> errors_of_factors(const IluFactors<double>& factors, const Rational& lost) {
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

/// A diagonal of ones and `last`, if any, with such entries beside it in one row, if any.
inline CsrMatrix<double> diagonal_with_long_row(std::int32_t n, bool has_diagonal, double last, std::int32_t long_row,
                                                double entry) {
    std::vector<Entry<double>> entries;
    for (std::int32_t i = 0; i < n; ++i) {
        if (has_diagonal) entries.push_back({i, i, i == n - 1 ? last : 1});
        if (long_row < n && i != long_row) entries.push_back({long_row, i, entry});
    }
    return csr_from_entries<double>(n, n, entries);
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

}  // namespace solver::guarantee
