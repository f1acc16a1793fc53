#include "support/solver_command.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

namespace solver {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using testing::Finished;
using ::testing::HasSubstr;
using testing::SolverCommand;
using ::testing::StartsWith;

TEST_F(SolverCommand, OptionsReachTheSolve) {
    EXPECT_EQ(report("--matrix A.mtx")["accuracy"], "exact");
    EXPECT_EQ(report("--matrix A.mtx --fast")["accuracy"], "fast");
    EXPECT_EQ(report("--matrix A.mtx --compensated")["accuracy"], "compensated");
    EXPECT_EQ(report("--matrix A.mtx --accuracy exact --exact")["accuracy"], "exact");
    EXPECT_EQ(report("--matrix A.mtx --precision single --tolerance 1e-4")["precision"], "single");
    EXPECT_EQ(report("--matrix A.mtx --preconditioner ilu0")["preconditioner"], "ilu0");
    EXPECT_EQ(report("--matrix A.mtx --spmv general --device cpu --threads 1")["spmv"], "general");
    EXPECT_EQ(report("--matrix A.mtx --tolerance 0.5")["tolerance"], 0.5);
    EXPECT_EQ(report("--matrix A.mtx --preconditioner none --absolute-tolerance 1e9")["iterations"], 0);
}

TEST_F(SolverCommand, SolvesByTheMethodThatIsNamed) {
    for (const char* method : {"bicgstab", "gmres", "idr", "bicgstab2"}) {
        const json r = report(std::string("--matrix A.mtx --preconditioner jacobi --method ") + method);
        EXPECT_EQ(r["attempts"][0]["method"], method);
        EXPECT_EQ(r["status"], "converged");
    }
    const auto iterations = [&](const char* options) {
        return report(std::string("--matrix A.mtx --preconditioner none --method gmres ") + options)["iterations"].get<int>();
    };
    EXPECT_GT(iterations("--restart 2"), iterations("--restart 40"));
}

TEST_F(SolverCommand, FactorsWithinBlocks) {
    const std::string by_ilu0 = "--matrix poisson2d_12 --preconditioner ilu0";
    const auto entries = [&](const std::string& blocks) {
        return report(by_ilu0 + blocks)["attempts"][0]["factor_entries"].get<int>();
    };
    EXPECT_EQ(entries(" --block-size 1"), 144);
    EXPECT_EQ(entries(" --block-size 12"), 144 + 2 * 12 * 11);  // lines of the grid
    EXPECT_EQ(entries(" --block-size 144"), entries(""));
    EXPECT_EQ(report("--matrix wilson_2_2 --preconditioner ilu0 --block-size 12")["status"], "converged");
}

TEST_F(SolverCommand, LeavesWhatIsNotSaidAsTheHelpSays) {
    const json r = report("--matrix A.mtx --device cpu");
    EXPECT_EQ(r["tolerance"], 1e-10);
    EXPECT_EQ(r["absolute_tolerance"], 0);
    EXPECT_EQ(r["max_iterations"], 10000);
    EXPECT_EQ(r["precision"], "double");
    EXPECT_EQ(r["preconditioner"], "auto");
}

TEST_F(SolverCommand, TakesTheEndsOfTheRangesOfItsOptions) {
    for (const char* option : {"--drop-tolerance 0", "--drop-tolerance 1", "--fill-factor 0", "--fill-factor 1e6"})
        EXPECT_EQ(run(std::string("--matrix A.mtx --quiet --preconditioner ilut ") + option).status, 0) << option;
    EXPECT_EQ(report("--matrix A.mtx --absolute-tolerance 0")["absolute_tolerance"], 0);
    EXPECT_EQ(report("--matrix A.mtx --absolute-tolerance 0.5")["absolute_tolerance"], 0.5);
    EXPECT_EQ(report("--matrix A.mtx --tolerance 0 --absolute-tolerance 0.5")["tolerance"], 0);
}

/// The clamped plate of elasticity2d_40, and its rigid-body modes as a file: (1, 0), (0, 1), (-y, x).
// Promise: preconditioner.hpp, "successive rows that are aggregated together"
TEST_F(SolverCommand, TellsTheHierarchyAndTakesItsNearNullSpace) {
    constexpr int n = 24, rows = 2 * n * (n + 1);
    std::ostringstream modes;
    modes << "%%MatrixMarket matrix array real general\n" << rows << " 3\n";
    for (int mode = 0; mode < 3; ++mode)
        for (int row = 0; row < rows; ++row) {
            const int x = row / 2 % n + 1, y = row / 2 / n;
            modes << (mode == 2 ? (row % 2 == 0 ? -y : x) : mode == row % 2 ? 1 : 0) << '\n';
        }
    write("modes.mtx", modes.str());
    const std::string by_amg = "--matrix elasticity2d_24 --device cpu --preconditioner amg";
    const json scalar = report(by_amg + " --unknowns-per-node 1"), found = report(by_amg),
               told = report(by_amg + " --near-null modes.mtx");
    EXPECT_EQ(told["status"], "converged");
    EXPECT_LT(told["iterations"].get<int>(), found["iterations"].get<int>());
    EXPECT_EQ(found["attempts"][0]["levels"][0]["unknowns_per_node"], 2);
    EXPECT_EQ(scalar["attempts"][0]["levels"][0]["unknowns_per_node"], 1);
    const json& attempt = told["attempts"][0];
    ASSERT_GE(attempt["levels"].size(), 2u);
    EXPECT_EQ(attempt["levels"][0]["rows"], rows);
    EXPECT_EQ(attempt["levels"][0]["nonzeros"], told["nonzeros"]);
    EXPECT_EQ(attempt["levels"][1]["rows"].get<int>() % 3, 0) << "three vectors for each aggregate";
    double entries = 0;
    for (const json& level : attempt["levels"]) entries += level["nonzeros"].get<double>();
    EXPECT_DOUBLE_EQ(attempt["operator_complexity"].get<double>(), entries / told["nonzeros"].get<double>());
    EXPECT_EQ(report("--matrix A.mtx --preconditioner jacobi")["attempts"][0]["levels"].size(), 0u);
    const Finished shown = run(by_amg + " --plot page.html");
    EXPECT_THAT(shown.out, HasSubstr(" levels, 1."));
    EXPECT_THAT(read("page.html"), AllOf(HasSubstr("The levels of multigrid"), HasSubstr("level 2")));
}

TEST_F(SolverCommand, HelpNamesEveryOptionAndGivesExamples) {
    EXPECT_EQ(run("-h").out, run("--help").out);
    const Finished finished = run("--help");
    EXPECT_EQ(finished.status, 0);
    for (const char* option :
         {"--matrix",      "--rhs",       "--initial",        "--solution",  "--accuracy", "--fast",
          "--compensated", "--exact",     "--precision",      "--device",    "--threads",  "--preconditioner",
          "--spmv",        "--tolerance", "--max-iterations", "--report",    "--history",  "--quiet",
          "--version",     "--help",      "Examples:",        "Exit status:"})
        EXPECT_THAT(finished.out, HasSubstr(option));
}

TEST_F(SolverCommand, VersionSaysWhetherCudaIsThere) {
    EXPECT_THAT(run("--version").out, AllOf(StartsWith("solver "), HasSubstr("CUDA: ")));
}

TEST_F(SolverCommand, CudaIsRefusedClearlyWhereThereIsNone) {
    const std::string version = run("--version").out;
    if (version.find("cuda:0") != std::string::npos) GTEST_SKIP() << "there is a CUDA device";
    const std::string reason = version.find("not built in") != std::string::npos ? "built without CUDA" : "NVIDIA driver";
    const Finished finished = run("--matrix A.mtx --device cuda");
    EXPECT_EQ(finished.status, 1);
    EXPECT_THAT(finished.err,
                AllOf(StartsWith("solver: device cuda:0: "), HasSubstr(reason), HasSubstr("--device auto takes the best")));
    const json r = report("--matrix A.mtx --device auto");
    EXPECT_EQ(r["device"], "cpu");
    EXPECT_TRUE(r["device_name"].is_string());
    EXPECT_TRUE(r["cuda"].is_null());
}

class SolverCommandOnCuda : public SolverCommand {
protected:
    void SetUp() override {
        SolverCommand::SetUp();
        if (run("--version").out.find("cuda:0") == std::string::npos) GTEST_SKIP() << "no CUDA device";
    }
};

TEST_F(SolverCommandOnCuda, IsTheDefaultAndTheReportSaysSo) {
    for (const char* how : {"", " --device auto", " --device cuda", " --device cuda:0"}) {
        const json r = report(std::string("--matrix A.mtx") + how);
        EXPECT_EQ(r["device"], "cuda:0");
        EXPECT_TRUE(r["device_name"].is_string());
        EXPECT_GT(r["device_memory_bytes"].get<std::int64_t>(), std::int64_t{1} << 30);
        EXPECT_GE(r["cuda"]["driver_version"].get<int>(), r["cuda"]["runtime_version"].get<int>() / 1000 * 1000);
        EXPECT_TRUE(r["threads"].is_null());
    }
    EXPECT_EQ(report("--matrix A.mtx --device cpu")["device"], "cpu");
    const std::string name = report("--matrix A.mtx")["device_name"];
    EXPECT_THAT(run("--matrix A.mtx").out, HasSubstr("cuda:0, " + name + ", SpMV "));
}

TEST_F(SolverCommandOnCuda, ExactHasTheProcessorsBits) {
    const std::string by = "poisson2d_30.mtx --preconditioner ";
    for (const std::string& how : {by + "none", by + "jacobi", by + "ilu0", by + "isai", by + "ilut", by + "klu",
                                   std::string("poisson2d_30.mtx"), std::string("poisson2d_300.mtx")}) {
        SCOPED_TRACE(how);
        const std::string arguments = "--quiet --matrix " + how;
        const auto outcome = [&](const std::string& device) {
            run(arguments + " --device " + device + " --history h.csv --report r.json");
            return json::parse(read("r.json"))["solution_sha256"].get<std::string>() + read("h.csv");
        };
        EXPECT_EQ(outcome("cuda"), outcome("cpu"));
    }
}

TEST_F(SolverCommandOnCuda, RefusesADeviceThatIsNotThere) {
    const Finished finished = run("--matrix A.mtx --device cuda:99");
    EXPECT_EQ(finished.status, 1);
    EXPECT_THAT(finished.err, AllOf(HasSubstr("device cuda:99: this machine has "), HasSubstr("--device auto")));
}

}  // namespace
}  // namespace solver
