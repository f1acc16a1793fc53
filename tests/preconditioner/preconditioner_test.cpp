#include "solver/preconditioner.hpp"

#include "preconditioner/ilu0.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/error.hpp"
#include "solver/numeric/rounding.hpp"
#include "support/broken_matrices.hpp"
#include "support/complex_numbers.hpp"
#include "support/expected.hpp"
#include "support/oracle.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

constexpr auto all_kinds = {PreconditionerKind::none, PreconditionerKind::jacobi, PreconditionerKind::ilu0,
                            PreconditionerKind::isai, PreconditionerKind::ilut,   PreconditionerKind::klu,
                            PreconditionerKind::amg,  PreconditionerKind::schur};

template <class T>
std::vector<T> applied(PreconditionerKind kind, const CsrMatrix<T>& a, std::vector<T> r, Accuracy accuracy) {
    std::vector<T> z(r.size(), T(99));
    make_preconditioner<T>(kind, a, accuracy, Device::cpu(2))->apply(r, z, accuracy);
    return z;
}

std::string refusal(PreconditionerKind kind, const CsrMatrix<double>& a) {
    try {
        make_preconditioner<double>(kind, a, Accuracy::exact, Device::cpu(1));
    } catch (const InvalidArgument& error) {
        return error.what();
    }
    return "accepted";
}

// Promise: preconditioner.hpp, "The inverse of to_string"
// Promise: preconditioner.hpp, ""none", "jacobi", "ilu0", "isai""
// Promise: preconditioner.hpp, "Throws InvalidArgument that lists the choices."
TEST(Preconditioner, NamesAreReadBack) {
    for (const auto kind : all_kinds) EXPECT_EQ(preconditioner_from_text(to_string(kind)), kind);
    EXPECT_THAT([] { preconditioner_from_text("ilu"); },
                ::testing::ThrowsMessage<InvalidArgument>(
                    "preconditioner 'ilu' is not known; choose none, jacobi, ilu0, isai, ilut, klu, amg or schur"));
}

// Promise: preconditioner.hpp, "As preconditioner_from_text, but nothing for"
TEST(Preconditioner, NamesMayLeaveTheChoiceToTheLibrary) {
    EXPECT_EQ(preconditioner_or_auto_from_text("auto"), std::nullopt);
    EXPECT_EQ(preconditioner_or_auto_from_text("schur"), PreconditionerKind::schur);
    EXPECT_THAT([] { preconditioner_or_auto_from_text("ilu"); },
                ::testing::ThrowsMessage<InvalidArgument>(
                    "preconditioner 'ilu' is not known; choose auto, none, jacobi, ilu0, isai, ilut, klu, amg or schur"));
}

// Promise: preconditioner.hpp, "M = I"
TEST(Preconditioner, NoneCopies) {
    const CsrMatrix<double> a{2, 2, {0, 1, 2}, {0, 1}, {3, 7}};
    EXPECT_EQ(applied<double>(PreconditionerKind::none, a, {1, 2}, Accuracy::fast), (std::vector<double>{1, 2}));
}

// Promise: preconditioner.hpp, "Whether M = I"
TEST(Preconditioner, OnlyNoneSaysThatItIsTheIdentity) {
    const CsrMatrix<double> one{2, 2, {0, 1, 2}, {0, 1}, {1, 1}};
    for (const auto kind : {PreconditionerKind::none, PreconditionerKind::jacobi, PreconditionerKind::klu})
        EXPECT_EQ(make_preconditioner<double>(kind, one, Accuracy::exact, Device::cpu(1))->is_identity(),
                  kind == PreconditionerKind::none)
            << to_string(kind);
}

TEST(Preconditioner, JacobiDividesByTheDiagonalRepeatedEntriesSummed) {
    const CsrMatrix<double> a{2, 2, {0, 3, 4}, {0, 1, 0, 1}, {1, 5, 2, 7}};
    for (const Accuracy accuracy : all_accuracies)
        EXPECT_EQ(applied<double>(PreconditionerKind::jacobi, a, {1, 1}, accuracy), (std::vector<double>{1.0 / 3, 1.0 / 7}));
}

TEST(Preconditioner, JacobiTakesNothingOfTheNextRow) {
    const CsrMatrix<double> a{2, 2, {0, 1, 3}, {0, 0, 1}, {2, 6, 4}};
    std::vector<double> z(2);
    make_preconditioner<double>(PreconditionerKind::jacobi, a, Accuracy::exact)
        ->apply(std::vector<double>{2, 4}, z, Accuracy::exact);
    EXPECT_EQ(z, (std::vector<double>{1, 1}));
}

// Promise: preconditioner.hpp, "M = diag(A): z_i"
/// A product with the reciprocal is off by an ulp for many of these.
TEST(Preconditioner, JacobiRoundsEveryQuotientOnce) {
    std::mt19937_64 random(5);
    const auto value = [&] { return std::ldexp(static_cast<double>(random() >> 11 | 1), -53); };
    CsrMatrix<double> a{1000, 1000, {0}, {}, {}};
    std::vector<double> r, expected;
    for (std::int32_t i = 0; i < 1000; ++i) {
        a.column_indices.push_back(i);
        a.values.push_back(value());
        a.row_offsets.push_back(i + 1);
        r.push_back(value());
        expected.push_back(r.back() / a.values.back());
    }
    std::vector<double> z(1000);
    make_preconditioner<double>(PreconditionerKind::jacobi, a, Accuracy::exact)->apply(r, z, Accuracy::exact);
    EXPECT_EQ(z, expected);
}

// Promise: preconditioner.hpp, "z = M^-1 r in the accuracy asked for"
TEST(Preconditioner, Ilu0OfATriangularOrTridiagonalMatrixSolves) {
    const CsrMatrix<double> a{3, 3, {0, 2, 5, 7}, {0, 1, 0, 1, 2, 1, 2}, {2, 1, 4, 5, 1, 6, 9}};  // x = (1, 2, 3)
    for (const Accuracy accuracy : all_accuracies)
        EXPECT_EQ(applied<double>(PreconditionerKind::ilu0, a, {4, 17, 39}, accuracy), (std::vector<double>{1, 2, 3}));
}

TEST(Preconditioner, JacobiOfSeveralThreadsHasEveryDiagonalEntryAndNamesTheFirstThatIsZero) {
    constexpr std::int32_t n = 60'000;
    std::vector<Entry<double>> entries;
    for (std::int32_t i = 0; i < n; ++i) entries.push_back({i, i, i + 1.0});
    CsrMatrix<double> a = csr_from_entries<double>(n, n, entries);
    const std::vector<double> r(n, 1.0);
    std::vector<double> z(n), expected;
    for (std::int32_t i = 0; i < n; ++i) expected.push_back(1 / (i + 1.0));
    make_preconditioner<double>(PreconditionerKind::jacobi, a, Accuracy::exact, Device::cpu(4))->apply(r, z, Accuracy::exact);
    EXPECT_EQ(z, expected);
    a.values[50'000] = a.values[30'000] = 0;
    try {
        make_preconditioner<double>(PreconditionerKind::jacobi, a, Accuracy::exact, Device::cpu(4));
        FAIL() << "not refused";
    } catch (const InvalidArgument& error) {
        EXPECT_THAT(error.what(), HasSubstr("row 30001 (counted from 1) is zero"));
    }
}

// Promise: preconditioner.hpp, "Throws DimensionMismatch where A is not square or"
TEST(Preconditioner, RefusalsNameTheRow) {
    const CsrMatrix<double> missing{2, 2, {0, 1, 2}, {0, 0}, {1, 1}};
    EXPECT_THAT(refusal(PreconditionerKind::jacobi, missing), HasSubstr("row 2 (counted from 1) is missing"));
    EXPECT_THAT(refusal(PreconditionerKind::ilu0, missing), HasSubstr("row 2 (counted from 1) has no diagonal entry"));
    const CsrMatrix<double> zero{2, 2, {0, 1, 2}, {0, 1}, {1, 0}};
    EXPECT_THAT(refusal(PreconditionerKind::jacobi, zero), HasSubstr("row 2 (counted from 1) is zero"));
    EXPECT_THAT(refusal(PreconditionerKind::ilu0, zero), HasSubstr("row 2 (counted from 1) has a pivot of zero"));
    const CsrMatrix<double> cancels{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {1, 1, 1, 1}};
    EXPECT_THAT(refusal(PreconditionerKind::ilu0, cancels), HasSubstr("row 2 (counted from 1) has a pivot of zero"));
    const CsrMatrix<double> overflows{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {1e-200, 1e200, 1e200, 1}};
    EXPECT_THAT(refusal(PreconditionerKind::ilu0, overflows),
                HasSubstr("row 2 (counted from 1) has an entry that is not finite"));
    const CsrMatrix<double> wide{1, 2, {0, 1}, {0}, {1}};
    for (const auto kind : all_kinds) EXPECT_THAT(refusal(kind, wide), HasSubstr("1 x 2"));
}

// Promise: preconditioner.hpp, "z = M^-1 r in the accuracy asked for"
TEST(Preconditioner, RefusesVectorsOfOtherLengths) {
    const CsrMatrix<double> a{2, 2, {0, 1, 2}, {0, 1}, {3, -7}};
    for (const auto kind : all_kinds) EXPECT_THROW(applied<double>(kind, a, {1, 2, 3}, Accuracy::fast), DimensionMismatch);
}

// Promise: preconditioner.hpp, "z = M^-1 r in the accuracy asked for"
TEST(Preconditioner, RefusesToWriteWhereItReads) {
    const CsrMatrix<double> a{2, 2, {0, 1, 2}, {0, 1}, {3, -7}};
    for (const auto kind : all_kinds) {
        const auto m = make_preconditioner<double>(kind, a, Accuracy::exact, Device::cpu(1));
        std::vector<double> three(3);
        const std::span<double> first = std::span(three).first(2), last = std::span(three).last(2);
        for (const std::span<double> z : {first, last})
            EXPECT_THAT([&] { m->apply(first, z, Accuracy::exact); },
                        ::testing::ThrowsMessage<InvalidArgument>(HasSubstr("z overlaps r in memory, which is still read")))
                << to_string(kind);
    }
}

TEST(Preconditioner, RefusesBrokenMatrices) {
    for (const auto kind : all_kinds)
        testing::expect_broken_matrices_refused<double>(
            [&](const CsrView<double>& a) { make_preconditioner<double>(kind, a, Accuracy::exact); });
}

// Promise: preconditioner.hpp, "Builds the preconditioner of A, which it does not refer to afterwards."
TEST(Preconditioner, DoesNotReferToTheMatrixAfterwards) {
    for (const auto kind : all_kinds) {
        CsrMatrix<double> a{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {4, 1, 1, -3}};
        const auto m = make_preconditioner<double>(kind, a, Accuracy::exact, Device::cpu(1));
        const std::vector<double> r{1, 2};
        std::vector<double> before(2), after(2);
        m->apply(r, before, Accuracy::exact);
        a.values.assign(4, 99);
        a.column_indices.assign(4, 0);
        m->apply(r, after, Accuracy::exact);
        EXPECT_EQ(after, before) << to_string(kind);
    }
}

// Promise: preconditioner.hpp, "How many numbers the factors hold;"
// Promise: preconditioner.hpp, "0 where there are none."
// Promise: preconditioner.hpp, "Depends on every bit of the factors"
// Promise: preconditioner.hpp, "The smallest magnitude of a pivot of complete factors by the largest"
// Promise: preconditioner.hpp, "1 where there are no such factors."
// Promise: reproducibility.md, "`factor_hash` tells"
TEST(Preconditioner, TellsOfItsFactors) {
    CsrMatrix<double> a{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {4, 1, 1, 4}};
    const auto made = [&](PreconditionerKind kind) {
        return make_preconditioner<double>(kind, a, Accuracy::exact, Device::cpu(1));
    };
    std::vector<std::uint64_t> hashes;
    for (const auto kind : {PreconditionerKind::none, PreconditionerKind::jacobi}) {
        EXPECT_EQ(made(kind)->factor_entries(), 0);
        EXPECT_EQ(made(kind)->factor_hash(), 0u);
        EXPECT_EQ(made(kind)->pivot_ratio(), 1);
    }
    const auto with_factors = {PreconditionerKind::ilu0, PreconditionerKind::isai, PreconditionerKind::ilut,
                               PreconditionerKind::klu};
    for (const auto kind : with_factors) {
        EXPECT_EQ(made(kind)->factor_entries(), kind == PreconditionerKind::isai ? 6 : 4) << to_string(kind);
        hashes.push_back(made(kind)->factor_hash());
    }
    EXPECT_EQ(made(PreconditionerKind::klu)->pivot_ratio(), 3.75 / 4);
    a.values.back() = std::nextafter(4.0, 5.0);
    for (const auto kind : with_factors)
        EXPECT_NE(made(kind)->factor_hash(), hashes[static_cast<std::size_t>(kind) - 2]) << to_string(kind);
}

TEST(Preconditioner, OfNothingIsNothing) {
    for (const auto kind : all_kinds) EXPECT_TRUE(applied<double>(kind, CsrMatrix<double>{}, {}, Accuracy::exact).empty());
}

template <class T>
class JacobiOfComplexNumbers : public ::testing::Test {
protected:
    static std::unique_ptr<Preconditioner<T>> made(const CsrMatrix<T>& real_form) {
        return make_preconditioner<T>(PreconditionerKind::jacobi, real_form, Accuracy::fast, Device::cpu(2),
                                      {.complex_numbers = true});
    }
    static std::vector<T> applied(const Preconditioner<T>& m, const std::vector<T>& r) {
        std::vector<T> z(r.size());
        m.apply(r, z, Accuracy::fast);
        return z;
    }
    /// Entries beside the diagonal are not looked at.
    static CsrMatrix<std::complex<T>> with_diagonal(const std::vector<std::complex<T>>& diagonal) {
        std::vector<Entry<std::complex<T>>> entries;
        const auto n = static_cast<std::int32_t>(diagonal.size());
        for (std::int32_t i = 0; i < n; ++i) {
            entries.push_back({i, i, diagonal[i]});
            entries.push_back({i, (i + 1) % n, {3, 5}});
        }
        return csr_from_entries<std::complex<T>>(n, n, entries);
    }
};
TYPED_TEST_SUITE(JacobiOfComplexNumbers, ValueTypes);

// Promise: preconditioner.hpp, "A is the real form of a complex matrix (complex.hpp), and jacobi"
TYPED_TEST(JacobiOfComplexNumbers, RoundsEachPartOfAQuotientOnce) {
    using T = TypeParam;
    testing::Random random(1);
    auto diagonal = testing::complex_vector<T>(random, 20'000);
    for (auto& d : diagonal)
        if (d == std::complex<T>(0)) d = {0, 1};
    const auto r = testing::complex_vector<T>(random, std::ssize(diagonal));
    const auto parts = real_view(std::span<const std::complex<T>>(r));
    const auto m = this->made(real_form(this->with_diagonal(diagonal).view()));
    EXPECT_FALSE(m->is_symmetric());
    const std::vector<T> z = this->applied(*m, {parts.begin(), parts.end()});
    for (std::size_t i = 0; i < r.size(); ++i) {
        const T x = r[i].real(), y = r[i].imag(), p = diagonal[i].real(), q = diagonal[i].imag();
        testing::Oracle re, im, divisor;
        re.add_product(x, p);
        re.add_product(y, q);
        im.add_product(y, p);
        im.add_product(-x, q);
        divisor.add_product(p, p);
        divisor.add_product(q, q);
        EXPECT_EQ(z[2 * i], re.quotient_rounded<T>(divisor));
        EXPECT_EQ(z[2 * i + 1], im.quotient_rounded<T>(divisor));
    }
}

// Promise: preconditioner.hpp, "Without imaginary parts on the whole diagonal every bit is as in real quotients"
TYPED_TEST(JacobiOfComplexNumbers, WithoutImaginaryPartsIsThatOfRealNumbers) {
    using T = TypeParam;
    testing::Random random(2);
    std::vector<std::complex<T>> diagonal;
    for (int i = 0; i < 500; ++i) diagonal.emplace_back(random.number<T>(), T(0));
    const CsrMatrix<T> a = real_form(this->with_diagonal(diagonal).view());
    std::vector<T> r;
    for (int i = 0; i < 1000; ++i) r.push_back(i % 9 == 0 ? T(-0.0) : random.number<T>());
    const auto of_real = make_preconditioner<T>(PreconditionerKind::jacobi, a, Accuracy::exact, Device::cpu(1));
    EXPECT_EQ(testing::differences<T>(this->applied(*this->made(a), r), this->applied(*of_real, r)), "");
    EXPECT_TRUE(this->made(a)->is_symmetric());
}

// Promise: preconditioner.hpp, "The other kinds take A as real."
TYPED_TEST(JacobiOfComplexNumbers, IsTheOnlyKindThatSeesThem) {
    using T = TypeParam;
    const CsrMatrix<T> a = real_form(this->with_diagonal({{9, 1}, {9, 2}, {8, -1}}).view());
    for (const auto kind : {PreconditionerKind::ilu0, PreconditionerKind::isai, PreconditionerKind::ilut,
                            PreconditionerKind::klu, PreconditionerKind::amg}) {
        const auto m = make_preconditioner<T>(kind, a, Accuracy::exact, Device::cpu(1));
        const auto told = make_preconditioner<T>(kind, a, Accuracy::exact, Device::cpu(1), {.complex_numbers = true});
        EXPECT_EQ(told->factor_hash(), m->factor_hash()) << to_string(kind);
    }
}

TYPED_TEST(JacobiOfComplexNumbers, NamesTheRowOfAZero) {
    try {
        this->made(real_form(this->with_diagonal({{1, 1}, {0, 2}, {0, 0}}).view()));
        FAIL() << "no exception";
    } catch (const InvalidArgument& error) {
        EXPECT_THAT(error.what(), HasSubstr("row 3 of the complex matrix (counted from 1) is zero"));
    }
}

TYPED_TEST(JacobiOfComplexNumbers, RefusesAnOddOrder) { EXPECT_THROW(this->made({1, 1, {0, 1}, {0}, {2}}), InvalidArgument); }

}  // namespace
}  // namespace solver
