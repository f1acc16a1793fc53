#include "solver/csr_matrix.hpp"
#include "solver/solve.hpp"
#include "support/devices.hpp"
#include "support/real_matrices.hpp"
#include "support/solved.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace solver {
namespace {

using Kind = PreconditionerKind;
using testing::image_of_ones;
using testing::solve_by;
using testing::three_dimensions;
using testing::tridiagonal;
using testing::true_residual;

TEST(MixedPrecision, ReachesTheResidualOfDoubleWithEveryPreconditioner) {
    const auto a = tridiagonal(200, 4.3);
    const auto b = image_of_ones(a);
    for (const std::optional<Kind> kind :
         {std::optional<Kind>(), std::optional(Kind::none), std::optional(Kind::jacobi), std::optional(Kind::ilu0),
          std::optional(Kind::isai), std::optional(Kind::ilut), std::optional(Kind::klu)}) {
        SolveOptions options{.preconditioner = kind, .mixed = true};
        options.iteration.tolerance = 1e-14;
        const auto solved = solve_by(a, b, options);
        EXPECT_EQ(solved.report.result().status, SolveStatus::converged);
        EXPECT_LE(true_residual(a, b, solved.x), 1.000001e-14);
    }
}

/// Half of so many iterations, rounded up, is not more than there are.
TEST(MixedPrecision, MayHaveAsManyIterationsAsCanBeCounted) {
    const auto a = tridiagonal(200, 4.3);
    SolveOptions options{.preconditioner = Kind::jacobi, .mixed = true};
    options.iteration.max_iterations = std::numeric_limits<std::int64_t>::max();
    const auto solved = solve_by(a, image_of_ones(a), options);
    EXPECT_EQ(solved.report.attempts.front().results.front().status, SolveStatus::converged);
    EXPECT_TRUE(solved.report.attempts.front().mixed);
}

/// The caller's own is no part of the solution.
TEST(MixedPrecision, HasNoLowPart) {
    const auto a = tridiagonal(200, 4.3);
    const auto b = image_of_ones(a);
    std::vector<double> x(b.size()), low(b.size(), std::numeric_limits<double>::quiet_NaN());
    const auto report = solve<double>(SpmvPlan<double>(a, Device::cpu(1)), b, x, low, {.mixed = true});
    EXPECT_EQ(report.result().status, SolveStatus::converged);
    EXPECT_TRUE(report.attempts.front().mixed);
    EXPECT_EQ(low, std::vector<double>(b.size()));
}

// Promise: solve.hpp, "Mixed: the attempts are made in single precision"
// Promise: solve.hpp, "double only: the iteration in single precision"
// Promise: solve.hpp, "the iteration ran in single precision"
TEST(MixedPrecision, LeavesHalfOfTheIterationsToDouble) {
    const auto a = three_dimensions(24, 0.9);
    for (const std::int64_t limit : {7, 12}) {
        SolveOptions options{.preconditioner = Kind::none, .mixed = true};
        options.iteration.max_iterations = limit;
        options.iteration.tolerance = 1e-14;
        const auto solved = solve_by(a, image_of_ones(a), options);
        ASSERT_EQ(solved.report.attempts.size(), 2u);
        EXPECT_TRUE(solved.report.attempts.front().mixed);
        EXPECT_FALSE(solved.report.attempts.back().mixed);
        EXPECT_EQ(solved.report.attempts.front().results.front().iterations, (limit + 1) / 2);
        EXPECT_EQ(solved.report.result().iterations, limit);
    }
}

/// The rounded matrix is packed, too, and no bit of exact shows it.
TEST(MixedPrecision, HasTheBitsOfCsrWhereTheMatrixIsPacked) {
    const auto a = three_dimensions(16, 0.2);
    const auto b = image_of_ones(a);
    std::vector<Device> devices = testing::cuda_devices();
    devices.push_back(Device::cpu(2));
    for (const Device& device : devices) {
        const auto solve_from = [&](SpmvStorage storage) {
            SolveOptions options{.preconditioner = Kind::jacobi, .mixed = true};
            options.iteration.accuracy = Accuracy::exact;
            std::vector<double> x(b.size());
            const SpmvPlan<double> plan(a, device, SpmvOptions{.storage = storage});
            EXPECT_TRUE(solve<double>(plan, b, x, {}, options).attempts.front().mixed);
            return x;
        };
        EXPECT_EQ(solve_from(SpmvStorage::packed), solve_from(SpmvStorage::csr));
    }
}

/// A rounded to single is singular: what single has of A's own inverse serves better than none.
TEST(MixedPrecision, HasCompleteFactorsOfAItself) {
    const CsrMatrix<double> a{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {1, 1, 1, 1 + 0x1p-30}};
    const auto solved = solve_by(a, image_of_ones(a), SolveOptions{.preconditioner = Kind::klu, .mixed = true});
    ASSERT_FALSE(solved.report.attempts.empty());
    EXPECT_TRUE(solved.report.attempts.front().mixed);
    EXPECT_EQ(solved.report.attempts.front().refusal, "");
    EXPECT_EQ(solved.report.attempts.front().factor_entries, 4);
    EXPECT_EQ(solved.report.result().status, SolveStatus::converged);
}

// Promise: solve.hpp, "Where a system is too ill-conditioned for that"
// Promise: solve.hpp, "double only: the iteration in single precision"
TEST(MixedPrecision, HandsOnToDoubleWhatIsBeyondTheRangeOfSingle) {
    auto a = tridiagonal(20, 4);
    for (double& value : a.values) value *= 1e60;
    const auto b = image_of_ones(a);
    for (const std::optional<Kind> kind : {std::optional<Kind>(), std::optional(Kind::jacobi)}) {
        const auto solved = solve_by(a, b, SolveOptions{.preconditioner = kind, .mixed = true});
        EXPECT_EQ(solved.report.result().status, SolveStatus::converged);
        ASSERT_GE(solved.report.attempts.size(), 2u);
        EXPECT_TRUE(solved.report.attempts.front().mixed);
        EXPECT_NE(solved.report.attempts.front().refusal, "");
        EXPECT_FALSE(solved.report.attempts.back().mixed);
    }
}

TEST(MixedPrecision, HandsOnToDoubleWhatIsTooIllConditionedForSingle) {
    const auto a = testing::real_matrix("nos7");
    if (!a) GTEST_SKIP() << "no real matrices here";
    const auto b = image_of_ones(*a);
    const SolveOptions options{.preconditioner = Kind::jacobi, .method = KrylovMethod::bicgstab, .mixed = true};
    const auto solved = solve_by(*a, b, options);
    EXPECT_EQ(solved.report.result().status, SolveStatus::converged);
    EXPECT_LE(true_residual(*a, b, solved.x), 1.000001e-10);
    ASSERT_EQ(solved.report.attempts.size(), 2u);
    EXPECT_NE(solved.report.attempts.front().results.front().status, SolveStatus::converged);
    EXPECT_EQ(solved.report.attempts.back().results.front().status, SolveStatus::converged);
}

}  // namespace
}  // namespace solver
