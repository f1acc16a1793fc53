// What solver-bench scaling runs, judges and tables.

#include "solver/cuda/runtime.hpp"
#include "support/solver_bench.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
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
    const std::string text = entry[name];
    return text.empty() ? std::nan("") : std::stod(text);
}

class SolverBenchScaling : public SolverBench {
protected:
    json measured(const std::string& arguments) const {
        const Finished finished = run("scaling " + arguments + " --threads 2 --json s.json");
        EXPECT_EQ(finished.status, 0) << finished.out << finished.err;
        return json::parse(read("s.json"))["cases"];
    }

    /// A case as --json writes it.
    static json recorded(const std::string& problem, int unknowns, const std::string& whose, const std::string& solver,
                         double setup, double solve, double residual, int iterations) {
        return {{"problem", problem},
                {"unknowns", std::to_string(unknowns)},
                {"nonzeros", std::to_string(5 * unknowns)},
                {"tolerance", "1e-10"},
                {"whose", whose},
                {"solver", solver},
                {"status", residual <= 1e-10 ? "converged" : "timed out"},
                {"iterations", std::to_string(iterations)},
                {"setup_seconds", std::to_string(setup)},
                {"solve_seconds", std::to_string(solve)},
                {"memory_megabytes", "6.8"},
                {"relative_residual", std::isfinite(residual) ? std::to_string(residual * 1e11) + "e-11" : ""},
                {"reached", "read anew"},
                {"remark", ""}};
    }

    void write_record(const std::string& name, const json& cases) const {
        const json machine{{"processor", "a fast one"}, {"processors", 8}, {"threads", 4}, {"peer", "a peer 1.2"}};
        write(name, json{{"benchmark", "scaling"}, {"machine", machine}, {"cases", cases}}.dump());
    }

    /// The rows of a CSV file whose fields hold no commas.
    std::vector<json> rows_of(const std::string& name) const {
        std::istringstream lines(read(name));
        std::vector<std::string> titles;
        std::vector<json> rows;
        for (std::string line; std::getline(lines, line);) {
            std::vector<std::string> fields(1);
            for (const char c : line) {
                if (c == ',')
                    fields.emplace_back();
                else
                    fields.back() += c;
            }
            if (titles.empty()) {
                titles = fields;
                continue;
            }
            json row;
            for (std::size_t i = 0; i < titles.size(); ++i) row[titles[i]] = i < fields.size() ? fields[i] : "";
            rows.push_back(row);
        }
        return rows;
    }
};

TEST_F(SolverBenchScaling, SolvesEveryProblemByEverybodyAndJudgesThemAlike) {
    const json cases = measured("poisson2d_20 convection_diffusion_12 --time-limit 60 --csv s.csv --markdown s.md");
    std::vector<std::string> solvers;
    int best_ones = 0;
    for (const json& entry : cases) {
        SCOPED_TRACE(entry.dump());
        const bool symmetric = entry["problem"] == "poisson2d_20";
        const std::string solver = entry["solver"];
        EXPECT_EQ(entry["unknowns"], symmetric ? "400" : "144");
        EXPECT_EQ(entry["nonzeros"], symmetric ? "1920" : "672");
        if (symmetric) solvers.push_back(solver);
        const bool definite_only = solver.find(" cg") != std::string::npos || solver.find("pcg") != std::string::npos ||
                                   solver.find("cholmod") != std::string::npos;
        if (!symmetric && definite_only) {
            EXPECT_EQ(entry["status"], "left out");
            EXPECT_EQ(entry["reached"], "no");
            EXPECT_EQ(entry["seconds_by_best_by_hand"], "");
            continue;
        }
        EXPECT_EQ(entry["status"], "converged");
        EXPECT_EQ(entry["reached"], "yes");
        EXPECT_LE(number_of(entry, "relative_residual"), 1e-10);
        EXPECT_GT(number_of(entry, "solve_seconds"), 0);
        EXPECT_GT(number_of(entry, "seconds_by_best_by_hand"), 0);
        EXPECT_EQ(entry["whose"], solver == "auto" ? "automatic" : solver.find(' ') == std::string::npos ? "by hand" : "peer");
        if (entry["whose"] == "by hand") {
            EXPECT_GE(number_of(entry, "seconds_by_best_by_hand"), 1);
            best_ones += number_of(entry, "seconds_by_best_by_hand") == 1 ? 1 : 0;
        }
    }
    EXPECT_EQ(best_ones, 2);
    for (const char* name : {"auto", "jacobi", "ilu0", "eigen cg jacobi", "eigen bicgstab ilut", "suitesparse klu"})
        EXPECT_EQ(std::count(solvers.begin(), solvers.end(), name), 1) << name;
    EXPECT_EQ(rows_of("s.csv").size(), cases.size());
    EXPECT_THAT(read("s.md"), HasSubstr("| poisson2d_20 | 400 | "));
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
    EXPECT_EQ(cases[0]["status"], "converged, not reached");
    EXPECT_EQ(cases[0]["reached"], "no");
    EXPECT_EQ(cases[0]["seconds_by_best_by_hand"], "");
    EXPECT_GT(number_of(cases[0], "relative_residual"), 1e-17);
    EXPECT_LT(number_of(cases[0], "relative_residual"), 1e-13);
}

TEST_F(SolverBenchScaling, CountsTheGrowthOfMemoryInMegabytes) {
    const json cases = measured("poisson2d_200 --solver 'suitesparse klu' --solver jacobi");
    ASSERT_EQ(cases.size(), 2u);
    const double matrix = 12.0 * (5 * 40000 - 800) + 8 * 40001;
    for (const json& entry : cases)
        EXPECT_NEAR(number_of(entry, "memory_by_matrix"), 1e6 * number_of(entry, "memory_megabytes") / matrix, 1e-9);
    // KLU: at least A with 16 bytes an entry and factors of 20 times as many entries (n log n), at most a hundred times A.
    EXPECT_GT(number_of(cases[0], "memory_by_matrix"), 4);
    EXPECT_LT(number_of(cases[0], "memory_by_matrix"), 100);
    // Jacobi: some vectors of 8 bytes an unknown.
    EXPECT_LT(number_of(cases[1], "memory_megabytes"), number_of(cases[0], "memory_megabytes"));
}

TEST_F(SolverBenchScaling, GoesOnAfterWhatTakesTooLong) {
    const json cases = measured("poisson2d_600 poisson2d_5 --solver none --solver 'suitesparse klu' --time-limit 0.05");
    ASSERT_EQ(cases.size(), 4u);
    EXPECT_EQ(cases[0]["status"], "timed out");
    EXPECT_EQ(cases[0]["reached"], "no");
    EXPECT_EQ(cases[0]["seconds_by_best_by_hand"], "");
    EXPECT_EQ(cases[2]["reached"], "yes");
}

TEST_F(SolverBenchScaling, LeavesOutFilesThatNoSolverIsFor) {
    fs::create_directory(folder_.path() / "all");
    write("all/good.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 4\n1 2 1\n2 2 3\n");
    write("all/wide.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 1 1\n");
    const Finished finished = run("scaling all --solver jacobi --csv r.csv");
    EXPECT_EQ(finished.status, 0) << finished.err;
    EXPECT_THAT(finished.out, HasSubstr("wide is left out: 2 x 3"));
    ASSERT_EQ(rows_of("r.csv").size(), 1u);
    EXPECT_EQ(rows_of("r.csv")[0]["problem"], "good");
}

TEST_F(SolverBenchScaling, SolvesOnACudaDeviceWithoutPeers) {
    if (solver::cuda::device_count() == 0) GTEST_SKIP() << "no CUDA device";
    const json cases = measured("poisson2d_20 convection_weak_8 --device cuda --accuracy exact");
    ASSERT_GE(cases.size(), 6u);
    for (const json& entry : cases) {
        EXPECT_NE(entry["whose"], "peer");
        EXPECT_EQ(entry["reached"], "yes") << entry.dump();
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
        EXPECT_EQ(entry["reached"], "yes") << entry.dump();
    }
    EXPECT_EQ(cases[2]["solver"], "amg modes");
    EXPECT_NE(cases[0]["iterations"], cases[1]["iterations"]);
    expect_refusal("scaling poisson2d_12 --solver 'gmres jacobi'", "--solver 'gmres jacobi' is not known here");
}

TEST_F(SolverBenchScaling, ComparesWithTheBestThatWasPickedByHandAndReachedTheTolerance) {
    const double nan = std::nan("");
    write_record("r.json", {recorded("p_10", 100, "automatic", "auto", 1, 0.5, 1e-11, 7),
                            recorded("p_10", 100, "by hand", "jacobi", 0.25, 2.75, 1e-11, 20),
                            recorded("p_10", 100, "by hand", "ilu0", 1.5, 0.5, 9e-11, 10),
                            recorded("p_10", 100, "by hand", "none", 0.25, 0.25, 2e-10, 30),  // the fastest, but not there
                            recorded("p_10", 100, "peer", "hypre pcg", 0.75, 0.25, 1e-11, 5),
                            recorded("p_10", 100, "peer", "eigen cg jacobi", 0, 600, nan, 0)});
    const Finished finished = run("scaling --from r.json --csv r.csv --markdown r.md");
    ASSERT_EQ(finished.status, 0) << finished.err;
    const std::vector<json> rows = rows_of("r.csv");
    ASSERT_EQ(rows.size(), 6u);
    const std::vector<std::string> expected{"0.75", "1.5", "1", "", "0.5", ""};
    for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(rows[i]["seconds_by_best_by_hand"], expected[i]) << rows[i].dump();
    EXPECT_EQ(rows[3]["reached"], "no");
    EXPECT_EQ(rows[5]["reached"], "no");
    EXPECT_EQ(rows[5]["relative_residual"], "");
    // 6.8 MB by 12 * 500 + 8 * 101 bytes.
    EXPECT_NEAR(number_of(rows[0], "memory_by_matrix"), 6.8e6 / 6808, 1e-9);
    for (const char* text : {"auto by the best by hand: median 0.75, worst 0.75 (p_10), 1 problem",
                             "the best by hand by the fastest peer: median 2, worst 2 (p_10), 1 problem"})
        EXPECT_THAT(finished.out, HasSubstr(text));
    const std::string table = read("r.md");
    EXPECT_THAT(table, HasSubstr("a fast one, 4 of 8 processors; beside a peer 1.2"));
    EXPECT_THAT(table, HasSubstr("| problem | unknowns | auto | best by hand | auto / best | hypre | eigen |\n"
                                 "|---|---:|---:|---:|---:|---:|---:|\n"));
    EXPECT_THAT(table, HasSubstr("| p_10 | 100 | 1.5 s, 7 | ilu0: 2 s, 10 | 0.75 | pcg: 1 s, 5 | - |"));
}

TEST_F(SolverBenchScaling, SaysHowIterationsAndTimesGrowAndDrawsThem) {
    write_record("small.json", {recorded("p_10", 100, "automatic", "auto", 0.5, 0.5, 1e-11, 7),
                                recorded("p_10", 100, "by hand", "jacobi", 0, 1, 1e-11, 10)});
    write_record("large.json", {recorded("p_100", 10000, "automatic", "auto", 50, 50, 1e-11, 8),
                                recorded("p_100", 10000, "by hand", "jacobi", 0, 1000, 1e-11, 100)});
    const Finished finished = run("scaling --from large.json --from small.json --plot p.gnuplot --csv r.csv");
    ASSERT_EQ(finished.status, 0) << finished.err;
    for (const char* text : {"p, auto: iterations 7 to 8, time like n^1.00 (100 to 10000 unknowns)",
                             "p, jacobi: iterations 10 to 100, time like n^1.50 (100 to 10000 unknowns)",
                             "auto by the best by hand: median 0.55, worst 1 (p_10), 2 problems"})
        EXPECT_THAT(finished.out, HasSubstr(text));
    EXPECT_EQ(rows_of("r.csv").size(), 4u);
    // One second for 100 unknowns is 10000 microseconds each, 1000 s for 10000 are 100000; small sizes first.
    EXPECT_THAT(read("p_time.gnuplot"), HasSubstr("100 1e+04\n10000 1e+05\n"));
    EXPECT_THAT(read("p_iterations.gnuplot"), HasSubstr("100 10\n10000 100\n"));
    EXPECT_THAT(read("p_memory.gnuplot"), HasSubstr("100 998.8\n"));
}

TEST_F(SolverBenchScaling, SaysWhatIsWrongWithItsOptions) {
    write("other.json", R"({"benchmark": "spmv", "cases": []})");
    expect_refusal("scaling", "which matrices?");
    expect_refusal("scaling poisson2d_5 --device gpu", "--device gpu: expected cpu, cuda or cuda:N");
    expect_refusal("scaling poisson2d_5 --plot p.pdf", "--plot p.pdf: expected a name that ends in .svg");
    expect_refusal("scaling --from other.json", "holds no results of solver-bench scaling");
    expect_refusal("scaling --from A.mtx", "is not what solver-bench scaling --json writes");
    expect_refusal("scaling --from no.json", "cannot be opened");
    expect_refusal("scaling poisson2d_5 --from other.json", "leave out --matrix");
    expect_refusal("scaling thousandths_5", "1 x 5, but only square systems are solved");
    expect_refusal("scaling poisson2d_5 --plot no/p.svg", "no/p_time.svg");
}

}  // namespace
