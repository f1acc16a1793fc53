#include "markdown.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace solver::blas2 {
namespace {

using ::testing::HasSubstr;

Verdict verdict_of(const std::string& matrix, const std::string& x, Accuracy accuracy, std::int64_t correct, long double ulps) {
    Verdict verdict;
    verdict.matrix = matrix;
    verdict.rows = 3;
    verdict.nonzeros = 5;
    verdict.inputs = {.x = x};
    verdict.precision = "double";
    verdict.accuracy = accuracy;
    verdict.histogram.add_correct(correct);
    if (ulps > 0) verdict.histogram.add_ulps(ulps);
    verdict.largest_ulps = ulps;
    return verdict;
}

TEST(Markdown, HasALineForEachMatrixAndAColumnForEachMode) {
    const std::vector<Verdict> verdicts{
        verdict_of("a", "random:1", Accuracy::fast, 1, 2.5), verdict_of("a", "ones", Accuracy::fast, 2, 0.75),
        verdict_of("a", "random:1", Accuracy::exact, 3, 0), verdict_of("b", "ones", Accuracy::fast, 0, 1e6)};
    const std::string text = to_markdown(verdicts, Options{});
    EXPECT_THAT(text, HasSubstr("x = random:1 / ones."));
    EXPECT_THAT(text, HasSubstr("| matrix | rows | entries | double: fast | double: exact |"));
    EXPECT_THAT(text, HasSubstr("| a | 3 | 5 | 2.5 / 0.75 | 0 / - |"));
    EXPECT_THAT(text, HasSubstr("| b | 3 | 5 | - / 1e+06 | - / - |"));
}

TEST(Markdown, ShowsWhereNoDigitIsLeft) {
    std::vector<Verdict> verdicts{verdict_of("a", "ones", Accuracy::fast, 1, 0), verdict_of("b", "ones", Accuracy::fast, 1, 0)};
    verdicts[0].histogram.add_wrong_digits();
    verdicts[0].largest_ulps = 4e15;
    verdicts[1].histogram.add_non_finite();
    verdicts[1].largest_ulps = std::numeric_limits<long double>::infinity();
    const std::string text = to_markdown(verdicts, Options{});
    EXPECT_THAT(text, HasSubstr("| a | 3 | 5 | **4e+15** |"));
    EXPECT_THAT(text, HasSubstr("| b | 3 | 5 | **inf** |"));
    verdicts[0].largest_ulps = 1e300L;
    EXPECT_THAT(to_markdown(verdicts, Options{}), HasSubstr("| a | 3 | 5 | **> 2^53** |"));
}

TEST(Markdown, AddsUpOperationsAndRoundsSharesDown) {
    std::vector<Verdict> verdicts{verdict_of("a", "ones", Accuracy::compensated, 99'999, 0.5),
                                  verdict_of("b", "ones", Accuracy::compensated, 100'000, 0)};
    verdicts[0].passed = false;
    EXPECT_THAT(to_markdown(verdicts, Options{}),
                HasSubstr("| spmv | double | compensated | 200000 | 99.99 % | 100 % | 0.5 | 0 | 1 |"));
}

}  // namespace
}  // namespace solver::blas2
