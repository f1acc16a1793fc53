#include "matrices/generators.hpp"
#include "solver/guarantee.hpp"
#include "solver/solver.hpp"
#include "support/small_system.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <vector>

namespace solver {
namespace {

using ::testing::HasSubstr;
using testing::SmallSystem;

// Promise: guarantee.hpp, "Where A is proven singular or nothing"
// Promise: guarantee.hpp, "Looks for a certificate of the square matrix A"
// Promise: solver.h, "neither could be proven"
TEST(Certify, TellsSingularMatricesFromWhatItCannotProve) {
    const SmallSystem<double> structurally({1, 2, 0, 3, 4, 0, 5, 6, 0}, {1, 1, 1}), by_ones({1, -1, -1, 1}, {1, 1}),
        by_whole_numbers({1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 1, 1}),
        hidden({1e7 + 1, -1, 0, 0, 1, -3, 1e7 + 1, 0, -3}, {1, 1, 1});  // (1 / (1e7 + 1), 1, 1 / 3)
    EXPECT_EQ(certify(SpmvPlan<double>(structurally.a)).status, ProofStatus::singular);
    EXPECT_EQ(certify(SpmvPlan<double>(by_ones.a)).status, ProofStatus::singular);
    EXPECT_EQ(certify(SpmvPlan<double>(by_whole_numbers.a)).status, ProofStatus::singular);
    const Certificate unknown = certify(SpmvPlan<double>(hidden.a));
    EXPECT_EQ(unknown.status, ProofStatus::unproven);
    EXPECT_FALSE(unknown.reason.empty());
    EXPECT_TRUE(unknown.reach.empty());
}

// Promise: guarantee.hpp, "The bits of the certificate are those of these vectors"
// Promise: guarantee.hpp, "of the Krylov method that looked for v"
TEST(Certify, GivesTheSameBitsForEveryThreadCount) {
    for (const char* name : {"poisson2d_40", "convection_diffusion_30", "anisotropic_rotated_31"}) {
        const CsrMatrix<double> a = matrices::find_generator(name)->make();
        const Certificate expected = certify(SpmvPlan<double>(a, Device::cpu(1)));
        const Certificate found = certify(SpmvPlan<double>(a, Device::cpu(3)));
        EXPECT_TRUE(expected.is_proof()) << name;
        EXPECT_EQ(found.reason, expected.reason);
        EXPECT_EQ(found.reach, expected.reach);
        EXPECT_EQ(found.weights, expected.weights);
        EXPECT_EQ(found.iterations, expected.iterations);
        EXPECT_GT(expected.iterations, 0) << expected.reason;
    }
}

// Promise: guarantee.hpp, "`options` are those of the solves."
TEST(Certify, SolvesWithTheOptionsGiven) {
    const CsrMatrix<double> a = matrices::find_generator("poisson2d_40")->make();
    const SpmvPlan<double> plan(a, Device::cpu(1));
    EXPECT_GT(certify(plan).iterations, 3);
    SolveOptions options;
    options.iteration.max_iterations = 3;
    EXPECT_LE(certify(plan, options).iterations, 3);
    EXPECT_GT(certify(plan, options).iterations, 0);
}

/// Sums of rows are what rounding leaves, as in systems of which a solve leaves out means: a certificate does not.
TEST(Certify, ProvesAnHMatrixWhoseRowsHardlyAddUpToMoreThanZero) {
    constexpr std::int32_t side = 30;
    std::vector<Entry<double>> entries;
    for (std::int32_t i = 0; i < side * side; ++i) {
        double neighbours = 0;
        for (const std::int32_t j : {i - side, i - 1, i + 1, i + side}) {
            const bool is_beside = std::abs(j - i) == side || j / side == i / side;
            if (j < 0 || j >= side * side || !is_beside) continue;
            entries.push_back({i, j, -1});
            ++neighbours;
        }
        constexpr double ulps[] = {0, 0, 1, 1};
        entries.push_back({i, i, neighbours * (1 + ulps[i % 4] * 0x1p-52)});
    }
    const auto a = csr_from_entries<double>(side * side, side * side, entries);
    EXPECT_THAT(certify(SpmvPlan<double>(a, Device::cpu(1))).reason, HasSubstr("H-matrix"));
}

TEST(Certify, CountsRepeatedEntriesAsTheirSum) {
    // 1 + 3 - 2.5 = 1.5 on the diagonal, -1 - 1 + 1 = -1 beside it; magnitudes of the parts alone would prove nothing
    const CsrMatrix<double> a{2, 2, {0, 4, 6}, {0, 0, 0, 1, 0, 1}, {1, 3, -2.5, -1, -1, 2}};
    EXPECT_EQ(certify(SpmvPlan<double>(a, Device::cpu(1))).status, ProofStatus::proven);
}

// Promise: guarantee.hpp, "Throws DimensionMismatch where A is not square"
TEST(Certify, RefusesWhatIsNotSquare) {
    const CsrMatrix<double> a{1, 2, {0, 2}, {0, 1}, {1, 2}};
    EXPECT_THROW(certify(SpmvPlan<double>(a, Device::cpu(1))), DimensionMismatch);
}

TEST(Certify, DoesNotTakeInfinitiesForNumbers) {
    const SmallSystem<double> system({1, 0, 0, std::numeric_limits<double>::infinity()}, {1, 1});
    const Certificate certificate = certify(SpmvPlan<double>(system.a, Device::cpu(1)));
    EXPECT_EQ(certificate.status, ProofStatus::unproven);
    EXPECT_THAT(certificate.reason, HasSubstr("Inf or NaN"));
}

}  // namespace
}  // namespace solver
