// The command `solver-bench` as its users meet it, on inputs so small that nothing is measured: contests and the command line.

#include "solver/cuda/runtime.hpp"
#include "support/solver_bench.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace fs = std::filesystem;
using solver::testing::competitors;
using solver::testing::Finished;
using solver::testing::json;
using solver::testing::SolverBench;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// What a case was measured beside: of the same parameters, which stand in its heading, `name`.
const json* beside(const json& report, const json& entry, const json& name) {
    for (const json& other : report["cases"])
        if (other["heading"] == entry["heading"] && other["competitor"] == name) return &other;
    return nullptr;
}

/// With one repetition, the median of the ratios is the ratio of the medians.
void expect_ratios_of_times(const json& report, const json& entry) {
    for (const std::string whom : {"peer", "baseline"}) {
        const json* const other = beside(report, entry, entry[whom]);
        if (entry["ratio_to_" + whom].is_null() || other == nullptr) continue;
        const double ratio = (*other)["median_seconds"].get<double>() / entry["median_seconds"].get<double>();
        EXPECT_NEAR(entry["ratio_to_" + whom].get<double>() / ratio, 1, 1e-12) << whom;
    }
}

void expect_plausible(const json& report) {
    EXPECT_TRUE(report["verified"]);
    for (const json& entry : report["cases"]) {
        SCOPED_TRACE(entry.dump());
        EXPECT_GT(entry["median_seconds"], 0);
        EXPECT_GT(entry["gigabytes_per_second"], 0);
        EXPECT_EQ(entry["repetitions"], 1);
        EXPECT_TRUE(entry["relative_uncertainty"].is_null());
        expect_ratios_of_times(report, entry);
        if (entry["competitor"] == "exact") {
            EXPECT_EQ(entry["error_ulp"], 0);
        }
        if (entry["competitor"] == entry["peer"]) {
            EXPECT_EQ(entry["ratio_to_peer"], 1);
        }
        if (entry["competitor"] == entry["baseline"]) {
            EXPECT_EQ(entry["ratio_to_baseline"], 1);
        }
    }
}

TEST_F(SolverBench, ComparesProductsOfEachMatrixVectorAndPrecision) {
    const json result = report("spmv --matrix A.mtx --matrix power_law_300 --precision both --kernel adaptive");
    expect_plausible(result);
    ASSERT_EQ(result["cases"].size(), 2 * 2 * 2 * 4);
    EXPECT_EQ(result["benchmark"], "spmv");
    EXPECT_EQ(result["machine"]["threads"], 2);
    const json& first = result["cases"][0];
    EXPECT_EQ(first["matrix"], "A.mtx");
    EXPECT_EQ(first["x"], "random");
    EXPECT_EQ(first["precision"], "double");
    EXPECT_EQ(first["kernel"], "adaptive");
    EXPECT_EQ(first["nonzeros"], "5");
    EXPECT_EQ(first["baseline"], "fast");
    EXPECT_EQ(first["peer"], "eigen");
}

TEST_F(SolverBench, CountsTheCompulsoryTrafficOfAProduct) {
    const json result = report("spmv --matrix A.mtx --x ones --precision single");
    ASSERT_THAT(competitors(result), ElementsAre("fast", "compensated", "exact", "eigen"));
    const auto bytes = [&](int i) {
        const json& entry = result["cases"][i];
        return std::lround(entry["gigabytes_per_second"].get<double>() * 1e9 * entry["median_seconds"].get<double>());
    };
    EXPECT_EQ(bytes(0), 5 * (4 + 4) + 4 * 8 + 3 * 4 + 3 * 4);
    EXPECT_EQ(bytes(3), 5 * (4 + 4) + 4 * 4 + 3 * 4 + 3 * 4);
}

TEST_F(SolverBench, ComparesPackedProductsWhereAskedTo) {
    const json result = report("spmv --matrix A.mtx --matrix poisson2d_10 --x random --storage packed");
    ASSERT_EQ(result["cases"].size(), 2 * 8);
    EXPECT_TRUE(result["verified"]);
    for (const int first : {0, 8}) {
        std::vector<std::string> names;
        for (int i = 0; i < 8; ++i) names.push_back(result["cases"][first + i]["competitor"]);
        EXPECT_THAT(names, ElementsAre("fast", "compensated", "exact", "packed fast", "packed compensated", "packed exact",
                                       "eigen", "pack"));
        EXPECT_EQ(result["cases"][first + 5]["error_ulp"], 0);
    }
}

TEST_F(SolverBench, ComparesDotProductsSumsAndNorms) {
    for (const std::string subject : {"dot", "sum", "norm2"}) {
        const json result =
            report(subject + " --size 1 --size 5000 --input random --input worst --input scattered --precision both");
        expect_plausible(result);
        const auto names = competitors(result);
        EXPECT_EQ(std::count(names.begin(), names.end(), "exact"), 2 * 3 * 2);
        EXPECT_EQ(std::count(names.begin(), names.end(), "eigen"), 2 * 3 * 2);
        EXPECT_EQ(result["cases"].back()["input"], "scattered");
        EXPECT_EQ(result["cases"].back()["size"], "5000");
    }
}

TEST_F(SolverBench, ComparesTriangularSolvesWithFactors) {
    const json result = report("triangular --matrix poisson2d_10 --preconditioner ilu0 --preconditioner klu --precision both");
    expect_plausible(result);
    ASSERT_EQ(result["cases"].size(), 2 * 2 * 2 * 3);
    EXPECT_EQ(result["cases"][0]["factor"], "L of ilu0");
    EXPECT_EQ(result["cases"][3]["factor"], "U of ilu0");
    expect_refusal("triangular --matrix poisson2d_10 --preconditioner jacobi --device cpu", "ilu0, ilut or klu");
}

TEST_F(SolverBench, ComparesSolvesByTheTimeOfAnIteration) {
    const json result = report("solve --matrix A.mtx --matrix poisson2d_random_10 --precision both --tolerance 1e-6");
    EXPECT_TRUE(result["verified"]);
    ASSERT_EQ(result["cases"].size(), 2 * (4 + 3));
    for (const json& entry : result["cases"]) {
        SCOPED_TRACE(entry.dump());
        EXPECT_GT(entry["median_seconds"], 0);
        if (entry["matrix"] == "A.mtx" && entry["precision"] == "double") {
            const double bytes = entry["gigabytes_per_second"].get<double>() * 1e9 * entry["median_seconds"].get<double>();
            EXPECT_EQ(std::lround(bytes), 2 * (5 * (8 + 4) + 4 * (entry["competitor"] == "eigen" ? 4 : 8) + (3 + 3) * 8));
        }
        EXPECT_LE(entry["relative_residual"], 1e-6);
        EXPECT_THAT(entry["remark"].get<std::string>(), HasSubstr(" iterations, converged"));
    }
}

TEST_F(SolverBench, CountsNoIterationsWhereZeroIsTheSolution) {
    write("zero.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 4\n1 1 1\n1 2 -1\n2 1 1\n2 2 -1\n");
    write("empty.mtx", "%%MatrixMarket matrix coordinate real general\n0 0 0\n");
    const json result = report("solve --matrix zero.mtx --matrix empty.mtx");
    ASSERT_EQ(result["cases"].size(), 2 * 4);
    for (const json& entry : result["cases"]) {
        SCOPED_TRACE(entry.dump());
        EXPECT_THAT(entry["remark"].get<std::string>(), ::testing::StartsWith("0 iterations, converged"));
        EXPECT_EQ(entry["relative_residual"], 0);
    }
}

TEST_F(SolverBench, ComparesWithThePeersOfACudaDevice) {
    if (solver::cuda::device_count() == 0) GTEST_SKIP() << "no CUDA device";
    const auto competitors_of = [&](const std::string& arguments) {
        const Finished finished = run(arguments + " --device cuda --repetitions 1 --json r.json");
        EXPECT_EQ(finished.status, 0) << finished.err;
        const json result = json::parse(read("r.json"));
        EXPECT_TRUE(result["verified"]);
        EXPECT_THAT(result["machine"]["peer"].get<std::string>(), HasSubstr("cuSPARSE "));
        return competitors(result);
    };
    EXPECT_THAT(competitors_of("spmv --matrix A.mtx --x random"),
                ElementsAre("fast", "compensated", "exact", "cusparse alg1", "cusparse alg2", "make the plan"));
    EXPECT_THAT(competitors_of("dot --size 5000 --input random"), ElementsAre("fast", "compensated", "exact", "cublas"));
    EXPECT_THAT(competitors_of("sum --size 5000 --input random"), ElementsAre("fast", "compensated", "exact", "cub"));
    EXPECT_THAT(competitors_of("norm2 --size 5000 --input random"), ElementsAre("fast", "compensated", "exact", "cublas"));
    EXPECT_THAT(competitors_of("solve --matrix poisson2d_20"),
                ElementsAre("fast", "compensated", "exact", "textbook alg1", "textbook alg2"));
}

TEST_F(SolverBench, CountsErrorsAndKeepsResidualsForThePage) {
    const json product = report("spmv --matrix A.mtx --x random")["cases"];
    for (const json& entry : product) {
        EXPECT_EQ(entry["elements"], 3);
        std::int64_t all = 0;
        for (const auto& [limit, number] : entry["histogram"].items()) all += number.get<std::int64_t>();
        EXPECT_EQ(all, 3);
    }
    EXPECT_EQ(product[2]["histogram"]["0"], 3);
    EXPECT_EQ(product[2]["largest_ulps"], 0);
    EXPECT_FALSE(product[2].contains("worst"));
    const json solve = report("solve --matrix poisson2d_10")["cases"];
    for (const json& entry : solve) {
        EXPECT_GT(entry["residuals"]["believed"].size(), 3u);
        EXPECT_LE(entry["residuals"]["true"].back()[1], 1e-10);
    }
}

TEST_F(SolverBench, ComparesReadersOfFilesAndGeneratedMatrices) {
    const json result = report("read --matrix A.mtx --matrix poisson2d_5 --precision both");
    expect_plausible(result);
    ASSERT_EQ(result["cases"].size(), 2 * 2 * 3);
    for (const json& entry : result["cases"]) EXPECT_EQ(entry["error_ulp"], 0) << entry;  // loadMarket rounds correctly too
    EXPECT_EQ(result["cases"][0]["nonzeros"], "5");
    EXPECT_EQ(result["cases"][0]["file_bytes"], std::to_string(fs::file_size(folder_.path() / "A.mtx")));
}

TEST_F(SolverBench, PrintsTheMachineAndALineForEachCase) {
    const Finished finished = run("dot --device cpu --size 64 --input random --repetitions 3");
    EXPECT_EQ(finished.status, 0);
    EXPECT_EQ(finished.err, "");
    for (const char* text : {"machine", " threads on ", "ours     solver ", "peer     Eigen 3.", "dot of 64 elements", "x fast",
                             "error (ulp)", "\n  fast ", "\n  compensated ", "\n  exact ", "\n  eigen "})
        EXPECT_THAT(finished.out, HasSubstr(text));
}

TEST_F(SolverBench, SaysWhatIsWrongWithTheCommandLine) {
    expect_refusal("", "spmv, dot, sum, norm2, gemm, triangular, solve, bits, read, robustness or scaling");
    expect_refusal("symv",
                   "there is no benchmark 'symv'; choose spmv, dot, sum, norm2, gemm, triangular, solve, bits, read, "
                   "robustness or scaling");
    expect_refusal("dot --matrix A.mtx", "--matrix");
    expect_refusal("dot 100", "belongs to an option");
    expect_refusal("dot --size 0", "--size 0: expected a number from 1");
    expect_refusal("dot --size 1e3", "--size 1e3: expected");
    expect_refusal("sum --input best", "choose random, worst or scattered");
    expect_refusal("gemm --input worst", "input 'worst' is not known; choose uniform, signed or lognormal");
    expect_refusal("gemm --block 0", "--block 0: expected a number from 1");
    expect_refusal("gemm --paper badin2012", "--paper badin2012: expected badin2011 or badin2013");
    expect_refusal("gemm --paper badin2011 --grade", "choose one");
    expect_refusal("gemm --paper badin2013 --size 8 --device cpu", "need a CUDA device");
    expect_refusal("gemm --size 131072", "--size 131072: matrices of 412.3 GB, but ");
    expect_refusal("sum --threads 0", "--threads 0: expected");
    expect_refusal("sum --precision half", "--precision half: expected double, single or both");
    expect_refusal("spmv --device gpu", "--device gpu: expected auto, cpu, cuda or cuda:N");
    expect_refusal("spmv --device cuda:999", "device cuda:999: ");
    expect_refusal("solve --tolerance 0", "--tolerance 0");
    expect_refusal("spmv --kernel fastest", "choose auto, general or adaptive");
    expect_refusal("spmv --x zeros", "--x zeros: expected random, ones or both");
    expect_refusal("spmv --matrix no_such_matrix", "no such matrix");
    expect_refusal("read --matrix no_such_matrix", "no such matrix");
}

TEST_F(SolverBench, RefusesFilesItCannotWriteBeforeAnythingIsMeasured) {
    expect_refusal("sum --json no/such/folder.json", "no/such/folder.json");
    expect_refusal("spmv --matrix A.mtx --json A.mtx", "would replace the matrix");
    EXPECT_THAT(read("A.mtx"), HasSubstr("%%MatrixMarket"));
    EXPECT_FALSE(exists("same"));
}

TEST_F(SolverBench, TakesNoComplexMatrixForARealOne) {
    write("complex.mtx", "%%MatrixMarket matrix coordinate complex general\n2 2 2\n1 1 1 2\n2 2 3 4\n");
    const std::string subjects[] = {"solve", "triangular", "read"};
    for (const std::string& subject : subjects) {
        expect_refusal(subject + " --matrix complex.mtx", "complex.mtx is complex; solver-bench " + subject);
        expect_refusal(subject + " --matrix helmholtz_5", "helmholtz_5.mtx is complex; solver-bench " + subject);
    }
    EXPECT_EQ(report("spmv --matrix complex.mtx --x ones")["cases"][0]["matrix"], "complex.mtx in its real form");
}

TEST_F(SolverBench, RefusesToReadWhatItsPeerCannot) {
    write("array.mtx", "%%MatrixMarket matrix array real general\n1 1\n1\n");
    expect_refusal("read --matrix array.mtx", "array format");
    write("broken.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 2 1\n");
    expect_refusal("read --matrix broken.mtx", "broken.mtx:3:");
}

TEST_F(SolverBench, ExplainsItself) {
    EXPECT_THAT(run("--help").out, HasSubstr("A B C A B C"));
    EXPECT_THAT(run("spmv --help").out, HasSubstr("nonzeros (s + 4) + (rows + 1) 8 + columns s + rows s bytes"));
    EXPECT_THAT(run("gemm --help").out, HasSubstr("GFLOPS are 2 n^3 by time, 8 n^3 of complex numbers"));
    EXPECT_EQ(run("read --help").status, 0);
    EXPECT_THAT(run("--version").out, HasSubstr("solver-bench "));
}

TEST_F(SolverBench, HelpNamesEveryOption) {
    const std::string timed = "device threads precision repetitions time-limit json help";
    const std::vector<std::pair<std::string, std::string>> options{
        {"spmv", "matrix x kernel storage " + timed},
        {"dot", "size input " + timed},
        {"sum", "size input " + timed},
        {"norm2", "size input " + timed},
        {"gemm", "size input phi block complex grade paper " + timed},
        {"triangular", "matrix preconditioner " + timed},
        {"solve", "matrix tolerance max-iterations " + timed},
        {"bits", "device threads matrix preconditioner record max-iterations precision json help"},
        {"read", "matrix threads precision repetitions time-limit json help"},
        {"robustness", "threads matrix solver accuracy tolerance max-iterations time-limit json help"},
        {"scaling", "threads matrix solver device accuracy tolerance max-iterations time-limit json help"}};
    for (const auto& [subject, names] : options) {
        std::istringstream lines(run(subject + " --help").out);
        std::string found;
        for (std::string line; std::getline(lines, line);)
            if (const auto begin = line.find("--"); line.starts_with("  -") && begin != std::string::npos)
                found += (found.empty() ? "" : " ") + line.substr(begin + 2, line.find(' ', begin) - begin - 2);
        EXPECT_EQ(found, names) << subject;
    }
}

}  // namespace
