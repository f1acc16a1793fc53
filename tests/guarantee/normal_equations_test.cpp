/// What the normal equations prove, and that their bound holds every term, by rational arithmetic.

#include "guarantee/normal_equations.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "solver/csr_matrix.hpp"
#include "solver/error.hpp"
#include "support/bounds.hpp"

namespace solver::guarantee {
namespace {

/// The row sums of D |M - B^T B| D by rational arithmetic, also of numbers so small that products underflow; and not twice what
/// gamma_k |B|^T |B| is.
TEST(NormalEquations, AreNoFurtherOffThanTheirBound) {
    Random random(5);
    for (const int exponent : {0, -530}) {
        for (int trial = 0; trial < 60; ++trial) {
            const std::size_t n = 1 + random.below(6);
            std::vector<double> dense(n * n), d(n);
            std::vector<Entry<double>> entries;
            for (double& x : d) x = std::ldexp(1.0, static_cast<int>(random.below(3)) - 1);
            for (std::size_t k = 0; k < n * n; ++k) {
                dense[k] = std::ldexp(random.uniform(), exponent);
                entries.push_back({static_cast<std::int32_t>(k / n), static_cast<std::int32_t>(k % n), dense[k]});
            }
            const auto size = static_cast<std::int64_t>(n);
            const CsrMatrix<double> b = csr_from_entries<double>(size, size, entries);
            const NormalEquations made = normal_equations(b);
            EXPECT_EQ(made.most_terms, size);
            const double bound = error_of_normal_equations_above(b, made.most_terms, d);
            double products = 0;
            for (std::size_t i = 0; i < n; ++i) {
                Rational off(0.0);
                double sum = 0;
                for (std::size_t j = 0; j < n; ++j) {
                    Rational entry(made.m.values[i * n + j]);
                    for (std::size_t r = 0; r < n; ++r) {
                        entry -= Rational(dense[r * n + i]) * Rational(dense[r * n + j]);
                        sum += d[i] * d[j] * std::abs(dense[r * n + i] * dense[r * n + j]);
                    }
                    off += abs(entry) * Rational(d[i]) * Rational(d[j]);
                }
                EXPECT_LE(off, Rational(bound));
                products = std::max(products, sum);
            }
            if (exponent == 0) {
                EXPECT_LE(bound, 2 * static_cast<double>(n + 1) * 0x1p-53 * products);
            }
        }
    }
}

Certificate by_normal_equations(const CsrMatrix<double>& a, double most_operations = 1e9) {
    return certificate_by_normal_equations(a.view(), prepare(a.view(), Ordering::amd), most_operations, {});
}

/// |A^-1 r|_i <= reach_i N(r) for unit vectors, A scaled by powers of two from both sides.
TEST(NormalEquations, BoundTheInverse) {
    Random random(21);
    int proven = 0;
    for (int trial = 0; trial < 100; ++trial) {
        const std::size_t n = 2 + random.below(6);
        std::vector<double> dense(n * n);
        std::vector<int> rows(n), columns(n);
        for (int& x : rows) x = static_cast<int>(random.below(60)) - 30;
        for (int& x : columns) x = static_cast<int>(random.below(60)) - 30;
        std::vector<Entry<double>> entries;
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < n; ++j) {
                if (random.below(3) == 0) continue;
                dense[i * n + j] = std::ldexp(random.uniform(), rows[i] + columns[j]);
                entries.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(j), dense[i * n + j]});
            }
        const auto size = static_cast<std::int64_t>(n);
        const CsrMatrix<double> a = csr_from_entries<double>(size, size, entries);
        Certificate certificate;
        try {
            certificate = by_normal_equations(a);
        } catch (const Error&) {
            continue;  // singular by structure
        }
        if (!certificate.is_proof()) continue;
        ++proven;
        expect_bounds_inverse(certificate, dense);
    }
    EXPECT_GT(proven, 50);
}

/// Central differences at a cell Peclet number of 8: no H-matrix, and elimination without exchanges grows.
TEST(NormalEquations, ProveWhatIsNeitherSymmetricNorDominant) {
    constexpr std::int32_t n = 400;
    std::vector<Entry<double>> entries;
    for (std::int32_t i = 0; i < n; ++i) {
        entries.push_back({i, i, 2});
        if (i > 0) entries.push_back({i, i - 1, -1 - 8});
        if (i + 1 < n) entries.push_back({i, i + 1, -1 + 8});
    }
    const Certificate certificate = by_normal_equations(csr_from_entries<double>(n, n, entries));
    EXPECT_TRUE(certificate.is_proof()) << certificate.reason;
    EXPECT_EQ(certificate.reason, "complete factors of the normal equations");
}

TEST(NormalEquations, ProveNothingOfWhatIsSingularOrNearly) {
    const CsrMatrix<double> singular{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {1, 2, 2, 4}};
    const CsrMatrix<double> hardly{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {1, 1, 1, 1 + 0x1p-30}};
    for (const auto& a : {singular, hardly}) {
        Certificate certificate;
        try {
            certificate = by_normal_equations(a);
        } catch (const Error&) {
        }
        EXPECT_FALSE(certificate.is_proof());
    }
}

TEST(NormalEquations, SayWhatTheyWouldTake) {
    constexpr std::int32_t n = 40;
    std::vector<Entry<double>> entries;
    for (std::int32_t i = 0; i < n; ++i)
        for (std::int32_t j = 0; j < n; ++j) entries.push_back({i, j, i == j ? 9.0 : 1.0 / (1 + i + j)});
    const CsrMatrix<double> a = csr_from_entries<double>(n, n, entries);
    EXPECT_EQ(by_normal_equations(a, 1e6).reason, "rows are too long for normal equations");
    EXPECT_EQ(by_normal_equations(a, 1e8).reason, "complete factors of the normal equations");
}

}  // namespace
}  // namespace solver::guarantee
