#include "auto_solve/compatible_part.hpp"

#include "solver/complex.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/dense_matrix.hpp"
#include "solver/reduce.hpp"
#include "solver/solve.hpp"
#include "support/linear_systems.hpp"
#include "support/solved.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <random>
#include <vector>

namespace solver {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::solve_by;
using testing::true_residual;

/// The graph Laplacian of a square grid, side^2 rows, plus a multiple of I.
template <class T, class Weight>
CsrMatrix<T> laplacian(std::int32_t side, Weight weight, T shift = 0) {
    std::vector<Entry<T>> entries;
    if (shift != T(0))
        for (std::int32_t i = 0; i < side * side; ++i) entries.push_back({i, i, shift});
    for (std::int32_t i = 0; i < side * side; ++i)
        for (const std::int32_t step : {1, side}) {
            const std::int32_t j = i + step;
            if ((step == 1 && j % side == 0) || j >= side * side) continue;
            const T w = weight();
            for (const Entry<T>& entry : {Entry<T>{i, i, w}, {j, j, w}, {i, j, -w}, {j, i, -w}}) entries.push_back(entry);
        }
    return csr_from_entries<T>(side * side, side * side, entries);
}

CsrMatrix<double> even(std::int32_t side, double shift = 0) {
    return laplacian<double>(
        side, [] { return 1.0; }, shift);
}

/// Rows add up to zero only up to rounding.
CsrMatrix<double> uneven(std::int32_t side) {
    return laplacian<double>(side,
                             [random = std::mt19937(7)]() mutable { return std::pow(10.0, random() % 1000 / 250.0) / 3; });
}

double mean(const std::vector<double>& b) { return sum(b, Accuracy::exact) / static_cast<double>(b.size()); }

std::vector<double> with_mean(std::vector<double> b, double wanted) {
    for (int time = 0; time < 2; ++time)
        for (const double excess = mean(b) - wanted; double& element : b) element -= excess;
    return b;
}

/// |e'b| / sqrt(n) / ||b||
double part_of_constants(const std::vector<double>& b) {
    return std::abs(mean(b)) * std::sqrt(static_cast<double>(b.size())) / norm2(b, Accuracy::exact);
}

// Promise: solve.hpp, "Where all columns of A (of a symmetric one its rows)"
// Promise: solve.hpp, "So ||b - A x|| is least, but for the tolerance"
TEST(CompatiblePart, IsSolvedForWhereNothingSolvesTheWhole) {
    for (const Device& device : {Device::cpu(1), Device::cpu(2)})
        for (const std::int32_t side : {9, 80})
            for (const bool is_even : {true, false}) {
                const auto a = is_even ? even(side) : uneven(side);
                const std::vector<double> b = testing::random_vector<double>(static_cast<std::size_t>(a.rows), 5);
                const auto [report, x] = solve_by(a, b, {}, device);
                EXPECT_EQ(report.result().status, SolveStatus::stagnated);
                EXPECT_LT(report.result().iterations, 400);
                EXPECT_NEAR(report.result().relative_residual, part_of_constants(b), 1e-9);
                EXPECT_EQ(report.result().relative_residual, true_residual(a, b, x));
                EXPECT_THAT(report.obstacle,
                            HasSubstr(is_even ? "A is singular: it is symmetric, and its rows add up to zero, so"
                                              : "A is singular as far as this precision can tell"));
                EXPECT_LE(true_residual(a, with_mean(b, 0), x), 1.001e-10);
            }
}

/// Several matrices in one, rows of all of them mixed; what each row came from.
struct Union {
    CsrMatrix<double> a;
    std::vector<std::size_t> part_of_row;
};

Union mixed(const std::vector<CsrMatrix<double>>& parts) {
    std::int64_t rows = 0;
    for (const auto& part : parts) rows += part.rows;
    constexpr std::int64_t stride = 10'007;  // a prime
    std::vector<Entry<double>> entries;
    Union all{{}, std::vector<std::size_t>(static_cast<std::size_t>(rows))};
    std::int64_t first = 0;
    for (std::size_t p = 0; p < parts.size(); ++p) {
        const auto place = [&](std::int64_t i) { return static_cast<std::int32_t>((first + i) * stride % rows); };
        for (std::int64_t i = 0; i < parts[p].rows; ++i) {
            all.part_of_row[static_cast<std::size_t>(place(i))] = p;
            for (std::int64_t k = parts[p].row_offsets[i]; k < parts[p].row_offsets[i + 1]; ++k)
                entries.push_back({place(i), place(parts[p].column_indices[k]), parts[p].values[k]});
        }
        first += parts[p].rows;
    }
    all.a = csr_from_entries<double>(rows, rows, entries);
    return all;
}

std::vector<std::vector<double>> split(const Union& all, const std::vector<double>& b, std::size_t count) {
    std::vector<std::vector<double>> parts(count);
    for (std::size_t i = 0; i < b.size(); ++i) parts[all.part_of_row[i]].push_back(b[i]);
    return parts;
}

/// Points by themselves are parts, too: with a stored zero, or without.
TEST(CompatiblePart, IsThatOfEachPartIntoWhichAFalls) {
    const CsrMatrix<double> stored_zero = csr_from_entries<double>(1, 1, std::vector<Entry<double>>{{0, 0, 0}});
    for (const bool is_even : {true, false})
        for (const bool is_mean_zero : {false, true}) {
            const auto grid = [&](std::int32_t side) { return is_even ? even(side) : uneven(side); };
            const Union all = mixed({grid(20), grid(9), grid(50), grid(1), stored_zero});
            std::vector<double> b = testing::random_vector<double>(static_cast<std::size_t>(all.a.rows), 5);
            if (is_mean_zero) b = with_mean(b, 0);
            std::vector<double> means;
            for (const std::vector<double>& part : split(all, b, 5))
                means.push_back(part_of_constants(part) * norm2(part, Accuracy::exact));
            const double expected = norm2(means, Accuracy::exact) / norm2(b, Accuracy::exact);
            const auto [report, x] = solve_by(all.a, b, {});
            EXPECT_EQ(report.result().status, SolveStatus::stagnated);
            EXPECT_LT(report.result().iterations, 400);
            EXPECT_NEAR(report.result().relative_residual, expected, 1e-9);
            EXPECT_EQ(report.result().relative_residual, true_residual(all.a, b, x));
            EXPECT_THAT(report.obstacle, HasSubstr("the mean of b in 5 of the 5 parts into which A falls"));
            EXPECT_THAT(report.obstacle, HasSubstr("b less these means"));
        }
}

/// One row holds one part: that part of b stays what it is.
TEST(CompatiblePart, IsAllOfBInAPartThatIsRegular) {
    CsrMatrix<double> held = even(9);
    held.values[0] += 0x1p-12;
    const Union all = mixed({even(30), held});
    const std::vector<double> b = testing::random_vector<double>(static_cast<std::size_t>(all.a.rows), 5);
    const auto [report, x] = solve_by(all.a, b, {});
    EXPECT_THAT(report.obstacle, HasSubstr("the mean of b in 1 of the 2 parts into which A falls"));
    const std::vector<double> free = split(all, b, 2)[0];
    EXPECT_NEAR(report.result().relative_residual,
                part_of_constants(free) * norm2(free, Accuracy::exact) / norm2(b, Accuracy::exact), 1e-9);
}

/// What leaves a cell enters another one: columns add up to zero, exactly or but for rounding, rows do not. With a wind, so
/// that A is not symmetric.
CsrMatrix<double> fluxes(std::int32_t side, double wind, double held = 0) {
    std::vector<Entry<double>> entries{{0, 0, held}};
    for (std::int32_t i = 0; i < side * side; ++i)
        for (const std::int32_t step : {1, side}) {
            const std::int32_t j = i + step;
            if ((step == 1 && j % side == 0) || j >= side * side) continue;
            const double there = 1 + wind * ((i + step) % 7), back = 1 + wind * (i % 5);
            for (const Entry<double>& entry : {Entry<double>{i, i, there}, {j, i, -there}, {i, j, -back}, {j, j, back}})
                entries.push_back(entry);
        }
    return csr_from_entries<double>(side * side, side * side, entries);
}

// Promise: solve.hpp, "Where all columns of A (of a symmetric one its rows)"
TEST(CompatiblePart, IsSolvedForWhereColumnsAddUpToZeroAndRowsDoNot) {
    for (const double wind : {0.5, 0.3}) {
        const Union both = mixed({fluxes(40, wind), fluxes(9, wind)});
        for (const CsrMatrix<double>& a : {fluxes(50, wind), both.a}) {
            const bool is_one = a.rows == 2500;
            const std::vector<double> b = testing::random_vector<double>(static_cast<std::size_t>(a.rows), 5);
            std::vector<double> means;
            if (is_one) means.push_back(part_of_constants(b) * norm2(b, Accuracy::exact));
            if (!is_one)
                for (const std::vector<double>& part : split(both, b, 2))
                    means.push_back(part_of_constants(part) * norm2(part, Accuracy::exact));
            const auto [report, x] = solve_by(a, b, {});
            EXPECT_EQ(report.result().status, SolveStatus::stagnated);
            EXPECT_LT(report.result().iterations, 200);
            EXPECT_NEAR(report.result().relative_residual, norm2(means, Accuracy::exact) / norm2(b, Accuracy::exact), 1e-9);
            EXPECT_EQ(report.result().relative_residual, true_residual(a, b, x));
            EXPECT_THAT(report.obstacle, HasSubstr(wind == 0.5 ? "A is singular: its columns add up to zero, so"
                                                               : "its columns add up to zero but for rounding, so"));
            const auto compatible = solve_by(a, is_one ? with_mean(b, 0) : testing::image_of_ones(a), {});
            EXPECT_EQ(compatible.report.result().status, SolveStatus::converged);
        }
    }
    const CsrMatrix<double> held = fluxes(50, 0.5, 0x1p-12);
    const std::vector<double> b = testing::random_vector<double>(2500, 5);
    EXPECT_THAT(solve_by(held, b, {}).report.obstacle, Not(HasSubstr("the mean of b")));
}

/// A dense matrix falls into parts, too.
TEST(CompatiblePart, IsThatOfADenseMatrix) {
    const Union both = mixed({even(9), even(5)});
    const std::vector<double> b = testing::random_vector<double>(static_cast<std::size_t>(both.a.rows), 5);
    std::vector<double> elements(b.size() * b.size()), x(b.size());
    for (std::int64_t i = 0; i < both.a.rows; ++i)
        for (std::int64_t k = both.a.row_offsets[i]; k < both.a.row_offsets[i + 1]; ++k)
            elements[static_cast<std::size_t>(i * both.a.rows + both.a.column_indices[k])] = both.a.values[k];
    const DenseView<double> view{both.a.rows, both.a.rows, both.a.rows, 1, elements.data()};
    const SolveReport report = solve<double>(SpmvPlan<double>(view, Device::cpu(1)), b, x);
    EXPECT_THAT(report.obstacle, HasSubstr("in 2 of the 2 parts"));
}

/// Parts below the tolerance kept iterations from ending, too: they add up.
TEST(CompatiblePart, IsSolvedForWhereTheOtherOneIsBelowTheTolerance) {
    for (const double relative : {1e-9, 9e-11, 1e-11, 1e-12}) {
        const auto a = uneven(100);
        std::vector<double> b = with_mean(testing::random_vector<double>(static_cast<std::size_t>(a.rows), 5), 0);
        b = with_mean(b, relative * norm2(b, Accuracy::exact) / std::sqrt(static_cast<double>(b.size())));
        const auto [report, x] = solve_by(a, b, {});
        EXPECT_EQ(report.result().status, relative < 1e-10 ? SolveStatus::converged : SolveStatus::stagnated) << relative;
        EXPECT_EQ(report.obstacle.empty(), relative < 1e-10);
        EXPECT_LT(report.result().iterations, 400);
        EXPECT_EQ(report.result().relative_residual, true_residual(a, b, x));
    }
}

/// A multiple of I beside it, eight units of roundoff of the rows' sizes, makes A regular.
TEST(CompatiblePart, IsAllOfBWhereAIsRegular) {
    for (const double shift : {0x1p-48, 0x1p-20, 0x1p-12}) {
        const auto a = even(9, shift);
        const std::vector<double> ones(static_cast<std::size_t>(a.rows), 1);
        const auto [report, x] = solve_by(a, ones, {});
        EXPECT_EQ(report.result().status, SolveStatus::converged) << shift;
        for (const double element : x) EXPECT_NEAR(element * shift, 1, 1e-6);
    }
}

/// One row is held by some units of roundoff.
TEST(CompatiblePart, IsAllOfBWhereOneRowMakesARegular) {
    auto a = even(40);
    a.values[0] += 0x1p-46;
    const std::vector<double> b = testing::random_vector<double>(static_cast<std::size_t>(a.rows), 5);
    EXPECT_THAT(solve_by(a, b, {}).report.obstacle, Not(HasSubstr("the mean of b")));
}

/// What rounding leaves of the sums of rows is all that b is: constants solve that.
TEST(CompatiblePart, IsAllOfBWhereThatIsAMultipleOfWhatConstantsBecome) {
    for (const double factor : {1.0, 3.0, 101325.0}) {
        const auto a = uneven(9);
        std::vector<double> b = testing::image_of_ones(a);
        ASSERT_GT(part_of_constants(b), 1e-3);
        for (double& element : b) element *= factor;
        EXPECT_THAT(solve_by(a, b, {}).report.obstacle, Not(HasSubstr("the mean of b")));
    }
}

/// A 2 x 2 matrix that is regular, sums of rows one unit in the last place: a solution of size 10^14 that has no rounding.
// Promise: solve.hpp, "None of this is done where a guarantee is asked for"
TEST(CompatiblePart, IsAllOfBWhereAGuaranteeIsAskedForOrTheGuessWillDo) {
    const double one = 1 + 0x1p-52;
    const auto a = csr_from_entries<double>(2, 2, std::vector<Entry<double>>{{0, 0, one}, {0, 1, -1}, {1, 0, -1}, {1, 1, one}});
    const std::vector<double> solution{0x1p50, 0x1p50 + 1};
    std::vector<double> b(2);
    SpmvPlan<double>(a, Device::cpu(1)).multiply(1, solution, 0, b, Accuracy::exact);
    SolveOptions options;
    EXPECT_THAT(solve_by(a, b, options).report.obstacle, HasSubstr("A is singular as far as this precision can tell"));
    std::vector<double> x = solution;
    const SolveReport kept = solve<double>(SpmvPlan<double>(a, Device::cpu(1)), b, x, {}, options);
    EXPECT_EQ(kept.result().status, SolveStatus::converged);
    EXPECT_EQ(x, solution);
    options.guarantee = Guarantee::bound;
    EXPECT_THAT(solve_by(even(9), std::vector<double>(81, 1), options).report.result().iterations, 0);
    options.guarantee = Guarantee::rounded;
    const auto proven = solve_by(a, b, options);
    EXPECT_EQ(proven.report.result().status, SolveStatus::converged);
    EXPECT_EQ(proven.x, solution);
}

TEST(CompatiblePart, DoesNotDependOnTheUnitOfB) {
    const auto a = uneven(30);
    std::vector<double> b = testing::random_vector<double>(static_cast<std::size_t>(a.rows), 5);
    const auto expected = solve_by(a, b, {});
    for (double& element : b) element *= 0x1p-60;
    const auto found = solve_by(a, b, {});
    EXPECT_EQ(found.report.obstacle, expected.report.obstacle);
    EXPECT_EQ(found.report.result().relative_residual, expected.report.result().relative_residual);
    for (std::size_t i = 0; i < b.size(); ++i) EXPECT_EQ(found.x[i], 0x1p-60 * expected.x[i]);
}

TEST(CompatiblePart, IsThatOfEachColumn) {
    const auto a = uneven(40);
    const auto n = static_cast<std::size_t>(a.rows);
    const std::vector<double> incompatible = testing::random_vector<double>(n, 5), compatible = with_mean(incompatible, 0);
    DenseMatrix<double> b{a.rows, 2, incompatible}, x{a.rows, 2, std::vector<double>(2 * n)};
    b.values.insert(b.values.end(), compatible.begin(), compatible.end());
    const SolveReport report = solve<double>(SpmvPlan<double>(a, Device::cpu(1)), b, x);
    EXPECT_EQ(report.results[0].status, SolveStatus::stagnated);
    EXPECT_EQ(report.results[1].status, SolveStatus::converged);
    EXPECT_NEAR(report.results[0].relative_residual, part_of_constants(incompatible), 1e-9);
    EXPECT_LE(report.results[1].relative_residual, 1e-10);
}

TEST(CompatiblePart, HasNeitherRealNorImaginaryMean) {
    using Complex = std::complex<double>;
    for (const Complex factor : {Complex(1, 0), Complex(1, -0.25)}) {  // Hermitian; its own transpose
        const auto a = laplacian<Complex>(30, [&] { return factor; });
        const std::vector<double> parts = testing::random_vector<double>(2 * static_cast<std::size_t>(a.rows), 5);
        std::vector<Complex> b, x(static_cast<std::size_t>(a.rows));
        for (std::size_t i = 0; i < x.size(); ++i) b.push_back({parts[2 * i], -2 * parts[2 * i + 1]});
        Complex total = 0;
        double size = 0;
        for (const Complex element : b) total += element, size += std::norm(element);
        const SolveReport report = solve<Complex>(SpmvPlan<Complex>(a.view(), Device::cpu(1)), b, x);
        EXPECT_EQ(report.result().status, SolveStatus::stagnated);
        EXPECT_NEAR(report.result().relative_residual, std::abs(total) / std::sqrt(size * static_cast<double>(b.size())), 1e-9);
        EXPECT_THAT(report.obstacle, HasSubstr(factor.imag() == 0 ? "it is Hermitian" : "it is its own transpose"));
    }
}

}  // namespace
}  // namespace solver
