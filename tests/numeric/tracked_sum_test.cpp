#include "solver/numeric/tracked_sum.hpp"

#include <gtest/gtest.h>

#include "solver/numeric/affine.hpp"
#include "solver/numeric/escalation.hpp"
#include "support/adversarial.hpp"
#include "support/oracle.hpp"

namespace solver {
namespace {

using testing::Oracle;
using testing::Random;
using testing::same_bits;
using testing::Terms;

template <class A>
class Tracked : public ::testing::Test {};
using Filters = ::testing::Types<FilteredPair<double>, FilteredWatchedPair<double>, FilteredTriple<double>,
                                 FilteredTriple<float>, FilteredFloat>;
TYPED_TEST_SUITE(Tracked, Filters);

template <class A>
TrackedSum<A> sum_of(const Terms<typename A::value_type>& terms, std::size_t first, std::size_t last) {
    TrackedSum<A> sum;
    for (std::size_t i = first; i < last; ++i) sum.add_product(terms.a[i], terms.b[i]);
    return sum;
}

template <class T>
bool all_exact(const Terms<T>& terms) {
    for (std::size_t i = 0; i < terms.size(); ++i)
        if (!product_is_exact(terms.a[i], terms.b[i])) return false;
    return true;
}

TYPED_TEST(Tracked, KnowsAfterMergesWhetherAProductWasInexactAndProvesNothingWrong) {
    using A = TypeParam;
    using T = typename A::value_type;
    Random random(1);
    std::int64_t proven = 0;
    for (const auto& kind : testing::adversarial_classes<T>())
        for (int round = 0; round < 20; ++round) {
            const Terms<T> terms = kind.make(random, 40);
            TrackedSum<A> sum = sum_of<A>(terms, 0, terms.size() / 3);
            sum.merge(sum_of<A>(terms, terms.size() / 3, terms.size()));
            ASSERT_EQ(sum.inexact == 0, !A::wants_exact_products || all_exact(terms)) << kind.name;
            Oracle oracle;
            for (std::size_t i = 0; i < terms.size(); ++i) oracle.add_product(terms.a[i], terms.b[i]);
            T result;
            if (!sum.try_result(result, underflow_bound<T>(static_cast<std::int64_t>(terms.size())))) continue;
            ++proven;
            ASSERT_PRED2(same_bits<T>, result, oracle.template rounded<T>()) << kind.name;
        }
    EXPECT_GT(proven, 0);
}

/// a b is about 2^-1050: what two_prod gives for its error is no more than the nearest multiple of eta.
TEST(TrackedSum, DoesNotBelieveAProductWhoseErrorIsNoNumber) {
    const double a = 0x1.0000000000001p-600, b = 0x1.8p-450;
    ASSERT_FALSE(product_is_exact(a, b));
    TrackedSum<FilteredTriple<double>> sum;
    sum.add_product(a, b);
    EXPECT_EQ(sum.inexact, 1);
    EXPECT_EQ(sum.lost(underflow_bound<double>(1)), underflow_bound<double>(1));
    double result;
    EXPECT_FALSE(sum.try_result(result, 1e-300));
    TrackedSum<FilteredTriple<double>> other;
    other.add_product(3, 0.5);
    EXPECT_EQ(other.lost(1), 0);
    ASSERT_TRUE(other.try_result(result, 1));
    EXPECT_EQ(result, 1.5);
    other.merge(sum);
    EXPECT_EQ(other.inexact, 1);
    EXPECT_FALSE(other.try_result(result, 1));
}

TEST(TrackedSum, OfAnAccumulatorThatIsNoFilterAlwaysHasAResult) {
    TrackedSum<Dot2<double>> sum;
    sum.add_product(0x1p-600, 0x1p-600);
    EXPECT_EQ(sum.inexact, 0);
    sum.add_product(3, 3);
    double result;
    ASSERT_TRUE(sum.try_result(result, 0));
    EXPECT_EQ(result, 9);
    ASSERT_TRUE(sum.try_sqrt(result, 0));
    EXPECT_EQ(result, 3);
    ASSERT_TRUE(try_affine(sum, 2.0, -1.0, 4.0, 2, result));
    EXPECT_EQ(result, 14);
    sum.add_product(0x1p600, 0x1p600);
    EXPECT_FALSE(sum.try_sqrt(result, 0)) << "squares that have to be scaled";
}

TEST(TrackedSum, AffineCountsWhatBetaTimesYLoses) {
    TrackedSum<FilteredTriple<double>> sum;
    sum.add_product(3, 0.5);
    double result;
    ASSERT_TRUE(try_affine(sum, -1.0, 2.0, 4.0, 1, result));
    EXPECT_EQ(result, 6.5);
    // 1.5 times the least number is no number, and the error of that product none either
    TrackedSum<FilteredTriple<double>> nothing;
    EXPECT_FALSE(try_affine(nothing, 1.0, 1.5, std::numeric_limits<double>::denorm_min(), 1, result));
}

// The table.

template <class T, class Place>
constexpr bool stages_are_filters = [] {
    using Table = Escalation<T, Place>;
    return (std::is_same_v<typename Table::First, NoFilter> || Table::skip.next > 0) &&
           std::is_same_v<typename Table::Sum::value_type, T>;
}();
template <class... Places>
constexpr bool all_are_filters = (... && (stages_are_filters<double, Places> && stages_are_filters<float, Places>));
static_assert(all_are_filters<Anywhere, RowsOnCpu, SlicesOnCpu, TermsOnCpu, BlocksOnCpu, RowsOnGpu, TilesOnGpu, SegmentsOnGpu,
                              SlicesOnGpu, TrianglesOnGpu, TermsOnGpu, StepsOnGpu, ElementsOnGpu>);

static_assert(std::is_same_v<FirstTry<FilteredTriple<double>, RowsOnCpu>, FilteredPair<double>>);
static_assert(std::is_same_v<FirstTry<FilteredFloat, TilesOnGpu>, CountedBoundedFloat>);
static_assert(std::is_same_v<FirstTry<FilteredTriple<float>, TilesOnGpu>, FilteredTriple<float>>, "not the tiles' own sum");
static_assert(std::is_same_v<FirstTry<Dot2<double>, RowsOnCpu>, Dot2<double>>, "nothing comes before what is no filter");
static_assert(std::is_same_v<FirstTry<FilteredTriple<double>, TermsOnCpu>, FilteredTriple<double>>);

static_assert(!SkipRule{}.applies(8, 8));
static_assert(SkipRule{2, 31}.applies(5, 8) && !SkipRule{2, 31}.applies(4, 8));
static_assert(SkipRule{SkipRule::any, 15}.applies(1, 1000) && !SkipRule{SkipRule::any, 15}.applies(0, 1000));

}  // namespace
}  // namespace solver
