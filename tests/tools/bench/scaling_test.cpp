// What solver-bench scaling runs, judges and tables.

#include "solver/cuda/runtime.hpp"
#include "support/solver_bench.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace fs = std::filesystem;
using solver::testing::Finished;
using solver::testing::json;
using solver::testing::SolverBench;
using ::testing::HasSubstr;

double number_of(const json& entry, const char* name) {
    return entry[name].is_null() ? std::nan("") : entry[name].get<double>();
}

class SolverBenchScaling : public SolverBench {
protected:
    json measured(const std::string& arguments) const {
        const Finished finished = run("scaling " + arguments + " --threads 2 --json s.json");
        EXPECT_EQ(finished.status, 0) << finished.out << finished.err;
        return json::parse(read("s.json"))["cases"];
    }
};

TEST_F(SolverBenchScaling, SolvesEveryProblemByEverybodyAndJudgesThemAlike) {
    const json cases = measured("poisson2d_20 convection_diffusion_12 --time-limit 60");
    std::vector<std::string> solvers;
    for (const json& entry : cases) {
        SCOPED_TRACE(entry.dump());
        const bool symmetric = entry["problem"] == "poisson2d_20";
        const std::string solver = entry["solver"];
        EXPECT_EQ(entry["unknowns"], symmetric ? 400 : 144);
        EXPECT_EQ(entry["nonzeros"], symmetric ? 1920 : 672);
        if (symmetric) solvers.push_back(solver);
        const bool definite_only = solver.find(" cg") != std::string::npos || solver.find("pcg") != std::string::npos ||
                                   solver.find("cholmod") != std::string::npos;
        if (!symmetric && definite_only) {
            EXPECT_EQ(entry["status"], "left out");
            EXPECT_EQ(entry["reached"], false);
            continue;
        }
        EXPECT_EQ(entry["status"], "converged");
        EXPECT_EQ(entry["reached"], true);
        EXPECT_LE(number_of(entry, "relative_residual"), 1e-10);
        EXPECT_GT(number_of(entry, "solve_seconds"), 0);
        EXPECT_EQ(entry["whose"], solver == "auto" ? "automatic" : solver.find(' ') == std::string::npos ? "by hand" : "peer");
    }
    for (const char* name : {"auto", "jacobi", "ilu0", "eigen cg jacobi", "eigen bicgstab ilut", "suitesparse klu"})
        EXPECT_EQ(std::count(solvers.begin(), solvers.end(), name), 1) << name;
}

// A peer that is not told the tolerance makes as many iterations for any.
TEST_F(SolverBenchScaling, TellsEveryIterativeSolverTheTolerance) {
    std::map<std::string, double> loose, tight;
    for (const auto& [tolerance, iterations] : {std::pair("1e-2", &loose), std::pair("1e-11", &tight)})
        for (const json& entry : measured(std::string("poisson2d_60 --tolerance ") + tolerance))
            (*iterations)[entry["solver"]] = number_of(entry, "iterations");
    EXPECT_EQ(loose.size(), tight.size());
    for (const auto& [solver, iterations] : loose) {
        if (solver.find("suitesparse") != std::string::npos || solver == "auto") continue;  // direct, or at last
        EXPECT_GT(iterations, 0) << solver;
        EXPECT_LT(iterations, tight[solver]) << solver;
    }
}

// No factors in double give 1e-17; a table that took a peer's word for it would say so.
TEST_F(SolverBenchScaling, BelievesNobodysClaim) {
    const json cases = measured("poisson2d_20 --tolerance 1e-17 --solver 'suitesparse klu'");
    ASSERT_EQ(cases.size(), 1u);
    EXPECT_EQ(cases[0]["status"], "converged");
    EXPECT_EQ(cases[0]["false_claim"], true);
    EXPECT_EQ(cases[0]["reached"], false);
    EXPECT_GT(number_of(cases[0], "relative_residual"), 1e-17);
    EXPECT_LT(number_of(cases[0], "relative_residual"), 1e-13);
}

TEST_F(SolverBenchScaling, CountsTheGrowthOfMemoryInBytes) {
    const json cases = measured("poisson2d_200 --solver 'suitesparse klu' --solver jacobi");
    ASSERT_EQ(cases.size(), 2u);
    const double matrix = 12.0 * (5 * 40000 - 800) + 8 * 40001;
    // KLU: at least A with 16 bytes an entry and factors of 20 times as many entries (n log n), at most a hundred times A.
    EXPECT_GT(number_of(cases[0], "memory_bytes"), 4 * matrix);
    EXPECT_LT(number_of(cases[0], "memory_bytes"), 100 * matrix);
    // Jacobi: some vectors of 8 bytes an unknown.
    EXPECT_LT(number_of(cases[1], "memory_bytes"), number_of(cases[0], "memory_bytes"));
}

TEST_F(SolverBenchScaling, GoesOnAfterWhatTakesTooLong) {
    const json cases = measured("poisson2d_600 poisson2d_5 --solver none --solver 'suitesparse klu' --time-limit 0.05");
    ASSERT_EQ(cases.size(), 4u);
    EXPECT_EQ(cases[0]["status"], "timed out");
    EXPECT_EQ(cases[0]["reached"], false);
    EXPECT_EQ(cases[2]["reached"], true);
}

TEST_F(SolverBenchScaling, LeavesOutFilesThatNoSolverIsFor) {
    fs::create_directory(folder_.path() / "all");
    write("all/good.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 4\n1 2 1\n2 2 3\n");
    write("all/wide.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 1 1\n");
    write("all/damaged.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 2 3\n");
    write("all/complex.mtx", "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n");
    const Finished finished = run("scaling all helmholtz_5 --solver jacobi --json r.json");
    EXPECT_EQ(finished.status, 0) << finished.err;
    for (const char* text : {"wide is left out: 2 x 3", "damaged is left out: all/damaged.mtx:3:",
                             "complex is left out: complex", "helmholtz_5 is left out: complex"})
        EXPECT_THAT(finished.out, HasSubstr(text));
    const json cases = json::parse(read("r.json"))["cases"];
    ASSERT_EQ(cases.size(), 1u);
    EXPECT_EQ(cases[0]["problem"], "good");
}

TEST_F(SolverBenchScaling, SolvesOnACudaDeviceWithoutPeers) {
    if (solver::cuda::device_count() == 0) GTEST_SKIP() << "no CUDA device";
    const json cases = measured("poisson2d_20 convection_weak_8 --device cuda --accuracy exact");
    ASSERT_GE(cases.size(), 6u);
    for (const json& entry : cases) {
        EXPECT_NE(entry["whose"], "peer");
        EXPECT_EQ(entry["reached"], true) << entry.dump();
    }
    expect_refusal("scaling poisson2d_5 --device cuda --solver 'eigen cg jacobi'", "is not known here");
}

TEST_F(SolverBenchScaling, TakesAnyPreconditionerOfOursByName) {
    const json cases = measured("poisson2d_10 --solver isai --solver ilut");
    ASSERT_EQ(cases.size(), 2u);
    EXPECT_EQ(cases[0]["solver"], "isai");
    EXPECT_EQ(cases[1]["whose"], "by hand");
    expect_refusal("scaling poisson2d_10 --solver ilutt", "--solver 'ilutt' is not known here; choose auto, a preconditioner");
}

TEST_F(SolverBenchScaling, TakesAMethodBesideThePreconditionerAndModesWhereThereAreSome) {
    const json cases =
        measured("elasticity2d_12 poisson2d_12 --solver 'cg jacobi' --solver 'bicgstab jacobi' --solver 'amg modes'");
    ASSERT_EQ(cases.size(), 5u) << "poisson2d has no rigid-body modes";
    for (const json& entry : cases) {
        EXPECT_EQ(entry["whose"], "by hand") << entry.dump();
        EXPECT_EQ(entry["reached"], true) << entry.dump();
    }
    EXPECT_EQ(cases[2]["solver"], "amg modes");
    EXPECT_NE(cases[0]["iterations"], cases[1]["iterations"]);
    expect_refusal("scaling poisson2d_12 --solver 'qmr jacobi'", "--solver 'qmr jacobi' is not known here");
}

TEST_F(SolverBenchScaling, SaysWhatIsWrongWithItsOptions) {
    expect_refusal("scaling", "which matrices?");
    expect_refusal("scaling poisson2d_5 --device gpu", "--device gpu: expected cpu, cuda or cuda:N");
    expect_refusal("scaling thousandths_5", "nothing was solved");
    expect_refusal("scaling poisson2d_5 --device cuda:999", "device cuda:999: none answers");
    expect_refusal("scaling poisson2d_5 --json no/s.json", "no/s.json");
}

}  // namespace
