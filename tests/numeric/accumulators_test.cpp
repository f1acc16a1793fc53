#include "solver/numeric/accumulators.hpp"

#include <gtest/gtest.h>

#include "solver/numeric/bounds.hpp"
#include "support/adversarial.hpp"
#include "support/oracle.hpp"

namespace solver {
namespace {

using testing::Oracle;
using testing::Random;
using testing::same_bits;
using testing::Terms;

static_assert(Accumulator<Plain<float>> && Accumulator<Sum2<double>> && Accumulator<Dot2<double>> &&
              Accumulator<FloatInDouble>);

template <class A>
using ValueOf = typename A::value_type;

/// Terms and what a bound needs to know of them.
template <class T>
struct Judged {
    explicit Judged(Terms<T> input) : terms(std::move(input)), n(static_cast<std::int64_t>(terms.size())) {
        Oracle sum_of_magnitudes;
        for (std::size_t i = 0; i < terms.size(); ++i) {
            exact.add_product(terms.a[i], terms.b[i]);
            sum_of_magnitudes.add_product(std::abs(terms.a[i]), std::abs(terms.b[i]));
        }
        abs_sum = sum_of_magnitudes.approximate() * (1 + 0x1p-50);
    }

    Terms<T> terms;
    std::int64_t n;
    Oracle exact;
    double abs_sum = 0;
};

/// Lanes merged one after another: h = the terms of a lane + 2 (lanes - 1) at most.
template <class A>
ValueOf<A> accumulate(const Terms<ValueOf<A>>& terms, std::size_t lanes) {
    std::vector<A> lane(lanes);
    for (std::size_t i = 0; i < terms.size(); ++i) lane[i % lanes].add_product(terms.a[i], terms.b[i]);
    for (std::size_t k = 1; k < lanes; ++k) lane[0].merge(lane[k]);
    return lane[0].result();
}

std::int64_t longest_chain(std::int64_t n, std::size_t lanes) {
    const auto l = static_cast<std::int64_t>(lanes);
    return (n + l - 1) / l + 2 * (l - 1);
}

/// Overflow on the way is outside these contracts.
template <class T>
bool may_overflow(const Judged<T>& judged) {
    return !(judged.abs_sum < std::numeric_limits<T>::max() / 4);
}

template <class A, class Bound>
void stays_within(Bound bound) {
    using T = ValueOf<A>;
    Random random(1);
    for (const auto& adversary : testing::finite_adversarial_classes<T>()) {
        for (int repeat = 0; repeat < 400; ++repeat) {
            const Judged<T> judged(adversary.make(random, 8 + random.next() % 200));
            if (may_overflow(judged)) continue;
            for (const std::size_t lanes : {1, 4, 16}) {
                const T result = accumulate<A>(judged.terms, lanes);
                ASSERT_TRUE(judged.exact.within(result, bound(judged, longest_chain(judged.n, lanes))))
                    << adversary.name << ", " << lanes << " lanes, n = " << judged.n;
            }
        }
    }
}

template <class T>
class Accumulators : public ::testing::Test {};
using ValueTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Accumulators, ValueTypes);

TYPED_TEST(Accumulators, PlainKeepsTheFastContract) {
    using T = TypeParam;
    stays_within<Plain<T>>([](const Judged<T>& j, std::int64_t) { return fast_bound<T>(j.n, j.abs_sum); });
}

TYPED_TEST(Accumulators, Dot2KeepsTheCompensatedContract) {
    using T = TypeParam;
    stays_within<Dot2<T>>([](const Judged<T>& j, std::int64_t h) {
        return compensated_bound<T>(h, j.n, j.abs_sum, j.exact.approximate()) * (1 + 0x1p-50);
    });
}

TEST(FloatInDouble, KeepsTheCompensatedContract) {
    stays_within<FloatInDouble>([](const Judged<float>& j, std::int64_t h) {
        return compensated_bound<float>(h, j.n, j.abs_sum, j.exact.approximate()) * (1 + 0x1p-50);
    });
}

/// Products with b = 1 are exact, so Sum2 keeps the contract of Dot2.
TYPED_TEST(Accumulators, Sum2KeepsTheCompensatedContractForSums) {
    using T = TypeParam;
    Random random(2);
    for (const auto& adversary : testing::finite_adversarial_classes<T>()) {
        for (int repeat = 0; repeat < 400; ++repeat) {
            Terms<T> terms = adversary.make(random, 8 + random.next() % 200);
            terms.b.assign(terms.b.size(), T(1));
            const Judged<T> judged(std::move(terms));
            if (may_overflow(judged)) continue;
            Sum2<T> sum;
            for (const T x : judged.terms.a) sum.add(x);
            const double bound = compensated_bound<T>(judged.n, 0, judged.abs_sum, judged.exact.approximate()) * (1 + 0x1p-50);
            ASSERT_TRUE(judged.exact.within(sum.result(), bound)) << adversary.name;
            ASSERT_TRUE(same_bits(sum.result(), accumulate<Dot2<T>>(judged.terms, 1)));
        }
    }
}

TYPED_TEST(Accumulators, Dot2IsExactWherePlainHasNoDigitLeft) {
    using T = TypeParam;
    const T big = 1 / unit_roundoff<T>;
    Terms<T> terms;
    terms.add(big, 2);
    terms.add(T(1));
    terms.add(-big, 2);
    EXPECT_EQ(accumulate<Plain<T>>(terms, 1), T(0));
    EXPECT_EQ(accumulate<Dot2<T>>(terms, 1), T(1));
}

TYPED_TEST(Accumulators, FollowIeeeForInfAndNanAndReturnPlusZero) {
    using T = TypeParam;
    constexpr T inf = std::numeric_limits<T>::infinity();
    const auto check = [&]<class A>(A) {
        const auto sum = [](T x, T y) {
            A a;
            a.add(x);
            a.add(y);
            return a.result();
        };
        EXPECT_EQ(sum(1, inf), inf);
        EXPECT_EQ(sum(-inf, 1), -inf);
        EXPECT_TRUE(same_bits(sum(inf, -inf), canonical_nan<T>));
        EXPECT_TRUE(same_bits(sum(-canonical_nan<T>, 1), canonical_nan<T>));
        EXPECT_TRUE(same_bits(sum(-T(0), -T(0)), T(0)));
        EXPECT_TRUE(same_bits(A().result(), T(0)));
    };
    check(Plain<T>());
    check(Sum2<T>());
    check(Dot2<T>());
    if constexpr (std::is_same_v<T, float>) check(FloatInDouble());
}

}  // namespace
}  // namespace solver
