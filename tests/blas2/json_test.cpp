#include "blas2/json.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <limits>

namespace solver::blas2 {
namespace {

nlohmann::json written(const Verdict& verdict) { return nlohmann::json::parse(to_json(verdict)); }

TEST(Json, HasNullForInfinityAndTheLargestNumberForWhatIsFiniteBeyondDouble) {
    Verdict verdict;
    verdict.largest_ulps = std::numeric_limits<long double>::infinity();
    EXPECT_TRUE(written(verdict)["largest_ulps"].is_null());
    verdict.largest_ulps = 1e320L;
    EXPECT_EQ(written(verdict)["largest_ulps"], std::numeric_limits<double>::max());
    verdict.largest_ulps = 2.5L;
    EXPECT_EQ(written(verdict)["largest_ulps"], 2.5);
}

}  // namespace
}  // namespace solver::blas2
