// How solvers are chosen, run and judged, and on which problems.

#include "linear_solvers.hpp"
#include "singularity.hpp"
#include "solver/error.hpp"
#include "support/bench_files.hpp"
#include "trial.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <cstdint>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace solver;
using namespace solver::bench;
using bench::Trial;
using solver::testing::BenchFiles;
using solver::testing::made;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// ( 2 1 )
/// ( 0 4 ), of which b = A (1, 1.125).
CsrMatrix<double> small() {
    return {.rows = 2, .columns = 2, .row_offsets = {0, 2, 3}, .column_indices = {0, 1, 1}, .values = {2.0, 1.0, 4.0}};
}

TEST(BenchProblems, HaveKnownSolutionsAndTrueResiduals) {
    const Problem problem = problem_of(small());
    EXPECT_THAT(problem.b, ElementsAre(2 * 1 + 1.125, 4 * 1.125));
    const Device device = Device::cpu(1);
    EXPECT_EQ(true_residual(problem, {{}, {1, 1.125}}, device), 0);
    // b - A (x + x_low) = (-2 (0.5 + 0.25), 0)
    EXPECT_EQ(true_residual(problem, {{}, {1.5, 1.125}, {0.25, 0}}, device), 1.5 / std::sqrt(3.125 * 3.125 + 4.5 * 4.5));
    Problem homogeneous = problem;
    homogeneous.b = {0, 0};
    EXPECT_EQ(true_residual(homogeneous, {{}, {0, 0.5}}, device), std::sqrt(0.25 + 4));
    const Problem ten = problem_of(matrices::find_generator("poisson2d_4")->make());
    EXPECT_EQ(ten.b.size(), 16u);
    EXPECT_EQ(ten.b[8], 4 * 1 - 1.125 - 1.5 - 1.5) << "x* begins again after eight: 1 1.125 1.25 1.375 | 1.5 ...";
    EXPECT_EQ(ten.b[0], 4 * 1 - 1.125 - 1.5);
}

TEST(BenchProblems, OfElasticityHaveASize) {
    EXPECT_EQ(size_of_elasticity("elasticity2d_12"), 12);
    for (const char* other : {"elasticity2d_", "elasticity2d_12x", "elasticity3d_12", "poisson2d_12"})
        EXPECT_FALSE(size_of_elasticity(other)) << other;
}

TEST_F(BenchFiles, AreNoTestsForSolversForAReason) {
    const auto reason_of = [](const matrices::FoundMatrix& found) {
        const auto matrix = matrix_to_solve(found);
        const auto* reason = std::get_if<std::string>(&matrix);
        return reason == nullptr ? "" : *reason;
    };
    const auto reason = [&](const std::string& text) {
        return reason_of({written("m.mtx", "%%MatrixMarket matrix " + text), ""});
    };
    EXPECT_EQ(reason("coordinate real general\n2 2 0\n"), "");
    EXPECT_EQ(reason("coordinate integer symmetric\n2 2 0\n"), "");
    EXPECT_EQ(reason("array real general\n1 1\n1\n"), "dense");
    EXPECT_EQ(reason("coordinate pattern general\n2 2 0\n"), "a pattern");
    EXPECT_EQ(reason("coordinate real general\n2 3 0\n"), "2 x 3");
    EXPECT_EQ(reason("coordinate real general\n0 0 0\n"), "empty");
    EXPECT_EQ(reason("coordinate complex general\n1 1 0\n"), "complex");
    EXPECT_THAT(reason("coordinate real general\n1 1 1\n1 2 3\n"), HasSubstr("m.mtx:3:"));
    EXPECT_THAT(reason("coordinate real general\n"), HasSubstr("m.mtx:"));
    EXPECT_EQ(reason_of(made("poisson2d_3")), "");
    EXPECT_EQ(reason_of(made("thousandths_3")), "1 x 3");
    EXPECT_EQ(reason_of(made("helmholtz_3")), "complex");
}

TEST(BenchSolvers, AreChosenByName) {
    const std::vector<LinearSolver> all{{"one", true, false, {}}, {"two", false, false, {}}, {"three", true, true, {}}};
    const auto names = [&](std::vector<std::string> wishes) {
        Options options;
        options.solvers = std::move(wishes);
        std::vector<std::string> found;
        for (const LinearSolver& solver : chosen(all, options)) found.push_back(solver.name);
        return found;
    };
    EXPECT_THAT(names({}), ElementsAre("one", "two", "three"));
    EXPECT_THAT(names({"three", "one"}), ElementsAre("one", "three"));
    EXPECT_THROW(names({"one", "four"}), InvalidArgument);
}

TEST(BenchSolvers, SayWhatAPeerSaid) {
    const Problem problem{.a = {}, .b = {1, 1}};
    const auto solve = [](const PeerTask& task) {
        task.x[1] = 7;
        return PeerSolve{.converged = true, .iterations = 3, .setup_seconds = 0.25, .solve_seconds = 2};
    };
    const Answer answer = by_peer(solve)(problem, {});
    EXPECT_THAT(answer.x, ElementsAre(0, 7));
    EXPECT_TRUE(answer.trial.claimed);
    EXPECT_EQ(answer.trial.status, "converged");
    EXPECT_EQ(answer.trial.iterations, 3);
    EXPECT_EQ(answer.trial.setup_seconds, 0.25);
    EXPECT_EQ(answer.trial.solve_seconds, 2);
    const Answer failed = by_peer([](const PeerTask&) { return PeerSolve(); })(problem, {});
    EXPECT_FALSE(failed.trial.claimed);
    EXPECT_EQ(failed.trial.status, "not converged");
}

TEST(BenchSolvers, OfOurs) {
    Options options;
    options.accuracy = Accuracy::exact;
    const Problem problem = problem_of(matrices::find_generator("poisson2d_10")->make());
    const Answer by_hand = by_us({PreconditionerKind::jacobi, {}, false}, problem, options);
    EXPECT_TRUE(by_hand.trial.claimed);
    EXPECT_EQ(by_hand.trial.status, "converged");
    EXPECT_EQ(by_hand.trial.remark, "");
    EXPECT_LE(true_residual(problem, by_hand, Device::cpu(1)), 1e-10);
    const Answer automatic = by_us({}, problem, options);
    EXPECT_THAT(automatic.trial.remark, ::testing::MatchesRegex("[a-z0-9]+ [0-9]+(, [a-z0-9]+ [0-9]+)*"));
    EXPECT_THAT(automatic.trial.remark, ::testing::EndsWith(" " + std::to_string(automatic.trial.iterations)));
    options.max_iterations = 2;
    const Answer few = by_us({PreconditionerKind::jacobi, KrylovMethod::cg, false}, problem, options);
    EXPECT_FALSE(few.trial.claimed);
    EXPECT_EQ(few.trial.status, "iteration limit");
    EXPECT_EQ(few.trial.iterations, 2);
}

/// Rigid-body modes make multigrid quicker on elasticity, and are told where they are asked for alone.
TEST(BenchSolvers, OfOursAreToldTheRigidBodyModes) {
    Options options;
    Problem problem = problem_of(matrices::find_generator("elasticity2d_24")->make());
    const auto iterations = [&](const char* name, bool told) {
        problem.name = name;
        return by_us({PreconditionerKind::amg, KrylovMethod::cg, told}, problem, options).trial.iterations;
    };
    const std::int64_t untold = iterations("elasticity2d_24", false);
    EXPECT_LT(iterations("elasticity2d_24", true), untold);
    EXPECT_EQ(iterations("another", true), untold);
}

/// Runs of which each says that it was faster, or slower, than the one before; how many there are is up to the clock.
TEST(BenchSolvers, RunUpToFiveTimesAndTheFastestCounts) {
    const Problem problem = problem_of(small());
    const auto trial_of_runs = [&](double seconds_of_first, double change) {
        const LinearSolver solver{"mine", true, true, [=, runs = 0](const Problem&, const Options&) mutable {
                                      Answer answer{{}, {1, 1.125}};
                                      answer.trial.solve_seconds = seconds_of_first + change * runs;
                                      answer.trial.iterations = ++runs;
                                      answer.trial.memory_bytes = 10 * runs;
                                      answer.trial.status = "converged";
                                      return answer;
                                  }};
        Options options;
        options.effort.time_limit = 600;
        return trial_of(solver, problem, options);
    };
    const Trial faster = trial_of_runs(9, -1), slower = trial_of_runs(9, 1);
    EXPECT_EQ(faster.solver, "mine");
    EXPECT_TRUE(faster.ours && faster.automatic);
    EXPECT_LE(faster.iterations, 5);
    EXPECT_EQ(faster.solve_seconds, static_cast<double>(10 - faster.iterations));
    EXPECT_EQ(slower.iterations, 1);
    EXPECT_EQ(faster.memory_bytes, 10) << "of the first run";
    EXPECT_EQ(faster.residual, 0);
}

TEST(BenchTrials, ComeBackWhole) {
    Trial sent;
    sent.status = "converged";
    sent.remark = "a \"remark\"\n";
    sent.claimed = true;
    sent.iterations = 17;
    sent.residual = 0.1;
    sent.setup_seconds = 0.3;
    sent.solve_seconds = 0.7;
    sent.memory_bytes = 12345;
    const Trial got = tried_apart([&] { return sent; }, 60);
    EXPECT_EQ(got.status, sent.status);
    EXPECT_EQ(got.remark, sent.remark);
    EXPECT_TRUE(got.claimed);
    EXPECT_EQ(got.iterations, 17);
    EXPECT_EQ(got.residual, 0.1);
    EXPECT_EQ(got.setup_seconds, 0.3);
    EXPECT_EQ(got.solve_seconds, 0.7);
    EXPECT_EQ(got.memory_bytes, 12345);
    EXPECT_EQ(got.seconds(), 0.3 + 0.7);
    EXPECT_TRUE(std::isnan(tried_apart([] { return Trial(); }, 60).residual));
}

TEST(BenchTrials, SayHowTheyFailed) {
    const auto status = [](const Trial& trial) { return trial.status + ": " + trial.remark; };
    EXPECT_EQ(status(tried_apart([]() -> Trial { throw std::bad_alloc(); }, 60)), "failed: not enough memory");
    EXPECT_EQ(status(tried_apart([]() -> Trial { throw NotSupported("no such thing"); }, 60)), "not built: no such thing");
    EXPECT_EQ(status(tried_apart([]() -> Trial { throw InvalidArgument("bad"); }, 60)), "failed: bad");
}

TEST(BenchTrials, AreBelievedWhereTheyReachedTheTolerance) {
    std::vector<Trial> trials(5);
    const std::vector<double> residuals{1e-11, 1e-11, 1e-10, 1e-11, 1e-9}, seconds{0.1, 0.2, 5, 6, 1};
    for (std::size_t i = 0; i < 5; ++i) {
        trials[i].ours = i != 0;
        trials[i].automatic = i == 1;
        trials[i].residual = residuals[i];
        trials[i].setup_seconds = seconds[i];
    }
    trials[4].claimed = true;
    EXPECT_TRUE(trials[4].false_claim(1e-10));
    EXPECT_FALSE(trials[4].false_claim(1e-9));
    EXPECT_FALSE(Trial().reached(1));
}

TEST(BenchSingularity, IsToldByKlu) {
    EXPECT_EQ(singularity(small().view()), "regular");
    CsrMatrix<double> a = small();
    a.values = {2, 1, 0};
    EXPECT_EQ(singularity(a.view()), "numerically singular");
    const CsrMatrix<double> empty_row{
        .rows = 3, .columns = 3, .row_offsets = {0, 2, 2, 3}, .column_indices = {0, 1, 2}, .values = {2.0, 1.0, 4.0}};
    EXPECT_EQ(singularity(empty_row.view()), "structurally singular (rank 2 of 3)");
}

}  // namespace
