#include "preconditioner/ilu0.hpp"

#include "solver/csr_matrix.hpp"
#include "solver/error.hpp"
#include "solver/preconditioner.hpp"
#include "support/complex_numbers.hpp"
#include "support/expected.hpp"
#include "support/oracle.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace solver {
namespace {

using ::testing::HasSubstr;

template <class T>
using DenseRows = std::vector<std::vector<T>>;

/// The value where `stored` says so, else nothing.
template <class T>
struct Pattern {
    DenseRows<T> value;
    DenseRows<bool> stored;

    explicit Pattern(std::size_t n) : value(n, std::vector<T>(n)), stored(n, std::vector<bool>(n)) {}
    std::size_t size() const { return value.size(); }

    void set(std::size_t i, std::size_t j, T x) {
        value[i][j] = x;
        stored[i][j] = true;
    }

    CsrMatrix<T> csr() const {
        CsrMatrix<T> a;
        a.rows = a.columns = static_cast<std::int64_t>(size());
        for (std::size_t i = 0; i < size(); ++i) {
            for (std::size_t j = 0; j < size(); ++j)
                if (stored[i][j]) {
                    a.column_indices.push_back(static_cast<std::int32_t>(j));
                    a.values.push_back(value[i][j]);
                }
            a.row_offsets.push_back(a.nonzeros());
        }
        return a;
    }
};

/// ILU(0) on a dense array, each sum by MPFR and rounded once; false where a pivot becomes zero.
template <class T>
bool reference_ilu0(Pattern<T>& a) {
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t j = 0; j < a.size(); ++j) {
            if (!a.stored[i][j]) continue;
            testing::Oracle sum;
            sum.add(a.value[i][j]);
            for (std::size_t k = 0; k < std::min(i, j); ++k)
                if (a.stored[i][k] && a.stored[k][j]) sum.add_product(-a.value[i][k], a.value[k][j]);
            a.value[i][j] = sum.template rounded<T>();
            if (j < i) a.value[i][j] /= a.value[j][j];
            if (i == j && a.value[i][j] == 0) return false;
        }
    return true;
}

/// Random places, a full diagonal; small integers (ties, cancellations) or widely spread exponents.
template <class T>
Pattern<T> random_pattern(std::mt19937_64& random, std::size_t n, bool integers) {
    Pattern<T> a(n);
    const auto value = [&] {
        const int x = static_cast<int>(random() % 19) - 9;
        if (integers) return static_cast<T>(x);
        return static_cast<T>(std::ldexp(static_cast<double>(random() >> 12) - 2e15, -50 + static_cast<int>(random() % 30)));
    };
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
            if (i == j || random() % 3 == 0) a.set(i, j, value());
    return a;
}

template <class T>
class Ilu0Factors : public ::testing::Test {};
using ValueTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Ilu0Factors, ValueTypes);

// Promise: preconditioner.hpp, "ILU(0): every entry is a sum"
TYPED_TEST(Ilu0Factors, AreRoundedOnceInExact) {
    using T = TypeParam;
    std::mt19937_64 random(1);
    int factored = 0;
    for (int trial = 0; trial < 400; ++trial) {
        const Pattern<T> a = random_pattern<T>(random, 2 + random() % 20, trial % 2 == 0);
        Pattern<T> expected = a;
        if (!reference_ilu0(expected)) {
            EXPECT_THROW(factor_ilu0(a.csr().view(), Accuracy::exact), InvalidArgument);
            continue;
        }
        ++factored;
        const IluFactors<T> factors = factor_ilu0(a.csr().view(), Accuracy::exact);
        std::vector<T> lower, upper;
        for (std::size_t i = 0; i < a.size(); ++i)
            for (std::size_t j = 0; j < a.size(); ++j)
                if (a.stored[i][j]) (j < i ? lower : upper).push_back(expected.value[i][j]);
        ASSERT_EQ(factors.lower.values, lower);
        ASSERT_EQ(factors.upper.values, upper);
    }
    EXPECT_GT(factored, 200);
}

/// The last pivot is 1 - u/2 - tiny: a tie but for a product that a filter loses while a larger one is there.
TYPED_TEST(Ilu0Factors, RoundOnceWhatALostProductDecides) {
    using T = TypeParam;
    const T u = std::numeric_limits<T>::epsilon() / 2, tiny = std::numeric_limits<T>::min(), between = std::sqrt(tiny);
    const CsrMatrix<T> a{5,
                         5,
                         {0, 2, 4, 6, 8, 13},
                         {0, 4, 1, 4, 2, 4, 3, 4, 0, 1, 2, 3, 4},
                         {1, u / 2, 1, between, 1, tiny, 1, -between, 1, 1, 1, 1, 1}};
    EXPECT_EQ(factor_ilu0(a.view(), Accuracy::exact).upper.values.back(), 1 - u);
}

/// The last pivot is 1 - u/2 - small^2, where small^2 is lost wholly and is what breaks the tie.
TYPED_TEST(Ilu0Factors, RoundOnceWhatAProductThatUnderflowsWhollyDecides) {
    using T = TypeParam;
    const T u = std::numeric_limits<T>::epsilon() / 2, small = std::ldexp(T(1), std::is_same_v<T, double> ? -600 : -80);
    for (const T sign : {T(1), T(-1)}) {
        const CsrMatrix<T> a{3, 3, {0, 2, 4, 7}, {0, 2, 1, 2, 0, 1, 2}, {1, u / 2, 1, sign * small, 1, small, 1}};
        EXPECT_EQ(factor_ilu0(a.view(), Accuracy::exact).upper.values.back(), sign > 0 ? 1 - u : 1);
    }
}

/// Higham, Accuracy and Stability, theorem 9.3, entry by entry on the pattern: |a - (L U)| <= gamma_n (|L| |U|).
// Promise: preconditioner.hpp, "M = L U with the pattern of A"
TYPED_TEST(Ilu0Factors, MultiplyToTheMatrixOnItsPattern) {
    using T = TypeParam;
    std::mt19937_64 random(2);
    for (const Accuracy accuracy : all_accuracies)
        for (int trial = 0; trial < 50; ++trial) {
            Pattern<T> a = random_pattern<T>(random, 30, true);
            for (std::size_t i = 0; i < a.size(); ++i) a.value[i][i] = 40;
            const IluFactors<T> factors = factor_ilu0(a.csr().view(), accuracy);
            DenseRows<double> l(30, std::vector<double>(30)), u = l;
            for (std::size_t i = 0; i < 30; ++i) {
                l[i][i] = 1;
                for (auto k = factors.lower.row_offsets[i]; k < factors.lower.row_offsets[i + 1]; ++k)
                    l[i][factors.lower.column_indices[k]] = factors.lower.values[k];
                for (auto k = factors.upper.row_offsets[i]; k < factors.upper.row_offsets[i + 1]; ++k)
                    u[i][factors.upper.column_indices[k]] = factors.upper.values[k];
            }
            for (std::size_t i = 0; i < 30; ++i)
                for (std::size_t j = 0; j < 30; ++j) {
                    if (!a.stored[i][j]) continue;
                    long double difference = a.value[i][j], magnitude = 0;
                    for (std::size_t k = 0; k < 30; ++k) {
                        difference -= static_cast<long double>(l[i][k]) * u[k][j];
                        magnitude += std::abs(static_cast<long double>(l[i][k]) * u[k][j]);
                    }
                    ASSERT_LE(std::abs(difference), 31 * unit_roundoff<T> * magnitude) << to_string(accuracy);
                }
        }
}

TYPED_TEST(Ilu0Factors, DoNotDependOnTheOrderOfEntries) {
    using T = TypeParam;
    CsrMatrix<T> sorted{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {4, 1, 2, 3}};
    CsrMatrix<T> unsorted{2, 2, {0, 2, 5}, {1, 0, 1, 0, 1}, {1, 4, 1, 2, 2}};
    CsrMatrix<T> repeated{2, 2, {0, 3, 5}, {0, 0, 1, 0, 1}, {1, 3, 1, 2, 3}};
    const IluFactors<T> expected = factor_ilu0(sorted.view(), Accuracy::exact);
    for (const auto& other : {unsorted, repeated}) {
        const IluFactors<T> factors = factor_ilu0(other.view(), Accuracy::exact);
        EXPECT_EQ(factors.upper.values, expected.upper.values);
        EXPECT_EQ(factors.lower.values, expected.lower.values);
    }
}

/// Rows of random blocks, which do not stand together, beside the matrix of each block alone.
template <class T>
class NamedBlocks : public ::testing::Test {
protected:
    static constexpr std::int32_t numbers[] = {7, -3, std::numeric_limits<std::int32_t>::max()};

    static std::vector<std::int32_t> random_blocks(std::mt19937_64& random, std::size_t n) {
        std::vector<std::int32_t> block_of_row;
        for (std::size_t i = 0; i < n; ++i) block_of_row.push_back(numbers[random() % 3]);
        return block_of_row;
    }

    static Pattern<T> with_large_diagonal(std::mt19937_64& random, std::size_t n) {
        Pattern<T> a = random_pattern<T>(random, n, true);
        for (std::size_t i = 0; i < n; ++i) a.value[i][i] = 100;
        return a;
    }

    /// The rows and columns of A that are named, as a matrix.
    static Pattern<T> part(const Pattern<T>& a, const std::vector<std::size_t>& rows) {
        Pattern<T> result(rows.size());
        for (std::size_t i = 0; i < rows.size(); ++i)
            for (std::size_t j = 0; j < rows.size(); ++j)
                if (a.stored[rows[i]][rows[j]]) result.set(i, j, a.value[rows[i]][rows[j]]);
        return result;
    }

    static std::vector<T> applied(PreconditionerKind kind, const CsrMatrix<T>& a, const std::vector<T>& r,
                                  const PreconditionerOptions& options) {
        std::vector<T> z(r.size());
        make_preconditioner<T>(kind, a, Accuracy::exact, Device::cpu(2), options)->apply(r, z, Accuracy::exact);
        return z;
    }
};
TYPED_TEST_SUITE(NamedBlocks, ValueTypes);

// Promise: preconditioner.hpp, "ILU(0), ISAI, ILUT, KLU: the block of each row"
// Promise: preconditioner.hpp, "Entries of A between rows of different blocks"
TYPED_TEST(NamedBlocks, AreEachFactoredAndAppliedAsIfTheyStoodAlone) {
    using T = TypeParam;
    std::mt19937_64 random(3);
    for (const PreconditionerKind kind :
         {PreconditionerKind::ilu0, PreconditionerKind::isai, PreconditionerKind::ilut, PreconditionerKind::klu})
        for (int trial = 0; trial < 30; ++trial) {
            const Pattern<T> a = this->with_large_diagonal(random, 40);
            const std::vector<std::int32_t> block_of_row = this->random_blocks(random, a.size());
            std::vector<T> r, expected(a.size());
            for (std::size_t i = 0; i < a.size(); ++i) r.push_back(T(1) / static_cast<T>(1 + random() % 99));
            for (const std::int32_t block : this->numbers) {
                std::vector<std::size_t> rows;
                std::vector<T> r_of_block;
                for (std::size_t i = 0; i < a.size(); ++i)
                    if (block_of_row[i] == block) rows.push_back(i);
                for (const std::size_t i : rows) r_of_block.push_back(r[i]);
                const std::vector<T> z = this->applied(kind, this->part(a, rows).csr(), r_of_block, {});
                for (std::size_t k = 0; k < rows.size(); ++k) expected[rows[k]] = z[k];
            }
            ASSERT_EQ(testing::differences<T>(this->applied(kind, a.csr(), r, {.block_of_row = block_of_row}), expected), "");
        }
}

// Promise: preconditioner.hpp, "None: all rows are one block."
TYPED_TEST(NamedBlocks, OfTheKindsWithoutThemAreNotReadNorIsASingleOneAnother) {
    using T = TypeParam;
    std::mt19937_64 random(4);
    const CsrMatrix<T> a = this->with_large_diagonal(random, 40).csr();
    const std::vector<std::int32_t> one(40, 5), two = this->random_blocks(random, 40);
    const auto hash = [&](PreconditionerKind kind, const std::vector<std::int32_t>& block_of_row) {
        return make_preconditioner<T>(kind, a, Accuracy::exact, Device::cpu(1), {.block_of_row = block_of_row})->factor_hash();
    };
    EXPECT_EQ(hash(PreconditionerKind::amg, two), hash(PreconditionerKind::amg, {}));
    for (const auto kind :
         {PreconditionerKind::ilu0, PreconditionerKind::isai, PreconditionerKind::ilut, PreconditionerKind::klu}) {
        EXPECT_EQ(hash(kind, one), hash(kind, {})) << to_string(kind);
        EXPECT_NE(hash(kind, two), hash(kind, {})) << to_string(kind);
    }
}

// Promise: preconditioner.hpp, "One for each row of A, or of the complex"
/// One number for each complex row, whose real form has two.
TYPED_TEST(NamedBlocks, OfComplexMatricesAreThoseOfTheirRows) {
    using T = TypeParam;
    std::mt19937_64 random(5);
    const CsrMatrix<T> a = this->with_large_diagonal(random, 40).csr();
    const std::vector<std::int32_t> blocks = this->random_blocks(random, 20);
    std::vector<std::int32_t> blocks_of_parts;
    for (const std::int32_t block : blocks) blocks_of_parts.insert(blocks_of_parts.end(), 2, block);
    const std::vector<T> r(40, T(1));
    for (const auto kind : {PreconditionerKind::ilu0, PreconditionerKind::ilut, PreconditionerKind::klu})
        EXPECT_EQ(this->applied(kind, a, r, {.block_of_row = blocks, .complex_numbers = true}),
                  this->applied(kind, a, r, {.block_of_row = blocks_of_parts}));
}

// Promise: preconditioner.hpp, "What is refused of a block is refused in its name."
TYPED_TEST(NamedBlocks, AreNamedWhereOneIsSingular) {
    using T = TypeParam;
    CsrMatrix<T> a =
        csr_from_entries<T>(4, 4, std::vector<Entry<T>>{{0, 0, 1}, {1, 1, 1}, {1, 3, 1}, {2, 2, 1}, {3, 1, 1}, {3, 3, 1}});
    const std::vector<std::int32_t> blocks{7, -3, 7, -3};
    const std::vector<T> r(4);
    EXPECT_THAT(
        [&] { this->applied(PreconditionerKind::klu, a, r, {.block_of_row = blocks}); },
        ::testing::ThrowsMessage<InvalidArgument>(::testing::AllOf(HasSubstr("block -3"), HasSubstr("numerically singular"))));
}

// Promise: preconditioner.hpp, "Throws DimensionMismatch where A is not square or"
TYPED_TEST(NamedBlocks, OfAnotherNumberOfRowsAreRefused) {
    using T = TypeParam;
    std::mt19937_64 random(6);
    const CsrMatrix<T> a = this->with_large_diagonal(random, 40).csr();
    const std::vector<T> r(40);
    for (const std::size_t rows : {39u, 41u, 20u}) {
        const std::vector<std::int32_t> blocks(rows);
        EXPECT_THAT([&] { this->applied(PreconditionerKind::ilu0, a, r, {.block_of_row = blocks}); },
                    ::testing::ThrowsMessage<DimensionMismatch>(
                        HasSubstr("block_of_row has " + std::to_string(rows) + " elements and A 40 rows")));
    }
}

/// The first row and column are full: walking the row of U for every row of A would take 4e10 steps.
TYPED_TEST(Ilu0Factors, CostLittleForAFullRowAndColumn) {
    using T = TypeParam;
    const std::int32_t n = 200000;
    CsrMatrix<T> a;
    a.rows = a.columns = n;
    for (std::int32_t i = 0; i < n; ++i) {
        for (std::int32_t j = 0; j < (i == 0 ? n : 1); ++j) {
            a.column_indices.push_back(j);
            a.values.push_back(j == 0 ? T(1) : T(0.5));
        }
        if (i > 0) {
            a.column_indices.push_back(i);
            a.values.push_back(T(2));
        }
        a.row_offsets.push_back(a.nonzeros());
    }
    const IluFactors<T> factors = factor_ilu0(a.view(), Accuracy::exact);
    EXPECT_EQ(factors.upper.values.back(), T(1.5));
}

}  // namespace
}  // namespace solver
