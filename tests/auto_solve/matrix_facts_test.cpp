#include "auto_solve/matrix_facts.hpp"

#include "matrices/generators.hpp"
#include "solver/complex.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/dense_matrix.hpp"
#include "support/full_elements.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace solver {
namespace {

using Entries = std::vector<Entry<double>>;

MatrixFacts facts(std::int32_t n, const Entries& entries, int threads = 1) {
    const auto a = csr_from_entries<double>(n, n, entries);
    return facts_of(SpmvPlan<double>(a, Device::cpu(threads)));
}

Entries laplacian(std::int32_t n) {
    Entries entries;
    for (std::int32_t i = 0; i < n; ++i) {
        entries.push_back({i, i, 2});
        if (i > 0) entries.push_back({i, i - 1, -1});
        if (i + 1 < n) entries.push_back({i, i + 1, -1});
    }
    return entries;
}

TEST(MatrixFacts, SeesALaplacian) {
    for (const int threads : {1, 3}) {
        const MatrixFacts found = facts(30000, laplacian(30000), threads);
        EXPECT_EQ(found.rows, 30000);
        EXPECT_EQ(found.nonzeros, 3 * 30000 - 2);
        EXPECT_EQ(found.balanced_rows, 30000);
        EXPECT_EQ(found.zero_sums, 29998);
        EXPECT_TRUE(found.maps_constants_to_zero());
        EXPECT_TRUE(found.may_be_positive_definite());
        EXPECT_TRUE(found.suits_multigrid());
        EXPECT_TRUE(found.is_finite);
        EXPECT_FALSE(found.zeros_on_diagonal);
    }
}

TEST(MatrixFacts, SeesOneEntryThatIsNotMirroredToTheBit) {
    for (const std::size_t k : {1u, 40000u, 80002u}) {  // not on the diagonal
        Entries entries = laplacian(30000);
        ASSERT_NE(entries[k].row, entries[k].column);
        entries[k].value = std::nextafter(entries[k].value, 9.0);
        EXPECT_FALSE(facts(30000, entries, 3).is_symmetric) << k;
    }
    Entries missing = laplacian(5);
    missing.push_back({0, 4, -1});
    EXPECT_FALSE(facts(5, missing).is_symmetric) << "its mirror is not stored";
}

MatrixFacts facts(const CsrMatrix<double>& a) { return facts_of(SpmvPlan<double>(a.view(), Device::cpu(2))); }

MatrixFacts facts_of_full(const CsrMatrix<double>& a) {
    const std::vector<double> elements = testing::full_elements(a);
    return facts_of(SpmvPlan<double>(DenseView<double>{a.rows, a.columns, a.columns, 1, elements.data()}, Device::cpu(1)));
}

// Each entry of a complex matrix makes four; one that differs from its mirror, conjugated or not, is seen, and so is one more.
TEST(MatrixFacts, SeesRealFormsOfComplexMatricesThatAreTheirOwnTransposes) {
    const auto a = matrices::find_generator("helmholtz_9").value().make_complex();
    for (const MatrixFacts& found : {facts(real_form(a.view())), facts_of_full(real_form(a.view()))}) {
        EXPECT_TRUE(found.is_complex_symmetric);
        EXPECT_FALSE(found.is_symmetric);
    }
    const auto hermitian = csr_from_entries<std::complex<double>>(
        2, 2, std::vector<Entry<std::complex<double>>>{{0, 0, 1}, {0, 1, {0, 1}}, {1, 0, {0, -1}}, {1, 1, 2}});
    for (const MatrixFacts& found : {facts(real_form(hermitian.view())), facts_of_full(real_form(hermitian.view()))}) {
        EXPECT_FALSE(found.is_complex_symmetric);
        EXPECT_TRUE(found.is_symmetric);
    }
    for (const std::size_t k : {std::size_t{1}, a.values.size() - 2})
        for (const std::complex<double> change : {std::complex<double>(0x1p-50, 0), std::complex<double>(0, 1)}) {
            auto other = a;
            other.values[k] += change;
            EXPECT_FALSE(facts(real_form(other.view())).is_complex_symmetric) << k;
            EXPECT_FALSE(facts_of_full(real_form(other.view())).is_complex_symmetric) << k;
        }
}

/// The entries of each row from the last to the first.
template <class T>
CsrMatrix<T> turned(CsrMatrix<T> a) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
        std::reverse(a.column_indices.begin() + a.row_offsets[i], a.column_indices.begin() + a.row_offsets[i + 1]);
        std::reverse(a.values.begin() + a.row_offsets[i], a.values.begin() + a.row_offsets[i + 1]);
    }
    return a;
}

// As products of sparse matrices have them.
TEST(MatrixFacts, SeesSymmetryInRowsThatAreNotSorted) {
    CsrMatrix<double> a = turned(csr_from_entries<double>(3000, 3000, laplacian(3000)));
    EXPECT_TRUE(facts(a).is_symmetric);
    a.values[4000] += 0x1p-40;
    EXPECT_FALSE(facts(a).is_symmetric);
    const auto helmholtz = matrices::find_generator("helmholtz_9").value().make_complex();
    EXPECT_TRUE(facts(turned(real_form(helmholtz.view()))).is_complex_symmetric);
    EXPECT_FALSE(facts(turned(real_form(helmholtz.view()))).is_symmetric);
}

/// By rows and by columns, of more rows than are seen side by side, and of several tiles.
TEST(MatrixFacts, OfFullMatricesAreThoseOfTheirElements) {
    constexpr std::int64_t n = 300;
    std::vector<double> elements(n * n);
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j) elements[i * n + j] = i == j ? 2.0 * n : static_cast<double>((i * j) % 7) - 3;
    for (const int threads : {1, 3})
        for (const auto& [row_stride, column_stride] : {std::pair<std::int64_t, std::int64_t>{n, 1}, {1, n}}) {
            const DenseView<double> view{n, n, row_stride, column_stride, elements.data()};
            const MatrixFacts found = facts_of(SpmvPlan<double>(view, Device::cpu(threads)));
            EXPECT_EQ(found.nonzeros, std::ranges::count_if(elements, [](double element) { return element != 0; }));
            EXPECT_EQ(found.balanced_rows, n);
            EXPECT_EQ(found.zero_sums, 0);
            EXPECT_TRUE(found.is_finite && found.is_symmetric && found.positive_diagonal && !found.zeros_on_diagonal);
            for (const auto& [i, j] : {std::pair<std::int64_t, std::int64_t>{1, 0}, {31, 32}, {33, 31}, {299, 0}, {298, 299}}) {
                double& element = elements[i * n + j];
                const double former = std::exchange(element, element + 0x1p-40);
                EXPECT_FALSE(facts_of(SpmvPlan<double>(view, Device::cpu(threads))).is_symmetric) << i << ", " << j;
                element = former;
            }
        }
}

TEST(MatrixFacts, SeesTheDiagonal) {
    EXPECT_TRUE(facts(2, {{0, 0, 1}, {1, 0, 1}}).zeros_on_diagonal) << "missing";
    EXPECT_TRUE(facts(2, {{0, 0, 1}, {1, 1, 0}, {0, 1, 2}, {1, 0, 2}}).zeros_on_diagonal) << "stored zero";
    const MatrixFacts negative = facts(2, {{0, 0, 1}, {1, 1, -1}});
    EXPECT_FALSE(negative.positive_diagonal);
    EXPECT_FALSE(negative.zeros_on_diagonal);
    EXPECT_FALSE(negative.may_be_positive_definite());
}

TEST(MatrixFacts, KnowsTheSizesOfRows) {
    const MatrixFacts found = facts(4, {{0, 0, 2}, {0, 1, -0x1p40}, {1, 0, 0x1p-60}, {1, 1, -0x1p-50}, {2, 2, 0}, {3, 3, 1}});
    EXPECT_EQ(found.largest_row, 0x1p40);
    EXPECT_EQ(found.smallest_row, 0x1p-50);
    const MatrixFacts nothing = facts(2, {{0, 0, 0}});
    EXPECT_EQ(nothing.largest_row, 0);
    EXPECT_EQ(nothing.smallest_row, 0);
}

TEST(MatrixFacts, CountsRowsWhoseDiagonalCarriesThem) {
    EXPECT_EQ(facts(2, {{0, 0, 1}, {0, 1, 4}, {1, 1, 1}, {1, 0, -4.0000001}}).balanced_rows, 1);
}

TEST(MatrixFacts, CountsRowsThatAddUpToNothing) {
    const double small = 0x1p-10;
    EXPECT_EQ(facts(1, {{0, 0, 1}}).zero_sums, 0);
    EXPECT_EQ(facts(2, {{0, 0, 1}, {0, 1, -1}, {1, 1, -1}, {1, 0, 1}}).zero_sums, 2);
    EXPECT_EQ(facts(2, {{0, 0, 1}, {0, 1, -1 + small}, {1, 1, 1}, {1, 0, -1 - small}}).zero_sums, 2);
    EXPECT_EQ(facts(2, {{0, 0, 1}, {0, 1, -1 + 1.01 * small}, {1, 1, 1}, {1, 0, -1 - 1.01 * small}}).zero_sums, 0);
    for (const double sign : {1.0, -1.0}) {
        const auto just = facts(2, {{0, 0, 1}, {0, 1, -1 + sign * small}, {1, 1, -1}, {1, 0, 1 + sign * small}});
        EXPECT_EQ(just.positive_sums + just.negative_sums, 0);
        EXPECT_TRUE(just.may_add_up_to_zero());
        const auto beyond = facts(2, {{0, 0, 1}, {0, 1, -1 + sign * small}, {1, 1, 1}, {1, 0, -1 + sign * 1.01 * small}});
        EXPECT_EQ(beyond.positive_sums, sign > 0 ? 1 : 0);
        EXPECT_EQ(beyond.negative_sums, sign < 0 ? 1 : 0);
        EXPECT_FALSE(beyond.may_add_up_to_zero());
    }
    EXPECT_TRUE(facts(2, {{0, 0, 1}, {1, 0, -1}}).may_add_up_to_zero());
    EXPECT_TRUE(facts(5, {{0, 0, 1}, {1, 2, 1}, {2, 1, 1}, {3, 4, 1}, {4, 3, 1}}).zero_sums == 0)
        << "nothing is their diagonal";
    for (const std::int32_t n : {9, 10}) EXPECT_EQ(facts(n, laplacian(n)).maps_constants_to_zero(), n == 10);
}

// Promise: solve.hpp, "Without, a schedule of attempts"
TEST(MatrixFacts, SuitMultigridWhereTheDiagonalCarriesNineRowsOfTen) {
    const auto suits = [](std::int32_t carried, double first_diagonal) {
        Entries entries;
        for (std::int32_t i = 0; i < 100; ++i) {
            entries.push_back({i, i, i == 0 ? first_diagonal : 1.0});
            entries.push_back({i, (i + 1) % 100, i < carried ? 4.0 : 4.5});
        }
        return facts(100, entries).suits_multigrid();
    };
    EXPECT_TRUE(suits(100, 1));
    EXPECT_TRUE(suits(90, 1));
    EXPECT_FALSE(suits(89, 1));
    EXPECT_FALSE(suits(100, -1));
}

/// A cycle of 100 points, of which `turned` have negative sums; the others have positive ones.
MatrixFacts facts_of_a_cycle(std::int32_t turned, double sum, double upper = -1) {
    Entries entries;
    for (std::int32_t i = 0; i < 100; ++i) {
        entries.push_back({i, i, i < turned ? 2 + sum : 3.0});
        entries.push_back({i, (i + 1) % 100, upper});
        entries.push_back({(i + 1) % 100, i, -1});
    }
    return facts(100, entries);
}

// Promise: solve.hpp, "An A that is its own transpose has waves where"
TEST(MatrixFacts, SuitMultigridUnlessMostRowsTurnConstantsRound) {
    EXPECT_TRUE(facts_of_a_cycle(80, -0.01).suits_multigrid()) << "20 rows add up to more than nothing";
    EXPECT_FALSE(facts_of_a_cycle(81, -0.01).suits_multigrid());
    EXPECT_TRUE(facts_of_a_cycle(100, -0x1p-10).suits_multigrid()) << "but for little";
    EXPECT_TRUE(facts_of_a_cycle(100, -0.01, -1.01).suits_multigrid()) << "may be D^-1 A D of a definite matrix";
    for (const std::int32_t zeros : {49, 50}) {
        Entries entries;  // pairs of points
        for (std::int32_t i = 0; i < 100; i += 2)
            for (const auto& [row, column] : {std::pair{i, i + 1}, {i + 1, i}}) {
                entries.push_back({row, row, row < zeros ? 1 : 0.5});
                entries.push_back({row, column, -1});
            }
        EXPECT_EQ(facts(100, entries).suits_multigrid(), zeros == 50) << "half of all rows";
    }
    const auto waves = matrices::find_generator("helmholtz_20").value().make_complex();
    EXPECT_FALSE(facts(real_form(waves.view())).suits_multigrid());
}

/// D^-1 L D, L a Laplace operator with boundary and D growing exponentially: drift and diffusion. Nearly all rows have negative
/// sums, and D L D of rough D has them in half of its rows.
TEST(MatrixFacts, SuitMultigridWhereADefiniteMatrixIsScaled) {
    const CsrMatrix<double> l = matrices::find_generator("poisson3d_12").value().make();
    for (const bool is_congruent : {false, true}) {
        CsrMatrix<double> a = l;
        const auto size = [&](std::int64_t i) {
            return is_congruent ? std::ldexp(1.0, static_cast<int>(i * 7 % 3)) : std::exp(0.6 * static_cast<double>(i % 12));
        };
        for (std::int64_t i = 0; i < a.rows; ++i)
            for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
                a.values[k] *= (is_congruent ? size(i) : 1 / size(i)) * size(a.column_indices[k]);
        const MatrixFacts found = facts(a);
        EXPECT_GT(found.negative_sums, 0);
        EXPECT_FALSE(found.turns_constants_round());
    }
}

TEST(MatrixFacts, SeesWhatIsNotFinite) {
    const double inf = std::numeric_limits<double>::infinity();
    EXPECT_FALSE(facts(2, {{0, 0, 1}, {1, 1, inf}}).is_finite);
    const MatrixFacts nan = facts(2, {{0, 0, 1}, {1, 1, std::numeric_limits<double>::quiet_NaN()}});
    EXPECT_FALSE(nan.is_finite);
    EXPECT_FALSE(nan.suits_multigrid());
    EXPECT_FALSE(nan.is_symmetric);
}

TEST(MatrixFacts, AreThoseOfTheSameDenseMatrix) {
    const double a[] = {2, -1, 0, -1, 2, -1, 0, -1, 2};
    const MatrixFacts found = facts_of(SpmvPlan<double>(DenseView<double>{3, 3, 3, 1, a}, Device::cpu(1)));
    EXPECT_EQ(found.nonzeros, 7);
    EXPECT_TRUE(found.may_be_positive_definite());
    const double all_different[] = {4, 1, 2, 1, 5, 3, 2, 3, 6};
    for (const auto& [row_stride, column_stride] : {std::pair{3, 1}, {1, 3}})
        EXPECT_TRUE(
            facts_of(SpmvPlan<double>(DenseView<double>{3, 3, row_stride, column_stride, all_different}, Device::cpu(1)))
                .is_symmetric);
    const double b[] = {2, -1, 0, 0, 2, -1, 0, -1, 2};
    EXPECT_FALSE(facts_of(SpmvPlan<double>(DenseView<double>{3, 3, 3, 1, b}, Device::cpu(1))).is_symmetric);
}

TEST(MatrixFacts, OfNothing) {
    const MatrixFacts found = facts(0, {});
    EXPECT_EQ(found.rows, 0);
    EXPECT_FALSE(found.zeros_on_diagonal);
}

}  // namespace
}  // namespace solver
