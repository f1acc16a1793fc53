#include "solver/numeric/filtered.hpp"
#include "solver/numeric/superaccumulator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <vector>

#include "support/small_float.hpp"

namespace solver {
namespace {

using testing::SmallFloat;

/// The format's numbers as whole numbers: x = units(x) eta.
template <class T>
std::int64_t units(T x) {
    return static_cast<std::int64_t>(std::ldexp(static_cast<double>(x), -T::Encoding::eta_exponent));
}

/// RN(sum 2^-shift eta), by integers: to nearest even, +0 for zero, Inf beyond the largest number.
template <class T>
T rounded(std::int64_t sum, int shift) {
    const std::uint64_t magnitude = sum < 0 ? -static_cast<std::uint64_t>(sum) : static_cast<std::uint64_t>(sum);
    const int length = static_cast<int>(std::bit_width(magnitude));
    const int dropped = std::max(length - std::numeric_limits<T>::digits, shift);
    std::uint64_t kept = magnitude;
    if (dropped > 0) {
        const std::uint64_t rest = magnitude & ((std::uint64_t{1} << dropped) - 1);
        const std::uint64_t half = std::uint64_t{1} << (dropped - 1);
        kept = magnitude >> dropped;
        kept += rest > half || (rest == half && kept % 2 == 1);
    }
    const double value = std::ldexp(static_cast<double>(kept), std::max(dropped, 0) - shift + T::Encoding::eta_exponent);
    const double largest = static_cast<double>(std::numeric_limits<T>::max());
    const double result = value > largest ? std::numeric_limits<double>::infinity() : value;
    return T(sum < 0 && kept != 0 ? -result : result);
}

template <class T>
bool same_code(T a, T b) {
    return a.code() == b.code();
}

/// What filters made of all sums of a kind.
struct Score {
    std::int64_t tried = 0;
    std::int64_t decided = 0;
    std::int64_t wrong = 0;

    template <class T>
    void count(bool is_decided, T result, T expected) {
        ++tried;
        decided += is_decided;
        wrong += is_decided && !same_code(result, expected);
    }
    double share() const { return static_cast<double>(decided) / static_cast<double>(tried); }
};

/// All filters side by side.
template <class T>
struct Filters {
    FilteredPair<T> pair;
    FilteredWatchedPair<T> watched;
    FilteredTriple<T> triple;

    void add(T x) {
        pair.add(x);
        watched.add(x);
        triple.add(x);
    }
    void add_product(T a, T b) {
        pair.add_product(a, b);
        watched.add_product(a, b);
        triple.add_product(a, b);
    }
    void merge(const Filters& other) {
        pair.merge(other.pair);
        watched.merge(other.watched);
        triple.merge(other.triple);
    }
};

struct Scores {
    Score pair, watched, triple, quick;

    template <class T>
    void judge(const Filters<T>& sums, T underflow, T expected) {
        T result = 0;
        pair.count(sums.pair.try_result(result, underflow), result, expected);
        watched.count(sums.watched.try_result(result, underflow), result, expected);
        triple.count(sums.triple.try_result(result, underflow), result, expected);
        quick.count(sums.triple.try_quickly(result, underflow), result, expected);
    }

    /// Never one wrong, and no less decided than these shares.
    void expect(double of_pair, double of_watched, double of_triple) const {
        for (const Score* score : {&pair, &watched, &triple, &quick}) EXPECT_EQ(score->wrong, 0);
        EXPECT_GE(pair.share(), of_pair);
        EXPECT_GE(watched.share(), of_watched);
        EXPECT_GE(triple.share(), of_triple);
        std::printf("             %.1f million sums, decided: pair %.4f, watched pair %.4f, triple %.4f, quickly %.4f\n",
                    1e-6 * static_cast<double>(pair.tried), pair.share(), watched.share(), triple.share(), quick.share());
    }
};

/// Zero and all numbers of both signs with significands of all digits and exponents first..last (x = 1.f 2^e).
template <class T>
std::vector<T> numbers(int first, int last) {
    std::vector<T> all{T(0)};
    for (int e = first; e <= last; ++e)
        for (int m = 1 << (std::numeric_limits<T>::digits - 1); m < 1 << std::numeric_limits<T>::digits; ++m)
            for (const double sign : {1.0, -1.0})
                all.push_back(T(sign * std::ldexp(m, e - std::numeric_limits<T>::digits + 1)));
    return all;
}

/// All of them that are finite.
template <class T>
std::vector<T> all_numbers() {
    std::vector<T> all;
    for (std::uint16_t code = 0; code < T::Encoding::codes; ++code)
        if (is_finite(T::of_code(code))) all.push_back(T::of_code(code));
    return all;
}

/// Signs: the sum of all terms negated is the sum negated.
template <class T>
std::vector<T> positive(const std::vector<T>& all) {
    std::vector<T> some;
    for (const T x : all)
        if (x > T(0)) some.push_back(x);
    return some;
}

template <class T>
Filters<T> sum_of(std::initializer_list<T> terms) {
    Filters<T> sums;
    for (const T x : terms) sums.add(x);
    return sums;
}

TEST(SmallFloat, RoundsEveryOperationOnce) {
    using T = SmallFloat<4, 3>;
    const int shift = -T::Encoding::eta_exponent;
    for (const T a : all_numbers<T>())
        for (const T b : all_numbers<T>()) {
            const std::int64_t sum = units(a) + units(b), product = units(a) * units(b);
            ASSERT_EQ(static_cast<double>(add_rn(a, b)), static_cast<double>(rounded<T>(sum, 0)));
            ASSERT_EQ(static_cast<double>(mul_rn(a, b)), static_cast<double>(rounded<T>(product, shift)));
            for (const T c : all_numbers<T>())
                ASSERT_EQ(static_cast<double>(fma_rn(a, b, c)),
                          static_cast<double>(rounded<T>(product + units(c) * (std::int64_t{1} << shift), shift)));
        }
}

TEST(SmallFloat, AgreesWithFloat) {
    using T = SmallFloat<11, 5>;  // IEEE's binary16
    EXPECT_EQ(static_cast<double>(std::numeric_limits<T>::max()), 65504);
    EXPECT_EQ(static_cast<double>(std::numeric_limits<T>::min()), 0x1p-14);
    EXPECT_EQ(static_cast<double>(std::numeric_limits<T>::denorm_min()), 0x1p-24);
    EXPECT_EQ(unit_roundoff<T>.code(), T(0x1p-11).code());
    EXPECT_EQ(static_cast<double>(T(65520.0)), std::numeric_limits<double>::infinity());
    EXPECT_EQ(static_cast<double>(T(65519.0)), 65504);
}

/// Five digits: chains of up to six additions are within the proof.
TEST(SmallFormats, SumsOfThree) {
    using T = SmallFloat<5, 5>;
    const std::vector<T> all = numbers<T>(-3, 3);
    Scores scores;
    for (const T x : positive(all))
        for (const T y : all) {
            const Filters<T> two = sum_of({x, y});
            for (const T z : all) {
                Filters<T> three = two;
                three.add(z);
                scores.judge(three, T(0), rounded<T>(units(x) + units(y) + units(z), 0));
            }
        }
    scores.expect(0.74, 0.99, 0.999);
}

TEST(SmallFormats, SumsOfFour) {
    using T = SmallFloat<5, 5>;
    const std::vector<T> all = numbers<T>(0, 1);
    Scores scores;
    for (const T x : positive(all))
        for (const T y : all)
            for (const T z : all) {
                const Filters<T> three = sum_of({x, y, z});
                for (const T w : all) {
                    Filters<T> four = three;
                    four.add(w);
                    scores.judge(four, T(0), rounded<T>(units(x) + units(y) + units(z) + units(w), 0));
                }
            }
    scores.expect(0.69, 0.999, 0.999);
}

/// As long as the proof goes with five digits: errors half a unit each, added to what they are half a unit of.
TEST(SmallFormats, SumsOfSixPowersOfTwo) {
    using T = SmallFloat<5, 5>;
    std::vector<T> all{T(0)};
    for (const int e : {-6, -5, -4, 0, 1, 3})
        for (const double sign : {1.0, -1.0}) all.push_back(T(sign * std::ldexp(1.0, e)));
    Scores scores;
    for (const T a : positive(all))
        for (const T b : all)
            for (const T c : all)
                for (const T d : all) {
                    const Filters<T> four = sum_of({a, b, c, d});
                    for (const T e : all) {
                        Filters<T> five = four;
                        five.add(e);
                        for (const T f : all) {
                            Filters<T> six = five;
                            six.add(f);
                            const std::int64_t sum = units(a) + units(b) + units(c) + units(d) + units(e) + units(f);
                            scores.judge(six, T(0), rounded<T>(sum, 0));
                        }
                    }
                }
    scores.expect(0.3, 0.8, 0.9);
}

/// Six digits, which two merges need.
TEST(SmallFormats, SumsOfThreeInEveryTree) {
    using T = SmallFloat<6, 5>;
    const std::vector<T> all = numbers<T>(0, 1);
    Scores scores;
    for (const T x : positive(all))
        for (const T y : all) {
            const Filters<T> one = sum_of({x}), two = sum_of({x, y});
            Filters<T> merged = one;
            merged.merge(sum_of({y}));
            for (const T z : all) {
                const Filters<T> last = sum_of({z});
                const T expected = rounded<T>(units(x) + units(y) + units(z), 0);
                Filters<T> chain_and_one = two, one_and_chain = one, merges = merged;
                chain_and_one.merge(last);
                one_and_chain.merge(sum_of({y, z}));
                merges.merge(last);
                for (const Filters<T>* sums : {&chain_and_one, &one_and_chain, &merges}) scores.judge(*sums, T(0), expected);
            }
        }
    scores.expect(0.76, 0.999, 0.999);
}

/// Subnormals and overflow included: the whole of a narrow format.
TEST(SmallFormats, SumsOfThreeOverTheWholeRange) {
    using T = SmallFloat<5, 3>;
    const std::vector<T> all = all_numbers<T>();
    Scores scores;
    for (const T x : positive(all))
        for (const T y : all) {
            const Filters<T> two = sum_of({x, y});
            for (const T z : all) {
                Filters<T> three = two;
                three.add(z);
                scores.judge(three, T(0), rounded<T>(units(x) + units(y) + units(z), 0));
            }
        }
    scores.expect(0.72, 0.90, 0.90);
}

/// Products from those that underflow to some far above; two that lie far apart hardly meet.
TEST(SmallFormats, TwoProducts) {
    using T = SmallFloat<5, 4>;
    constexpr int shift = -T::Encoding::eta_exponent;
    const std::vector<T> factors = positive(numbers<T>(-2, -2));
    std::vector<T> others = positive(all_numbers<T>());
    std::erase_if(others, [](T x) { return x > T(16); });
    Scores bounded, exact;
    for (const T a : factors)
        for (const T b : others)
            for (const T c : factors)
                for (const T d : others) {
                    const int distance = std::ilogb(static_cast<double>(b)) - std::ilogb(static_cast<double>(d));
                    if (distance < -2 || distance > 2) continue;
                    for (const T e : {d, -d}) {
                        Filters<T> sums;
                        sums.add_product(a, b);
                        sums.add_product(c, e);
                        const T expected = rounded<T>(units(a) * units(b) + units(c) * units(e), shift);
                        bounded.judge(sums, underflow_bound<T>(2), expected);
                        if (product_is_exact(a, b) && product_is_exact(c, e)) exact.judge(sums, T(0), expected);
                    }
                }
    bounded.expect(0.1, 0.1, 0.1);
    exact.expect(0.6, 0.9, 0.98);
}

TEST(SmallFormats, ASuperaccumulatorRoundsEverySumAndProduct) {
    using T = SmallFloat<5, 3>;
    constexpr int shift = -T::Encoding::eta_exponent;
    const std::vector<T> all = all_numbers<T>();
    for (const T x : positive(all))
        for (const T y : all) {
            Superaccumulator product;
            product.add_product(x, y);
            ASSERT_PRED2(same_code<T>, product.result<T>(), rounded<T>(units(x) * units(y), shift));
            for (const T z : all) {
                Superaccumulator sum;
                for (const T term : {x, y, z}) sum.add(static_cast<double>(term));
                ASSERT_PRED2(same_code<T>, sum.result<T>(), rounded<T>(units(x) + units(y) + units(z), 0));
            }
        }
}

}  // namespace
}  // namespace solver
