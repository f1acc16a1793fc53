#include "solver/partial.hpp"

#include "solver/error.hpp"
#include "solver/reduce.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "support/adversarial.hpp"
#include "support/expected.hpp"
#include "support/floating_point_environment.hpp"

namespace solver {
namespace {

using testing::ExpectedSum;
using testing::Random;
using testing::same_bits;

template <class T>
using Span = std::span<const T>;

template <class T>
constexpr T infinity = std::numeric_limits<T>::infinity();

template <class T>
class Partial : public ::testing::Test {};
using ValueTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Partial, ValueTypes);

/// Begins and ends of `parts` pieces of 0..n-1; some are empty.
std::vector<std::size_t> random_cuts(Random& random, std::size_t n, std::size_t parts) {
    std::vector<std::size_t> cuts{0, n};
    while (cuts.size() <= parts) cuts.push_back(static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(n))));
    std::sort(cuts.begin(), cuts.end());
    return cuts;
}

/// Merges until one is left: any two of them, in either order.
template <class Part>
Part merge_randomly(Random& random, std::vector<Part> parts) {
    const auto take = [&] {
        const auto i = static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(parts.size()) - 1));
        std::swap(parts[i], parts.back());
        const Part part = parts.back();
        parts.pop_back();
        return part;
    };
    while (parts.size() > 1) {
        Part merged = take();
        merged.merge(take());
        parts.push_back(merged);
    }
    return parts.front();
}

/// One after the other: the longest chain.
template <class Part>
Part merge_in_a_chain(const std::vector<Part>& parts) {
    Part merged = parts.front();
    for (std::size_t i = 1; i < parts.size(); ++i) merged.merge(parts[i]);
    return merged;
}

/// What one reduction over all processes gives, and how often it took the integers.
struct Escalations {
    std::int64_t reductions = 0;
    std::int64_t escalated = 0;
};

template <class T>
struct Cut {
    Span<T> x, y;
    std::vector<std::size_t> cuts;

    template <class Make>
    auto parts(const Make& make) const {
        std::vector<decltype(make(x, y))> all;
        for (std::size_t i = 0; i + 1 < cuts.size(); ++i)
            all.push_back(make(x.subspan(cuts[i], cuts[i + 1] - cuts[i]), y.subspan(cuts[i], cuts[i + 1] - cuts[i])));
        return all;
    }
    PartialSum<T> merged(Random& random) const {
        return merge_randomly(random, parts([](Span<T> a, Span<T> b) { return partial_dot(a, b); }));
    }
    SumDigits digits(Random& random) const {
        return merge_randomly(random, parts([](Span<T> a, Span<T> b) { return dot_digits(a, b); }));
    }
    T dot(Random& random, Escalations& count) const {
        T result = 7;
        ++count.reductions;
        if (merged(random).try_result(result)) return result;
        EXPECT_EQ(result, T(7)) << "left as it was";
        ++count.escalated;
        return digits(random).template result<T>();
    }
};

template <class T>
ExpectedSum<T> expected_dot(Span<T> x, Span<T> y) {
    ExpectedSum<T> expected;
    for (std::size_t i = 0; i < x.size(); ++i) expected.add_product(x[i], y[i]);
    return expected;
}

template <class T>
std::vector<T> random_vector(Random& random, std::size_t n, int exponents) {
    std::vector<T> x(n);
    for (T& element : x) element = random.number<T>(static_cast<int>(random.between(-exponents, exponents)));
    return x;
}

template <class T>
void expect_dot_of_any_parts(Random& random, Span<T> x, Span<T> y, std::size_t parts, Escalations& count) {
    const T expected = expected_dot(x, y).rounded();
    const Cut<T> cut{x, y, random_cuts(random, x.size(), parts)};
    EXPECT_PRED2(same_bits<T>, cut.dot(random, count), expected) << parts << " parts of " << x.size();
    EXPECT_PRED2(same_bits<T>, cut.digits(random).template result<T>(), expected) << parts << " parts of " << x.size();
}

// Promise: partial.hpp, "Exact sums, dot products and norms of vectors"
// Promise: partial.hpp, "The result has the bits of solver/reduce.hpp"
// Promise: partial.hpp, "Where try_result says no, about once"
// Promise: partial.hpp, "An empty part is that of a sum without terms."
// Promise: partial.hpp, "RN(V), one rounding;"
// Promise: partial.hpp, "sum_i x_i y_i."
// Promise: partial.hpp, "sum x_i or sum x_i y_i of some elements, to about"
TYPED_TEST(Partial, AnySplitMergedInAnyTreeGivesTheBitsOfTheWhole) {
    using T = TypeParam;
    Random random(1);
    Escalations count;
    for (const std::size_t parts : {1, 2, 3, 4, 7, 16, 100, 1000, 10000})
        for (int trial = 0; trial < (parts <= 100 ? 400 : 20); ++trial) {
            const auto n = static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(3 * parts) + 100));
            const std::vector<T> x = random_vector<T>(random, n, 20);
            const std::vector<T> y = random_vector<T>(random, n, 20);
            expect_dot_of_any_parts<T>(random, x, y, parts, count);
        }
    this->RecordProperty("escalations", std::to_string(count.escalated));
    EXPECT_LE(1000 * count.escalated, count.reductions);
}

// Promise: partial.hpp, "The proof is the filter's"
// Promise: partial.hpp, "A chain of 10^5 merges costs"
// Promise: partial.hpp, "Trees have no limit."
TYPED_TEST(Partial, AHundredThousandPartsInChainsAndTrees) {
    using T = TypeParam;
    constexpr std::size_t parts = 100000;
    Random random(2);
    const std::vector<T> x = random_vector<T>(random, 3 * parts, 6);
    const std::vector<T> y = random_vector<T>(random, 3 * parts, 6);
    const T expected = dot(Span<T>(x), Span<T>(y), Accuracy::exact);
    const Cut<T> cut{x, y, random_cuts(random, x.size(), parts)};
    const auto all = cut.parts([](Span<T> a, Span<T> b) { return partial_dot(a, b); });
    T found;
    for (int tree = 0; tree < 3; ++tree) {
        ASSERT_TRUE(merge_randomly(random, all).try_result(found));
        EXPECT_PRED2(same_bits<T>, found, expected);
    }
    ASSERT_TRUE(merge_in_a_chain(all).try_result(found));
    EXPECT_PRED2(same_bits<T>, found, expected);
}

/// Integers whose sum is known without any library: k and -k everywhere but for one number.
TYPED_TEST(Partial, IntegersThatCancelLeaveTheOneThatDoesNot) {
    using T = TypeParam;
    Random random(3);
    for (int trial = 0; trial < 50; ++trial) {
        std::vector<T> x;
        for (int k = 1; k <= 500; ++k) x.insert(x.end(), {T(k), T(-k)});
        const T left = static_cast<T>(random.between(-3, 3));
        x.push_back(left);
        for (std::size_t i = x.size() - 1; i > 0; --i)
            std::swap(x[i], x[static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(i)))]);
        const std::vector<T> ones(x.size(), T(1));
        Escalations count;
        const Cut<T> cut{x, ones, random_cuts(random, x.size(), 64)};
        EXPECT_PRED2(same_bits<T>, cut.dot(random, count), left + T(0));
        EXPECT_TRUE(count.escalated == 0 || left == 0);
        EXPECT_PRED2(same_bits<T>, cut.digits(random).template result<T>(), left + T(0));
    }
}

TYPED_TEST(Partial, AdversarialDotsInPieces) {
    using T = TypeParam;
    Random random(4);
    Escalations count;
    for (const auto& made : testing::adversarial_classes<T>()) {
        SCOPED_TRACE(made.name);
        for (int trial = 0; trial < 60; ++trial) {
            const auto terms = made.make(random, static_cast<std::size_t>(random.between(8, 60)));
            expect_dot_of_any_parts<T>(random, terms.a, terms.b, static_cast<std::size_t>(random.between(1, 20)), count);
        }
    }
}

// Promise: partial.hpp, "sum_i x_i"
TYPED_TEST(Partial, SumsOfPartsAreTheSumRoundedOnce) {
    using T = TypeParam;
    Random random(5);
    for (int trial = 0; trial < 50; ++trial) {
        const std::vector<T> x = random_vector<T>(random, 500, 30);
        const auto first = static_cast<std::size_t>(random.between(0, 500));
        const T expected = sum(Span<T>(x), Accuracy::exact);
        auto part = partial_sum(Span<T>(x).first(first));
        part.merge(partial_sum(Span<T>(x).subspan(first)));
        T found;
        ASSERT_TRUE(part.try_result(found));
        EXPECT_PRED2(same_bits<T>, found, expected);
        SumDigits digits = sum_digits(Span<T>(x).first(first));
        digits.merge(sum_digits(Span<T>(x).subspan(first)));
        EXPECT_PRED2(same_bits<T>, digits.template result<T>(), expected);
    }
}

// Promise: partial.hpp, "A norm is partial_dot"
// Promise: partial.hpp, "RN(sqrt(V))"
// Promise: partial.hpp, "Gives RN(sqrt(exact sum)) and returns true"
TYPED_TEST(Partial, NormsOfPartsAreTheNormRoundedOnce) {
    using T = TypeParam;
    Random random(6);
    for (int trial = 0; trial < 200; ++trial) {
        std::vector<T> x = random_vector<T>(random, static_cast<std::size_t>(random.between(1, 300)), 6);
        if (trial % 4 == 0) std::fill(x.begin(), x.end(), T(trial));  // roots that are numbers, and zero
        const T expected = expected_dot<T>(x, x).sqrt_rounded();
        const Cut<T> cut{x, x, random_cuts(random, x.size(), 8)};
        T found;
        if (cut.merged(random).try_sqrt(found)) {
            EXPECT_PRED2(same_bits<T>, found, expected);
        }
        EXPECT_PRED2(same_bits<T>, cut.digits(random).template sqrt_result<T>(), expected);
    }
}

/// Squares beyond the range and below it: a partial result must not pretend.
// Promise: partial.hpp, "N, what products below the normal range lose"
TYPED_TEST(Partial, NormsWhoseSquaresLeaveTheRange) {
    using T = TypeParam;
    Random random(7);
    for (const T scale : {std::numeric_limits<T>::max() / 8, std::numeric_limits<T>::min(), smallest_subnormal<T>}) {
        const std::vector<T> x{3 * scale, 4 * scale};
        const Cut<T> cut{x, x, {0, 1, 1, 2}};
        T found;
        if (cut.merged(random).try_sqrt(found)) {
            EXPECT_PRED2(same_bits<T>, found, 5 * scale);
        }
        EXPECT_PRED2(same_bits<T>, cut.digits(random).template sqrt_result<T>(), 5 * scale);
    }
}

// Promise: partial.hpp, "Gives RN of the exact sum and returns true"
// Promise: partial.hpp, "Where try_result says no, about once"
TYPED_TEST(Partial, SpecialValuesInAnyPart) {
    using T = TypeParam;
    Random random(8);
    constexpr T inf = infinity<T>;
    constexpr T nan = canonical_nan<T>;
    constexpr T most = std::numeric_limits<T>::max();
    constexpr T eta = smallest_subnormal<T>;
    struct Case {
        std::vector<T> x, y;
        T expected;
    };
    const std::vector<Case> cases{{{inf, 1, 2}, {1, 1, 1}, inf},
                                  {{1, -inf, 2}, {1, 1, 1}, -inf},
                                  {{inf, 1, -inf}, {1, 1, 1}, nan},
                                  {{inf, 1, 2}, {0, 1, 1}, nan},
                                  {{1, 2, nan}, {1, 1, 1}, nan},
                                  {{inf, inf, inf}, {1, 1, 1}, inf},
                                  {{most, most, -most}, {1, 1, 1}, most},
                                  {{most, most, 1}, {1, 1, 1}, inf},
                                  {{most, -most, 1}, {most, most, 1}, 1},
                                  {{T(-0.0), T(-0.0), 0}, {1, 1, 1}, 0},
                                  {{1, 2, -3}, {1, 1, 1}, 0},
                                  {{eta, eta, -eta}, {1, 1, 1}, eta},
                                  {{eta, eta, 1}, {eta, eta, 0}, 0},
                                  {{eta, eta, eta}, {T(0.5), T(0.5), T(0.5)}, 2 * eta},
                                  {{}, {}, 0}};
    for (const Case& special : cases)
        for (const std::size_t parts : {1, 2, 3, 9}) {
            Escalations count;
            const Cut<T> cut{special.x, special.y, random_cuts(random, special.x.size(), parts)};
            EXPECT_PRED2(same_bits<T>, cut.dot(random, count), special.expected) << ::testing::PrintToString(special.x);
            const auto is_special = [](T x) { return !std::isfinite(x); };
            EXPECT_TRUE(count.escalated == 1 || std::ranges::none_of(special.x, is_special));
            EXPECT_PRED2(same_bits<T>, cut.digits(random).template result<T>(), special.expected);
        }
}

/// Zero vectors and vectors of small integers are the first that iterations meet.
// Promise: partial.hpp, "No terms."
TYPED_TEST(Partial, ZeroVectorsNeedNoDigits) {
    using T = TypeParam;
    const std::vector<T> zero(1000), x(1000, T(0.1));
    auto part = partial_dot(Span<T>(zero), Span<T>(x));
    part.merge(partial_dot(Span<T>(x), Span<T>(zero)));
    part.merge({});
    T found = 1;
    EXPECT_TRUE(part.try_result(found));
    EXPECT_PRED2(same_bits<T>, found, T(0));
    if constexpr (std::is_same_v<T, double>) {  // the filter of floats leaves roots of zero to the digits
        EXPECT_TRUE(part.try_sqrt(found));
        EXPECT_PRED2(same_bits<T>, found, T(0));
    }
}

// Promise: partial.hpp, "First a PartialSum, 48 bytes"
// Promise: partial.hpp, "Trivially copyable: it may travel"
// Promise: partial.hpp, "1960 bytes."
TYPED_TEST(Partial, MergeCommutesToTheLastBit) {
    using T = TypeParam;
    static_assert(std::is_trivially_copyable_v<PartialSum<T>>);
    static_assert(sizeof(PartialSum<T>) == (std::is_same_v<T, double> ? 48 : 40));
    static_assert(sizeof(SumDigits) == 1960);
    Random random(9);
    for (int trial = 0; trial < 200; ++trial) {
        const std::vector<T> x = random_vector<T>(random, 100, 30);
        const auto a = partial_dot(Span<T>(x).first(30), Span<T>(x).last(30));
        const auto b = partial_dot(Span<T>(x).first(70), Span<T>(x).last(70));
        auto ab = a, ba = b;
        ab.merge(b);
        ba.merge(a);
        EXPECT_EQ(std::memcmp(&ab, &ba, sizeof ab), 0);
    }
}

/// 2^-1074 / 3, as a product.
// Promise: partial.hpp, "`underflow` is N of the filter's products;"
// Promise: partial.hpp, "0 for sums and floats."
TYPED_TEST(Partial, KnowsWhatProductsBelowTheRangeLoseButOfSumsAndFloats) {
    using T = TypeParam;
    const std::vector<T> x{T(1), smallest_subnormal<T>}, third{T(1), T(1) / T(3)};
    const auto loses_nothing = [](const PartialSum<T>& part) {
        const PartialSum<T> without(part.filter(), T(0));
        return std::memcmp(&part, &without, sizeof(typename PartialSum<T>::Filter) + sizeof(T)) == 0;  // but for padding
    };
    EXPECT_TRUE(loses_nothing(partial_sum(Span<T>(x))));
    EXPECT_EQ(loses_nothing(partial_dot(Span<T>(x), Span<T>(third))), (std::is_same_v<T, float>));
}

// Promise: partial.hpp, "sum_i x_i y_ji for every y_j"
TYPED_TEST(Partial, SeveralAtOnceAreThoseOneByOne) {
    using T = TypeParam;
    Random random(10);
    for (const std::size_t n : {0, 1, 100, 4096, 4097, 50000}) {
        const std::vector<T> x = random_vector<T>(random, n, 6);
        std::vector<std::vector<T>> ys;
        std::vector<Span<T>> views;
        for (int j = 0; j < 5; ++j) ys.push_back(random_vector<T>(random, n, 6));
        for (const auto& y : ys) views.emplace_back(y);
        for (const int threads : {1, 3}) {
            const auto all = partial_dots(Span<T>(x), views, Device::cpu(threads));
            ASSERT_EQ(all.size(), ys.size());
            for (std::size_t j = 0; j < ys.size(); ++j) {
                T found;
                ASSERT_TRUE(all[j].try_result(found));
                EXPECT_PRED2(same_bits<T>, found, dot(Span<T>(x), views[j], Accuracy::exact)) << n;
            }
        }
        EXPECT_TRUE(partial_dots(Span<T>(x), {}).empty());
    }
}

// Promise: partial.hpp, "Throws DimensionMismatch if the lengths differ"
TYPED_TEST(Partial, SaysWhichLengthsDiffer) {
    using T = TypeParam;
    const std::vector<T> x(3), y(4);
    EXPECT_THAT([&] { partial_dot(Span<T>(x), Span<T>(y)); },
                ::testing::ThrowsMessage<DimensionMismatch>("partial_dot: x has 3 elements, y has 4"));
    EXPECT_THAT([&] { dot_digits(Span<T>(x), Span<T>(y)); },
                ::testing::ThrowsMessage<DimensionMismatch>("dot_digits: x has 3 elements, y has 4"));
}

// Promise: partial.hpp, "The functions do not mind what floating-point"
TYPED_TEST(Partial, FunctionsAreDeafToTheCallersFloatingPointEnvironment) {
    using T = TypeParam;
    Random random(12);
    const std::vector<T> x = random_vector<T>(random, 3000, 30), y = random_vector<T>(random, 3000, 30);
    const PartialSum<T> dot = partial_dot(Span<T>(x), Span<T>(y)), sum = partial_sum(Span<T>(x));
    const SumDigits digits = dot_digits(Span<T>(x), Span<T>(y));
    testing::for_each_hostile_environment([&] {
        const PartialSum<T> dot_here = partial_dot(Span<T>(x), Span<T>(y)), sum_here = partial_sum(Span<T>(x));
        EXPECT_EQ(std::memcmp(&dot_here.filter(), &dot.filter(), sizeof dot.filter()), 0);
        EXPECT_EQ(std::memcmp(&sum_here.filter(), &sum.filter(), sizeof sum.filter()), 0);
        EXPECT_EQ(dot_digits(Span<T>(x), Span<T>(y)).word, digits.word);
    });
}

// Promise: partial.hpp, "A sum without any rounding, as integers"
// Promise: partial.hpp, "Of a sum whose carries are resolved"
/// 2^26 times the same sum, by 26 doublings, as the documentation promises: no word overflows, whatever the digits.
// Promise: partial.hpp, "V again."
TEST(SumDigits, MayBeAddedTwoToThe26Times) {
    Random random(11);
    for (int trial = 0; trial < 200; ++trial) {
        std::vector<double> x = random_vector<double>(random, static_cast<std::size_t>(random.between(1, 50)), 450);
        SumDigits digits = dot_digits(Span<double>(x), Span<double>(x));
        Superaccumulator expected = digits.total();
        expected.multiply(0x1p26);
        for (int k = 0; k < 26; ++k) digits.merge(SumDigits(digits));
        EXPECT_PRED2(same_bits<double>, digits.result<double>(), expected.result<double>());
    }
    SumDigits most;  // the largest words that a resolved sum may have
    for (int k = 0; k + 1 < superaccumulator_digits; ++k) {
        most.word[2 * k] = (1 << 27) - 1;
        most.word[2 * k + 1] = (1 << 25) + 1;
    }
    SumDigits many = most;
    for (int k = 0; k < 26; ++k) many.merge(SumDigits(many));
    for (int k = 0; k < SumDigits::size; ++k) EXPECT_EQ(many.word[k], most.word[k] << 26);
}

// Promise: partial.hpp, "V = sum_k (word[2k]"
TEST(SumDigits, CountsWhatIsNotFinite) {
    const std::vector<double> positive{infinity<double>}, negative{-infinity<double>};
    SumDigits sum = sum_digits(Span<double>(positive));
    for (int k = 0; k < 20; ++k) sum.merge(SumDigits(sum));
    EXPECT_EQ(sum.result<double>(), infinity<double>);
    EXPECT_EQ(sum.sqrt_result<float>(), infinity<float>);
    sum.merge(sum_digits(Span<double>(negative)));
    EXPECT_PRED2(same_bits<double>, sum.result<double>(), canonical_nan<double>);
}

}  // namespace
}  // namespace solver
