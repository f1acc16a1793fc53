#include "core/krylov/complex_scalar.hpp"

#include <gtest/gtest.h>

#include "support/complex_numbers.hpp"
#include "support/values.hpp"

#include <cmath>

namespace solver {
namespace {

using Complex = std::complex<double>;
using Exact = std::complex<long double>;

constexpr double u = 0x1p-53;

/// Products lose at most sqrt(5) u of |a b| (Brent, Percival, Zimmermann 2007), Smith's quotients some 10 u of |a / b|.
TEST(ComplexScalars, AreNearTheRealResults) {
    testing::Random random(1);
    for (int i = 0; i < 100'000; ++i) {
        const Complex a = testing::complex_number<double>(random, 200), b = testing::complex_number<double>(random, 200);
        const Exact product = Exact(a) * Exact(b);
        EXPECT_LE(std::abs(Exact(mul_rn(a, b)) - product), 3 * u * std::abs(product));
        EXPECT_LE(std::abs(static_cast<long double>(magnitude(a)) - std::abs(Exact(a))), 3 * u * std::abs(Exact(a)));
        if (b == Complex(0)) continue;
        const Exact quotient = Exact(a) / Exact(b);
        EXPECT_LE(std::abs(Exact(div_rn(a, b)) - quotient), 10 * u * std::abs(quotient)) << a << " / " << b;
    }
}

TEST(ComplexScalars, WithoutAnImaginaryPartHaveTheBitsOfRealOnes) {
    testing::Random random(2);
    for (int i = 0; i < 1000; ++i) {
        const double a = random.number<double>(9), b = random.number<double>(-9);
        EXPECT_EQ(mul_rn(Complex(a), Complex(b)), Complex(mul_rn(a, b)));
        EXPECT_EQ(div_rn(Complex(a), Complex(b)), Complex(div_rn(a, b)));
        EXPECT_EQ(div_rn(Complex(a), Complex(0, b)), Complex(0, -div_rn(a, b)));
        EXPECT_EQ(magnitude(Complex(a)), magnitude(a));
        EXPECT_EQ(magnitude(Complex(0, a)), magnitude(a));
    }
}

TEST(ComplexScalars, NeitherOverflowNorUnderflowOnTheWay) {
    for (const double scale : {0x1p-1022, 1.0, 0x1p1021}) {
        EXPECT_NEAR(magnitude(Complex(3 * scale, 4 * (scale / 4))) / scale, std::sqrt(10.0), 1e-15);
        EXPECT_EQ(div_rn(Complex(scale, scale), Complex(scale, scale)), Complex(1));
        EXPECT_EQ(div_rn(Complex(0, scale), Complex(scale, 0)), Complex(0, 1));
    }
}

TEST(ComplexScalars, PassOnWhatIsNoNumber) {
    const double not_a_number = testing::nan_value<double>, huge = testing::infinity<double>;
    for (const Complex z : {Complex(not_a_number, 0), Complex(0, not_a_number), Complex(huge, 1), Complex(1, -huge)}) {
        EXPECT_FALSE(is_finite(z));
        EXPECT_FALSE(is_finite(magnitude(z)));
        EXPECT_FALSE(is_finite(mul_rn(z, Complex(1, 1))));
    }
    EXPECT_FALSE(is_finite(div_rn(Complex(1, 1), Complex(0))));
    EXPECT_EQ(magnitude(Complex(0)), 0);
}

TEST(ComplexScalars, AreRoundedOncePerPartAsFactors) {
    EXPECT_EQ(to_value<std::complex<float>>(Complex(1 + 0x1p-30, -0x1p-200)), std::complex<float>(1, 0));
    EXPECT_EQ(to_value<float>(1 + 0x1p-30), 1.0F);
    EXPECT_EQ(conjugate(Complex(1, 2)), Complex(1, -2));
}

}  // namespace
}  // namespace solver
