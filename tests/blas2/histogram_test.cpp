#include "blas2/histogram.hpp"

#include <gmock/gmock.h>

#include <limits>

namespace solver::blas2 {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

std::int64_t in_class(long double ulps, const char* name) {
    Histogram histogram;
    histogram.add_ulps(ulps);
    std::int64_t count = 0;
    for (const auto& [class_name, elements] : histogram.by_name())
        if (class_name == name) count += elements;
    return count;
}

TEST(Histogram, PutsAnErrorIntoTheClassWhoseBoundIsNotBelowIt) {
    EXPECT_EQ(in_class(0, "0.5"), 1) << "-0 for +0: no ulp, and yet not the correct bits";
    EXPECT_EQ(in_class(0.25, "0.5"), 1);
    EXPECT_EQ(in_class(0.5, "0.5"), 1);
    EXPECT_EQ(in_class(0.5000001, "1"), 1);
    EXPECT_EQ(in_class(1, "1"), 1);
    EXPECT_EQ(in_class(1.0000001, "2"), 1);
    EXPECT_EQ(in_class(2, "2"), 1);
    EXPECT_EQ(in_class(3, "4"), 1);
    EXPECT_EQ(in_class(4, "4"), 1);
    EXPECT_EQ(in_class(1024, "1024"), 1);
    EXPECT_EQ(in_class(1025, "2048"), 1);
    EXPECT_EQ(in_class(0x1p52L, "4503599627370496"), 1);
}

TEST(Histogram, NamesEveryClassUpToTheLast) {
    Histogram histogram;
    histogram.add_correct(7);
    histogram.add_ulps(3);
    histogram.add_wrong_digits();
    EXPECT_THAT(histogram.by_name(), ElementsAre(Pair("0", 7), Pair("0.5", 0), Pair("1", 0), Pair("2", 0), Pair("4", 1),
                                                 Pair("wrong_digits", 1), Pair("non_finite", 0)));
}

TEST(Histogram, CountsBetweenBoundsOfClasses) {
    Histogram histogram;
    for (const double ulps : {0.3, 0.9, 1.5, 5.0, 15.0, 16.0, 17.0, 1e6}) histogram.add_ulps(ulps);
    EXPECT_EQ(histogram.between(0, 0.5), 1);
    EXPECT_EQ(histogram.between(0.5, 1), 1);
    EXPECT_EQ(histogram.between(1, 2), 1);
    EXPECT_EQ(histogram.between(4, 16), 3);
    EXPECT_EQ(histogram.between(16, std::numeric_limits<double>::infinity()), 2);
    EXPECT_EQ(histogram.total(), 8);
}

TEST(Histogram, AddsAnother) {
    Histogram sum, other;
    sum.add_correct();
    other.add_ulps(2);
    other.add_ulps(2);
    other.add_non_finite(3);
    sum.add(other);
    EXPECT_EQ(sum.between(1, 2), 2);
    EXPECT_EQ(sum.non_finite(), 3);
    EXPECT_EQ(sum.total(), 6);
}

}  // namespace
}  // namespace solver::blas2
