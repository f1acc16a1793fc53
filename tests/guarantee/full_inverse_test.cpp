/// That certificates by an inverse of blocks bound what they say, by integers.

#include "guarantee/full_inverse.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "solver/csr_matrix.hpp"
#include "solver/dense_matrix.hpp"
#include "solver/solve.hpp"
#include "support/exact_systems.hpp"

namespace solver::guarantee {
namespace {

using testing::ExactNumber;

/// By rows.
CsrMatrix<double> full(const std::vector<double>& a, std::size_t n) {
    std::vector<Entry<double>> entries;
    for (std::size_t k = 0; k < n * n; ++k)
        entries.push_back({static_cast<std::int32_t>(k / n), static_cast<std::int32_t>(k % n), a[k]});
    return csr_from_entries<double>(static_cast<std::int64_t>(n), static_cast<std::int64_t>(n), entries);
}

FullInverse inverse_of(const std::vector<double>& a, std::size_t n) {
    const CsrMatrix<double> matrix = full(a, n);
    return {matrix.view(), prepare(matrix.view(), Ordering::natural), Device::cpu()};
}

/// k / 1024 in [-1, 1]: few bits, so that integers stay short.
double element(std::mt19937_64& random) { return (static_cast<double>(random() % 2049) - 1024) / 1024; }

/// Of such elements, rows and columns far apart in size.
std::vector<double> random_matrix(std::mt19937_64& random, std::size_t n, int most_exponent) {
    std::uniform_int_distribution<int> exponent(-most_exponent, most_exponent);
    std::vector<int> rows(n), columns(n);
    for (int& e : rows) e = exponent(random);
    for (int& e : columns) e = exponent(random);
    std::vector<double> a;
    for (std::size_t k = 0; k < n * n; ++k) a.push_back(std::ldexp(element(random), rows[k / n] + columns[k % n]));
    return a;
}

/// r = D_r^-1 e_j for some j: N(r) = 1.
void expect_bounds(const std::vector<double>& a, std::size_t n, std::size_t step) {
    const Certificate certificate = inverse_of(a, n).certificate();
    ASSERT_TRUE(certificate.is_proof()) << certificate.reason;
    EXPECT_TRUE(certificate.adds_up);
    const std::size_t columns = (n + step - 1) / step;
    std::vector<double> unit(n * columns);
    for (std::size_t j = 0; j < columns; ++j) unit[j * step * columns + j] = 1 / certificate.weights[j * step];
    const std::vector<ExactNumber> y = testing::solve_exactly(a, unit, n);
    for (std::size_t i = 0; i < n; ++i) {
        bool is_reached = false;
        for (std::size_t j = 0; j < columns; ++j) {
            EXPECT_TRUE(y[i + j * n].is_within(certificate.reach[i], 0)) << n << ": " << i << ", " << j;
            is_reached = is_reached || !y[i + j * n].is_within(certificate.reach[i] * (1 - 0x1p-8), 0);
        }
        if (step == 1) {
            EXPECT_TRUE(is_reached) << n << ": " << i;
        }
    }
}

TEST(FullInverse, BoundsEveryComponentAndHardlyMore) {
    std::mt19937_64 random(7);
    for (const std::size_t n : {1, 2, 3, 7, 16, 25}) expect_bounds(random_matrix(random, n, 40), n, 1);
    expect_bounds(random_matrix(random, 65, 2), 65, 8);
    expect_bounds(random_matrix(random, 140, 0), 140, 70);
}

/// The leading half is 2^-20 from singular, and no row of the other half comes to its help: elements of 1e6 cancel, and alpha
/// is above 2^-10 before the steps of Schulz. Afterwards N(r - A d) <= 2^-10 N(r), here for r = D_r^-1 e_j.
TEST(FullInverse, RegainsWhatHalvesLose) {
    constexpr std::size_t n = 130;
    std::mt19937_64 random(3);
    std::vector<double> a(n * n);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) {
            const bool is_leading = i < n / 2 && j < n / 2;
            a[i * n + j] = is_leading ? 1 + (i == j ? 0x1p-20 : 0) : (i == j ? 1 : 0.25 * element(random));
        }
    const FullInverse inverse = inverse_of(a, n);
    const Certificate certificate = inverse.certificate();
    ASSERT_TRUE(certificate.is_proof()) << certificate.reason;
    const CsrMatrix<double> matrix = full(a, n);
    const SpmvPlan<double> plan(matrix, Device::cpu());
    for (std::size_t j = 0; j < n; ++j) {
        std::vector<double> r(n), d(n), rest(n);
        r[j] = 1 / certificate.weights[j];
        inverse.apply(r, d);
        plan.residual(r, d, {}, rest, Accuracy::exact);
        double norm = 0;
        for (std::size_t i = 0; i < n; ++i) norm += certificate.weights[i] * std::abs(rest[i]);
        EXPECT_LE(norm, 0x1p-10 + 0x1p-20) << j;  // what rounding d adds is far below
    }
}

TEST(FullInverse, OfASingularMatrixProvesNothing) {
    std::mt19937_64 random(5);
    for (const std::size_t n : {2, 20, 140}) {
        std::vector<double> a(n * n);
        for (double& x : a) x = static_cast<double>(random() % 1001) - 500;
        for (std::size_t j = 0; j < n; ++j) {  // the last row is the sum of the others
            a[(n - 1) * n + j] = 0;
            for (std::size_t i = 0; i + 1 < n; ++i) a[(n - 1) * n + j] += a[i * n + j];
        }
        const Certificate certificate = inverse_of(a, n).certificate();
        EXPECT_FALSE(certificate.is_proof());
        EXPECT_NE(certificate.reason, "");
        EXPECT_TRUE(certificate.reach.empty());
    }
}

/// Entries that are rounded when rows are scaled count with all that they may be off.
TEST(FullInverse, CountsEntriesThatUnderflow) {
    const std::vector<double> a{0x1p+1000, 0x1.8p-60, 0x1p-1060, 0x1p-1000};
    expect_bounds(a, 2, 1);
}

/// [1 - 2^-54, 1; 1, 1 + 2^-48] with the first entry in two parts, whose sum is rounded to 1: without that digit the inverse is
/// smaller by a part in 64.
TEST(FullInverse, CountsTheRoundingOfEntriesInParts) {
    const CsrMatrix<double> a{2, 2, {0, 3, 5}, {0, 0, 1, 0, 1}, {1, -0x1p-54, 1, 1, 1 + 0x1p-48}};
    const Certificate certificate = FullInverse(a.view(), prepare(a.view(), Ordering::natural), Device::cpu()).certificate();
    ASSERT_TRUE(certificate.is_proof()) << certificate.reason;
    for (std::size_t i = 0; i < 2; ++i) EXPECT_GE(certificate.reach[i] * certificate.weights[0], 0x1p48 * (1 + 0x1p-6));
}

TEST(FullInverse, IsWhatProvesAFullMatrix) {
    constexpr std::size_t n = 300;
    std::mt19937_64 random(11);
    const std::vector<double> a = random_matrix(random, n, 0);
    const DenseView<double> view{n, n, n, 1, a.data()};
    const Certificate certificate = certify(SpmvPlan<double>(view, Device::cpu()));
    ASSERT_TRUE(certificate.is_proof());
    EXPECT_EQ(certificate.reason, "inverse by blocks");
    std::vector<double> b(n, 1), x(n);
    SolveOptions options;
    options.guarantee = Guarantee::rounded;
    const SolveReport report = solve<double>(SpmvPlan<double>(view, Device::cpu()), b, x, {}, options);
    EXPECT_EQ(report.proofs.front().rounded, std::int64_t{n});
}

}  // namespace
}  // namespace solver::guarantee
