#include "auto_solve/fallback_schedule.hpp"

#include "auto_solve/cost_model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace solver {
namespace {

using Kind = PreconditionerKind;
using ::testing::ElementsAre;

constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

/// An attempt that did so many iterations and went from one residual to another.
Attempt attempt(Kind kind, std::int64_t iterations, double residual, double from = 1) {
    Attempt made;
    made.preconditioner = kind;
    made.initial_residual = from;
    made.least_residual = std::min(residual, from);
    SolveResult& result = made.results.emplace_back();
    result.status = SolveStatus::iteration_limit;
    result.iterations = iterations;
    result.relative_residual = residual;
    return made;
}

/// What is tried where every attempt gains a little.
std::vector<Kind> tried(FallbackSchedule schedule) {
    std::vector<Attempt> attempts;
    std::vector<Kind> kinds;
    while (const auto candidate = schedule.next(attempts)) {
        kinds.push_back(candidate->preconditioner);
        const double before = 1.0 / static_cast<double>(kinds.size());
        attempts.push_back(attempt(candidate->preconditioner, 10, 1.0 / static_cast<double>(kinds.size() + 1), before));
    }
    return kinds;
}

Preparation predicted(std::int64_t rank, double entries, double flops) {
    Preparation preparation;
    preparation.structural_rank = rank;
    preparation.fill = FillPrediction{entries, flops};
    return preparation;
}

/// An unsymmetric matrix of so many rows, five entries in each, whose estimates and analyses are counted.
struct Case {
    Preparation preparation;
    int estimates = 0;
    int analyses = 0;
    std::int64_t asked_for_reach = 0;

    ScheduleFacts facts(std::int64_t rows) {
        ScheduleFacts made;
        made.matrix.rows = rows;
        made.matrix.nonzeros = 5 * rows;
        made.fill_factor = 5;
        made.has_rows_beyond = [this](std::int64_t steps) { return asked_for_reach = steps, true; };
        made.begins_at_zero = [] { return true; };
        made.fill_estimate = [this](const preparation::IsEnough&) { return ++estimates, *preparation.fill; };
        made.preparation = [this]() -> const Preparation& { return ++analyses, preparation; };
        return made;
    }
    ScheduleFacts facts_of_a_mesh(std::int64_t rows) {
        ScheduleFacts made = facts(rows);
        made.matrix.balanced_rows = rows;
        made.matrix.is_symmetric = true;
        return made;
    }
};

TEST(FallbackSchedule, BeginsWithCompleteFactorsWhereTheyAreCheap) {
    Case small{predicted(900, 1e4, 1e5)};
    EXPECT_THAT(tried(FallbackSchedule(small.facts(900))),
                ElementsAre(Kind::klu, Kind::ilut, Kind::ilu0, Kind::jacobi, Kind::klu));
    EXPECT_EQ(small.analyses, 1);
    EXPECT_EQ(small.estimates, 0) << "the analysis itself takes no longer";
}

// Promise: solve.hpp, "Without, a schedule of attempts"
TEST(FallbackSchedule, TakesCompleteFactorsOfWavesForCheapUpToTenTimesAsManyOperations) {
    constexpr std::int64_t rows = 900, entries = 5 * rows;
    for (const auto& [negative_sums, flops_an_entry, first] : {std::tuple{std::int64_t{450}, 1000.0, Kind::klu},
                                                               {450, 1001.0, Kind::jacobi},
                                                               {451, 10000.0, Kind::klu},
                                                               {451, 10001.0, Kind::jacobi}}) {
        Case waves{predicted(rows, 1e5, flops_an_entry * entries)};
        ScheduleFacts facts = waves.facts(rows);
        facts.matrix.negative_sums = negative_sums;
        facts.matrix.is_complex_symmetric = true;
        EXPECT_EQ(FallbackSchedule(facts).next({})->preconditioner, first) << negative_sums << ' ' << flops_an_entry;
    }
}

TEST(FallbackSchedule, TriesLargeMatricesBeforeItAnalysesThem) {
    Case large{predicted(1000000, 1e9, 1e12)};
    FallbackSchedule schedule(large.facts(1000000));
    const auto first = schedule.next({});
    ASSERT_TRUE(first);
    EXPECT_EQ(first->preconditioner, Kind::jacobi);
    EXPECT_EQ(first->share, 32) << "as much as the analysis takes";
    EXPECT_EQ(first->give_up, GiveUp::when_too_slow);
    EXPECT_EQ(large.analyses + large.estimates, 0);
    const std::vector<Attempt> quick{attempt(Kind::jacobi, 32, 1e-8)};
    EXPECT_EQ(FallbackSchedule(schedule).next(quick)->preconditioner, Kind::jacobi) << "40 iterations cost less than factors";
    EXPECT_EQ(large.analyses, 0) << "and less than to look for an order";
    const std::vector<Attempt> slow{attempt(Kind::jacobi, 8, 0.999)};
    EXPECT_EQ(FallbackSchedule(schedule).next(slow)->preconditioner, Kind::ilut);
    EXPECT_EQ(large.analyses, 1);
}

// Promise: solve.hpp, "For several right-hand sides together iterations, but not factors, cost"
TEST(FallbackSchedule, SpreadsThePriceOfFactorsOverSeveralRightHandSides) {
    Case mesh{predicted(3600, 6e4, 2e6)};
    ScheduleFacts facts = mesh.facts_of_a_mesh(3600);
    EXPECT_EQ(FallbackSchedule(facts).next({})->preconditioner, Kind::jacobi);
    EXPECT_EQ(mesh.estimates, 0);
    facts.columns = 32;
    EXPECT_EQ(FallbackSchedule(facts).next({})->preconditioner, Kind::klu);
    EXPECT_EQ(mesh.estimates, 1);
    Case large{predicted(1000000, 1e9, 1e12)};
    facts = large.facts_of_a_mesh(1000000);
    facts.columns = 32;
    FallbackSchedule of_large(facts);
    EXPECT_EQ(of_large.next({})->preconditioner, Kind::jacobi);
    const std::vector<Attempt> slow{attempt(Kind::jacobi, 8, 0.999)};
    EXPECT_EQ(of_large.next(slow)->preconditioner, Kind::amg);
    EXPECT_EQ(large.estimates, 1);
}

/// An iteration of 32 columns costs a quarter of factors that serve them all, of one a twentieth.
// Promise: solve.hpp, "For several right-hand sides together iterations, but not factors, cost"
TEST(FallbackSchedule, GivesMultigridUpSoonerWhereFactorsServeSeveralRightHandSides) {
    Case mesh{predicted(40000, 3e6, 1e8)};
    for (const auto& [columns, share] : {std::pair{1, 200}, std::pair{32, 50}}) {
        ScheduleFacts facts = mesh.facts_of_a_mesh(40000);
        facts.columns = columns;
        FallbackSchedule schedule(facts);
        std::optional<Candidate> candidate = schedule.next({});
        const std::vector<Attempt> slow{attempt(Kind::jacobi, 8, 0.999)};
        if (candidate->preconditioner == Kind::jacobi) candidate = schedule.next(slow);
        EXPECT_EQ(candidate->preconditioner, Kind::amg) << columns;
        EXPECT_EQ(candidate->share, share) << columns;
    }
}

TEST(FallbackSchedule, TriesPlainIterationsOfSeveralRightHandSidesWhereFactorsAreDear) {
    Case dense{predicted(6000, 2e7, 1e11)};
    ScheduleFacts facts = dense.facts(6000);
    facts.matrix.nonzeros = 120 * 6000;
    facts.columns = 4;
    FallbackSchedule schedule(facts);
    const auto first = schedule.next({});
    EXPECT_EQ(first->preconditioner, Kind::jacobi);
    EXPECT_EQ(first->give_up, GiveUp::when_too_slow);
    EXPECT_GE(first->share, 50);
    const std::vector<Attempt> slow{attempt(Kind::jacobi, 8, 0.999)};
    EXPECT_NE(schedule.next(slow)->preconditioner, Kind::jacobi);
}

// Promise: solve.hpp, "Without, a schedule of attempts"
TEST(FallbackSchedule, TriesCompleteFactorsBeforeThoseOfIlutThatWouldKeepAll) {
    Case full{predicted(1000, 1e6, 1e12)};
    ScheduleFacts facts = full.facts(1000);
    const std::vector<Attempt> slow{attempt(Kind::jacobi, 8, 0.999)};
    const auto after_trial = [&](std::int64_t nonzeros) {
        facts.matrix.nonzeros = nonzeros;
        FallbackSchedule schedule(facts);
        schedule.next({});
        return schedule.next(slow)->preconditioner;
    };
    EXPECT_EQ(after_trial(200'000), Kind::klu) << "five times as many are all";
    EXPECT_EQ(after_trial(199'999), Kind::ilut);
}

// Ten cycles of BiCGStab cost a third of these factors, forty more than all.
// Promise: solve.hpp, "Without, a schedule of attempts"
TEST(FallbackSchedule, TriesCompleteFactorsOnceAsMuchHasBeenTriedInVain) {
    Case mesh{predicted(1000000, 1e8, 1e10)};
    const auto after_cycles = [&](std::int64_t iterations) {
        FallbackSchedule schedule(mesh.facts_of_a_mesh(1000000));
        std::vector<Attempt> attempts;
        schedule.next(attempts);
        attempts.push_back(attempt(Kind::jacobi, 8, 0.999));
        EXPECT_EQ(schedule.next(attempts)->preconditioner, Kind::amg);
        attempts.push_back(attempt(Kind::amg, iterations, 0.99, 0.999));
        return schedule.next(attempts)->preconditioner;
    };
    EXPECT_EQ(after_cycles(10), Kind::ilut);
    EXPECT_EQ(after_cycles(40), Kind::klu);
}

// Promise: solve.hpp, "Without, a schedule of attempts"
TEST(FallbackSchedule, TriesJacobiFirstFromFiveThousandEntriesOn) {
    Case of_any_size{predicted(1000, 1e4, 1e5)};
    EXPECT_EQ(FallbackSchedule(of_any_size.facts(1000)).next({})->preconditioner, Kind::jacobi);
    EXPECT_EQ(FallbackSchedule(of_any_size.facts(999)).next({})->preconditioner, Kind::klu);
}

TEST(FallbackSchedule, JudgesTheRateByWhereTheAttemptBegan) {
    Case large{predicted(1000000, 1e9, 1e12)};
    FallbackSchedule schedule(large.facts(1000000));
    ASSERT_TRUE(schedule.next({}));
    const std::vector<Attempt> from_a_good_guess{attempt(Kind::jacobi, 32, 0.999e-8, 1e-8)};
    EXPECT_EQ(schedule.next(from_a_good_guess)->preconditioner, Kind::ilut) << "it hardly moved";
}

/// Residuals of BiCGStab rise between their falls: wilson_8_8 stood above its start when its trial ended, and spent minutes in
/// factors for it.
TEST(FallbackSchedule, JudgesTheRateByTheLeastResidual) {
    Case large{predicted(1000000, 1e9, 1e12)};
    FallbackSchedule schedule(large.facts(1000000));
    ASSERT_TRUE(schedule.next({}));
    std::vector<Attempt> above_its_start{attempt(Kind::jacobi, 8, 1)};
    above_its_start.front().least_residual = 1e-3;
    EXPECT_EQ(schedule.next(above_its_start)->preconditioner, Kind::jacobi);
}

TEST(FallbackSchedule, TakesMultigridForMeshesBeforeTheMatrixIsAnalysed) {
    Case mesh{predicted(1000000, 1e9, 1e12)};
    FallbackSchedule schedule(mesh.facts_of_a_mesh(1000000));
    const auto first = schedule.next({});
    EXPECT_EQ(first->preconditioner, Kind::jacobi);
    const std::vector<Attempt> slow{attempt(Kind::jacobi, 16, 0.9)};
    const auto second = schedule.next(slow);
    EXPECT_EQ(second->preconditioner, Kind::amg);
    EXPECT_EQ(second->give_up, GiveUp::when_too_slow);
    EXPECT_EQ(mesh.analyses, 0);
}

TEST(FallbackSchedule, TakesCompleteFactorsForMeshesWhereTheyCostLess) {
    Case chain{predicted(1000000, 4e6, 1e7)};
    FallbackSchedule schedule(chain.facts_of_a_mesh(1000000));
    ASSERT_TRUE(schedule.next({}));
    const std::vector<Attempt> slow{attempt(Kind::jacobi, 16, 0.9)};
    EXPECT_EQ(schedule.next(slow)->preconditioner, Kind::klu);
}

/// One thread makes factors, and many multigrid.
TEST(FallbackSchedule, CountsCompleteFactorsHalfMoreBesideMultigrid) {
    for (const double share : {0.6, 0.7}) {  // of what multigrid costs
        Case mesh{predicted(1000000, 0, 0)};
        const ScheduleFacts facts = mesh.facts_of_a_mesh(1000000);
        const CostModel costs(facts.profile, facts.matrix, facts.fill_factor);
        const double an_entry = costs.complete_factors({1, 0});
        mesh.preparation.fill->factor_entries = (share * costs.multigrid() - costs.preparation()) / an_entry;
        FallbackSchedule schedule(facts);
        ASSERT_TRUE(schedule.next({}));
        const std::vector<Attempt> slow{attempt(Kind::jacobi, 16, 0.9)};
        EXPECT_EQ(schedule.next(slow)->preconditioner, share < 2.0 / 3 ? Kind::klu : Kind::amg);
    }
}

/// Factors are made on the host, where they are dear beside a GPU's iterations; hierarchies are made on the GPU.
// Promise: solve.hpp, "`gpu` weighs what is made on the host"
// Promise: solve.hpp, "iterations are cheap; what is made on the host"
// Promise: solver.h, "For "gpu" iterations are cheap"
// Promise: solve.hpp, "Without, a schedule of attempts"
TEST(FallbackSchedule, TakesTheSchurComplementOfSaddlePointsWhereFactorsCostMore) {
    Case large{predicted(100000, 1e7, 1e12)}, small{predicted(100000, 1e6, 1e7)};
    const auto saddle_point = [](Case& made) {
        ScheduleFacts facts = made.facts(100000);
        facts.matrix.is_symmetric = facts.matrix.zeros_on_diagonal = true;
        facts.matrix.positive_diagonal = false;
        facts.one_product_a_step = facts.definite_only = true;
        return facts;
    };
    const auto first = FallbackSchedule(saddle_point(large)).next({});
    EXPECT_EQ(first->preconditioner, Kind::schur);
    EXPECT_EQ(first->give_up, GiveUp::when_too_slow);
    EXPECT_GE(first->share, 400) << "ten digits of slow flows take up to 100";
    EXPECT_EQ(large.analyses, 0);
    EXPECT_EQ(FallbackSchedule(saddle_point(small)).next({})->preconditioner, Kind::klu);
    const std::vector<Attempt> failed{attempt(Kind::schur, 400, 0.9)};
    FallbackSchedule goes_on(saddle_point(large));
    goes_on.next({});
    EXPECT_NE(goes_on.next(failed)->preconditioner, Kind::schur) << "once";
    Case underestimated{predicted(100000, 1e7, 1e12)};
    ScheduleFacts facts = saddle_point(underestimated);
    facts.fill_estimate = [](const preparation::IsEnough&) { return FillPrediction{1e5, 1e5}; };
    EXPECT_EQ(FallbackSchedule(facts).next({})->preconditioner, Kind::schur) << "by the analysis";
    EXPECT_EQ(underestimated.analyses, 1);
    ScheduleFacts unsymmetric = saddle_point(large);
    unsymmetric.matrix.is_symmetric = false;
    EXPECT_NE(FallbackSchedule(unsymmetric).next({})->preconditioner, Kind::schur);
}

TEST(FallbackSchedule, IteratesLongerBeforeItTurnsToTheHostOnAGpu) {
    const auto gain_of_gpu = [](ScheduleFacts facts) {
        const std::int64_t on_processor = FallbackSchedule(facts).next({})->share;
        facts.profile = CostProfile::gpu;
        return static_cast<double>(FallbackSchedule(facts).next({})->share) / static_cast<double>(on_processor);
    };
    Case mesh{predicted(1000000, 1e9, 1e12)}, other{predicted(1000000, 1e9, 1e12)};
    EXPECT_GT(gain_of_gpu(other.facts(1000000)), 5);
    EXPECT_GT(gain_of_gpu(mesh.facts_of_a_mesh(1000000)), 1);
    EXPECT_LT(gain_of_gpu(mesh.facts_of_a_mesh(1000000)), 3);
}

// Promise: solve.hpp, "Where A is structurally singular klu"
TEST(FallbackSchedule, LeavesCompleteFactorsOutWhereTheMatrixIsStructurallySingular) {
    Case singular{predicted(999, 1e4, 1e5)};
    ScheduleFacts facts = singular.facts(1000);
    facts.matrix.zeros_on_diagonal = true;
    EXPECT_THAT(tried(FallbackSchedule(facts)), ElementsAre(Kind::ilut, Kind::ilu0, Kind::none, Kind::none));
}

TEST(FallbackSchedule, EndsWithWhatGainedMostPerOperation) {
    Case small{predicted(900, 1e4, 1e5)};
    FallbackSchedule schedule(small.facts(900));
    std::vector<Attempt> attempts;
    for (const Attempt& made : {attempt(Kind::klu, 10, 0.9), attempt(Kind::ilut, 10, 0.8, 0.9),
                                attempt(Kind::ilu0, 10, 1e-3, 0.8), attempt(Kind::jacobi, 10, 0.9e-3, 1e-3)}) {
        ASSERT_TRUE(schedule.next(attempts));
        attempts.push_back(made);
    }
    const auto last = schedule.next(attempts);
    ASSERT_TRUE(last);
    EXPECT_EQ(last->preconditioner, Kind::ilu0);
    EXPECT_EQ(last->share, no_limit);
    attempts.push_back(attempt(Kind::ilu0, 10, 1e-4, 0.9e-3));
    EXPECT_FALSE(schedule.next(attempts));
}

// Promise: solve.hpp, "Where complete factors say that A is singular, as far as"
TEST(FallbackSchedule, EndsWhereTheResidualStandsStillIfFactorsSayThatAIsSingular) {
    Attempt regular = attempt(Kind::klu, 10, 0.9), vanishing = regular, refused = regular, too_large = regular;
    regular.pivot_ratio = 2e-13;
    vanishing.pivot_ratio = 0.9e-13;
    refused.refusal = "preconditioner klu: pivot 3 is zero; use ilut or none";
    too_large.refusal = "preconditioner klu: too much memory";
    refused.results.clear();
    too_large.results.clear();
    for (const Attempt& of_klu : {regular, vanishing, refused, too_large}) {
        Case small{predicted(900, 1e4, 1e5)};
        ScheduleFacts facts = small.facts(900);
        facts.least_pivot_ratio = 1e-13;
        FallbackSchedule schedule(facts);
        std::vector<Attempt> attempts;
        for (const Attempt& made : {of_klu, attempt(Kind::ilut, 10, 0.8, 0.9), attempt(Kind::ilu0, 10, 1e-3, 0.8),
                                    attempt(Kind::jacobi, 10, 0.9e-3, 1e-3)}) {
            ASSERT_TRUE(schedule.next(attempts));
            attempts.push_back(made);
        }
        const bool is_singular = of_klu.pivot_ratio == 0.9e-13 || of_klu.refusal == refused.refusal;
        EXPECT_EQ(schedule.next(attempts)->give_up, is_singular ? GiveUp::when_stuck : GiveUp::never) << of_klu.refusal;
    }
}

/// Residuals may rise for long before they fall.
TEST(FallbackSchedule, GoesOnWithPlainIterationsWhereNothingGained) {
    Case small{predicted(900, 1e4, 1e5)};
    FallbackSchedule schedule(small.facts(900));
    std::vector<Attempt> attempts;
    for (int i = 0; i < 4; ++i) attempts.push_back(attempt(schedule.next(attempts)->preconditioner, 10, 1));
    const std::optional<Candidate> last = schedule.next(attempts);
    ASSERT_TRUE(last);
    EXPECT_EQ(last->preconditioner, Kind::jacobi);
    attempts.push_back(attempt(Kind::jacobi, 10, 1));
    EXPECT_FALSE(schedule.next(attempts));
}

/// On a processor, where multigrid is the alternative, by as many steps as the trial may take: BiCGStab takes two an iteration.
TEST(FallbackSchedule, AsksWhetherATrialCanReachAllRows) {
    Case mesh{predicted(100000, 1e7, 1e12)};
    const auto trial = FallbackSchedule(mesh.facts_of_a_mesh(100000)).next({});
    ASSERT_TRUE(trial->is_out_of_reach);
    EXPECT_TRUE(trial->is_out_of_reach());
    EXPECT_EQ(mesh.asked_for_reach, 2 * trial->share);
    ScheduleFacts definite = mesh.facts_of_a_mesh(100000);
    definite.one_product_a_step = true;
    const auto by_cg = FallbackSchedule(definite).next({});
    EXPECT_TRUE(by_cg->is_out_of_reach());
    EXPECT_EQ(mesh.asked_for_reach, by_cg->share);

    ScheduleFacts on_gpu = mesh.facts_of_a_mesh(100000);
    on_gpu.profile = CostProfile::gpu;
    EXPECT_FALSE(FallbackSchedule(on_gpu).next({})->is_out_of_reach);
    EXPECT_FALSE(FallbackSchedule(mesh.facts(100000)).next({})->is_out_of_reach);
}

// Promise: solve.hpp, "Without, a schedule of attempts"
TEST(FallbackSchedule, MakesNoTrialThatIsKnownToBeInVain) {
    Case mesh{predicted(100000, 1e7, 1e12)};
    const auto first = [](const ScheduleFacts& facts) { return FallbackSchedule(facts).next({})->preconditioner; };
    ScheduleFacts laplacian = mesh.facts_of_a_mesh(100000);
    laplacian.matrix.zero_sums = 80000;
    EXPECT_EQ(first(laplacian), Kind::amg);
    ScheduleFacts other = laplacian;
    other.matrix.zero_sums = 79999;
    EXPECT_EQ(first(other), Kind::jacobi) << "the boundary is everywhere";
    other = laplacian;
    other.begins_at_zero = [] { return false; };
    EXPECT_EQ(first(other), Kind::jacobi) << "a good guess needs few iterations";
    other = laplacian;
    other.has_rows_beyond = [](std::int64_t) { return false; };
    EXPECT_EQ(first(other), Kind::jacobi);
    other = laplacian;
    other.profile = CostProfile::gpu;
    EXPECT_EQ(first(other), Kind::jacobi);
    other = laplacian;
    other.matrix.balanced_rows = 0;
    EXPECT_EQ(first(other), Kind::jacobi) << "multigrid would not do";
}

/// The choice of multigrid may be made by what factors take at least.
TEST(FallbackSchedule, IsToldNoMoreOfFactorsThanItNeeds) {
    Case mesh{predicted(100000, 1e7, 1e12)};
    for (const bool suits : {true, false}) {
        ScheduleFacts facts = mesh.facts_of_a_mesh(100000);
        if (!suits) facts.matrix.balanced_rows = 0;
        facts.fill_estimate = [&](const preparation::IsEnough& is_enough) {
            EXPECT_FALSE(is_enough({1e6, 1e7})) << "multigrid costs more";
            EXPECT_EQ(is_enough({1e7, 1e9}), suits);
            return *mesh.preparation.fill;
        };
        FallbackSchedule schedule(facts);
        ASSERT_TRUE(schedule.next({}));
        const std::vector<Attempt> slow{attempt(Kind::jacobi, 8, 0.999)};
        EXPECT_EQ(schedule.next(slow)->preconditioner == Kind::amg, suits);
    }
}

/// Nor do plain iterations come after the estimate then: what multigrid would cost is what complete factors cost.
TEST(FallbackSchedule, GoesOnWithoutPlainIterationsThatAreKnownToBeInVain) {
    Case cheap{predicted(100000, 1e6, 1e7)};
    ScheduleFacts laplacian = cheap.facts_of_a_mesh(100000);
    laplacian.matrix.zero_sums = 100000;
    EXPECT_EQ(FallbackSchedule(laplacian).next({})->preconditioner, Kind::klu);
    EXPECT_EQ(cheap.estimates, 1);
}

}  // namespace
}  // namespace solver
