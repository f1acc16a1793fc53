#include "cpu/complex_quotient.hpp"

#include "core/complex_quotient.hpp"

#include <gtest/gtest.h>

#include "support/complex_numbers.hpp"
#include "support/expected.hpp"
#include "support/targets.hpp"

#include <vector>

namespace solver {
namespace {

/// Numbers without a part, quotients that tie or vanish, and exponents that no vector lane takes, among others.
template <class T>
void expect_bits_of_single_quotients(int exponents) {
    testing::Random random(exponents);
    std::vector<T> a, b, expected;
    for (int i = 0; i < 3001; ++i) {
        std::complex<T> x = testing::complex_number<T>(random, exponents), y = testing::complex_number<T>(random, exponents);
        if (y == std::complex<T>(0) || i % 50 == 0) y = {2, 2};
        if (i % 51 == 0) x = y;
        a.insert(a.end(), {x.real(), x.imag()});
        b.insert(b.end(), {y.real(), y.imag()});
    }
    const auto n = static_cast<std::int64_t>(a.size());
    for (std::int64_t i = 0; i < n; ++i) expected.push_back(quotient_part(a.data(), b.data(), i));
    testing::for_each_target([&] {
        std::vector<T> quotients(a.size());
        cpu::divide_complex(n, a.data(), b.data(), quotients.data());
        EXPECT_EQ(testing::differences<T>(quotients, expected), "") << exponents;
    });
}

TEST(ComplexQuotientsInLanes, HaveTheBitsOfSingleOnes) {
    for (const int exponents : {1, 20, 238, 400, 1020}) expect_bits_of_single_quotients<double>(exponents);
    for (const int exponents : {1, 20, 60, 126}) expect_bits_of_single_quotients<float>(exponents);
}

}  // namespace
}  // namespace solver
