#include "core/krylov/bicgstab_scalars.hpp"
#include "core/krylov/cg_scalars.hpp"
#include "core/krylov/drift.hpp"
#include "core/krylov/stretch.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace solver {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(BicgstabScalars, ComputeWhatTheRecurrenceSaysRoundedToValue) {
    BicgstabScalars<float> s;
    s.begin(2, 2);
    EXPECT_TRUE(s.is_first());
    s.take_rho(4);
    EXPECT_EQ(s.take_shadow_v(3), StepEnd::none);
    EXPECT_EQ(s.alpha(), static_cast<float>(4.0 / 3));
    EXPECT_EQ(s.take_s_norm(1, 0), StepEnd::none);
    EXPECT_EQ(s.take_t_norm(3), StepEnd::none);
    EXPECT_EQ(s.take_ts(2), StepEnd::none);
    EXPECT_EQ(s.omega(), static_cast<float>(2.0 / 3 / 3));
    EXPECT_EQ(s.take_r_norm(0.5), StepEnd::full);
    EXPECT_EQ(s.r_norm(), 0.5);
    EXPECT_EQ(s.terms(), 2 + 2 * 1 + 2 * 0.5);
    EXPECT_FALSE(s.is_first());
    s.take_rho(1);  // beta = (1 / 4) (alpha / omega), of alpha and omega as rounded
    EXPECT_EQ(s.beta(), static_cast<float>(0.25 * (double{s.alpha()} / double{s.omega()})));
}

TEST(BicgstabScalars, StopAfterHalfAStepWhereSIsSmallEnough) {
    BicgstabScalars<double> s;
    s.begin(1, 1);
    s.take_rho(1);
    ASSERT_EQ(s.take_shadow_v(2), StepEnd::none);
    EXPECT_EQ(s.take_s_norm(0.25, 0.25), StepEnd::half);
    s.end_half();
    EXPECT_EQ(s.r_norm(), 0.25);
    EXPECT_EQ(s.take_s_norm(0.26, 0.25), StepEnd::none);
}

TEST(BicgstabScalars, TellLostFromSmall) {
    constexpr double u = 0x1p-53;
    using S = BicgstabScalars<double>;
    EXPECT_EQ(S::least, 16 * u);
    EXPECT_TRUE(S::may_be_lost(16 * u, 1, 1));
    EXPECT_FALSE(S::may_be_lost(17 * u, 1, 1));
    EXPECT_FALSE(S::may_be_lost(-17 * u, 1, 1));
    EXPECT_TRUE(S::may_be_lost(nan, 1, 1));
    EXPECT_TRUE(S::is_lost(16 * u, 1));
    EXPECT_FALSE(S::is_lost(-17 * u, 1));
    EXPECT_TRUE(S::is_lost(0, 0));
    EXPECT_EQ(S::end_of_lost(0), StepEnd::breakdown);
    EXPECT_EQ(S::end_of_lost(nan), StepEnd::non_finite);
}

TEST(BicgstabScalars, EndStepsThatCannotGoOn) {
    BicgstabScalars<double> s;
    s.begin(1, 1);
    s.take_rho(1);
    EXPECT_EQ(s.take_shadow_v(0), StepEnd::breakdown);
    EXPECT_EQ(s.take_shadow_v(nan), StepEnd::non_finite);
    EXPECT_EQ(s.take_shadow_v(0x1p-1074), StepEnd::breakdown);  // alpha overflows
    EXPECT_EQ(s.take_s_norm(infinity, 1), StepEnd::non_finite);
    EXPECT_EQ(s.take_t_norm(nan), StepEnd::non_finite);
    ASSERT_EQ(s.take_t_norm(1), StepEnd::none);
    EXPECT_EQ(s.take_ts(0), StepEnd::breakdown);
    EXPECT_EQ(s.take_r_norm(infinity), StepEnd::non_finite);
}

TEST(CgScalars, ComputeWhatTheRecurrenceSaysRoundedToValue) {
    CgScalars<float> s;
    s.begin(3);
    EXPECT_TRUE(s.is_first());
    s.take_rho(9);
    EXPECT_EQ(s.take_curvature(7), StepEnd::none);
    EXPECT_EQ(s.alpha(), static_cast<float>(9.0 / 7));
    EXPECT_EQ(s.take_r_norm(1), StepEnd::full);
    EXPECT_EQ(s.terms(), 3 + 2 * 1);
    EXPECT_EQ(s.z_weight(), 0);
    EXPECT_FALSE(s.is_first());
    s.take_rho(2);
    EXPECT_EQ(s.beta(), static_cast<float>(2.0 / 9));
    s.begin(1);
    EXPECT_TRUE(s.is_first());
}

TEST(CgScalars, TellIndefiniteFromUnderflowAndFromNan) {
    using S = CgScalars<double>;
    EXPECT_TRUE(S::is_positive(0x1p-1074));
    for (const double not_positive : {0.0, -0.0, -1.0, nan}) EXPECT_FALSE(S::is_positive(not_positive));
    EXPECT_EQ(S::end_of_not_positive(-1, 2, 3), StepEnd::indefinite);
    EXPECT_EQ(S::end_of_not_positive(0, 1, 1), StepEnd::indefinite);
    EXPECT_EQ(S::end_of_not_positive(0, 1, 0), StepEnd::breakdown);  // A x = 0, or underflow
    EXPECT_EQ(S::end_of_not_positive(0, 0x1p-600, 0x1p-600), StepEnd::breakdown);
    EXPECT_EQ(S::end_of_not_positive(nan, 1, 1), StepEnd::non_finite);
    EXPECT_EQ(CgScalars<float>::end_of_not_positive(0, 0x1p-60, 0x1p-60), StepEnd::breakdown);
}

TEST(CgScalars, EndStepsThatCannotGoOn) {
    CgScalars<float> s;
    s.begin(1);
    s.take_rho(1);
    EXPECT_EQ(s.take_curvature(0x1p-140), StepEnd::breakdown);  // alpha overflows
    s.take_rho(0x1p-140);
    EXPECT_EQ(s.take_curvature(0x1p60), StepEnd::breakdown);  // alpha vanishes
    EXPECT_EQ(s.take_r_norm(nan), StepEnd::non_finite);
}

/// u = 2^-53: tolerated is 32 sqrt(u) of ||r||.
TEST(ResidualDrift, IsDueOnceWhenItFirstExceedsWhatIsTolerated) {
    constexpr double u = 0x1p-53;
    const double tolerated = 32 * std::sqrt(u);
    ResidualDrift drift(u);
    drift.reset(1, 0);
    EXPECT_FALSE(drift.step(1, 1, 1));
    const double r_norm = 4 * u / tolerated;            // the deviation, 3 u so far, is now at the limit after one more
    EXPECT_FALSE(drift.step(0.5, 0.5, r_norm * 1.01));  // 4 u
    EXPECT_TRUE(drift.step(0.5, 0.5, r_norm));          // 5 u
    EXPECT_FALSE(drift.step(0.5, 0.5, r_norm));         // has been told
    drift.reset(1, 0);
    EXPECT_TRUE(drift.step(1, 1, 0));
}

TEST(ResidualDrift, LeavesWhatTheRoundingOfXMakes) {
    ResidualDrift drift(0x1p-53);
    drift.reset(1, 1e6);
    EXPECT_FALSE(drift.step(1e3, 1e3, 1e-12));  // below a tenth of what was there at first
    EXPECT_TRUE(drift.step(1e5, 1e5, 1e-12));
}

TEST(ReasonToVerify, IsTheFirstOfThese) {
    CgScalars<double> s;
    s.begin(1);
    s.take_rho(1);
    ASSERT_EQ(s.take_curvature(1), StepEnd::none);
    for (int step = 0; step < 4; ++step) ASSERT_EQ(s.take_r_norm(0.5), StepEnd::full);
    const auto none = [] { return 0.0; };
    const auto reason = [&](StepEnd end, const StepLimits& limits) { return reason_to_verify(end, s, limits, nullptr, none); };
    EXPECT_EQ(reason(StepEnd::full, {0.4, 0.4, 1}), Reason::none);
    EXPECT_EQ(reason(StepEnd::full, {0.5, 0.6, 1}), Reason::claim);
    EXPECT_EQ(reason(StepEnd::full, {0.4, 0.5, 1}), Reason::progress);
    EXPECT_EQ(reason(StepEnd::breakdown, {0.5, 0.5, 1}), Reason::breakdown);
    EXPECT_EQ(reason(StepEnd::indefinite, {0.5, 0.5, 1}), Reason::indefinite);
    EXPECT_EQ(reason(StepEnd::non_finite, {0.5, 0.5, 1}), Reason::non_finite);
    ResidualDrift drift(0x1p-53);
    drift.reset(1, 0);
    const auto large = [] { return 1e12; };
    EXPECT_EQ(reason_to_verify(StepEnd::full, s, {0.4, 0.4, 1}, &drift, large), Reason::drift);  // the fourth step
    ASSERT_EQ(s.take_r_norm(0.5), StepEnd::full);
    drift.reset(1, 0);
    EXPECT_EQ(reason_to_verify(StepEnd::full, s, {0.4, 0.4, 1}, &drift, large), Reason::none);  // not measured
}

}  // namespace
}  // namespace solver
