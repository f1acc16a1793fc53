#include "support/solver_command.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>

namespace solver {
namespace {

using nlohmann::json;
using testing::Finished;
using ::testing::HasSubstr;
using testing::SolverCommand;

constexpr const char* ones_3_sha256 = "cc143326a2646c605ea66139d7b440df7cbde18c050f1f8cf4dd30f42cfe7123";

TEST_F(SolverCommand, FingerprintIsTheSha256OfLittleEndianDoubles) {
    const Finished finished = run("--matrix identity.mtx --report report.json");
    EXPECT_EQ(json::parse(read("report.json"))["solution_sha256"], ones_3_sha256);
    EXPECT_THAT(finished.out, HasSubstr(std::string(ones_3_sha256, 16)));
}

TEST_F(SolverCommand, WritesTheSolutionAsMatrixMarket) {
    EXPECT_EQ(run("--matrix identity.mtx --solution x.mtx").status, 0);
    EXPECT_EQ(read("x.mtx"), "%%MatrixMarket matrix array real general\n3 1\n1\n1\n1\n");
}

TEST_F(SolverCommand, SolvesComplexMatricesFromFilesAndWritesComplexSolutions) {
    write("z.mtx", "%%MatrixMarket matrix coordinate complex general\n2 2 3\n1 1 0 2\n1 2 1 0\n2 2 4 0\n");
    const json told = report("--matrix z.mtx --solution x.mtx");
    EXPECT_EQ(told["complex"], true);
    EXPECT_EQ(told["rows"], 2);
    EXPECT_EQ(told["nonzeros"], 3);
    EXPECT_EQ(read("x.mtx"), "%%MatrixMarket matrix array complex general\n2 1\n1 0\n1 0\n");
    write("b.mtx", "%%MatrixMarket matrix array complex general\n2 1\n0 0\n0 4\n");
    EXPECT_EQ(run("--matrix z.mtx --rhs b.mtx --rounded --solution x.mtx").status, 0);
    EXPECT_EQ(read("x.mtx"), "%%MatrixMarket matrix array complex general\n2 1\n-0.5 0\n0 1\n");
    EXPECT_EQ(report("--matrix z.mtx --rhs b.mtx --initial x.mtx")["iterations"], 0);
    write("real.mtx", "%%MatrixMarket matrix array real general\n2 1\n4 \n0\n");
    EXPECT_EQ(run("--matrix z.mtx --rhs real.mtx --solution x.mtx").status, 0);
    EXPECT_EQ(read("x.mtx"), "%%MatrixMarket matrix array complex general\n2 1\n0 -2\n0 0\n");
    write("long.mtx", "%%MatrixMarket matrix array complex general\n3 1\n0 0\n0 4\n1 1\n");
    const Finished refused = run("--matrix z.mtx --rhs long.mtx");
    EXPECT_EQ(refused.status, 1);
    EXPECT_THAT(refused.err, HasSubstr("3 rows and 1 columns, but the right-hand side needs 2 rows"));
    const Finished real_alone = run("--matrix identity.mtx --rhs b.mtx");
    EXPECT_EQ(real_alone.status, 1);
    EXPECT_THAT(real_alone.err, HasSubstr("complex"));
}

TEST_F(SolverCommand, TakesComplexVectorsOfTheNearNullSpaceOfAComplexMatrix) {
    write("z.mtx", "%%MatrixMarket matrix coordinate complex hermitian\n2 2 3\n1 1 3 0\n2 1 0 -1\n2 2 3 0\n");
    write("near.mtx", "%%MatrixMarket matrix array complex general\n2 1\n1 0\n0 1\n");
    EXPECT_EQ(report("--matrix z.mtx --preconditioner amg --near-null near.mtx")["status"], "converged");
}

TEST_F(SolverCommand, RefusesPipesWhichCanBeReadOnlyOnce) {
    ASSERT_EQ(::mkfifo(path("pipe.mtx").c_str(), 0600), 0);
    const testing::Finished finished = run("--matrix pipe.mtx");
    EXPECT_EQ(finished.status, 1);
    EXPECT_THAT(finished.err, HasSubstr("pipe.mtx: is a pipe, which can be read only once; expected a file"));
}

TEST_F(SolverCommand, WritesTheLeastSquaresOfARectangularComplexMatrix) {
    write("tall.mtx", "%%MatrixMarket matrix coordinate complex general\n3 2 3\n1 1 0 1\n2 2 0 2\n3 2 0 -2\n");
    write("wide.mtx", "%%MatrixMarket matrix coordinate complex general\n2 3 3\n1 1 0 1\n2 2 0 2\n2 3 1 -2\n");
    for (const auto& [matrix, components] : {std::pair{"tall.mtx", 2}, std::pair{"wide.mtx", 3}}) {
        const std::string arguments = std::string("--matrix ") + matrix;
        EXPECT_EQ(run(arguments + " --solution x.mtx").status, 0);
        const std::string head = fmt::format("%%MatrixMarket matrix array complex general\n{} 1\n", components),
                          x = read("x.mtx");
        EXPECT_EQ(x.substr(0, head.size()), head);
        EXPECT_EQ(std::count(x.begin(), x.end(), '\n'), 2 + components);
        EXPECT_EQ(report(arguments + " --initial x.mtx")["iterations"], 0);
    }
}

TEST_F(SolverCommand, ASolutionServesAsInitialGuess) {
    EXPECT_EQ(run("--matrix A.mtx --solution x.mtx --tolerance 1e-12").status, 0);
    EXPECT_EQ(report("--matrix A.mtx --initial x.mtx")["iterations"], 0);
}

TEST_F(SolverCommand, AGeneratedMatrixIsAnnouncedAndAFileOfThatNameWins) {
    const Finished generated = run("--matrix poisson2d_5.mtx --report report.json");
    EXPECT_EQ(generated.status, 0);
    EXPECT_THAT(generated.err, HasSubstr("generated"));
    EXPECT_EQ(std::count(generated.err.begin(), generated.err.end(), '\n'), 1);
    EXPECT_EQ(json::parse(read("report.json"))["rows"], 25);
    write("poisson2d_5.mtx", tridiagonal(7));
    EXPECT_EQ(report("--matrix poisson2d_5.mtx")["rows"], 7);
}

TEST_F(SolverCommand, RandomRightHandSidesDependOnTheSeedAlone) {
    const auto hash = [&](const std::string& rhs) { return report("--matrix identity.mtx --rhs " + rhs)["solution_sha256"]; };
    EXPECT_EQ(hash("random"), hash("random:1"));
    EXPECT_NE(hash("random:1"), hash("random:2"));
}

/// SplitMix64 of seed 0 begins with e220a8397b1dcdaf, 6e789e6aa1b965f4, 06c45d188009454f; its top 53 bits, moved to [-1, 1).
TEST_F(SolverCommand, RandomRightHandSidesAreThePublishedGenerators) {
    EXPECT_EQ(run("--matrix identity.mtx --rhs random:0 --solution b.mtx").status, 0);
    std::istringstream values(read("b.mtx").substr(std::string("%%MatrixMarket matrix array real general\n3 1\n").size()));
    for (const std::uint64_t bits :
         std::initializer_list<std::uint64_t>{0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4, 0x06c45d188009454f}) {
        double value = 0;
        values >> value;
        EXPECT_EQ(value, static_cast<double>(bits >> 11) * 0x1p-52 - 1);
    }
}

TEST_F(SolverCommand, ReadsTheRightHandSideFromAFile) {
    write("b.mtx", "%%MatrixMarket matrix array real general\n3 1\n1\n1\n1\n");
    EXPECT_EQ(report("--matrix identity.mtx --rhs b.mtx")["solution_sha256"], ones_3_sha256);
}

TEST_F(SolverCommand, ReadsSparseColumnsOfTheRightHandSide) {
    write("b.mtx", "%%MatrixMarket matrix coordinate real general\n3 2 3\n1 1 1\n3 1 4\n2 2 5\n");
    EXPECT_EQ(run("--matrix identity.mtx --rhs b.mtx --solution x.mtx").status, 0);
    EXPECT_EQ(read("x.mtx"), "%%MatrixMarket matrix array real general\n3 2\n1\n0\n4\n0\n5\n0\n");
}

}  // namespace
}  // namespace solver
