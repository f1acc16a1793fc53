#include "preparation/log2.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace solver {
namespace {

constexpr double unit_of_log2 = 1.0 / (1 << log2_fraction_bits);

// Promise: preparation.hpp, "Logarithms to base 2 are counted in units of 2^-20."
TEST(FixedPointLog2, IsExactForPowersOfTwo) {
    for (int exponent = -1074; exponent <= 1023; ++exponent)
        ASSERT_EQ(preparation::log2_magnitude(std::ldexp(-1.0, exponent)), exponent * (1 << 20));
    EXPECT_EQ(preparation::log2_magnitude(0x1p-149f), -149 * (1 << 20));
}

TEST(FixedPointLog2, LiesLessThanTwoUnitsBelowAndRises) {
    std::mt19937_64 random(1);
    std::vector<double> values;
    for (int trial = 0; trial < 20000; ++trial)
        values.push_back(std::ldexp(static_cast<double>(random() >> 11), static_cast<int>(random() % 2000) - 1060));
    std::sort(values.begin(), values.end());
    std::int64_t previous = std::numeric_limits<std::int64_t>::min();
    for (const double value : values) {
        if (value == 0) continue;
        const std::int32_t log2 = preparation::log2_magnitude(value);
        const double error = std::log2(value) - log2 * unit_of_log2;
        ASSERT_GE(error, -1e-9) << value;
        ASSERT_LE(error, 2 * unit_of_log2) << value;
        ASSERT_GE(log2, previous);
        previous = log2;
    }
}

/// One by one and in vectors, some of which have a number that is not normal.
TEST(FixedPointLog2, IsTheSameInVectors) {
    std::mt19937_64 random(2);
    for (const std::size_t count : {0u, 1u, 7u, 8u, 31u, 1000u}) {
        std::vector<double> doubles;
        std::vector<float> floats;
        while (doubles.size() < count) {
            const bool is_small = random() % 16 == 0;
            const double sign = random() % 2 == 0 ? 1 : -1, mantissa = sign * static_cast<double>(1 + (random() >> 11));
            doubles.push_back(std::ldexp(mantissa, is_small ? -1100 : static_cast<int>(random() % 1900) - 950));
            if (doubles.back() == 0) doubles.back() = std::numeric_limits<double>::denorm_min();
            floats.push_back(
                static_cast<float>(std::ldexp(mantissa, is_small ? -190 : static_cast<int>(random() % 200) - 150)));
            if (floats.back() == 0) floats.back() = std::numeric_limits<float>::denorm_min();
        }
        std::vector<std::int32_t> of_doubles(count), of_floats(count);
        preparation::log2_magnitudes(doubles, of_doubles.data());
        preparation::log2_magnitudes(floats, of_floats.data());
        for (std::size_t i = 0; i < count; ++i) {
            ASSERT_EQ(of_doubles[i], preparation::log2_magnitude(doubles[i])) << doubles[i];
            ASSERT_EQ(of_floats[i], preparation::log2_magnitude(floats[i])) << floats[i];
        }
    }
}

}  // namespace
}  // namespace solver
