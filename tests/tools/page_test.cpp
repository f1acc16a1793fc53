// The parts that pages are made of.

#include "support/well_formed.hpp"
#include "tools/page/html.hpp"
#include "tools/page/proven_digits.hpp"
#include "tools/page/provenance.hpp"
#include "tools/page/residual_panels.hpp"
#include "tools/page/ulp_histogram.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace {

using namespace solver::page;
using solver::testing::stands_alone;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

std::string page_of(const std::string& body) { return document("a page", "<h1>A page</h1>\n", body); }

TEST(Html, EscapesWhatHasAMeaning) {
    EXPECT_EQ(escaped("a<b>&\"c'.mtx"), "a&lt;b&gt;&amp;&quot;c&#39;.mtx");
    EXPECT_EQ(escaped("Ümlaut \xE2\x88\x9E \xF0\x9F\x99\x82"), "Ümlaut \xE2\x88\x9E \xF0\x9F\x99\x82");
    for (const char* first_of_its_length : {"\xC2\x80", "\xE0\xA0\x80", "\xF0\x90\x80\x80"})
        EXPECT_EQ(escaped(first_of_its_length), first_of_its_length);
    EXPECT_EQ(escaped("\xF4\x8F\xBF\xBD"), "\xF4\x8F\xBF\xBD");  // of the last plane
    for (const char* beside_the_surrogates : {"\xED\x80\x80", "\xED\x9F\xBF", "\xEE\x80\x80"})
        EXPECT_EQ(escaped(beside_the_surrogates), beside_the_surrogates);
    EXPECT_EQ(escaped(""), "");
}

TEST(Html, ReplacesWhatXmlCannotHold) {
    const std::string replacement = "\xEF\xBF\xBD";
    EXPECT_EQ(escaped(std::string("a\0b\x1b[1m\n", 8)), "a" + replacement + "b" + replacement + "[1m\n");
    EXPECT_EQ(escaped("\x80"), replacement);
    EXPECT_EQ(escaped("\xC0\xAF"), replacement + replacement);                    // too long
    EXPECT_EQ(escaped("\xE0\x80\x80"), replacement + replacement + replacement);  // too long
    EXPECT_EQ(escaped("\xED\xA0\x80"), replacement + replacement + replacement);  // a surrogate
    EXPECT_EQ(escaped("\xF4\x90\x80\x80").size(), 4 * replacement.size());        // beyond the last character
    EXPECT_EQ(escaped("a\xE2\x88"), "a" + replacement + replacement);             // cut short
}

TEST(Html, WritesNumbersForPeople) {
    EXPECT_EQ(grouped(116835), "116\u202F835");
    EXPECT_EQ(grouped(7), "7");
    EXPECT_EQ(grouped(999), "999");
    EXPECT_EQ(grouped(1000), "1\u202F000");
    EXPECT_EQ(grouped(1234567890), "1\u202F234\u202F567\u202F890");
    EXPECT_EQ(power(3.2e-6), "3.2·10<sup>−6</sup>");
    EXPECT_EQ(power(-1e8), "−1.0·10<sup>8</sup>");
    EXPECT_EQ(power(1e-10), "10<sup>−10</sup>");
    EXPECT_EQ(power(2.5), "2.5");
    EXPECT_EQ(power(0), "0");
    EXPECT_EQ(power(HUGE_VAL), "∞");
}

TEST(Html, PagesAreWellFormedAndStandAlone) {
    Table table("caption", {text_cell("<one>"), number_cell("two")});
    table.add(escaped("a<b"), {text_cell("\"&\""), bar_cell("1", 7)});
    Facts facts;
    facts.add("<name>", "<code>value</code>");
    const std::string page = page_of(section("Head & shoulders", table.html() + facts.html()));
    EXPECT_TRUE(stands_alone(page));
    EXPECT_THAT(page, AllOf(HasSubstr("prefers-color-scheme: dark"), HasSubstr("@media print"), HasSubstr("max-width: 40rem"),
                            HasSubstr("Head &amp; shoulders"), HasSubstr("--share:1.000")));
}

TEST(Html, TheCheckerOfTheseTestsFindsWhatIsBroken) {
    EXPECT_TRUE(stands_alone(page_of("<p>fine</p>\n")));
    for (const char* broken : {"<p>", "</p>", "<b><i></b></i>", "a & b", "a < b", "<p class=x></p>",
                               "<p id=\"a\"></p><p id=\"a\"></p>", "<p id=\"a\" id=\"b\"></p>", "<script></script>",
                               "<p onclick=\"f()\"></p>", "<a href=\"http://a.b\">c</a>", "&nbsp;", "\x01"})
        EXPECT_FALSE(stands_alone(page_of(broken))) << broken;
}

TEST(UlpHistogram, PutsErrorsWhereTestBlas2Does) {
    constexpr double magnitude = 0x1p23;
    UlpHistogram histogram;
    for (const double ulps : {0.0, 0.0, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 1024.0, 1025.0}) count(histogram, ulps, magnitude);
    EXPECT_THAT(histogram.within,
                ElementsAre(Pair(0, 2), Pair(0.5, 1), Pair(1, 2), Pair(2, 2), Pair(4, 2), Pair(1024, 1), Pair(2048, 1)));
    count(histogram, magnitude / 2 - 1, magnitude);
    EXPECT_EQ(histogram.within.rbegin()->first, magnitude / 2);
    count(histogram, 1, 1);  // a subnormal number, off by one
    EXPECT_EQ(histogram.wrong_digits, 0);
    count(histogram, magnitude / 2, magnitude);
    count(histogram, 2, 1);
    EXPECT_EQ(histogram.wrong_digits, 2);
    count(histogram, HUGE_VAL, magnitude);
    EXPECT_EQ(histogram.non_finite, 1);
    EXPECT_EQ(histogram.largest, HUGE_VAL);
    EXPECT_EQ(histogram.elements, 16);
}

TEST(UlpHistogram, NamesTheWorstRow) {
    const std::vector<double> truth{1, 2, 3}, computed{1, 2 + 4 * 0x1p-52, std::nan("")};
    const std::vector<std::int64_t> offsets{0, 4, 6, 11};
    const auto histogram = ulp_histogram<double>(computed, truth, offsets);
    EXPECT_EQ(histogram.within.at(0), 1);
    EXPECT_EQ(histogram.within.at(2), 1);
    EXPECT_EQ(histogram.non_finite, 1);
    ASSERT_TRUE(histogram.worst);
    EXPECT_EQ(histogram.worst->row, 3);
    EXPECT_EQ(histogram.worst->length, 5);
    EXPECT_EQ(histogram.worst->truth, "3");
    EXPECT_FALSE(ulp_histogram<double>(truth, truth, offsets).worst);
}

TEST(UlpHistogram, TablesShowEveryCountOnce) {
    UlpHistogram histogram;
    for (int i = 0; i < 1234; ++i) count(histogram, 0, 0x1p52);
    for (int i = 0; i < 12; ++i) count(histogram, 1e5, 0x1p52);
    count(histogram, 1e300, 0x1p52);
    histogram.worst = {91, 47193, "-1.92", "-1.005"};
    const std::string html = ulp_histograms("a table", {number_cell("time")},
                                            {{"a<b", {number_cell("7 s")}, histogram}, {"none", {number_cell("8 s")}, {}}});
    EXPECT_TRUE(stands_alone(page_of(html)));
    EXPECT_THAT(html, AllOf(HasSubstr("</i>1\u202F234<"), HasSubstr("</i>12<"), HasSubstr(" class=\"wrong\"><i style=\"--h:"),
                            HasSubstr("a&lt;b"), HasSubstr("row 91"), HasSubstr("−1.92"), HasSubstr("−1.005")));
}

/// "·" stands for none, and for nothing else: of three errors one is in the columns 0, ≤ 2 and "no digit" each.
TEST(UlpHistogram, TablesShowOneAsOneAndNoneAsADot) {
    UlpHistogram histogram;
    for (const double ulps : {0.0, 2.0, 0x1p52}) count(histogram, ulps, 0x1p52);
    const std::string html = ulp_histograms("a table", {}, {{"row", {}, histogram}});
    std::string shown;
    for (std::size_t cell = html.find("<td"); cell != std::string::npos; cell = html.find("<td", cell + 1)) {
        const std::size_t end = html.find("</td>", cell);
        const std::string text = html.substr(cell, end - cell);
        shown += text.substr(text.rfind('>') + 1) + "|";
    }
    EXPECT_THAT(shown, HasSubstr("1|·|1|·|·|·|·|·|1|·|"));
}

TEST(ResidualPanels, DrawEachCurveBeforeTheOthers) {
    ResidualCurve one{"one & only", "converged", {{0, 1}, {1, 1e-3}, {2, 1e-9}}, {{2, 2e-9}}};
    ResidualCurve two{"two", "stagnated", {{0, 1}, {1, 0}, {2, std::nan("")}, {3, 1e-2}}, {}};
    const std::string html = residual_panels({one, two}, 1e-8, "r");
    EXPECT_TRUE(stands_alone(page_of(html)));
    EXPECT_THAT(
        html, AllOf(HasSubstr("role=\"img\" aria-labelledby=\"r-1-title r-1-desc\""), HasSubstr("<title id=\"r-2-title\">two"),
                    HasSubstr("one &amp; only"), HasSubstr("tolerance"), HasSubstr("class=\"context\"")));
    EXPECT_THAT(html, AllOf(Not(HasSubstr("nan")), Not(HasSubstr("inf"))));
}

TEST(ResidualPanels, KeepLongCurvesSmallAndTheirPeaks) {
    ResidualCurve curve{"long", "", {}, {}};
    for (int i = 0; i < 100'000; ++i) curve.believed.push_back({static_cast<double>(i), i == 54'321 ? 1e6 : 1e-4});
    const std::string html = residual_panels({curve}, 1e-8, "r");
    EXPECT_LT(html.size(), 30'000u);
    EXPECT_THAT(html, HasSubstr(">6</tspan>"));  // the tick 10^6
    EXPECT_THAT(html, HasSubstr(" 8.0L"));       // the peak, at the top
}

TEST(ResidualPanels, SurviveCurvesOfOnePointOrNone) {
    EXPECT_TRUE(stands_alone(page_of(residual_panels({{"empty", "", {}, {}}, {"point", "", {{0, 1}}, {{0, 1}}}}, 1, "r"))));
    EXPECT_TRUE(stands_alone(page_of(residual_panels({}, 1e-10, "r"))));
}

TEST(ResidualPanels, ShowNoToleranceOfZero) {
    for (const ResidualCurve& curve :
         {ResidualCurve{"falls", "", {{0, 1}, {9, 1e-9}}, {}}, ResidualCurve{"empty", "", {}, {}}}) {
        const std::string html = residual_panels({curve}, 0, "r");
        EXPECT_TRUE(stands_alone(page_of(html)));
        EXPECT_THAT(html, AllOf(Not(HasSubstr("nan")), Not(HasSubstr("inf")), Not(HasSubstr(">tolerance<"))));
    }
    EXPECT_THAT(residual_panels({{"falls", "", {{0, 1}, {9, 1e-9}}, {}}}, 1e-8, "r"), HasSubstr(">tolerance<"));
}

TEST(ResidualPanels, SayWhereBeliefAndTruthDiffer) {
    EXPECT_THAT(belief_and_truth(1e-6, 1e-3), AllOf(HasSubstr("Believes"), HasSubstr("−6"), HasSubstr("−3")));
    EXPECT_THAT(belief_and_truth(9e-9, 9.1e-9), Not(HasSubstr("Believes")));
}

TEST(ProvenDigits, ShowTheRangeOfEachPlaceAndNameTheWorst) {
    std::vector<double> x(600, 2.0), bounds(600, 2e-8);
    bounds[2] = 2e-3;  // of the second place, 2 and 3, the one
    bounds[599] = 0;   // all digits
    x[5] = 0;
    bounds[7] = std::numeric_limits<double>::infinity();
    const std::string html = proven_digits(x, bounds, "d");
    EXPECT_TRUE(stands_alone(page_of(html)));
    EXPECT_THAT(html, AllOf(HasSubstr("the fewest digits, 3.0, has component 3; 2 are 0, or without a bound, and not shown"),
                            HasSubstr("M37.2 152.9V101.2M"),  // 3 to 8 digits of 17: (184 - 176 d / 17)
                            HasSubstr("V8.0\"")));            // the last place reaches the top
    EXPECT_THAT(html, AllOf(Not(HasSubstr("nan")), Not(HasSubstr("inf"))));
    EXPECT_LT(html.size(), 9'000u);
}

TEST(ProvenDigits, SurviveSolutionsOfZerosAndNone) {
    EXPECT_TRUE(stands_alone(page_of(proven_digits({}, {}, "d"))));
    const std::vector<double> zeros(3);
    EXPECT_THAT(proven_digits(zeros, zeros, "d"), HasSubstr("no component has digits to speak of"));
}

TEST(Provenance, QuotesTheCommandForAShell) {
    const std::vector<const char*> arguments{"/usr/bin/solver", "--matrix", "it's <a> matrix.mtx", "--tolerance", "1e-8", ""};
    EXPECT_EQ(command_line(static_cast<int>(arguments.size()), arguments.data()),
              "solver --matrix 'it'\\''s <a> matrix.mtx' --tolerance 1e-8 ''");
    const std::vector<const char*> none{nullptr};
    EXPECT_EQ(command_line(0, none.data()), "");
    EXPECT_EQ(now().size(), std::string("2026-11-21 22:40 UTC").size());
}

}  // namespace
