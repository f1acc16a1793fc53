// COCG: complex matrices that are their own transposes.

#include "matrices/generators.hpp"
#include "solver/complex.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/complex_numbers.hpp"

#include <optional>
#include <utility>
#include <vector>

namespace solver {
namespace {

using Complex = std::complex<double>;
using Numbers = std::vector<Complex>;
using testing::complex_number;
using testing::complex_vector;
using testing::Random;

CsrMatrix<Complex> helmholtz(const char* name) { return matrices::find_generator(name).value().make_complex(); }

SolveReport solved(const CsrMatrix<Complex>& a, const Numbers& b, const SolveOptions& options, Numbers* x = nullptr) {
    Numbers found(b.size());
    SolveReport report = solve<Complex>(SpmvPlan<Complex>(a.view(), Device::cpu(1)), b, found, {}, options);
    if (x != nullptr) *x = found;
    return report;
}

SolveOptions by(std::optional<KrylovMethod> method, std::optional<PreconditionerKind> kind) {
    return {.preconditioner = kind, .method = method};
}

/// Random, with a diagonal that is larger.
CsrMatrix<Complex> full_symmetric(Random& random, std::int32_t n) {
    std::vector<Entry<Complex>> entries;
    for (std::int32_t i = 0; i < n; ++i)
        for (std::int32_t j = 0; j <= i; ++j) {
            const Complex value = complex_number<double>(random, 0) + (i == j ? Complex(8, 4) : Complex(0));
            entries.push_back({i, j, value});
            if (i != j) entries.push_back({j, i, value});
        }
    return csr_from_entries<Complex>(n, n, entries);
}

// Promise: krylov_solve.hpp, "COCG of van der Vorst and Melissen"
// Promise: krylov.hpp, "conjugate orthogonal CG"
/// r_k is r_0 times a polynomial of degree k in A, and r_j^T r_k = 0 for all j < k: r_n = 0 unless it breaks down before.
TEST(Cocg, EndsAfterAsManyStepsAsThereAreUnknowns) {
    Random random(1);
    for (const std::int32_t n : {2, 5, 9}) {
        const auto a = full_symmetric(random, n);
        for (const PreconditionerKind kind : {PreconditionerKind::none, PreconditionerKind::jacobi}) {
            const SolveReport report = solved(a, complex_vector<double>(random, n), by(KrylovMethod::cocg, kind));
            EXPECT_EQ(report.result().status, SolveStatus::converged);
            EXPECT_LE(report.result().iterations, n);
        }
    }
}

// Promise: krylov_solve.hpp, "In real numbers it is cg without a look at signs."
TEST(Cocg, HasTheBitsOfConjugateGradientsInRealNumbers) {
    const CsrMatrix<double> a = matrices::find_generator("poisson2d_20").value().make();
    const SpmvPlan<double> plan(a.view(), Device::cpu(1));
    const std::vector<double> b(400, 1.0);
    for (const PreconditionerKind kind : {PreconditionerKind::none, PreconditionerKind::jacobi}) {
        std::vector<double> by_cg(400), found(400);
        solve<double>(plan, b, by_cg, {}, by(KrylovMethod::cg, kind));
        solve<double>(plan, b, found, {}, by(KrylovMethod::cocg, kind));
        EXPECT_EQ(found, by_cg);
        Numbers complex;
        solved(convert<Complex>(CsrView<double>(a)), Numbers(400, 1), by(KrylovMethod::cocg, kind), &complex);
        for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(complex[i], Complex(by_cg[i], 0));
    }
}

// Promise: solve.hpp, "With complex scalars it is cocg where A and the preconditioner are their own"
// Promise: preconditioner.hpp, "Of complex numbers whose parts take turns: whether M is its own transpose"
TEST(Cocg, IsTheMethodWhereAAndMAreTheirOwnTransposes) {
    Random random(2);
    const auto method_with = [&](const CsrMatrix<Complex>& a, PreconditionerKind kind) {
        return solved(a, complex_vector<double>(random, a.rows), by({}, kind)).attempts.front().method;
    };
    const auto a = helmholtz("helmholtz_10");
    EXPECT_EQ(method_with(a, PreconditionerKind::none), KrylovMethod::cocg);
    EXPECT_EQ(method_with(a, PreconditionerKind::jacobi), KrylovMethod::cocg);
    EXPECT_EQ(method_with(a, PreconditionerKind::ilut), KrylovMethod::bicgstab);
    CsrMatrix<Complex> other = a;
    other.values[1] = std::conj(other.values[1]) + Complex(0, 1);
    EXPECT_EQ(method_with(other, PreconditionerKind::jacobi), KrylovMethod::bicgstab);
    EXPECT_EQ(method_with(helmholtz("wilson_2_2"), PreconditionerKind::jacobi), KrylovMethod::bicgstab);
}

// Promise: krylov_solve.hpp, "It breaks down where r^T M^-1 r or p^T A p is 0."
// Promise: solve.hpp, "With complex scalars it is cocg where A and the preconditioner are their own"
/// (1, i)^T (1, i) = 0.
TEST(Cocg, HandsOnToBicgstabWhereItBreaksDown) {
    const Complex i(0, 1);
    const auto a = csr_from_entries<Complex>(2, 2, std::vector<Entry<Complex>>{{0, 0, 2}, {0, 1, i}, {1, 0, i}, {1, 1, 3}});
    const SolveReport told = solved(a, {1, i}, by(KrylovMethod::cocg, PreconditionerKind::none));
    EXPECT_EQ(told.result().status, SolveStatus::breakdown);

    const SolveReport report = solved(a, {1, i}, by({}, PreconditionerKind::none));
    EXPECT_EQ(report.result().status, SolveStatus::converged);
    ASSERT_EQ(report.attempts.size(), 2u);
    EXPECT_EQ(report.attempts[0].method, KrylovMethod::cocg);
    EXPECT_TRUE(report.attempts[0].repeated);
    EXPECT_EQ(report.attempts[1].method, KrylovMethod::bicgstab);
}

TEST(Cocg, IsNamedAsTheObstacleWhereItDoesNotSuit) {
    const auto a = helmholtz("wilson_2_2");  // neither its own transpose nor Hermitian
    const Numbers b(static_cast<std::size_t>(a.rows), Complex(1, 2));
    for (const auto& [method, wanted] : {std::pair(KrylovMethod::cocg, "A is not its own transpose, as cocg needs it"),
                                         std::pair(KrylovMethod::minres, "A is not Hermitian, as minres needs it")}) {
        SolveOptions options = by(method, PreconditionerKind::none);
        options.iteration.max_iterations = 1;
        EXPECT_THAT(solved(a, b, options).obstacle, ::testing::HasSubstr(wanted));
    }
    SolveOptions options = by(KrylovMethod::cocg, PreconditionerKind::none);
    options.iteration.max_iterations = 1;
    EXPECT_EQ(solved(helmholtz("helmholtz_10"), Numbers(100, Complex(1, 2)), options).obstacle, "") << "is its own transpose";
}

}  // namespace
}  // namespace solver
