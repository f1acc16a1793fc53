#include "guarantee/singularity.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "solver/csr_matrix.hpp"
#include "support/rational_system.hpp"

namespace solver::guarantee {
namespace {

using ::testing::HasSubstr;

template <class T>
CsrMatrix<T> sparse(const std::vector<std::vector<double>>& dense) {
    std::vector<Entry<T>> entries;
    const auto n = static_cast<std::int32_t>(dense.size());
    for (std::int32_t i = 0; i < n; ++i)
        for (std::int32_t j = 0; j < n; ++j)
            if (dense[i][j] != 0) entries.push_back({i, j, static_cast<T>(dense[i][j])});
    return csr_from_entries<T>(n, n, entries);
}

template <class T = double>
std::string why(const CsrMatrix<T>& a) {
    return why_singular(SpmvPlan<T>(a, Device::cpu(1)));
}

std::string why_by_elimination(const CsrMatrix<double>& a, double operations = 1e6) {
    return why_singular_by_elimination(SpmvPlan<double>(a, Device::cpu(1)), prepare(a.view(), Ordering::amd), operations);
}

template <class T>
class Singularity : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Singularity, Types);

TYPED_TEST(Singularity, IsSeenInTheStructure) {
    using T = TypeParam;
    EXPECT_THAT(why(sparse<T>({{1, 2, 0}, {3, 4, 0}, {5, 6, 0}})), HasSubstr("structural rank is 2 of 3"));
    EXPECT_THAT(why(sparse<T>({{1, 2, 3}, {0, 0, 0}, {5, 6, 7}})), HasSubstr("structural rank is 2 of 3"));
    EXPECT_EQ(why(CsrMatrix<T>{}), "");
}

TYPED_TEST(Singularity, IsSeenInSums) {
    using T = TypeParam;
    EXPECT_THAT(why(sparse<T>({{3, -1, -2}, {-5, 7, -2}, {1, 2, -3}})), HasSubstr("A times ones"));
    EXPECT_THAT(why(sparse<T>({{3, -5, 1}, {-1, 7, 2}, {-2, -2, -3}})), HasSubstr("rows add up to exactly zero"));
    const double tiny = std::numeric_limits<T>::denorm_min();
    EXPECT_EQ(why(sparse<T>({{3, -1, -2}, {-5, 7, -2}, {tiny, 2 * tiny, -2 * tiny}})), "") << "no sum is rounded to zero";
}

/// Multiples by any factor, which a third and a tenth are not.
TYPED_TEST(Singularity, IsSeenInMultiples) {
    using T = TypeParam;
    for (const double factor : {1.0, -1.0, 0.125, 3.0, -7.0, 1.5}) {
        const std::vector<double> row{3, 0.1F, -5};
        const CsrMatrix<T> a = sparse<T>({row, {2, 8, 9}, {factor * 3, factor * 0.1F, factor * -5}});
        const bool is_exact = static_cast<double>(static_cast<T>(factor * 0.1F)) == factor * 0.1F;
        EXPECT_EQ(why(a).empty(), !is_exact) << factor;
        EXPECT_EQ(why(transpose(a.view())).empty(), !is_exact) << factor;
        if (is_exact) {
            EXPECT_THAT(why(a), HasSubstr("rows 1 and 3 (counted from 1)"));
            EXPECT_THAT(why(transpose(a.view())), HasSubstr("columns 1 and 3 (counted from 1)"));
        }
    }
    const double a = std::numeric_limits<T>::denorm_min() * 5, b = std::ldexp(1.0, std::numeric_limits<T>::max_exponent - 4);
    EXPECT_THAT(why(sparse<T>({{a, 3 * a}, {b, 3 * b}})), HasSubstr("rows 1 and 2")) << "the whole range of exponents";
    const CsrMatrix<T> shifted = sparse<T>({{0, 1, 2}, {1, 0, 0}, {0, 2, 4}});
    EXPECT_THAT(why(shifted), HasSubstr("rows 1 and 3")) << "zeros on the diagonal";
    const CsrMatrix<T> with_zeros{3, 3, {0, 3, 6, 9}, {0, 1, 2, 0, 1, 2, 0, 1, 2}, {1, 0, 2, 1, 3, 5, 2, 0, 4}};
    EXPECT_THAT(why(with_zeros), HasSubstr("rows 1 and 3")) << "stored zeros count as absent";
}

/// One unit in the last place of one entry.
TYPED_TEST(Singularity, IsNotSeenInWhatIsNearlyAMultiple) {
    using T = TypeParam;
    std::mt19937_64 random(1);
    for (int trial = 0; trial < 300; ++trial) {
        std::vector<T> row(4);
        for (T& x : row) x = static_cast<T>(1 + random() % 1000);
        CsrMatrix<T> a{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {row[0], row[1], row[0] * row[2], row[1] * row[2]}};
        EXPECT_NE(why(a), "");
        T& changed = a.values[random() % 4];
        changed = std::nextafter(changed, random() % 2 == 0 ? T(0) : T(1e9));
        EXPECT_EQ(why(a), "");
    }
}

TYPED_TEST(Singularity, IsNotSeenWhereEntriesAreRepeated) {
    using T = TypeParam;
    const CsrMatrix<T> a{2, 2, {0, 3, 5}, {0, 0, 1, 0, 1}, {1, 1, 1, 2, 2}};  // [2 1; 2 2]
    EXPECT_EQ(why(a), "");
}

TEST(SingularityByElimination, FindsWholeNumbers) {
    EXPECT_THAT(why_by_elimination(sparse<double>({{1, 2, 3}, {4, 5, 6}, {7, 8, 9}})), HasSubstr("3 of its columns"));
    const CsrMatrix<double> scaled = sparse<double>({{0x1p-300, 2, 3}, {0x1p-298, 5, 6}, {7 * 0x1p-300, 8, 9}});
    EXPECT_EQ(why_by_elimination(scaled), "") << "1, -2 2^-300, 2^-300: no whole numbers of one size";
    EXPECT_EQ(why_by_elimination(sparse<double>({{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}), 3), "") << "too few operations";
    EXPECT_EQ(why_by_elimination(sparse<double>({{1, 2, 3}, {4, 5, 6}, {7, 8, 9 + 0x1p-49}})), "");
}

/// No regular matrix is called singular; most small singular ones are seen to be. Judged by rational arithmetic.
/// Columns of far units: the whole numbers of a dependence may all be small beside 1, and none is proof.
TEST(SingularityByElimination, TakesNoZerosForADependence) {
    const std::vector<Entry<double>> entries{{0, 0, 0x1p344}, {0, 2, 0x1p586},  {0, 3, 0x1p-117}, {1, 1, 0x1p-869},
                                             {1, 3, 0x1p790}, {2, 2, 0x1p-827}, {2, 3, 0x1p-707}, {3, 3, 0x1p-165}};
    EXPECT_EQ(why_by_elimination(csr_from_entries<double>(4, 4, entries)), "");
}

TEST(SingularityByElimination, NeverClaimsWhatIsFalse) {
    std::mt19937_64 random(2);
    int singular = 0, seen = 0;
    for (int trial = 0; trial < 2000; ++trial) {
        const std::size_t n = 2 + random() % 5;
        std::vector<std::vector<double>> dense(n, std::vector<double>(n));
        std::vector<double> flat;
        for (auto& row : dense)
            for (double& x : row) x = random() % 2 == 0 ? 0 : static_cast<double>(random() % 7) - 3;
        if (trial % 3 == 0)
            for (std::size_t j = 0; j < n; ++j) dense[0][j] += trial % 2 == 0 ? 0x1p-40 * dense[1][j] : 0;
        for (const auto& row : dense) flat.insert(flat.end(), row.begin(), row.end());
        const bool is_singular = testing::solve_in_rationals(flat, std::vector<double>(n, 1.0)).empty();
        const CsrMatrix<double> a = sparse<double>(dense);
        const bool is_seen = !why(a).empty() || !why_by_elimination(a).empty();
        EXPECT_TRUE(is_singular || !is_seen) << trial;
        singular += is_singular ? 1 : 0;
        seen += is_seen ? 1 : 0;
    }
    EXPECT_GT(singular, 300);
    EXPECT_GT(seen, singular * 9 / 10);
}

}  // namespace
}  // namespace solver::guarantee
