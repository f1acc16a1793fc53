#include "guarantee/norms.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "support/bounds.hpp"

namespace solver::guarantee {
namespace {

TEST(Norms, AreAboveTheirTerms) {
    Random random(1);
    for (int trial = 0; trial < 2000; ++trial) {
        const std::size_t n = 1 + random.below(4);
        const bool tiny = trial % 4 == 0;
        const Certificate certificate = random_certificate(random, n, trial % 2 == 0, tiny ? -600 : -4, tiny ? -500 : 4);
        std::vector<double> sizes(n);
        std::vector<Rational> exact;
        for (double& size : sizes) exact.emplace_back(size = random.wide(tiny ? -600 : -3, tiny ? -450 : 3));
        const double found = norm_above(certificate, [&](std::int64_t i) { return sizes[static_cast<std::size_t>(i)]; });
        expect_tight(norm(certificate, exact), found, 1 + 1e-11, 3 * static_cast<double>(n) * eta);
    }
}

TEST(Norms, AreInfiniteForWhatIsNoNumber) {
    Random random(2);
    for (const bool adds_up : {false, true}) {
        const Certificate certificate = random_certificate(random, 3, adds_up, 0, 1);
        const auto size = [](std::int64_t i) { return i == 1 ? std::numeric_limits<double>::quiet_NaN() : 1.0; };
        EXPECT_EQ(norm_above(certificate, size), std::numeric_limits<double>::infinity());
    }
}

/// Whichever thread finds it, and whichever ends last.
TEST(Norms, AreTheLargestOfAllThreads) {
    constexpr std::int64_t size = 1 << 20;
    for (const std::int64_t place : {std::int64_t{0}, size / 2, size - 1})
        EXPECT_EQ(largest(size, [&](std::int64_t i) { return i == place ? 2.0 : 1.0; }), 2) << place;
}

/// Up to half an ulp, also where the number is a power of two, and below the smallest one.
template <class T>
void expect_sizes_before_rounding() {
    Random random(3);
    for (int trial = 0; trial < 2000; ++trial) {
        const T rounded = static_cast<T>(trial % 3 == 0 ? 1.0 : random.wide(-3, 3));
        const double half_ulp = (static_cast<double>(std::nextafter(rounded, T(100))) - static_cast<double>(rounded)) / 2;
        const Rational before = Rational(static_cast<double>(rounded)) +
                                Rational(half_ulp) * Rational(trial % 2 == 0 ? 1 : std::abs(random.uniform()));
        EXPECT_GE(Rational(size_before_rounding(rounded)) * Rational(inflation), before);
        EXPECT_GE(Rational(size_before_rounding(-rounded)) * Rational(inflation), before);
        EXPECT_LE(size_before_rounding(rounded),
                  static_cast<double>(rounded) * (1 + 4 * static_cast<double>(unit_roundoff<T>)));
    }
    EXPECT_GE(size_before_rounding(T(0)), static_cast<double>(smallest_subnormal<T>) / 2);
    EXPECT_GT(size_before_rounding(T(0)), 0);
    EXPECT_EQ(size_before_rounding(T(0), 1.0), 1.0);
}

TEST(Norms, KnowHowLargeANumberWasBeforeItWasRounded) {
    expect_sizes_before_rounding<double>();
    expect_sizes_before_rounding<float>();
}

}  // namespace
}  // namespace solver::guarantee
