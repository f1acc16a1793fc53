#include "solver/numeric/anchored.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "support/adversarial.hpp"
#include "support/oracle.hpp"

namespace solver {
namespace {

using testing::Oracle;
using testing::Random;
using testing::same_bits;
using testing::Terms;

int log2_above(std::size_t n) { return static_cast<int>(std::bit_width(n)); }

/// Term i belongs to lane (i / batch) mod lanes, which reaches what a batch needs; then all lanes reach the same and are
/// merged.
FilteredTriple<double> sum_of(const Terms<double>& terms, std::size_t lanes, std::size_t batch, int log2_terms) {
    using Sum = AnchoredTriple;
    std::vector<Sum> lane(lanes, Sum(log2_terms));
    std::vector<std::size_t> count(lanes);
    for (std::size_t first = 0; first < terms.size(); first += batch) {
        const std::size_t k = first / batch % lanes;
        const std::size_t last = std::min(first + batch, terms.size());
        std::uint32_t word = 0;
        for (std::size_t i = first; i < last; ++i)
            word = std::max(word, Sum::word_of(Sum::product(terms.a[i], terms.b[i]).value));
        lane[k].reach(word);
        for (std::size_t i = first; i < last; ++i) lane[k].add_term(Sum::product(terms.a[i], terms.b[i]));
        count[k] += last - first;
    }
    std::uint32_t word = 0;
    for (const Sum& sum : lane) word = std::max(word, sum.word());
    for (Sum& sum : lane) sum.reach(word);
    for (std::size_t k = 1; k < lanes; ++k) lane[0].merge(lane[k]);
    return lane[0].total(static_cast<std::int32_t>(*std::max_element(count.begin(), count.end())));
}

template <class T>
struct Case {
    Terms<T> terms;
    T expected;
    bool exact_products = true;

    explicit Case(Terms<T> of) : terms(std::move(of)) {
        Oracle oracle;
        for (std::size_t i = 0; i < terms.size(); ++i) {
            oracle.add_product(terms.a[i], terms.b[i]);
            exact_products = exact_products && product_is_exact(terms.a[i], terms.b[i]);
        }
        expected = oracle.template rounded<T>();
    }
    double underflow() const { return exact_products ? 0 : underflow_bound<double>(static_cast<std::int64_t>(terms.size())); }
};

struct Score {
    std::int64_t tried = 0;
    std::int64_t certified = 0;
    std::int64_t quickly = 0;

    template <class T>
    void judge(const Case<T>& sum, const FilteredTriple<double>& total) {
        T result = 0;
        ++tried;
        if (!total.try_result(result, sum.underflow())) return;
        ++certified;
        EXPECT_PRED2(same_bits<T>, result, sum.expected);
        if (!total.try_quickly(result, sum.underflow())) return;
        ++quickly;
        EXPECT_PRED2(same_bits<T>, result, sum.expected);
    }
    double percent() const { return 100 * static_cast<double>(certified) / static_cast<double>(tried); }
};

TEST(Anchored, NeverCertifiesAWrongResult) {
    using T = double;
    Random random(1);
    for (const auto& adversary : testing::adversarial_classes<T>()) {
        Score score;
        for (int repeat = 0; repeat < 2400; ++repeat) {
            const std::size_t n = repeat % 40 == 0 ? 150 + random.next() % 800 : 8 + random.next() % 33;
            const Case<T> sum(adversary.make(random, n));
            const int least = log2_above(sum.terms.size());
            score.judge(sum, sum_of(sum.terms, 1, 1, least));
            score.judge(sum, sum_of(sum.terms, 1, sum.terms.size(), least));
            score.judge(sum, sum_of(sum.terms, sum.terms.size(), 1, least));
            score.judge(sum, sum_of(sum.terms, 4, 3, least));
            score.judge(sum, sum_of(sum.terms, 32, 2, least + 7));
            score.judge(sum, sum_of(sum.terms, 5, 1, 40));
        }
        std::printf("    %-24s %8lld sums, %6.2f %% certified, %lld quickly\n", adversary.name,
                    static_cast<long long>(score.tried), score.percent(), static_cast<long long>(score.quickly));
    }
}

/// Magnitudes that grow term by term, so that every one moves the sums; with what cancels the largest.
TEST(Anchored, MovesAsOftenAsNeeded) {
    using T = double;
    Random random(2);
    Score score;
    for (int repeat = 0; repeat < 20'000; ++repeat) {
        Terms<T> terms;
        int exponent = static_cast<int>(random.between(-40, 0));
        for (int i = 0; i < 30; ++i) {
            terms.add(random.number<T>(exponent), random.coin() ? T(1) : random.number<T>());
            exponent += static_cast<int>(random.between(0, 2));
        }
        if (random.coin()) terms.add(-terms.a.back(), terms.b.back());
        const Case<T> sum(std::move(terms));
        for (const std::size_t lanes : {1, 3, 8}) score.judge(sum, sum_of(sum.terms, lanes, 1, 6));
    }
    EXPECT_GT(score.percent(), 99);
}

/// Boundaries between two results, hit or missed by a little.
TEST(Anchored, DecidesTiesAndZeros) {
    using T = double;
    constexpr T u = unit_roundoff<T>;
    Random random(3);
    Score score;
    for (int repeat = 0; repeat < 20'000; ++repeat) {
        const T x = random.number<T>();
        const T half = (random.coin() ? u : -u) * (std::abs(x) > 1 ? T(1) : T(0.5));
        Terms<T> terms;
        for (const T term : {x, half, T(3), T(-3), random.coin() ? x * u * u * T(0.3) : T(0), random.coin() ? -x : T(0)})
            terms.add(term);
        testing::adversarial::shuffle(terms, random);
        const Case<T> sum(std::move(terms));
        score.judge(sum, sum_of(sum.terms, 2, 2, 3));
    }
    EXPECT_EQ(score.certified, score.tried);
}

TEST(Anchored, DecidesNothingAboutInfNanAndWhatIsHuge) {
    using T = double;
    for (const T special : {std::numeric_limits<T>::infinity(), std::numeric_limits<T>::quiet_NaN(), 0x1p990}) {
        Terms<T> terms;
        for (const T term : {T(1), special, T(-1), -special}) terms.add(term);
        T result = 0;
        EXPECT_FALSE(sum_of(terms, 1, 1, 3).try_result(result));
        EXPECT_FALSE(sum_of(terms, 4, 1, 3).try_result(result));
    }
    T result = 1;
    EXPECT_TRUE(sum_of(Terms<T>(), 1, 1, 0).try_result(result));
    EXPECT_PRED2(same_bits<T>, result, T(0));
}

TEST(AnchoredTriple, MergesSumsAtDifferentPlaces) {
    const auto sum_of_one = [](double x) {
        AnchoredTriple sum(2);
        sum.reach(AnchoredTriple::word_of(x));
        sum.add(x);
        return sum;
    };
    for (const auto& [first, second] : {std::pair(0x1p50, 1.5), std::pair(1.5, 0x1p50)}) {
        AnchoredTriple sum = sum_of_one(first);
        sum.merge(sum_of_one(second));
        double result = 0;
        ASSERT_TRUE(sum.total(2).try_result(result));
        EXPECT_EQ(result, 0x1p50 + 1.5);
    }
}

}  // namespace
}  // namespace solver
