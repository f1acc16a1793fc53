#include "solver/numeric/digitwise.hpp"

#include <gtest/gtest.h>

#include "support/adversarial.hpp"
#include "support/oracle.hpp"

namespace solver {
namespace {

using testing::Oracle;
using testing::Random;
using testing::same_bits;
using testing::Terms;

template <class T>
class Digitwise : public ::testing::Test {};
using ValueTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Digitwise, ValueTypes);

template <class T>
DigitwiseSum sum_of(const Terms<T>& terms, T factor) {
    return DigitwiseSum([&](const auto& visit) {
        for (std::size_t i = 0; i < terms.size(); ++i) visit(double{terms.a[i]}, double{terms.b[i]}, double{factor});
    });
}
template <class T>
T rounded(const Terms<T>& terms, T factor) {
    return sum_of(terms, factor).template result<T>();
}

TYPED_TEST(Digitwise, RoundsEverySumCorrectly) {
    using T = TypeParam;
    Random random(1);
    for (const auto& adversary : testing::adversarial_classes<T>()) {
        SCOPED_TRACE(adversary.name);
        for (int repeat = 0; repeat < 1000; ++repeat) {
            const Terms<T> terms = adversary.make(random, repeat % 40 == 0 ? 200 : 8 + random.next() % 20);
            Oracle oracle;
            for (std::size_t i = 0; i < terms.size(); ++i) oracle.add_product(terms.a[i], terms.b[i]);
            EXPECT_PRED2(same_bits<T>, rounded(terms, T(1)), oracle.template rounded<T>());
        }
    }
}

/// Against the superaccumulator, which is tested by itself.
TYPED_TEST(Digitwise, MultipliesByAFactor) {
    using T = TypeParam;
    constexpr T largest = std::numeric_limits<T>::max();
    Random random(2);
    for (const auto& adversary : testing::adversarial_classes<T>())
        for (int repeat = 0; repeat < 100; ++repeat) {
            const Terms<T> terms = adversary.make(random, 8 + random.next() % 20);
            for (const T factor : {T(-1), T(0), T(0.1), T(-3), random.number<T>(100), smallest_subnormal<T>, largest}) {
                Superaccumulator sum;
                for (std::size_t i = 0; i < terms.size(); ++i) sum.add_product(terms.a[i], terms.b[i]);
                sum.multiply(factor);
                EXPECT_PRED2(same_bits<T>, rounded(terms, factor), sum.result<T>()) << adversary.name << ' ' << factor;
                if (sum.special() == 0) {
                    EXPECT_EQ(sum_of(terms, factor).sign(), sum.sign());
                }
            }
        }
}

TYPED_TEST(Digitwise, OfNothingIsZero) {
    using T = TypeParam;
    EXPECT_PRED2(same_bits<T>, rounded(Terms<T>(), T(1)), T(0));
    Terms<T> zeros;
    zeros.add(T(-0.0), T(1));
    EXPECT_PRED2(same_bits<T>, rounded(zeros, T(1)), T(0));
}

}  // namespace
}  // namespace solver
