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

// Promise: guarantee.hpp, "0 / 0 counts as 0"
/// 0.3 times 3 is a tenth short of 1, of the smallest number, and rounded the residual is 0.
// Promise: guarantee.hpp, "Not finite where A, b or x are not."
// Promise: guarantee.hpp, "Throws DimensionMismatch."
TEST(BackwardError, IsNot0WhereTheResidualIsRoundedAway) {
    constexpr double eta = 5e-324;
    const SmallSystem<double> small({0.3}, {eta}), wide({1e-300, 1e300, 0, 1}, {1, 0}), empty({1, 0, 0, 1}, {0, 1});
    const auto found = [](const SmallSystem<double>& system, const std::vector<double>& x) {
        return backward_error<double>(SpmvPlan<double>(system.a, Device::cpu(1)), system.b, x);
    };
    EXPECT_GE(found(small, {3 * eta}), 0.1 / 1.9);
    EXPECT_GT(found(wide, {1e300, eta}), 0);
    EXPECT_EQ(found(empty, {0, 1}), 0);
    for (const double bad : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
        EXPECT_FALSE(std::isfinite(found(empty, {0, bad})));
    EXPECT_THROW(found(empty, {0}), DimensionMismatch);
}

/// |A| |x| + |b| is beyond the range of numbers, the quotient is not.
/// 1 as 1e16 - 1e16 + 1, and 2 as a solution of x = 1: a third of |A| |x| + |b|.
TEST(BackwardError, CountsRepeatedEntriesAsTheirSum) {
    const CsrMatrix<double> a{1, 1, {0, 3}, {0, 0, 0}, {1e16, -1e16, 1}};
    const std::vector<double> b{1}, x{2};
    EXPECT_NEAR(backward_error<double>(SpmvPlan<double>(a, Device::cpu(1)), b, x), 1.0 / 3, 1e-9);
    EXPECT_GE(backward_error<double>(SpmvPlan<double>(a, Device::cpu(1)), b, x), 1.0 / 3);
}

/// Of the sum floats would lose 13 bits. Sum and difference below are exact in double.
TEST(BackwardError, SumsRepeatedFloatsInDoubles) {
    const CsrMatrix<float> a{1, 1, {0, 2}, {0, 0}, {1, 0x1.0034p-24F}};
    const std::vector<float> b{0x1.70ce5ep-12F}, x{1};
    const double sum = 1 + 0x1.0034p-24, right = 0x1.70ce5ep-12;
    EXPECT_GE(backward_error<float>(SpmvPlan<float>(a, Device::cpu(1)), b, x), (sum - right) / (sum + right));
}

TEST(BackwardError, IsNoLessWhereTheTermsOverflow) {
    const SmallSystem<double> one({1.2596071334136636e308}, {1.3145468184105437e308});
    const double x = 1.0436165;  // to some digits
    const Rational ax = Rational(one.dense[0]) * Rational(x), b(one.b[0]);
    const double found = backward_error<double>(SpmvPlan<double>(one.a, Device::cpu(1)), one.b, std::vector{x});
    EXPECT_GE(Rational(found), abs(b - ax) / (ax + b));
    EXPECT_LT(found, 1e-7);
}

// Promise: guarantee.hpp, "max_i |b - A x|_i"
/// Oettli and Prager's quotient, by rationals.
TEST(BackwardError, IsAtLeastTheQuotientAndHardlyMore) {
    for (std::uint64_t seed = 100; seed < 300; ++seed) {
        const SmallSystem<double> system = random_system<double>(seed);
        const std::size_t n = system.b.size();
        std::vector<double> x = random_rhs(static_cast<std::int64_t>(n));
        const double found = backward_error<double>(SpmvPlan<double>(system.a, Device::cpu(1)), system.b, x);
        long double expected = 0;
        for (std::size_t i = 0; i < n; ++i) {
            long double r = system.b[i], terms = std::abs(system.b[i]);
            for (std::size_t j = 0; j < n; ++j) {
                r -= static_cast<long double>(system.dense[i * n + j]) * x[j];
                terms += std::abs(static_cast<long double>(system.dense[i * n + j]) * x[j]);
            }
            if (terms > 0) expected = std::max(expected, std::abs(r) / terms);
        }
        EXPECT_GE(found * (1 + 1e-15L), expected) << seed;
        EXPECT_LE(found, expected * (1 + 1e-9L) + 1e-18L) << seed;
    }
}

}  // namespace
}  // namespace solver
