#include "solver/numeric/large_superaccumulator.hpp"

#include <gtest/gtest.h>

#include "solver/numeric/error_free.hpp"
#include "support/adversarial.hpp"
#include "support/oracle.hpp"

namespace solver {
namespace {

using testing::Oracle;
using testing::Random;
using testing::same_bits;
using testing::Terms;

TEST(LargeSuperaccumulator, EqualsTheOracleForEveryClassAndEverySplitIntoCalls) {
    Random random(5);
    for (const auto& adversary : testing::adversarial_classes<double>()) {
        for (int repeat = 0; repeat < 12; ++repeat) {
            const Terms<double> terms = adversary.make(random, 8 + random.next() % 3000);
            LargeSuperaccumulator sum;
            Oracle oracle;
            for (const double x : terms.a) oracle.add(x);
            for (std::size_t i = 0; i < terms.size();) {
                const std::size_t block = std::min<std::size_t>(terms.size() - i, 1 + random.next() % 2500);
                sum.add(terms.a.data() + i, static_cast<std::int64_t>(block));
                i += block;
            }
            ASSERT_TRUE(same_bits(sum.total().result<double>(), oracle.rounded<double>())) << adversary.name;
        }
    }
}

TEST(LargeSuperaccumulator, AddsTheHalvesOfProducts) {
    Random random(6);
    const Terms<double> terms = testing::adversarial::random_products<double>(random, 5000);
    LargeSuperaccumulator sum;
    Oracle oracle;
    for (std::size_t i = 0; i < terms.size(); ++i) {
        const Split<double> product = two_prod(terms.a[i], terms.b[i]);
        const double halves[] = {product.value, product.error};
        sum.add(halves, 2);
        oracle.add_product(terms.a[i], terms.b[i]);
    }
    EXPECT_EQ(sum.total().result<double>(), oracle.rounded<double>());
}

TEST(LargeSuperaccumulator, NeverOverflowsABucket) {
    const std::vector<double> x(100'000, std::numeric_limits<double>::max());
    LargeSuperaccumulator sum;
    sum.add(x.data(), 100'000);
    Superaccumulator total = sum.total();
    total.multiply(1.0 / 1024);
    total.multiply(1.0 / 1024);
    Oracle oracle;
    oracle.add(std::numeric_limits<double>::max());
    oracle.multiply(100'000 * 0x1p-20);
    EXPECT_EQ(total.result<double>(), oracle.rounded<double>());
}

}  // namespace
}  // namespace solver
