#include "guarantee/refinement.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "solver/csr_matrix.hpp"
#include "support/rational_system.hpp"

namespace solver::guarantee {
namespace {

using testing::Rational;

/// [1 c; 0 1]: x = (b_1 - c b_2, b_2).
template <class T>
struct Shear {
    CsrMatrix<T> a;
    Certificate certificate;

    explicit Shear(T c) : a{2, 2, {0, 2, 3}, {0, 1, 1}, {1, c, 1}} {
        certificate.status = ProofStatus::proven;
        certificate.reach = {1 + 2 * std::abs(static_cast<double>(c)), 1};
        certificate.weights = {1, 1};
    }
};

/// x_1 = 1.5 - h (1 + e), h half the distance of numbers below 1.5, so that the sign of the small e decides. The guess is off
/// by 2^-20 (floats: 2^-8): the rounding error of its residual is larger than h e.
template <class T>
void expect_right_decisions(const std::function<void(T r, T& d, T& d_low)>& correct) {
    constexpr int digits = std::numeric_limits<T>::digits, guess = std::is_same_v<T, double> ? 20 : 8;
    std::mt19937_64 random(1);
    int proven = 0;
    for (int trial = 0; trial < 400; ++trial) {
        const double size = std::ldexp(1 + static_cast<double>(random() % 1024) / 1024, -guess - 2);
        const T c = static_cast<T>(std::ldexp(1 + (trial % 2 == 0 ? size : -size), -digits));
        const Shear<T> shear(c);
        const std::vector<T> b{T(1.5), 1};
        std::vector<T> x{static_cast<T>(1.5 + std::ldexp(static_cast<double>(random() % 2048) / 1024 - 1, -guess)), 1};
        const Corrector<T> corrector = [&](std::span<const T> r, std::span<T> d, std::span<T> d_low) {
            EXPECT_EQ(r[1], 0);
            correct(r[0], d[0], d_low[0]);
            return 1;
        };
        const SolutionProof proof = round_solution<T>(SpmvPlan<T>(shear.a, Device::cpu(1)), shear.certificate, corrector, b, x);
        if (proof.status != ProofStatus::proven) continue;
        ++proven;
        const Rational exact = Rational(1.5) - Rational(static_cast<double>(c));
        ASSERT_EQ(static_cast<double>(x[0]), exact.rounded(digits)) << trial;
        ASSERT_EQ(x[1], 1);
    }
    EXPECT_GT(proven, 390);
}

template <class T>
class Refinements : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Refinements, Types);

/// What is left of the residual is nothing: its own rounding alone is between the sum and the solution.
TYPED_TEST(Refinements, CountTheRoundingOfTheResidual) {
    using T = TypeParam;
    expect_right_decisions<T>([](T r, T& d, T&) { d = r; });
}

/// A correction that misses a part in 32 each time: what is left of the residual has to be counted.
TYPED_TEST(Refinements, CountWhatACorrectionLeaves) {
    using T = TypeParam;
    expect_right_decisions<T>([](T r, T& d, T&) { d = r * T(1.03125); });
}

/// A correction with a second part, which the sum has not.
TYPED_TEST(Refinements, CountTheSecondPartOfACorrection) {
    using T = TypeParam;
    expect_right_decisions<T>([](T r, T& d, T& d_low) {
        d = r * T(0.9375);
        d_low = r - d;
    });
}

/// A system by a shear, all of it scaled down so far that residuals underflow before the last bits are known.
TYPED_TEST(Refinements, ScaleResidualsBeforeTheyUnderflow) {
    using T = TypeParam;
    constexpr int exponent = std::numeric_limits<T>::min_exponent + 2 * std::numeric_limits<T>::digits;
    std::mt19937_64 random(2);
    for (int trial = 0; trial < 300; ++trial) {
        const T c =
            static_cast<T>(std::ldexp(1 + static_cast<double>(random() % 2048) / 1024 - 1, -std::numeric_limits<T>::digits));
        const Shear<T> shear(c);
        const T one = std::ldexp(T(1), exponent);
        const std::vector<T> b{T(1.5) * one, one};
        std::vector<T> x{one, one};
        const Corrector<T> corrector = [&](std::span<const T> r, std::span<T> d, std::span<T>) {
            d[0] = r[0];
            return 1;
        };
        const SolutionProof proof = round_solution<T>(SpmvPlan<T>(shear.a, Device::cpu(1)), shear.certificate, corrector, b, x);
        const Rational exact = (Rational(1.5) - Rational(static_cast<double>(c))) * Rational(static_cast<double>(one));
        if (proof.status == ProofStatus::proven) {
            ASSERT_EQ(static_cast<double>(x[0]), exact.rounded(std::numeric_limits<T>::digits)) << trial;
        }
        EXPECT_EQ(proof.refinements > 0, true);
    }
}

/// It ends where a correction does nothing, and names what is open.
TYPED_TEST(Refinements, EndWhereNothingIsGained) {
    using T = TypeParam;
    const Shear<T> shear(T(0.1));
    const std::vector<T> b{1, 1};
    std::vector<T> x{1, 1};
    const SolutionProof proof = round_solution<T>(
        SpmvPlan<T>(shear.a, Device::cpu(1)), shear.certificate, [](auto, auto, auto) { return 3; }, b, x);
    EXPECT_EQ(proof.status, ProofStatus::unproven);
    EXPECT_EQ(proof.undecided, 2);
    EXPECT_EQ(proof.first_undecided, (std::vector<std::int64_t>{0, 1}));
    EXPECT_EQ(proof.refinements, 3);
    EXPECT_EQ(proof.iterations, 9);
}

}  // namespace
}  // namespace solver::guarantee
