#include "solver/numeric/filtered_expansion.hpp"

#include <gtest/gtest.h>

#include <cstdio>

#include "solver/numeric/bounded_float.hpp"
#include "support/adversarial.hpp"
#include "support/oracle.hpp"

namespace solver {
namespace {

using testing::Oracle;
using testing::Random;
using testing::same_bits;
using testing::Terms;

/// How many sums a filter was given, certified, and certified wrong.
struct Score {
    std::int64_t tried = 0;
    std::int64_t certified = 0;
    std::int64_t wrong = 0;

    template <class T>
    void count(bool is_certified, T result, T expected) {
        ++tried;
        certified += is_certified;
        wrong += is_certified && !same_bits(result, expected);
    }
    Score& operator+=(const Score& other) {
        tried += other.tried;
        certified += other.certified;
        wrong += other.wrong;
        return *this;
    }
    double share() const { return static_cast<double>(certified) / static_cast<double>(tried); }
};

template <class Filter>
using ValueOf = typename Filter::value_type;

template <class Filter>
Filter chain(const Terms<ValueOf<Filter>>& terms, std::size_t first, std::size_t last) {
    Filter filter;
    for (std::size_t i = first; i < last; ++i) filter.add_product(terms.a[i], terms.b[i]);
    return filter;
}

/// Halves merged, recursively, down to chains of at most `leaf` terms.
template <class Filter>
Filter tree(const Terms<ValueOf<Filter>>& terms, std::size_t first, std::size_t last, std::size_t leaf) {
    if (last - first <= leaf) return chain<Filter>(terms, first, last);
    const std::size_t middle = first + (last - first) / 2;
    Filter left = tree<Filter>(terms, first, middle, leaf);
    left.merge(tree<Filter>(terms, middle, last, leaf));
    return left;
}

/// As vector lanes do it: term i belongs to lane i mod lanes, lanes are merged one after another.
template <class Filter>
Filter interleaved(const Terms<ValueOf<Filter>>& terms, std::size_t lanes) {
    std::vector<Filter> lane(lanes);
    for (std::size_t i = 0; i < terms.size(); ++i) lane[i % lanes].add_product(terms.a[i], terms.b[i]);
    for (std::size_t k = 1; k < lanes; ++k) lane[0].merge(lane[k]);
    return lane[0];
}

template <class T>
bool products_are_exact(const Terms<T>& terms) {
    for (std::size_t i = 0; i < terms.size(); ++i)
        if (!product_is_exact(terms.a[i], terms.b[i])) return false;
    return true;
}

template <class T>
Oracle oracle_of(const Terms<T>& terms) {
    Oracle oracle;
    for (std::size_t i = 0; i < terms.size(); ++i) oracle.add_product(terms.a[i], terms.b[i]);
    return oracle;
}

template <class Filter>
constexpr bool needs_underflow_bound = !std::is_same_v<Filter, FilteredFloat> && !std::is_same_v<Filter, CountedBoundedFloat>;

/// try_result, and the cheaper test where a filter has one.
template <class Filter>
void judge_tests(const Filter& filter, ValueOf<Filter> underflow, ValueOf<Filter> expected, Score& score) {
    ValueOf<Filter> result = 0;
    bool certified = false;
    if constexpr (needs_underflow_bound<Filter>)
        certified = filter.try_result(result, underflow);
    else
        certified = filter.try_result(result);
    score.count(certified, result, expected);
    if constexpr (requires { filter.try_quickly(result, underflow); }) {
        if (filter.try_quickly(result, underflow)) score.wrong += !same_bits(result, expected);
    }
}

/// With N = n eta, and with N = 0 where that is allowed.
template <class Filter>
void judge(const Filter& filter, bool exact_products, std::size_t n, ValueOf<Filter> expected, Score& score) {
    if (needs_underflow_bound<Filter>)
        judge_tests(filter, underflow_bound<ValueOf<Filter>>(static_cast<std::int64_t>(n)), expected, score);
    if (exact_products || !needs_underflow_bound<Filter>) judge_tests(filter, ValueOf<Filter>(0), expected, score);
}

template <class Filter>
Score judge_every_order(Terms<ValueOf<Filter>> terms, Random& random) {
    const auto expected = oracle_of(terms).template rounded<ValueOf<Filter>>();
    const bool exact = products_are_exact(terms);
    const std::size_t n = terms.size();
    Score score;
    judge(chain<Filter>(terms, 0, n), exact, n, expected, score);
    judge(tree<Filter>(terms, 0, n, 1), exact, n, expected, score);
    judge(tree<Filter>(terms, 0, n, 5), exact, n, expected, score);
    judge(interleaved<Filter>(terms, 4), exact, n, expected, score);
    judge(interleaved<Filter>(terms, n), exact, n, expected, score);  // as many merges as terms
    testing::adversarial::shuffle(terms, random);
    judge(chain<Filter>(terms, 0, n), exact, n, expected, score);
    judge(interleaved<Filter>(terms, 8), exact, n, expected, score);
    return score;
}

template <class Filter>
class Filtered : public ::testing::Test {};
using Filters = ::testing::Types<FilteredPair<float>, FilteredPair<double>, FilteredWatchedPair<float>,
                                 FilteredWatchedPair<double>, FilteredTriple<float>, FilteredTriple<double>,
                                 FilteredExpansion<float>, FilteredExpansion<double>, FilteredFloat, CountedBoundedFloat>;
TYPED_TEST_SUITE(Filtered, Filters);

/// As in substitution with a stencil of ones: every second such sum is a tie, or loses nothing.
TEST(FilteredWatchedPair, DecidesAllSumsOfFewNumbersOfLikeSize) {
    Random random(78);
    int decided_by_the_pair = 0;
    for (int trial = 0; trial < 2000; ++trial) {
        FilteredPair<double> pair;
        FilteredWatchedPair<double> watched;
        Oracle oracle;
        for (int i = 0; i < 4; ++i) {
            const double x = random.number<double>(0);
            pair.add_product(i == 0 ? 1.0 : -1.0, x);
            watched.add_product(i == 0 ? 1.0 : -1.0, x);
            oracle.add_product(i == 0 ? 1.0 : -1.0, x);
        }
        double result = 0;
        decided_by_the_pair += pair.try_result(result);
        ASSERT_TRUE(watched.try_result(result));
        EXPECT_PRED2(same_bits<double>, result, oracle.rounded<double>());
    }
    EXPECT_LT(decided_by_the_pair, 1900);
}

TYPED_TEST(Filtered, NeverCertifiesAWrongResult) {
    using T = ValueOf<TypeParam>;
    Random random(1);
    Score all;
    for (const auto& adversary : testing::adversarial_classes<T>()) {
        Score score;
        for (int repeat = 0; repeat < 2400; ++repeat) {
            const std::size_t n = repeat % 40 == 0 ? 150 + random.next() % 800 : 8 + random.next() % 33;
            score += judge_every_order<TypeParam>(adversary.make(random, n), random);
        }
        std::printf("    %-24s %8lld sums, %6.2f %% certified\n", adversary.name, static_cast<long long>(score.tried),
                    100 * score.share());
        EXPECT_EQ(score.wrong, 0) << adversary.name;
        all += score;
    }
    std::printf("    %-24s %8lld sums\n", "all", static_cast<long long>(all.tried));
    EXPECT_GE(all.tried, 200'000);
}

template <class Filter>
double certified_share(Terms<ValueOf<Filter>> (*make)(Random&, std::size_t), std::size_t n) {
    Random random(2);
    Score score;
    for (int repeat = 0; repeat < 300; ++repeat) {
        const auto terms = make(random, n);
        judge(chain<Filter>(terms, 0, terms.size()), true, n, oracle_of(terms).template rounded<ValueOf<Filter>>(), score);
    }
    EXPECT_EQ(score.wrong, 0);
    return score.share();
}

TYPED_TEST(Filtered, CertifiesNearlyAllRandomSums) {
    using T = ValueOf<TypeParam>;
    EXPECT_GE(certified_share<TypeParam>(testing::adversarial::random_products<T>, 100), 0.99);
    EXPECT_GE(certified_share<TypeParam>(testing::adversarial::same_sign<T>, 100), 0.99);
}

TYPED_TEST(Filtered, CertifiesNothingThatIsNotFinite) {
    using T = ValueOf<TypeParam>;
    EXPECT_EQ(certified_share<TypeParam>(testing::adversarial::non_finite<T>, 20), 0);
}

TYPED_TEST(Filtered, GivesPlusZeroForTheEmptySum) {
    using T = ValueOf<TypeParam>;
    T result = 1;
    EXPECT_TRUE(TypeParam().try_result(result));
    EXPECT_TRUE(same_bits(result, T(0)));
}

TYPED_TEST(Filtered, RefusesPathsThatAreTooLongForTheProof) {
    ErrorPath path;
    path.additions = 1 << 30;
    EXPECT_LT(path.factor<float>(), 0);
    EXPECT_GT(path.factor<double>(), 0);
    path.additions = 1 << 20;
    path.merges = 10;
    EXPECT_LT(path.factor<float>(), 0);
}

/// Where three terms decide hardly any: 200 bits cancel (double), 90 (float), and leave one number, a tie or nothing.
template <class T>
class Expansion : public ::testing::Test {};
using ExpansionTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Expansion, ExpansionTypes);

TYPED_TEST(Expansion, DecidesSumsThatCancelByMoreThanAnyTriple) {
    using T = TypeParam;
    constexpr int range = std::is_same_v<T, double> ? 200 : 70;  // of products, which must not underflow
    Random random(79);
    int decided_by_the_triple = 0;
    for (int repeat = 0; repeat < 2000; ++repeat) {
        Terms<T> terms;
        for (int i = 0; i < 15; ++i) {
            const T a = random.number<T>(static_cast<int>(random.between(0, range)));
            const T b = random.number<T>(0);
            terms.add(a, b);
            terms.add(-a, b);
        }
        if (repeat % 3 != 0) terms.add(random.number<T>(0), T(1));
        if (repeat % 3 == 1) terms.add(mul_rn(terms.a.back(), unit_roundoff<T>), T(1));  // at most half a unit of it
        testing::adversarial::shuffle(terms, random);
        T result = 0;
        decided_by_the_triple += chain<FilteredTriple<T>>(terms, 0, terms.size()).try_result(result);
        for (const auto& sum :
             {chain<FilteredExpansion<T>>(terms, 0, terms.size()), tree<FilteredExpansion<T>>(terms, 0, terms.size(), 4)}) {
            ASSERT_TRUE(sum.try_result(result));
            ASSERT_PRED2(same_bits<T>, result, oracle_of(terms).template rounded<T>());
        }
    }
    EXPECT_LT(decided_by_the_triple, 1000);
}

template <class T>
class Triple : public ::testing::Test {};
using ValueTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Triple, ValueTypes);

TYPED_TEST(Triple, CertifiesTiesAndExactZerosOfFewBitNumbers) {
    using T = TypeParam;
    Random random(3);
    for (int repeat = 0; repeat < 2000; ++repeat) {
        Terms<T> terms = testing::adversarial::few_bit_integers<T>(random, 30);
        const bool zero = random.coin();
        const std::size_t half = terms.size();
        for (std::size_t i = 0; i < half; ++i) terms.add(-terms.a[i], terms.b[i]);
        if (!zero) terms.add(T(1), T(1));
        if (!zero) terms.add(unit_roundoff<T>);  // 1 + u is a tie
        testing::adversarial::shuffle(terms, random);
        T result = 7;
        ASSERT_TRUE(chain<FilteredTriple<T>>(terms, 0, terms.size()).try_result(result));
        ASSERT_TRUE(same_bits(result, zero ? T(0) : T(1)));
    }
}

TYPED_TEST(Triple, IsNothingTimesZeroAndItsOppositeTimesMinusOne) {
    using T = TypeParam;
    FilteredTriple<T> sum;
    sum.add(T(3));
    sum.add(unit_roundoff<T>);
    T result = 1;
    for (const T zero : {T(0), -T(0)}) {
        ASSERT_TRUE(sum.scaled(zero).try_result(result));
        EXPECT_TRUE(same_bits(result, T(0)));
    }
    ASSERT_TRUE(sum.scaled(T(-1)).try_result(result));
    EXPECT_EQ(result, T(-3));
    FilteredTriple<T> difference = sum.scaled(T(-1));
    difference.add(T(3));
    ASSERT_TRUE(difference.try_result(result));
    EXPECT_EQ(result, -unit_roundoff<T>);
}

TYPED_TEST(Triple, NeverCertifiesAWrongNegatedOrScaledSum) {
    using T = TypeParam;
    Random random(4);
    Score negated, scaled, with_beta;
    for (const auto& adversary : testing::adversarial_classes<T>()) {
        for (int repeat = 0; repeat < 1500; ++repeat) {
            const Terms<T> terms = adversary.make(random, 8 + random.next() % 40);
            const std::size_t n = terms.size();
            const bool exact = products_are_exact(terms);
            const auto sum = random.coin() ? chain<FilteredTriple<T>>(terms, 0, n) : tree<FilteredTriple<T>>(terms, 0, n, 3);
            Oracle oracle = oracle_of(terms);
            Oracle opposite(oracle);
            opposite.multiply(-1);
            judge(sum.scaled(T(-1)), exact, n, opposite.template rounded<T>(), negated);

            const int range = repeat % 3 == 0 ? std::numeric_limits<T>::max_exponent - 1 : repeat % 3 == 1 ? 40 : 2;
            const auto scalar = [&] {
                const auto e = static_cast<int>(random.between(-range, range));
                return random.coin() ? random.number<T>(e) : std::ldexp(T(1), e);
            };
            const T alpha = scalar();
            const T beta = scalar();
            const T y = scalar();
            FilteredTriple<T> product = sum.scaled(alpha);
            const bool exact_scaling =
                product_is_exact(alpha, sum.s()) && product_is_exact(alpha, sum.c()) && product_is_exact(alpha, sum.d());
            const T old = exact ? T(0) : underflow_bound<T>(static_cast<std::int64_t>(n));
            const T grown = old == T(0) ? T(0) : above(mul_rn(magnitude(alpha), old));
            const T underflow = exact_scaling ? grown : above(add_rn(grown, underflow_bound<T>(3)));
            oracle.multiply(alpha);
            T result = 0;
            bool certified = product.try_result(result, underflow);
            scaled.count(certified, result, oracle.template rounded<T>());

            const bool exact_beta = product_is_exact(beta, y);
            FilteredTriple<T> last;
            last.add_product(beta, y);
            product.merge(last);
            oracle.add_product(beta, y);
            certified = product.try_result(result, exact_beta ? underflow : above(add_rn(underflow, underflow_bound<T>(1))));
            with_beta.count(certified, result, oracle.template rounded<T>());
        }
    }
    EXPECT_EQ(negated.wrong, 0);
    EXPECT_EQ(scaled.wrong, 0);
    EXPECT_EQ(with_beta.wrong, 0);
    EXPECT_GE(scaled.share(), 0.5);
    std::printf("    negated %lld sums, scaled %lld (%.1f %%), with beta y %lld (%.1f %%)\n",
                static_cast<long long>(negated.tried), static_cast<long long>(scaled.tried), 100 * scaled.share(),
                static_cast<long long>(with_beta.tried), 100 * with_beta.share());
}

/// adversarial::lost_errors of a triple, and an s that puts a boundary of float three quarters of the way to what is lost.
Terms<double> lost_errors_beside_a_float_tie(Random& random, std::size_t n) {
    const double sign = random.coin() ? 1 : -1;
    const auto lost = static_cast<std::int64_t>(n);
    const double boundary = 2 + std::ldexp(static_cast<double>(2 * random.between(0, 1 << 20) + 1), -23);
    Terms<double> terms;
    terms.add(std::ldexp(sign, 115));
    terms.add(std::ldexp(sign, 56));
    terms.add(sign);
    for (std::int64_t i = 0; i < lost; ++i) terms.add(std::ldexp(sign, -53));
    terms.add(-std::ldexp(sign, 56));
    terms.add(-std::ldexp(sign, 115));
    terms.add(sign * (boundary - 1 - std::ldexp(static_cast<double>(lost * 3 / 8), -52)));
    return terms;
}

TEST(TripleToFloat, NeverCertifiesAWrongResult) {
    Random random(11);
    Score score;
    const auto judge_terms = [&](const Terms<double>& terms) {
        const std::size_t n = terms.size();
        const double underflow = products_are_exact(terms) ? 0 : underflow_bound<double>(static_cast<std::int64_t>(n));
        const auto expected = oracle_of(terms).rounded<float>();
        for (const auto& sum : {chain<FilteredTriple<double>>(terms, 0, n), tree<FilteredTriple<double>>(terms, 0, n, 4)}) {
            float result = 0;
            const bool certified = sum.try_result(result, underflow);
            score.count(certified, result, expected);
        }
    };
    for (int repeat = 0; repeat < 300; ++repeat) {
        judge_terms(lost_errors_beside_a_float_tie(random, 8 + random.next() % 40));
        for (const auto& adversary : testing::adversarial_classes<double>())
            judge_terms(adversary.make(random, 8 + random.next() % 40));
        for (const auto& adversary : testing::adversarial_classes<float>()) {
            const Terms<float> terms = adversary.make(random, 8 + random.next() % 40);
            judge_terms({{terms.a.begin(), terms.a.end()}, {terms.b.begin(), terms.b.end()}});
        }
    }
    EXPECT_EQ(score.wrong, 0);
    EXPECT_GE(score.share(), 0.5);
}

template <class Filter>
class SquareRoot : public ::testing::Test {};
using FiltersWithRoot =
    ::testing::Types<FilteredPair<float>, FilteredPair<double>, FilteredTriple<float>, FilteredTriple<double>, FilteredFloat>;
TYPED_TEST_SUITE(SquareRoot, FiltersWithRoot);

TYPED_TEST(SquareRoot, OfNothingIsZero) {
    ValueOf<TypeParam> result = 7;
    if (TypeParam().try_sqrt(result)) {
        EXPECT_PRED2(testing::same_bits<ValueOf<TypeParam>>, result, ValueOf<TypeParam>(0));
    }
}

template <class Filter>
void judge_root(const Terms<ValueOf<Filter>>& terms, Score& score) {
    using T = ValueOf<Filter>;
    Oracle oracle = oracle_of(terms);
    if (oracle.sign() < 0) return;
    const auto sum = chain<Filter>(terms, 0, terms.size());
    T result = 0;
    bool certified = false;
    if constexpr (needs_underflow_bound<Filter>)
        certified = sum.try_sqrt(result, products_are_exact(terms) ? T(0) : underflow_bound<T>(static_cast<int>(terms.size())));
    else
        certified = sum.try_sqrt(result);
    score.count(certified, result, oracle.template sqrt_rounded<T>());
}

TYPED_TEST(SquareRoot, NeverCertifiesAWrongRootOfASum) {
    using T = ValueOf<TypeParam>;
    Random random(8);
    Score score;
    for (const auto& adversary : testing::adversarial_classes<T>()) {
        for (int repeat = 0; repeat < 2000; ++repeat) {
            Terms<T> terms = adversary.make(random, 8 + random.next() % 20);
            if (random.coin()) terms.b = terms.a;
            judge_root<TypeParam>(terms, score);
        }
    }
    EXPECT_EQ(score.wrong, 0);
    EXPECT_GT(score.certified, 10'000);
}

/// The squares of numbers and of midpoints, and the same with one term far below.
TYPED_TEST(SquareRoot, NeverCertifiesAWrongRootBesideTheSquareOfAMidpoint) {
    using T = ValueOf<TypeParam>;
    constexpr int digits = std::numeric_limits<T>::digits;
    Random random(9);
    Score score;
    for (int repeat = 0; repeat < 60'000; ++repeat) {
        const T x = std::ldexp(std::abs(random.number<T>()), static_cast<int>(random.between(-20, 20)));
        const T half_gap = std::ldexp(T(1), std::ilogb(x) - digits);
        Terms<T> terms;
        terms.add(x, x);
        if (random.coin()) {  // (x + half a gap)^2
            terms.add(2 * x, half_gap);
            terms.add(half_gap, half_gap);
        }
        if (random.between(0, 3) != 0)
            terms.add(x, std::ldexp(random.number<T>(),
                                    std::ilogb(x) - static_cast<int>(random.between(digits, 4 * digits / 2 + 12))));
        judge_root<TypeParam>(terms, score);
    }
    EXPECT_EQ(score.wrong, 0);
    std::printf("    %lld of %lld certified\n", static_cast<long long>(score.certified), static_cast<long long>(score.tried));
}

template <class Filter>
class ScaledFilterOfFloats : public ::testing::Test {};
using FiltersOfFloats = ::testing::Types<FilteredFloat, CountedBoundedFloat>;
TYPED_TEST_SUITE(ScaledFilterOfFloats, FiltersOfFloats);

TYPED_TEST(ScaledFilterOfFloats, NeverCertifiesAWrongResult) {
    Random random(10);
    Score score;
    for (const auto& adversary : testing::adversarial_classes<float>()) {
        for (int repeat = 0; repeat < 2000; ++repeat) {
            const Terms<float> terms = adversary.make(random, 8 + random.next() % 40);
            const int range = repeat % 2 == 0 ? 2 : 100;
            const auto scalar = [&] { return random.number<float>(static_cast<int>(random.between(-range, range))); };
            const float alpha = repeat % 7 == 0 ? -1.0F : scalar();
            TypeParam sum = chain<TypeParam>(terms, 0, terms.size()).scaled(alpha);
            Oracle oracle = oracle_of(terms);
            oracle.multiply(alpha);
            judge(sum, true, terms.size(), oracle.rounded<float>(), score);
            const float beta = scalar();
            const float y = scalar();
            sum.add_product(beta, y);
            oracle.add_product(beta, y);
            judge(sum, true, terms.size(), oracle.rounded<float>(), score);
        }
    }
    EXPECT_EQ(score.wrong, 0);
    EXPECT_GE(score.share(), 0.5);
}

/// alpha s is so near a midpoint of floats that only the error of its product in double tells the side.
TEST(FilteredFloatScaled, KeepsTheErrorOfItsProductBesideAMidpoint) {
    Random random(11);
    int certified = 0;
    for (int trial = 0; trial < 2000; ++trial) {
        const float below = std::abs(random.number<float>());
        const float above = std::nextafter(below, std::numeric_limits<float>::infinity());
        const double midpoint = (double{below} + double{above}) / 2;
        const float alpha = std::abs(random.number<float>());
        FilteredFloat sum;
        sum.add_term(midpoint / double{alpha});
        const double beyond = std::fma(double{alpha}, midpoint / double{alpha}, -midpoint);
        float result = 0;
        if (beyond == 0 || !sum.scaled(alpha).try_result(result)) continue;
        ++certified;
        EXPECT_EQ(result, beyond > 0 ? above : below) << alpha << " times " << midpoint / double{alpha};
    }
    EXPECT_GT(certified, 0);
}

TEST(FilteredFloat, CertifiesNothingBehindAPathThatIsTooLongForTheProof) {
    const ErrorPath path{.additions = 1 << 30, .merges = 1 << 24};
    ASSERT_LT(path.factor<double>(), 0);
    float result = 0;
    EXPECT_FALSE(FilteredFloat(4, 0, 0, path).try_sqrt(result));
    EXPECT_FALSE(FilteredFloat(4, 0, 0, path).try_result(result));
}

// The traps: filters that look right and certify wrong results. They show that the inputs above would find such a mistake.

enum class Trap { errors_added_apart, bound_of_sums, halved_bound, double_rounding, tail_taken_for_bound };

/// FilteredPair (FilteredFloat for double_rounding) with one mistake.
template <class T, Trap trap>
class Trapped {
public:
    using value_type = std::conditional_t<trap == Trap::double_rounding, float, T>;

    void add_product(value_type a, value_type b) {
        const Split<T> p = two_prod(T{a}, T{b});
        const Split<T> s = two_sum(s_, p.value);
        const T g = add_rn(s.error, p.error);
        s_ = s.value;
        ++n_;
        if constexpr (trap == Trap::errors_added_apart || trap == Trap::bound_of_sums) {
            c_ = add_rn(add_rn(c_, s.error), p.error);
        } else {
            c_ = add_rn(c_, g);
        }
        if constexpr (trap == Trap::errors_added_apart)
            m_ = add_rn(add_rn(m_, magnitude(s.error)), magnitude(p.error));
        else
            m_ = add_rn(m_, magnitude(g));
    }
    void merge(const Trapped&) {}

    bool try_result(value_type& result, T underflow = 0) const {
        if (!is_finite(s_) || !is_finite(m_)) return false;
        const T units = static_cast<T>(n_ + 4) * unit_roundoff<T> / (trap == Trap::halved_bound ? 2 : 1);
        T bound = add_rn(mul_rn(units, m_), underflow);
        if (trap == Trap::tail_taken_for_bound && m_ == magnitude(c_)) bound = underflow;
        const T low = add_rn(s_, add_rn(c_, -bound));
        const T high = add_rn(s_, add_rn(c_, bound));
        result = canonical(static_cast<value_type>(low));
        return low == high;
    }

private:
    T s_{0};
    T c_{0};
    T m_{0};
    int n_ = 0;
};

/// FilteredTriple with the two-term test applied to c + (d -+ b).
template <class T>
bool two_term_test(const FilteredTriple<T>& sum, T bound, T& result) {
    const T low = add_rn(sum.s(), add_rn(sum.c(), add_rn(sum.d(), -bound)));
    const T high = add_rn(sum.s(), add_rn(sum.c(), add_rn(sum.d(), bound)));
    result = canonical(low);
    return low == high;
}

template <class Filter>
Score trap_score() {
    using T = ValueOf<Filter>;
    Random random(6);
    Score all;
    for (const auto& adversary : testing::finite_adversarial_classes<T>()) {
        Score score;
        for (int repeat = 0; repeat < 400; ++repeat) {
            const auto terms = adversary.make(random, 8 + random.next() % 70);
            const std::size_t n = terms.size();
            judge(chain<Filter>(terms, 0, n), products_are_exact(terms), n, oracle_of(terms).template rounded<T>(), score);
        }
        if (score.wrong != 0)
            std::printf("    %-24s %lld of %lld certified wrong\n", adversary.name, static_cast<long long>(score.wrong),
                        static_cast<long long>(score.certified));
        all += score;
    }
    return all;
}

TYPED_TEST(Triple, TrapErrorsAddedApartIsSprung) {
    EXPECT_GT((trap_score<Trapped<TypeParam, Trap::errors_added_apart>>().wrong), 0);
}
TYPED_TEST(Triple, TrapBoundOfSumsIsSprung) { EXPECT_GT((trap_score<Trapped<TypeParam, Trap::bound_of_sums>>().wrong), 0); }
TYPED_TEST(Triple, TrapHalvedBoundIsSprung) { EXPECT_GT((trap_score<Trapped<TypeParam, Trap::halved_bound>>().wrong), 0); }
TYPED_TEST(Triple, TrapTailTakenForItsBoundIsSprung) {
    EXPECT_GT((trap_score<Trapped<TypeParam, Trap::tail_taken_for_bound>>().wrong), 0);
}
TEST(FilteredFloatTraps, DoubleRoundingIsSprung) { EXPECT_GT((trap_score<Trapped<double, Trap::double_rounding>>().wrong), 0); }

TYPED_TEST(Triple, TrapTwoTermTestOnThreeTermsIsSprung) {
    using T = TypeParam;
    Random random(7);
    Score score;
    for (const auto& adversary : testing::finite_adversarial_classes<T>()) {
        for (int repeat = 0; repeat < 500; ++repeat) {
            const auto terms = adversary.make(random, 8 + random.next() % 30);
            if (!products_are_exact(terms)) continue;
            const auto sum = chain<FilteredTriple<T>>(terms, 0, terms.size());
            T result = 0;
            const bool certified = two_term_test(sum, smallest_subnormal<T>, result) && is_finite(result);
            score.count(certified, result, oracle_of(terms).template rounded<T>());
        }
    }
    EXPECT_GT(score.wrong, 0);
}

}  // namespace
}  // namespace solver
