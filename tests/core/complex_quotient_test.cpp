#include "core/complex_quotient.hpp"

#include <gtest/gtest.h>

#include "support/complex_numbers.hpp"

#include <cmath>
#include <complex>
#include <limits>
#include <vector>

namespace solver {
namespace {

using testing::Random;

template <class T>
class ComplexQuotient : public ::testing::Test {};
using ValueTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(ComplexQuotient, ValueTypes);

template <class T>
std::complex<T> quotient_of(std::complex<T> a, std::complex<T> b) {
    const T parts_of_a[] = {a.real(), a.imag()}, parts_of_b[] = {b.real(), b.imag()};
    return {quotient_part(parts_of_a, parts_of_b, 0), quotient_part(parts_of_a, parts_of_b, 1)};
}

template <class T>
std::complex<T> expected(std::complex<T> a, std::complex<T> b) {
    testing::Oracle re, im, divisor;
    re.add_product(a.real(), b.real());
    re.add_product(a.imag(), b.imag());
    im.add_product(a.imag(), b.real());
    im.add_product(-a.real(), b.imag());
    divisor.add_product(b.real(), b.real());
    divisor.add_product(b.imag(), b.imag());
    return {re.quotient_rounded<T>(divisor), im.quotient_rounded<T>(divisor)};
}

template <class T>
void expect_rounded_once(std::complex<T> a, std::complex<T> b) {
    if (b == std::complex<T>(0)) return;
    EXPECT_EQ(quotient_of(a, b), expected(a, b)) << a << " / " << b;
}

/// Exponents from a few to all that there are.
template <class T>
int some_exponents(Random& random) {
    const int all = std::is_same_v<T, double> ? 1020 : 124;
    const int some[] = {1, 9, 60, all / 3, all};
    return some[random.between(0, 4)];
}

TYPED_TEST(ComplexQuotient, IsRoundedOncePerPart) {
    using T = TypeParam;
    Random random(1);
    for (int i = 0; i < 10'000; ++i) {
        const int exponents = some_exponents<T>(random);
        expect_rounded_once(testing::complex_number<T>(random, exponents), testing::complex_number<T>(random, exponents));
    }
}

/// Numerators that vanish or nearly do.
TYPED_TEST(ComplexQuotient, IsRoundedOnceWhereNumeratorsCancel) {
    using T = TypeParam;
    Random random(2);
    for (int i = 0; i < 3'000; ++i) {
        const int exponents = some_exponents<T>(random) / 2;
        const std::complex<T> b = testing::complex_number<T>(random, exponents);
        const T factor = random.number<T>(static_cast<int>(random.between(-3, 3)));
        std::complex<T> a(factor * b.real(), factor * b.imag());
        expect_rounded_once(a, b);
        expect_rounded_once(std::complex<T>(-a.imag(), a.real()), b);
        expect_rounded_once(b, b);
        a.real(std::nextafter(a.real(), T(0)));
        expect_rounded_once(a, b);
    }
}

/// By (1 + i) 2^k a quotient is half a sum: every second one lies between two numbers where exponents differ by one.
TYPED_TEST(ComplexQuotient, IsRoundedToEvenInTies) {
    using T = TypeParam;
    Random random(3);
    for (int i = 0; i < 10'000; ++i) {
        const std::complex<T> a = testing::complex_number<T>(random, 1);
        const T power = std::ldexp(T(1), static_cast<int>(random.between(-9, 9)));
        expect_rounded_once(a, {power, random.between(0, 1) == 0 ? power : -power});
    }
}

TYPED_TEST(ComplexQuotient, OverflowsAndUnderflowsOnlyWhereItsPartsDo) {
    using T = TypeParam;
    using Limits = std::numeric_limits<T>;
    const T some[] = {Limits::denorm_min(), 3 * Limits::denorm_min(), Limits::min(), T(3), Limits::max()};
    for (const T x : some)
        for (const T y : some)
            for (const T p : some)
                for (const T q : some)
                    for (const T sign : {T(1), T(-1)}) expect_rounded_once<T>({x, sign * y}, {p, q});
}

/// Both parts small or large together, down to subnormal numbers.
TYPED_TEST(ComplexQuotient, IsRoundedOnceFarFromOne) {
    using T = TypeParam;
    Random random(7);
    const int all = std::is_same_v<T, double> ? 1074 : 149, most = all - 60;
    for (int i = 0; i < 10'000; ++i) {
        const auto far = [&](std::complex<T> z) {
            const int e = random.between(-all, most);
            return std::complex<T>(std::ldexp(z.real(), e), std::ldexp(z.imag(), e));
        };
        const auto a = testing::complex_number<T>(random, 9), b = testing::complex_number<T>(random, 9);
        expect_rounded_once(far(a), far(b));
    }
}

/// Parts far from one another, as where losses are tiny.
TYPED_TEST(ComplexQuotient, IsRoundedOnceWherePartsLieFarApart) {
    using T = TypeParam;
    Random random(8);
    const int all = std::is_same_v<T, double> ? 1074 : 149, most = all - 60;
    const auto number = [&] { return std::ldexp(random.number<T>(), static_cast<int>(random.between(-all, most))); };
    const auto one_near_1 = [&] {
        return random.between(0, 1) == 0 ? std::complex<T>(random.number<T>(), number())
                                         : std::complex<T>(number(), random.number<T>());
    };
    for (int i = 0; i < 10'000; ++i) {
        expect_rounded_once<T>({number(), number()}, {number(), number()});
        expect_rounded_once(one_near_1(), one_near_1());
        expect_rounded_once<T>(1, one_near_1());
    }
}

TYPED_TEST(ComplexQuotient, ByRealOrImaginaryNumbersIsReal) {
    using T = TypeParam;
    Random random(4);
    for (int i = 0; i < 1000; ++i) {
        const std::complex<T> a = testing::complex_number<T>(random, 9);
        const T b = random.number<T>();
        EXPECT_TRUE(testing::same_bits(quotient_of<T>(a, b), std::complex<T>(a.real() / b, a.imag() / b)));
        EXPECT_EQ(quotient_of<T>(a, {0, b}), std::complex<T>(a.imag() / b, -a.real() / b));
    }
    const T infinity = std::numeric_limits<T>::infinity();
    EXPECT_EQ(quotient_of<T>({1, infinity}, 2), std::complex<T>(T(0.5), infinity));
}

TYPED_TEST(ComplexQuotient, PassesOnWhatIsNoNumber) {
    using T = TypeParam;
    const T infinity = std::numeric_limits<T>::infinity();
    for (const std::complex<T> a : {std::complex<T>(infinity, 1), std::complex<T>(canonical_nan<T>, 1)}) {
        const std::complex<T> quotient = quotient_of<T>(a, {1, 2});
        EXPECT_FALSE(is_finite(quotient.real()) || is_finite(quotient.imag()));
    }
    EXPECT_TRUE(
        testing::same_bits(quotient_of<T>({canonical_nan<T>, 1}, {1, 2}), std::complex<T>(canonical_nan<T>, canonical_nan<T>)));
}

}  // namespace
}  // namespace solver
