// What solver-bench robustness runs and counts.

#include "support/solver_bench.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace {

namespace fs = std::filesystem;
using solver::testing::Finished;
using solver::testing::json;
using solver::testing::SolverBench;
using ::testing::HasSubstr;

TEST_F(SolverBench, RobustnessTriesEverySolverOnEverySquareMatrixOfAFolder) {
    fs::create_directory(folder_.path() / "all");
    write("all/good.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 5\n1 1 4\n1 2 1\n2 2 3\n3 1 0.1\n3 3 -7\n");
    write("all/swapped.mtx", "%%MatrixMarket matrix coordinate integer general\n2 2 2\n1 2 5\n2 1 1\n");
    write("all/zero_row.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 5\n1 2 1\n");
    write("all/wide.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 1 1\n");
    write("all/complex.mtx", "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n");
    write("all/pattern.mtx", "%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1\n");
    write("all/damaged.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 2 3\n");
    write("all/unrelated.txt", "nothing");
    const Finished finished = run("robustness all --threads 2 --json r.json --max-iterations 50");
    ASSERT_EQ(finished.status, 0) << finished.err;
    for (const char* text : {"Left out", "wide (2 x 3)", "pattern (a pattern)", "complex (complex)",
                             "damaged (all/damaged.mtx:3:", "Of 3 matrices, a true residual of 1e-10 is reached on"})
        EXPECT_THAT(finished.out, HasSubstr(text));

    const json result = json::parse(read("r.json"));
    EXPECT_EQ(result["tolerance"], 1e-10);
    for (const json& entry : result["cases"]) {
        SCOPED_TRACE(entry.dump());
        EXPECT_FALSE(entry["false_claim"]);
        if (entry["problem"] != "zero_row" && entry["solver"] == "auto") {
            EXPECT_TRUE(entry["reached"]);
        }
        if (entry["problem"] == "good" && entry["solver"] == "jacobi") {
            EXPECT_TRUE(entry["reached"]);
            EXPECT_TRUE(entry["claimed"]);
            EXPECT_EQ(entry["singularity"], "regular");
            EXPECT_GT(entry["solve_seconds"], 0);
        }
        if (entry["problem"] == "swapped" && entry["solver"] == "jacobi") {
            EXPECT_EQ(entry["status"], "failed");
            EXPECT_TRUE(entry["relative_residual"].is_null());
            EXPECT_THAT(entry["remark"].get<std::string>(), HasSubstr("diagonal"));
        }
        if (entry["problem"] == "zero_row") {
            EXPECT_EQ(entry["singularity"], "structurally singular (rank 1 of 2)");
        }
    }
}

TEST_F(SolverBench, RobustnessTakesNamesAndAChoiceOfSolvers) {
    const Finished finished =
        run("robustness A.mtx poisson2d_5 --solver jacobi --solver 'eigen none' --json r.json --time-limit 30");
    EXPECT_EQ(finished.status, 0) << finished.err;
    const json cases = json::parse(read("r.json"))["cases"];
    ASSERT_EQ(cases.size(), 4u);
    EXPECT_EQ(std::count_if(cases.begin(), cases.end(), [](const json& entry) { return entry["reached"] == true; }), 4);
    EXPECT_EQ(std::count_if(cases.begin(), cases.end(), [](const json& entry) { return entry["whose"] == "peer"; }), 2);
    EXPECT_THAT(finished.out, HasSubstr("\n- 2 by jacobi\n"));
    const Finished by_method = run("robustness A.mtx --solver 'gmres jacobi' --solver 'idr none' --json r.json");
    EXPECT_THAT(by_method.out, ::testing::AllOf(HasSubstr("\n- 1 by gmres jacobi\n"), HasSubstr("\n- 1 by idr none\n")));
    expect_refusal("robustness", "which matrices?");
    expect_refusal("robustness A.mtx --solver amg", "choose eigen none");
    expect_refusal("robustness A.mtx --tolerance 0", "--tolerance 0");
    expect_refusal("robustness nowhere.mtx", "no such matrix");
    expect_refusal("robustness helmholtz_5", "nothing was solved");
    expect_refusal("robustness A.mtx --json A.mtx", "would replace the matrix");
}

TEST_F(SolverBench, RobustnessCountsWhatTakesTooLongAndGoesOn) {
    const Finished finished =
        run("robustness poisson2d_600 A.mtx --solver none --time-limit 0.05 --tolerance 1e-15 --json r.json");
    EXPECT_EQ(finished.status, 0) << finished.err;
    EXPECT_THAT(finished.out, HasSubstr("1 timed out"));
    EXPECT_EQ(json::parse(read("r.json"))["cases"].back()["problem"], "A");
}

}  // namespace
