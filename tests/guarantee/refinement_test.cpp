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

/// [p 0; q s] x = b by corrections that solve it to the last digit of T. From the guess on the first of them leaves x_2 as it
/// is: who takes it for proven ends there.
struct Triangle {
    double p, q, s;
    double b_1, b_2;
    double guess_1, guess_2;
    double exact_1, exact_2;
    double reach_1, reach_2, weight_1, weight_2;
};

template <class T>
void expect_solution(const Triangle& t) {
    const CsrMatrix<T> a{2, 2, {0, 1, 3}, {0, 0, 1}, {static_cast<T>(t.p), static_cast<T>(t.q), static_cast<T>(t.s)}};
    Certificate certificate;
    certificate.status = ProofStatus::proven;
    certificate.reach = {t.reach_1, t.reach_2};
    certificate.weights = {t.weight_1, t.weight_2};
    const std::vector<T> b{static_cast<T>(t.b_1), static_cast<T>(t.b_2)};
    std::vector<T> x{static_cast<T>(t.guess_1), static_cast<T>(t.guess_2)};
    const Corrector<T> corrector = [&](std::span<const T> r, std::span<T> d, std::span<T>) {
        d[0] = static_cast<T>(r[0] / t.p);
        d[1] = static_cast<T>((r[1] - t.q * d[0]) / t.s);
        return 1;
    };
    round_solution<T>(SpmvPlan<T>(a, Device::cpu(1)), certificate, corrector, b, x);
    EXPECT_EQ(static_cast<double>(x[0]), t.exact_1);
    EXPECT_EQ(static_cast<double>(x[1]), t.exact_2);
}

/// The second row's residual is 0 by underflow, before it is scaled by the first one's.
TEST(Refinement, CountsWhatAResidualLosesBeforeItIsScaled) {
    expect_solution<double>({.p = 1,
                             .q = 0,
                             .s = 0x1p-1000,
                             .b_1 = 1,
                             .b_2 = 0x1p-1060,
                             .guess_1 = 1 - 0x1p-53,
                             .guess_2 = 0x1p-60 * (1 + 0x1p-40),
                             .exact_1 = 1,
                             .exact_2 = 0x1p-60,
                             .reach_1 = 0x1p1000,
                             .reach_2 = 0x1p940,
                             .weight_1 = 0x1p-1000,
                             .weight_2 = 0x1p60});
    expect_solution<float>({.p = 1,
                            .q = 0,
                            .s = 0x1p-100,
                            .b_1 = 1,
                            .b_2 = 0x1p-135,
                            .guess_1 = 1 - 0x1p-24,
                            .guess_2 = 0x1p-35 * (1 + 0x1p-17),
                            .exact_1 = 1,
                            .exact_2 = 0x1p-35,
                            .reach_1 = 0x1p300,
                            .reach_2 = 0x1p100,
                            .weight_1 = 0x1p-300,
                            .weight_2 = 1});
}

/// Half of the smallest number is missing in the second row's residual although it was computed anew, scaled.
TEST(Refinement, CountsTheUnderflowOfAScaledResidual) {
    expect_solution<double>({.p = 1,
                             .q = 0x1p-1064,
                             .s = 0x1p-1000,
                             .b_1 = 0x1p-660,
                             .b_2 = 0,
                             .guess_1 = 0x1p-660 - 0x1p-701,
                             .guess_2 = -0x1p-724 + 0x1p-776,
                             .exact_1 = 0x1p-660,
                             .exact_2 = -0x1p-724,
                             .reach_1 = 0x1p1020,
                             .reach_2 = 0x1p956,
                             .weight_1 = 0x1p-1020,
                             .weight_2 = 0x1p45});
    expect_solution<float>({.p = 1,
                            .q = 0x1p-145,
                            .s = 0x1p-100,
                            .b_1 = 0x1p-55,
                            .b_2 = 0,
                            .guess_1 = 0x1p-55 - 0x1p-71,
                            .guess_2 = -0x1p-100 + 0x1p-122,
                            .exact_1 = 0x1p-55,
                            .exact_2 = -0x1p-100,
                            .reach_1 = 0x1p145,
                            .reach_2 = 0x1p101,
                            .weight_1 = 0x1p-145,
                            .weight_2 = 1});
}

/// a (x_1 - 1.5 - 2^-24 - t) = 0: x_1 is hardly above a midpoint. The first correction leads to the midpoint, the second away
/// from it by so much that what is left of the residual, a d + a t, is rounded down to less than a d, and so to a bound that
/// does not reach the midpoint.
TEST(Refinement, CountsTheRoundingOfWhatIsLeftInFloat) {
    constexpr double ulp = 0x1p-23, t = 0x1p-52;
    int rounded_down = 0;
    for (int k = 0; k < 400; ++k) {
        const double a = 1 + 2 * (1000 * k + 1) * ulp, d = (0x1.8p22 + 4001 * k) * 0x1p-47;
        if (static_cast<double>(static_cast<float>(a * d + a * t)) >= a * d * (1 - 0x1p-38)) continue;
        ++rounded_down;
        const CsrMatrix<float> matrix{4,
                                      4,
                                      {0, 4, 5, 6, 7},
                                      {0, 1, 2, 3, 1, 2, 3},
                                      {static_cast<float>(a), static_cast<float>(-1.5 * a), static_cast<float>(-0x1p-24 * a),
                                       static_cast<float>(-t * a), 1, 1, 1}};
        Certificate certificate;
        certificate.status = ProofStatus::proven;
        certificate.adds_up = true;
        certificate.reach = {std::nextafter(1 / a, 2.0), 0x1p-30, 0x1p-30, 0x1p-30};
        certificate.weights = {1, 0x1p30, 0x1p30, 0x1p30};
        const std::vector<float> b{0, 1, 1, 1};
        std::vector<float> x{1.5F, 1, 1, 1};
        int step = 0;
        const Corrector<float> corrector = [&](std::span<const float> r, std::span<float> c, std::span<float>) {
            ++step;
            c[0] = step == 1 ? 1 : step == 2 ? static_cast<float>(-d * 0x1p52) : static_cast<float>(r[0] / a);
            return 1;
        };
        const SolutionProof proof =
            round_solution<float>(SpmvPlan<float>(matrix, Device::cpu(1)), certificate, corrector, b, x);
        if (proof.status == ProofStatus::proven) {
            EXPECT_EQ(x[0], 1.5F + static_cast<float>(ulp)) << k;
        }
    }
    EXPECT_GT(rounded_down, 10);
}

/// [1 2^1000; 0 2^1000] x = (2^-800 + 2^-829, 2^-800) has the solution (2^-829, 2^-1800). What the correction misses, 2^-830
/// and 2^-1830, leaves nothing in the first row; the bound of the second is below half of the smallest number, and 2^1000 times
/// that is not.
TEST(Refinement, CountsBoundsThatUnderflowInRowsWithLargeEntries) {
    const CsrMatrix<double> a{2, 2, {0, 2, 3}, {0, 1, 1}, {1, 0x1p1000, 0x1p1000}};
    Certificate certificate;
    certificate.status = ProofStatus::proven;
    certificate.reach = {2, 0x1p-1000};
    certificate.weights = {1, 1};
    const std::vector<double> b{0x1p-800 + 0x1p-829, 0x1p-800}, x{0, 0};
    const Corrector<double> corrector = [](std::span<const double> r, std::span<double> d, std::span<double>) {
        EXPECT_EQ(r[1], 1);  // by 2^800, where 2^-1800 is a number
        d[0] = 0x1p-30;
        d[1] = 0x1p-1000 + 0x1p-1030;
        return 0;
    };
    std::vector<double> bounds(2, std::numeric_limits<double>::infinity());
    lower_bounds<double>(SpmvPlan<double>(a, Device::cpu(1)), certificate, corrector, b, x, {}, bounds);
    EXPECT_GE(bounds[0], 0x1p-829);
}

/// y + x + z = 1, y - x + z = -1 - 2^-52, y + 4 z = b: x = 1 + 2^-53 is a midpoint, and what two doubles leave out of y and z,
/// some b / 3, is more than 2^-120.
TEST(Refinement, DecidesATieFarBelowTheLargestComponent) {
    const CsrMatrix<double> a{3, 3, {0, 3, 6, 8}, {0, 1, 2, 0, 1, 2, 0, 2}, {1, 1, 1, 1, -1, 1, 1, 4}};
    Certificate certificate;
    certificate.status = ProofStatus::proven;
    certificate.reach = {1.7, 1.01, 0.7};
    certificate.weights = {1, 1, 1};
    const Corrector<double> corrector = [](std::span<const double> r, std::span<double> d, auto) {
        const double sum = (r[0] + r[1]) / 2;
        d[2] = (r[2] - sum) / 3;
        d[1] = (r[0] - r[1]) / 2;
        d[0] = sum - d[2];
        return 0;
    };
    for (const double size : {0x1p10, 0x1p44, 0x1p60}) {
        const std::vector<double> b{1, -1 - 0x1p-52, size};
        std::vector<double> x{0, 0, 0};
        const SolutionProof proof = round_solution<double>(SpmvPlan<double>(a, Device::cpu(1)), certificate, corrector, b, x);
        EXPECT_EQ(proof.status, ProofStatus::proven) << size;
        EXPECT_EQ(proof.ties, 1);
        EXPECT_EQ(x[1], 1);
    }
}

/// It ends where a correction does nothing, and names what is open.
// Promise: proof.hpp, "corrections that were solved for"
// Promise: proof.hpp, "of the Krylov method in these"
TYPED_TEST(Refinements, EndWhereNothingIsGained) {
    using T = TypeParam;
    const Shear<T> shear(T(0.1));
    const std::vector<T> b{1, T(1.5)};
    std::vector<T> x{1, 1};
    const SolutionProof proof = round_solution<T>(
        SpmvPlan<T>(shear.a, Device::cpu(1)), shear.certificate, [](auto, auto, auto) { return 3; }, b, x);
    EXPECT_EQ(proof.status, ProofStatus::unproven);
    EXPECT_EQ(proof.undecided, 2);
    EXPECT_EQ(proof.first_undecided, (std::vector<std::int64_t>{0, 1}));
    EXPECT_EQ(proof.refinements, 3);
    EXPECT_EQ(proof.iterations, 9);
}

TYPED_TEST(Refinements, KeepWhatIsThereWhereACorrectionIsNoNumber) {
    using T = TypeParam;
    const Shear<T> shear(T(0.1));
    const std::vector<T> b{1, 1};
    std::vector<T> x{T(0.75), T(1.25)};
    const Corrector<T> corrector = [](auto, std::span<T> d, auto) {
        d[0] = std::numeric_limits<T>::quiet_NaN();
        d[1] = std::numeric_limits<T>::infinity();
        return 0;
    };
    const SolutionProof proof = round_solution<T>(SpmvPlan<T>(shear.a, Device::cpu(1)), shear.certificate, corrector, b, x);
    EXPECT_EQ(proof.undecided, 2);
    EXPECT_EQ(x, (std::vector<T>{T(0.75), T(1.25)}));
}

// Promise: proof.hpp, "the first ten of them, from 0"
TYPED_TEST(Refinements, NameTheFirstTenThatAreOpen) {
    using T = TypeParam;
    constexpr std::int32_t n = 200'000;  // the work of several threads
    CsrMatrix<T> a{n, n, {0}, {}, {}};
    for (std::int32_t i = 0; i < n; ++i) {
        a.column_indices.push_back(i);
        a.values.push_back(3);
        a.row_offsets.push_back(i + 1);
    }
    Certificate certificate;
    certificate.status = ProofStatus::proven;
    certificate.reach.assign(n, 1);
    certificate.weights.assign(n, 1);
    const std::vector<T> b(n, 6);
    std::vector<T> x(n, 1);
    const SolutionProof proof = round_solution<T>(
        SpmvPlan<T>(a, Device::cpu(3)), certificate, [](auto, auto, auto) { return 0; }, b, x);
    EXPECT_EQ(proof.undecided, n);
    EXPECT_EQ(proof.first_undecided, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

}  // namespace
}  // namespace solver::guarantee
