#include "solver/numeric/self_test.hpp"

#include <gtest/gtest.h>

#include <cfenv>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace solver {
namespace {

TEST(SelfTest, PassesInThisBinary) { EXPECT_TRUE(error_free_transformations_work()); }

TEST(SelfTest, FailsInEveryOtherRoundingMode) {
    for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
        std::fesetround(mode);
        const bool works = error_free_transformations_work();
        std::fesetround(FE_TONEAREST);
        EXPECT_FALSE(works) << mode;
    }
    EXPECT_TRUE(error_free_transformations_work());
}

#if defined(__SSE2__)
TEST(SelfTest, FailsWhereSubnormalsAreFlushed) {
    constexpr unsigned flush_results = 0x8000;
    constexpr unsigned zero_operands = 0x0040;
    const unsigned before = _mm_getcsr();
    for (const unsigned mode : {flush_results, zero_operands}) {
        _mm_setcsr(before | mode);
        const bool works = error_free_transformations_work();
        _mm_setcsr(before);
        EXPECT_FALSE(works) << mode;
    }
}
#endif

}  // namespace
}  // namespace solver
