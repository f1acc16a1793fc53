#include "solver/preconditioner.hpp"

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

using ValueTypes = ::testing::Types<float, double>;

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
