#include "core/machine.hpp"
#include "solver/matrix_market.hpp"
#include "support/solver_command.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

namespace solver {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using testing::Finished;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::SolverCommand;

TEST_F(SolverCommand, ExitStatusIs2WhenTheIterationDoesNotConverge) {
    const Finished finished = run("--matrix A.mtx --preconditioner none --max-iterations 2 --report report.json");
    EXPECT_EQ(finished.status, 2);
    EXPECT_THAT(finished.out, AllOf(HasSubstr("iteration limit after 2 iterations"), HasSubstr("what may help")));
    EXPECT_EQ(json::parse(read("report.json"))["status"], "iteration limit");
}

/// Iterations take tens of times as long as what comes before them, so that on any machine one of these signals, each three
/// times as late as the one before, falls among them.
TEST_F(SolverCommand, SaysThatItWasInterrupted) {
    const std::string solve =  // that is soon begun and takes a minute
        "--matrix jumping_random_40 --device cpu --exact --preconditioner none --tolerance 1e-14 "
        "--max-iterations 1000000 --quiet --report report.json";
    int status = -1;
    for (const char* seconds : {"0.3", "0.9", "2.7", "8.1", "24"})
        if (status != 2) status = run(solve, std::string("timeout --preserve-status -s INT ") + seconds).status;
    ASSERT_EQ(status, 2);
    EXPECT_EQ(json::parse(read("report.json"))["status"], "interrupted");
    EXPECT_EQ(report("--matrix A.mtx --preconditioner none --max-iterations 1")["status"], "iteration limit");
}

TEST_F(SolverCommand, ExitStatusIs2WhenTheNumbersOverflow) {
    write("huge.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 1.7e308\n1 2 1.7e308\n2 2 1\n");
    const Finished finished = run("--matrix huge.mtx --report report.json --history history.csv");
    EXPECT_EQ(finished.status, 2);
    EXPECT_THAT(finished.out, HasSubstr("non-finite"));
    EXPECT_THAT(finished.out, Not(HasSubstr("-nan")));
    EXPECT_THAT(finished.out, Not(HasSubstr("forward error"))) << "b is not what it was to be";
    EXPECT_EQ(json::parse(read("report.json"))["status"], "non-finite");
    EXPECT_THAT(read("history.csv"), Not(HasSubstr("-nan")));
}

TEST_F(SolverCommand, ReportsTheWorstOfSeveralRightHandSidesWhereverItStands) {
    std::vector<std::string> sides(3);  // done at once, and two that are not, by different residuals
    for (int i = 1; i <= 40; ++i) {
        sides[0] += "0\n";
        sides[1] += std::to_string(i) + "\n";
        sides[2] += i <= 20 ? "1\n" : "-2\n";
    }
    std::sort(sides.begin(), sides.end());
    do {
        write("b.mtx", "%%MatrixMarket matrix array real general\n40 3\n" + sides[0] + sides[1] + sides[2]);
        EXPECT_EQ(
            run("--matrix A.mtx --rhs b.mtx --preconditioner none --max-iterations 1 --quiet --report report.json").status, 2);
        const json r = json::parse(read("report.json"));
        double largest = 0;
        for (const json& side : r["right_hand_sides"]) largest = std::max(largest, side["relative_residual"].get<double>());
        EXPECT_EQ(r["status"], "iteration limit");
        EXPECT_EQ(r["relative_residual"], largest);
        EXPECT_GT(largest, 1e-10);
    } while (std::next_permutation(sides.begin(), sides.end()));
}

TEST_F(SolverCommand, SolvesAllColumnsOfTheRightHandSideEachAsIfAlone) {
    const std::string head = "%%MatrixMarket matrix array real general\n40 ";
    std::string first, second;
    for (int i = 1; i <= 40; ++i) {
        first += std::to_string(i) + '\n';
        second += std::to_string(1.0 / i) + '\n';
    }
    write("first.mtx", head + "1\n" + first);
    write("second.mtx", head + "1\n" + second);
    write("both.mtx", head + "2\n" + first + second);
    const std::string exactly = "--matrix A.mtx --exact --quiet --preconditioner jacobi ";
    EXPECT_EQ(run(exactly + "--rhs both.mtx --solution both_x.mtx --report report.json --history history.csv").status, 0);
    EXPECT_EQ(run(exactly + "--rhs first.mtx --solution first_x.mtx").status, 0);
    EXPECT_EQ(run(exactly + "--rhs second.mtx --solution second_x.mtx").status, 0);
    const auto values = [&](const char* name) {
        const std::string text = read(name);
        return text.substr(text.find('\n', text.find('\n') + 1) + 1);
    };
    EXPECT_EQ(values("both_x.mtx"), values("first_x.mtx") + values("second_x.mtx"));
    const json sides = json::parse(read("report.json"))["right_hand_sides"];
    ASSERT_EQ(sides.size(), 2u);
    std::map<std::string, int> lines;  // of the history, by mode and column
    std::istringstream history(read("history.csv"));
    for (std::string line; std::getline(history, line);) ++lines[line.substr(0, line.find(',', line.find(',') + 1))];
    EXPECT_EQ(lines["exact,0"], sides[0]["iterations"].get<int>() + 1);
    EXPECT_EQ(lines["exact,1"], sides[1]["iterations"].get<int>() + 1);
    EXPECT_THAT(run("--matrix A.mtx --rhs both.mtx").out, HasSubstr("2 of 2 right-hand sides converged"));
}

TEST_F(SolverCommand, SolvesDenseMatrices) {
    write("dense.mtx", "%%MatrixMarket matrix array real general\n2 2\n2\n1\n1\n3\n");
    write("b.mtx", "%%MatrixMarket matrix array real general\n2 1\n4\n7\n");
    EXPECT_EQ(run("--matrix dense.mtx --rhs b.mtx --solution x.mtx").status, 0);
    EXPECT_EQ(read("x.mtx"), "%%MatrixMarket matrix array real general\n2 1\n1\n2\n");
}

TEST_F(SolverCommand, ADenseMatrixGivesTheBitsOfTheSparseOneInExact) {
    constexpr int n = 24;
    std::ostringstream dense, sparse, sides;
    dense << "%%MatrixMarket matrix array real general\n" << n << ' ' << n << '\n';
    sparse << "%%MatrixMarket matrix coordinate real general\n" << n << ' ' << n << ' ' << n * n << '\n';
    sides << "%%MatrixMarket matrix array real general\n" << n << " 5\n";
    for (int j = 1; j <= n; ++j)
        for (int i = 1; i <= n; ++i) {
            const double value = i == j ? n / 2.0 : 1.0 / (3 * i + j) - 0.07 * ((i * j) % 3);
            dense << value << '\n';
            sparse << i << ' ' << j << ' ' << value << '\n';
        }
    for (int i = 0; i < 5 * n; ++i) sides << (i / n == 3 ? 0 : 1.0 / (1 + i)) << '\n';
    write("dense.mtx", dense.str());
    write("sparse.mtx", sparse.str());
    write("B.mtx", sides.str());
    for (const char* how :
         {"", "--precision single", "--precision mixed", "--preconditioner jacobi", "--preconditioner none --precision single",
          "--preconditioner jacobi --precision mixed", "--preconditioner ilu0"}) {
        SCOPED_TRACE(how);
        const std::string options = std::string(" --exact --device cpu --rhs B.mtx ") + how;
        const json of_dense = report("--matrix dense.mtx" + options);
        const json of_sparse = report("--matrix sparse.mtx" + options);
        EXPECT_EQ(of_dense["status"], "converged");
        EXPECT_EQ(of_dense["solution_sha256"], of_sparse["solution_sha256"]);
        EXPECT_EQ(of_dense["right_hand_sides"], of_sparse["right_hand_sides"]);
        EXPECT_EQ(of_dense["nonzeros"], of_sparse["nonzeros"]);
        EXPECT_EQ(of_dense["structure"], of_sparse["structure"]);
    }
}

TEST_F(SolverCommand, SolvesWhereTheDiagonalIsZeroAndSaysSo) {
    write("zero.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 2 1e8\n2 1 1\n2 2 1\n");
    const Finished finished = run("--matrix zero.mtx --report report.json");
    EXPECT_EQ(finished.status, 0);
    EXPECT_THAT(finished.out, HasSubstr("1 row (the first: 1) with zero on the diagonal"));
    const json r = json::parse(read("report.json"));
    EXPECT_EQ(r["structure"]["zero_diagonals"], 1);
    EXPECT_EQ(r["structure"]["structural_rank"], 2);
    EXPECT_EQ(r["attempts"].back()["results"][0]["status"], "converged");
}

TEST_F(SolverCommand, NamesStructurallySingularMatrices) {
    write("singular.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 1\n1 2 1\n3 2 1\n");
    const Finished finished = run("--matrix singular.mtx --rhs ones");
    EXPECT_EQ(finished.status, 2);
    EXPECT_THAT(finished.out, AllOf(HasSubstr("structural rank 2"), HasSubstr("1 empty row (the first: 2)"),
                                    HasSubstr("1 empty column (the first: 3)")));
}

TEST_F(SolverCommand, MixedPrecisionReachesDoublePrecisionResiduals) {
    for (const char* accuracy : {"fast", "compensated", "exact"}) {
        const json r =
            report(std::string("--matrix A.mtx --precision mixed --preconditioner jacobi --rhs random --tolerance 1e-14 ") +
                   "--accuracy " + accuracy);
        EXPECT_EQ(r["status"], "converged");
        EXPECT_LE(r["relative_residual"].get<double>(), 1e-14);
    }
}

TEST_F(SolverCommand, ExactGivesTheSameBitsForEveryThreadCountAndKernel) {
    run("--matrix A.mtx --exact --quiet --threads 1 --spmv general --history first.csv --solution first.mtx");
    for (const char* how : {"--threads 2 --spmv adaptive", "--threads 7 --spmv general", "--threads 7 --spmv adaptive"}) {
        run(std::string("--matrix A.mtx --exact --quiet --history again.csv --solution again.mtx ") + how);
        EXPECT_EQ(read("first.mtx"), read("again.mtx")) << how;
        EXPECT_EQ(read("first.csv"), read("again.csv")) << how;
    }
}

TEST_F(SolverCommand, SinglePrecisionWithAPairReachesDoublePrecisionResiduals) {
    EXPECT_EQ(report("--matrix A.mtx --precision single --compensated --rhs random")["status"], "converged");
}

// x_1 = 1, x_2 = 2 and x_1 + x_2 = 9: three rows, and least squares that lie between.
TEST_F(SolverCommand, LosesNoNanAmongRightHandSides) {
    write("tall.mtx", "%%MatrixMarket matrix array real general\n3 1\n1\n2\n3\n");
    write("sides.mtx", "%%MatrixMarket matrix array real general\n3 2\n1\n2\n4\n1e308\n-1.5e308\n1.6e308\n");
    EXPECT_EQ(run("--matrix tall.mtx --rhs sides.mtx --report report.json").status, 2);
    EXPECT_TRUE(json::parse(read("report.json"))["normal_residual"].is_null());
}

// Promise: krylov.hpp, "solution rounded, whatever the residual"
/// x is of order 1e17, and the last digits of its numbers are not small beside b.
TEST_F(SolverCommand, SaysThatTheSolutionIsProvenWhateverItsResidual) {
    write("a.mtx", "%%MatrixMarket matrix array real general\n3 3\n1\n1\n1\n1\n1\n0\n1e-17\n0\n-1\n");
    write("b.mtx", "%%MatrixMarket matrix array real general\n3 1\n0\n1\n0\n");
    const Finished finished = run("--matrix a.mtx --rhs b.mtx --rounded");
    EXPECT_EQ(finished.status, 0);
    EXPECT_THAT(finished.out, HasSubstr("of the solution, proven, after rounding"));
    EXPECT_THAT(finished.out, Not(HasSubstr("floor")));
}

TEST_F(SolverCommand, RefusesMoreRowsThanThereIsMemoryFor) {
    if (available_memory() > 34'000'000'000) GTEST_SKIP() << "this machine has room for twice 2^31 numbers";
    write("rows.mtx", "%%MatrixMarket matrix coordinate real general\n2147483647 2147483647 1\n1 1 2\n");
    const Finished finished = run("--matrix rows.mtx --device cpu");
    EXPECT_EQ(finished.status, 1);
    EXPECT_THAT(finished.err, HasSubstr("not enough memory"));
}

/// (1, 1, 0; 1, 1, 0; 0, 0, 2) x = (1, 2, 3) has no solution.
TEST_F(SolverCommand, TellsOfLeastSquaresWhereAIsSingularAndFindsThem) {
    write("singular.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 5\n1 1 1\n1 2 1\n2 1 1\n2 2 1\n3 3 2\n");
    write("b.mtx", "%%MatrixMarket matrix array real general\n3 1\n1\n2\n3\n");
    const Finished failed = run("--matrix singular.mtx --rhs b.mtx --device cpu");
    EXPECT_EQ(failed.status, 2);
    EXPECT_THAT(failed.out,
                HasSubstr("A is numerically singular: after 1 of 3 pivots nothing but zeros is left in column 2 (counted "
                          "from 1); a guarantee ('rounded', --rounded) works in more precision; no x that solves this system "
                          "was found, and to this precision this one is its least squares"));
    EXPECT_THAT(failed.out, AllOf(HasSubstr("LSMR"), HasSubstr("lsmr     none    stagnated after 1 iteration")));
    const Finished found = run("--matrix singular.mtx --rhs b.mtx --least-squares --solution x.mtx");
    EXPECT_EQ(found.status, 0);
    EXPECT_THAT(found.out, HasSubstr("LSMR (least squares)"));
    const std::vector<double> x = read_vector<double>(path("x.mtx")), expected{0.75, 0.75, 1.5};
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(x[i], expected[i], 1e-9) << i;
}

TEST_F(SolverCommand, FindsTheLeastSquaresOfARectangularMatrix) {
    write("tall.mtx", "%%MatrixMarket matrix coordinate real general\n3 2 4\n1 1 1\n2 2 1\n3 1 1\n3 2 1\n");
    write("tall_b.mtx", "%%MatrixMarket matrix array real general\n3 1\n1\n2\n9\n");
    const Finished finished =
        run("--matrix tall.mtx --rhs tall_b.mtx --solution x.mtx --report report.json --history history.csv");
    EXPECT_EQ(finished.status, 0);
    EXPECT_THAT(finished.out, HasSubstr("LSMR (least squares)"));
    EXPECT_THAT(finished.out, HasSubstr("normal residual"));
    const json r = json::parse(read("report.json"));
    EXPECT_EQ(r["status"], "converged");
    EXPECT_LE(r["normal_residual"].get<double>(), 1e-10);
    EXPECT_NEAR(r["relative_residual"].get<double>(), std::sqrt(12.0 / 86), 1e-12);  // r = (-2, -2, 2)
    std::istringstream x(read("x.mtx"));
    std::string line;
    std::getline(x, line);
    double rows = 0, columns = 0, first = 0, second = 0;
    x >> rows >> columns >> first >> second;
    EXPECT_NEAR(first, 3, 1e-9);
    EXPECT_NEAR(second, 4, 1e-9);
    EXPECT_THAT(read("history.csv"), HasSubstr("exact,0,1,"));
    for (const json& unknown : {r["preconditioner"], r["structure"]["structural_rank"], r["structure"]["zero_diagonals"]})
        EXPECT_TRUE(unknown.is_null()) << unknown;

    const Finished solved = run("--matrix tall.mtx --compare");  // A * ones has a solution
    EXPECT_EQ(solved.status, 0);
    EXPECT_THAT(solved.out, HasSubstr("A x = b is solved"));
    EXPECT_EQ(run("--matrix tall.mtx --rhs tall_b.mtx --precision single --tolerance 1e-5 --quiet").status, 0);
    EXPECT_EQ(run("--matrix tall.mtx --rhs tall_b.mtx --max-iterations 0 --quiet").status, 2);
}

}  // namespace
}  // namespace solver
