#include "solver/guarantee.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "solver/solver.hpp"
#include "support/bounds.hpp"
#include "support/floating_point_environment.hpp"
#include "support/small_system.hpp"

namespace solver {
namespace {

using testing::random_rhs;
using testing::random_system;
using testing::Rational;
using testing::SmallSystem;

// Promise: guarantee.hpp, "Throws DimensionMismatch, and InvalidArgument where the certificate"
// Promise: guarantee.hpp, "Of the entries of A, by which error_bound knows it;"
// Promise: guarantee.hpp, "0 in a certificate that certify did not make"
// Promise: guarantee.hpp, "The vectors have as many elements as A has rows"
TEST(ErrorBound, NeedsAProofAndVectorsThatFit) {
    const SmallSystem<double> system({4, 1, 1, 3}, {1, 2});
    const SpmvPlan<double> plan(system.a, Device::cpu(1));
    const std::vector<double> x(2);
    std::vector<double> bounds(2);
    EXPECT_THROW(error_bound<double>(plan, Certificate(), system.b, x, {}, bounds), InvalidArgument);
    const Certificate certificate = certify(plan);
    EXPECT_THROW(error_bound<double>(plan, certificate, system.b, std::vector<double>(3), {}, bounds), DimensionMismatch);
    std::vector<double> few(1);
    EXPECT_THROW(error_bound<double>(plan, certificate, system.b, x, {}, few), InvalidArgument);
    const SmallSystem<double> other({4, 1, 1, 5}, {1, 2});
    const SpmvPlan<double> changed(other.a, Device::cpu(1));
    EXPECT_NO_THROW(error_bound<double>(plan, certificate, system.b, x, {}, bounds));
    EXPECT_THAT([&] { error_bound<double>(changed, certificate, system.b, x, {}, bounds); },
                ::testing::ThrowsMessage<InvalidArgument>(::testing::HasSubstr("a matrix with other entries")));
    Certificate believed = certificate;
    believed.matrix_hash = 0;
    EXPECT_NO_THROW(error_bound<double>(changed, believed, system.b, x, {}, bounds));
    Certificate of_another = certificate, withdrawn = certificate;
    of_another.reach.push_back(1);
    EXPECT_THROW(error_bound<double>(plan, of_another, system.b, x, {}, bounds), InvalidArgument);
    withdrawn.status = ProofStatus::unproven;
    EXPECT_THROW(error_bound<double>(plan, withdrawn, system.b, x, {}, bounds), InvalidArgument);
    error_bound<double>(plan, certificate, system.b, x, {}, bounds);
    EXPECT_GE(bounds[0], 1.0 / 11);  // the solution is (1, 7) / 11
    EXPECT_GE(bounds[1], 7.0 / 11);
}

/// Which the plan looks at: it keeps the nonzero elements that it had.
// Promise: guarantee.hpp, "Of the entries of A, by which error_bound knows it;"
TEST(ErrorBound, NoticesThatADenseMatrixHasOtherElements) {
    DenseMatrix<double> a{2, 2, {4, 1, 1, 3}};
    const SpmvPlan<double> plan(a.view(), Device::cpu(1));
    const Certificate certificate = certify(plan);
    const std::vector<double> b{1, 2}, x(2);
    std::vector<double> bounds(2);
    EXPECT_NO_THROW(error_bound<double>(plan, certificate, b, x, {}, bounds));
    a.values[3] = 0.2500001;
    EXPECT_THROW(error_bound<double>(plan, certificate, b, x, {}, bounds), InvalidArgument);
}

/// Where subnormal numbers count as 0, so would the residual, and x be proven to be the solution, which is (2^-1060, 2).
TEST(ErrorBound, IsDeafToTheCallersFloatingPointEnvironment) {
    const SmallSystem<double> system({1, 0, 0, 0x1p-1060}, {0x1p-1060, 0x1p-1059});
    const SpmvPlan<double> plan(system.a, Device::cpu(1));
    const std::vector<double> x{0, 1};
    testing::expect_deaf_to_the_environment<double>([&] {
        const Certificate certificate = certify(plan);
        std::vector<double> bounds(2), solved = x;
        error_bound<double>(plan, certificate, system.b, x, {}, bounds);
        const SolutionProof proof = solve<double>(plan, system.b, solved, {}, {.guarantee = Guarantee::bound}).proof();
        return std::vector{bounds, certificate.reach, {backward_error<double>(plan, system.b, x)}, solved, proof.bounds};
    });
}

template <class T>
SolutionProof bound_of(std::vector<double> a, std::vector<double> b) {
    const SmallSystem<T> system(std::move(a), std::move(b));
    std::vector<T> x(system.b.size());
    const SpmvPlan<T> plan(system.a, Device::cpu(1));
    const SolutionProof proof = solve<T>(plan, system.b, x, {}, {.guarantee = Guarantee::bound}).proof();
    EXPECT_EQ(proof.status, ProofStatus::proven);
    const std::vector<Rational> solution = system.solution();
    for (std::size_t i = 0; i < x.size(); ++i) {
        const Rational found(static_cast<double>(x[i]));
        const Rational error = abs(found - solution[i]);
        EXPECT_LE(error, Rational(proof.bounds[i]));
        EXPECT_TRUE(std::isinf(proof.error_bound) || error <= Rational(proof.error_bound) * abs(found));
    }
    return proof;
}

/// By one correction: Hilbert's matrix has a condition of 1.5e7, by which a bound of the whole vector overestimates.
TEST(ErrorBound, IsCloseToTheErrorWhereAProofCanCorrect) {
    constexpr int n = 6;
    std::vector<double> a, b(n, 1.0);
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) a.push_back(1.0 / (i + j + 1));
    const SmallSystem<double> system(a, b);
    std::vector<double> x(n);
    const SpmvPlan<double> plan(system.a, Device::cpu(1));
    const SolutionProof proof = solve<double>(plan, system.b, x, {}, {.guarantee = Guarantee::bound}).proof();
    ASSERT_EQ(proof.status, ProofStatus::proven);
    const std::vector<Rational> solution = system.solution();
    for (int i = 0; i < n; ++i) {
        const Rational error = abs(Rational(x[i]) - solution[i]);
        EXPECT_GE(Rational(proof.bounds[i]), error);
        EXPECT_LE(Rational(proof.bounds[i]), error * Rational(1.01) + abs(solution[i]) * Rational(1e-18));
    }
}

// Promise: guarantee.hpp, "Proven bounds |x_i + x_low_i - x*_i|"
/// 1 / 1.7e308 is subnormal, and 5e-324 / 0.3 leaves a residual that is rounded to 0.
// Promise: proof.hpp, "0 where x is proven to be x* itself,"
// Promise: proof.hpp, "infinite where some x_i is 0"
// Promise: proof.hpp, "-log10 of these bounds, from 0 to 20, in the mean"
TEST(ErrorBound, Is0WhereTheSolutionIsExactAlone) {
    for (const double a : {1.7e308, 1e308, 3.0}) {
        const SolutionProof proof = bound_of<double>({a}, {1});
        EXPECT_GT(proof.error_bound, 0);
        EXPECT_LT(proof.error_bound, 1e-9);
        EXPECT_GT(proof.bounds[0], 0);
    }
    EXPECT_GT(bound_of<double>({0.3}, {5e-324}).error_bound, 0);
    EXPECT_EQ(bound_of<double>({2, 0, 0, 1}, {5e-324, 1}).error_bound, std::numeric_limits<double>::infinity());
    EXPECT_GT(bound_of<float>({0.25 + 0x1p-20}, {0x1p-149}).error_bound, 0);
    for (const auto& proof : {bound_of<double>({4, 0, 1, 0x1p-300}, {8, 2}), bound_of<double>({1e-300, 0, 0, 2}, {0, 0}),
                              bound_of<float>({3, 1, 0, 0x1p-60}, {3, 0})}) {
        EXPECT_EQ(proof.error_bound, 0);
        EXPECT_EQ(proof.backward_error, 0);
        EXPECT_EQ(proof.bounds, (std::vector<double>{0, 0}));
    }
    EXPECT_EQ(bound_of<double>({4, 0, 1, 0x1p-300}, {8, 2}).certified_digits, 20) << "x = (2, 0)";
    EXPECT_EQ(bound_of<double>({1, 0, 0, 1}, {0, 0}).certified_digits, 0) << "of nothing";
}

}  // namespace
}  // namespace solver

namespace solver::guarantee {
namespace {

/// What row i of A e = r says of |e_i| by these bounds of the others; the certificate's bound where its diagonal is 0.
template <class T>
Rational lowest_of(const Residual<T>& system, std::size_t i, const std::vector<double>& bounds,
                   const Rational& by_certificate) {
    const std::size_t n = bounds.size();
    Rational sum = abs(system.exact[i]);
    const auto entry = [&](std::size_t j) { return abs(Rational(static_cast<double>(system.a.values[i * n + j]))); };
    for (std::size_t j = 0; j < n; ++j)
        if (j != i) sum += entry(j) * Rational(bounds[j]);
    return entry(i) == Rational(0) ? by_certificate : std::min(by_certificate, sum / entry(i));
}

template <class T>
void expect_error_bounds() {
    Random random(11);
    const int tiny = std::numeric_limits<T>::min_exponent / 2 - 8;
    for (int trial = 0; trial < 600; ++trial) {
        const std::size_t n = 1 + random.below(4);
        const Residual<T> system(random, n, trial % 3 == 0 ? tiny : 0, trial % 2 == 0);
        const Certificate certificate =
            random_certificate(random, n, trial % 4 < 2, trial % 5 == 0 ? -540 : -3, trial % 5 == 0 ? -500 : 3);
        std::vector<double> bounds(n);
        error_bound<T>(SpmvPlan<T>(system.a, Device::cpu(1)), certificate, system.b, system.x, system.low, bounds);
        const Rational size = norm(certificate, system.exact);
        for (std::size_t i = 0; i < n; ++i) {
            const Rational least = lowest_of(system, i, bounds, Rational(certificate.reach[i]) * size);
            EXPECT_GE(Rational(bounds[i]), least) << trial;
        }
        if (trial % 3 != 0 && trial % 5 != 0) {
            for (std::size_t i = 0; i < n; ++i)
                EXPECT_LE(Rational(bounds[i]), Rational(certificate.reach[i]) * size *
                                                   Rational(1 + 4 * static_cast<double>(unit_roundoff<T>) + 1e-11));
        }
    }
}

TEST(ErrorBound, IsAtLeastWhatTheCertificateOrARowSaysOfTheTrueResidual) {
    expect_error_bounds<double>();
    expect_error_bounds<float>();
}

}  // namespace
}  // namespace solver::guarantee
