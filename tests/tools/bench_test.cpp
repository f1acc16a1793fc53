// The command `solver-bench` as its users meet it, on inputs so small that nothing is measured.

#include "child_process.hpp"
#include "inputs.hpp"
#include "papers/badin2011_tables.hpp"
#include "record.hpp"
#include "solver/cuda.hpp"
#include "solver/numeric/filtered.hpp"
#include "solver/numeric/superaccumulator.hpp"
#include "support/program.hpp"
#include "support/temporary_folder.hpp"
#include "support/well_formed.hpp"
#include "tools/page/ulp_error.hpp"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace fs = std::filesystem;
using namespace solver::bench;
using nlohmann::json;
using solver::ulp_error;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// ------------------------------------------------------------------------------------------------------------- the command

struct Finished {
    int status;
    std::string out;
    std::string err;
};

class SolverBench : public ::testing::Test {
protected:
    void SetUp() override {
        write("A.mtx", "%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 0.1\n2 1 1e-30\n2 2 3.3\n3 3 -7\n");
    }

    void write(const std::string& name, const std::string& text) const { std::ofstream(folder_.path() / name) << text; }

    std::string read(const std::string& name) const {
        std::ifstream file(folder_.path() / name);
        EXPECT_TRUE(file) << name;
        return {std::istreambuf_iterator<char>(file), {}};
    }

    bool exists(const std::string& name) const { return fs::exists(folder_.path() / name); }

    /// Runs `solver-bench ARGUMENTS` in the folder, by the shell. Idle threads of OpenMP are not to spin: tests share
    /// processors.
    Finished run(const std::string& arguments) const {
        const std::string command = "cd '" + folder_.path().string() + "' && OMP_WAIT_POLICY=passive '" +
                                    solver::testing::program("SOLVER_BENCH", SOLVER_BENCH) + "' " + arguments +
                                    " >.out 2>.err </dev/null";
        const int status = std::system(command.c_str());
        return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read(".out"), read(".err")};
    }

    /// The report of one repetition on two threads.
    json report(const std::string& arguments) const {
        const bool on_processor_only = arguments.starts_with("read") || arguments.starts_with("gemm");
        const Finished finished = run(arguments + (on_processor_only ? "" : " --device cpu") +
                                      " --threads 2 --repetitions 1 --json report.json --csv report.csv");
        EXPECT_EQ(finished.status, 0) << finished.err;
        return json::parse(read("report.json"));
    }

    /// What ends the lines of a table that begin with a way to multiply.
    static std::vector<std::string> grades(const std::string& table, const std::string& way) {
        std::vector<std::string> grades;
        std::istringstream lines(table);
        for (std::string line; std::getline(lines, line);)
            if (line.starts_with("  " + way + "  ")) grades.push_back(line.substr(line.find_last_of(' ') + 1));
        return grades;
    }

    void expect_refusal(const std::string& arguments, const std::string& text) const {
        const Finished finished = run(arguments);
        EXPECT_EQ(finished.status, 1) << arguments;
        EXPECT_THAT(finished.err, HasSubstr(text)) << arguments;
    }

    solver::testing::TemporaryFolder folder_;
};

std::vector<std::string> competitors(const json& report) {
    std::vector<std::string> names;
    for (const json& entry : report["cases"]) names.push_back(entry["competitor"]);
    return names;
}

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
        EXPECT_LE(entry["relative_residual"], 1e-6);
        EXPECT_THAT(entry["remark"].get<std::string>(), HasSubstr(" iterations, converged"));
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

class SolverBenchReport : public SolverBench {
protected:
    static constexpr const char* verdict = R"({"matrix": "a<b>&\"c", "rows": 3, "columns": 3, "nonzeros": 5, "x": "ones",
        "alpha": 1.0, "beta": 0.0, "operation": "spmv", "kernel": "general", "precision": "single", "accuracy": "fast",
        "judged": "solver", "device": "cpu", "elements": 3, "histogram": {"0": 1, "8": 1, "wrong_digits": 0, "non_finite": 1},
        "largest_ulps": null, "worst": {"row": 2, "length": 2, "condition": 10.0, "computed": "nan", "true": "-1.5"},
        "same_bits": true, "seconds": 1e-3, "cost": 1.0, "passed": false, "reason": "not <finite>"})";

    void SetUp() override {
        SolverBench::SetUp();
        write("verdicts.json",
              std::string(R"({"program": "test-blas2", "command": "test-blas2 --path A", "verdicts": [)") + verdict + "]}");
    }

    void record() const {
        report("spmv --matrix A.mtx --matrix poisson2d_10 --x random --precision both");
        EXPECT_EQ(std::rename((folder_.path() / "report.json").c_str(), (folder_.path() / "spmv.json").c_str()), 0);
        report("solve --matrix poisson2d_10");
        EXPECT_EQ(std::rename((folder_.path() / "report.json").c_str(), (folder_.path() / "solve.json").c_str()), 0);
    }
};

TEST_F(SolverBenchReport, DrawsWhatWasRecorded) {
    record();
    const Finished finished = run("report --from spmv.json --from solve.json --verdicts verdicts.json --html page.html");
    EXPECT_EQ(finished.status, 0) << finished.err;
    const std::string page = read("page.html");
    EXPECT_TRUE(solver::testing::stands_alone(page));
    for (const char* text :
         {"At a glance", "Sparse products", "Solves", "Verdicts of test-blas2", "× eigen", "A.mtx: 3 x 3, 5 nonzeros",
          "poisson2d_10", "superaccumulator", "iterations, converged", "0 of 1 verdicts", "not &lt;finite&gt;",
          "a&lt;b&gt;&amp;&quot;c", "row 2", "−1.5", "test-blas2 --path A", "solver-bench spmv --matrix A.mtx", "GCC", "simd"})
        EXPECT_THAT(page, HasSubstr(text));
    EXPECT_EQ(page.find("Dense products"), std::string::npos);
}

/// Two products: 1 and 3 of 4 elements correctly rounded, at half and at twice the speed of the peer.
TEST_F(SolverBenchReport, SummarizesByTheMeanAndTheWorst) {
    const auto product = [](int right, double ratio) {
        return json{{"competitor", "fast"},
                    {"peer", "eigen"},
                    {"elements", 4},
                    {"histogram", {{"0", right}, {"2", 4 - right}, {"wrong_digits", 0}, {"non_finite", 0}}},
                    {"largest_ulps", right == 1 ? 2 : 1.5},
                    {"ratio_to_peer", ratio}};
    };
    record();
    json spmv = json::parse(read("spmv.json"));
    json& cases = spmv["cases"];
    const json first = cases[0], second = cases[8];
    ASSERT_NE(first["heading"], second["heading"]);
    cases = json::array({first, second});
    cases[0].update(product(1, 0.5));
    cases[1].update(product(3, 2));
    write("two.json", spmv.dump());
    ASSERT_EQ(run("report --from two.json --html page.html").status, 0) << read(".err");
    std::string line = read("page.html");
    line = line.substr(line.find("At a glance"));
    line = line.substr(line.find("\"row\">fast<"));
    line = line.substr(0, line.find("</tr>"));
    std::string cells;
    for (std::size_t end = line.find("</td>"); end != std::string::npos; end = line.find("</td>", end + 1)) {
        const std::string before = line.substr(0, end);
        cells += before.substr(before.rfind('>') + 1) + "|";
    }
    EXPECT_EQ(cells, "2|50.0 %|25.0 %|2|1.00|0.50|");
}

TEST_F(SolverBenchReport, SaysWhereBeliefAndTruthDiffer) {
    record();
    json solve = json::parse(read("solve.json"));
    EXPECT_EQ(run("report --from solve.json --html page.html").status, 0);
    EXPECT_THAT(read("page.html"), ::testing::Not(HasSubstr("Believes")));
    json& residuals = solve["cases"][0]["residuals"];
    residuals["believed"].back()[1] = 1e-10;
    residuals["true"].back()[1] = 1e-3;
    write("drifted.json", solve.dump());
    EXPECT_EQ(run("report --from drifted.json --html page.html").status, 0);
    EXPECT_THAT(read("page.html"), HasSubstr("Believes"));
}

TEST_F(SolverBenchReport, MeasuresAndDrawsTheSameThing) {
    const Finished finished =
        run("report --matrix A.mtx --device cpu --threads 2 --repetitions 1 --html page.html --json all.json");
    EXPECT_EQ(finished.status, 0) << finished.err;
    const std::string page = read("page.html");
    EXPECT_TRUE(solver::testing::stands_alone(page));
    for (const char* text : {"Sparse products", "Solves", "Dot products", "Dense products", "role=\"img\""})
        EXPECT_THAT(page, HasSubstr(text));
    EXPECT_EQ(run("report --from all.json --html again.html").status, 0);
    EXPECT_EQ(read("again.html"), page);
}

TEST_F(SolverBenchReport, RefusesWhatItCannotDraw) {
    record();
    write("broken.json", "{");
    write("other.json", "[1, 2]");
    write("empty.json", R"({"benchmark": "spmv"})");
    write("strange.json", R"({"benchmark": "spmv", "command": "c", "cases": [{"heading": 7}]})");
    write("strange_verdicts.json", R"({"verdicts": [{"matrix": "A"}]})");
    expect_refusal("report", "--html FILE is missing");
    expect_refusal("report --from spmv.json --html nowhere/page.html", "nowhere/page.html");
    expect_refusal("report --from spmv.json --html spmv.json", "spmv.json: this would replace");
    expect_refusal("report --verdicts verdicts.json --html verdicts.json", "verdicts.json: this would replace");
    expect_refusal("report --matrix A.mtx --html A.mtx", "A.mtx");
    expect_refusal("report --from spmv.json --threads 2 --html page.html", "leave out --threads");
    expect_refusal("report --from nowhere.json --html page.html", "nowhere.json: cannot be opened");
    expect_refusal("report --from broken.json --html page.html", "broken.json: is not JSON");
    expect_refusal("report --from other.json --html page.html", "other.json: has no results");
    expect_refusal("report --from empty.json --html page.html", "empty.json: has no cases");
    expect_refusal("report --from strange.json --html page.html", "strange.json: ");
    expect_refusal("report --from spmv.json --verdicts other.json --html page.html", "other.json: has no verdicts");
    expect_refusal("report --from spmv.json --verdicts strange_verdicts.json --html page.html", "strange_verdicts.json: ");
    expect_refusal("report --html page.html --json page.html", "two outputs");
    EXPECT_FALSE(exists("page.html"));
    EXPECT_EQ(json::parse(read("spmv.json"))["benchmark"], "spmv");
}

TEST_F(SolverBench, ComparesTheBitsOfExactBetweenNumbersOfThreads) {
    fs::create_directory(folder_.path() / "all");
    write("all/good.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 5\n1 1 4\n1 2 1\n2 2 3\n3 1 0.1\n3 3 -7\n");
    write("all/no_diagonal.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 2\n2 1\n");
    write("all/wide.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 1 1\n");
    const Finished finished =
        run("bits all poisson2d_20 --device cpu --threads 3 --csv r.csv --precision double --max-iterations 7");
    EXPECT_EQ(finished.status, 0) << finished.err;
    for (const char* text : {"the processor, 1 thread beside the processor, 3 threads", "not square and real: wide",
                             "24 comparisons: 24 agree, 0 DIFFER"})
        EXPECT_THAT(finished.out, HasSubstr(text));
    const std::string csv = read("r.csv");
    EXPECT_THAT(csv, HasSubstr("matrix,rows,nonzeros,precision,products,reductions,none,jacobi,ilu0,isai,ilut,klu\n"));
    EXPECT_THAT(csv, HasSubstr("\npoisson2d_20,400,1920,double,=,=,7 =,7 =,7 =,7 =,"));
    EXPECT_THAT(csv, HasSubstr("\nno_diagonal,2,2,double,=,=,"));
    EXPECT_THAT(csv, HasSubstr("refused"));
    expect_refusal("bits", "which matrices?");
}

TEST(BenchRecord, TellsWhichPartsDiffer) {
    Record one;
    one.add("solution", 1.0);
    one.add("history", 2.0);
    one.add("history", 3.0);
    EXPECT_THAT(one.differences(one), ElementsAre());
    Record other;
    other.add("solution", std::nextafter(1.0, 2.0));  // as long, and one bit apart
    other.add("history", 3.0);
    other.add("history", 2.0);
    other.add("status", 0);
    EXPECT_THAT(one.differences(other), ElementsAre("history", "solution", "status"));
    EXPECT_THAT(other.differences(one), ElementsAre("history", "solution", "status"));
}

TEST_F(SolverBench, ComparesDenseProducts) {
    const json result =
        report("gemm --size 1 --size 67 --input uniform --input signed --input lognormal --phi 2 --block 16 --precision both");
    EXPECT_TRUE(result["verified"]);
    const auto names = competitors(result);
    EXPECT_EQ(std::count(names.begin(), names.end(), "exact"), 2 * 3 * 2);
    EXPECT_EQ(std::count(names.begin(), names.end(), "eigen"), 2 * 3 * 2);
    for (const json& entry : result["cases"]) {
        SCOPED_TRACE(entry.dump());
        EXPECT_GT(entry["gigaflops"], 0);
        EXPECT_EQ(entry["phi"], entry["input"] == "lognormal" ? "2" : "");
        EXPECT_LE(entry["mean_error_ulp"], entry["error_ulp"]);
        EXPECT_LT(entry["relative_error"], entry["precision"] == "double" ? 67 * 0x1p-53 : 67 * 0x1p-24);
        if (entry["competitor"] == "exact") {
            EXPECT_EQ(entry["error_ulp"], 0);
        }
    }
    EXPECT_THAT(read("report.csv"), HasSubstr(",gigaflops,peer,"));
    EXPECT_THAT(read("report.csv"), HasSubstr(",error_ulp,mean_error_ulp,relative_error,remark\n"));
}

TEST_F(SolverBench, GradesDenseProductsAndTellsAlgorithmsApart) {
    const Finished finished =
        run("gemm --grade --size 32 --size 64 --size 128 --device cpu --threads 2 --csv r.csv --json r.json");
    EXPECT_EQ(finished.status, 0) << finished.out << finished.err;
    for (const char* way : {"fast", "compensated", "exact", "kahan", "dot2", "eigen"})
        EXPECT_THAT(grades(finished.out, way), ElementsAre("A", "A")) << finished.out;  // in double, in single
    EXPECT_THAT(grades(finished.out, "(fixed point)"), ElementsAre("B", "B")) << finished.out;
    EXPECT_THAT(grades(finished.out, "(strassen)"), ElementsAre("C", "C")) << finished.out;
    EXPECT_THAT(read("r.csv"), HasSubstr("way,precision,input,size,componentwise_error,linewise_error,normwise_error\n"));
    const json result = json::parse(read("r.json"));
    for (const json& entry : result["cases"]) {
        if (entry["way"] == "exact") {
            EXPECT_EQ(entry["componentwise_error"], "0") << entry;
        }
    }
}

TEST_F(SolverBench, MeasuresTablesOfSelectiveCompensationAgain) {
    const Finished finished = run("gemm --paper badin2011 --size 192 --device cpu --threads 2 --repetitions 1 --json r.json");
    EXPECT_EQ(finished.status, 0) << finished.err;
    const json cases = json::parse(read("r.json"))["cases"];
    ASSERT_EQ(cases.size(), 2 * (2 + 2 * 4));
    const auto average = [&](const std::string& method, const std::string& tile) {
        for (const json& entry : cases)
            if (entry["input"] == "uniform" && entry["method"] == method && entry["tile"] == tile)
                return std::stod(entry["average_error_millionths"].get<std::string>());
        ADD_FAILURE() << method << " " << tile;
        return 0.0;
    };
    EXPECT_LT(average("kahan", "1"), average("kahan", "64"));
    EXPECT_LT(average("kahan", "64"), average("plain", ""));
    EXPECT_LT(average("doubly-compensated", "16"), average("plain", ""));
    EXPECT_LT(average("kahan", "1"), 192 * 0x1p-24 * 1e6);
    for (const int first_of_its_input : {0, 10})
        EXPECT_EQ(cases[first_of_its_input]["ratio_to_peer"], "1.00") << "the peer by itself";
}

TEST_F(SolverBench, DrawsTheFiguresOfAPaper) {
    const std::string measure = "gemm --paper badin2011 --size 16 --size 32 --device cpu --threads 1 --repetitions 1 --plot ";
    EXPECT_EQ(run(measure + "p.gnuplot").status, 0);
    EXPECT_THAT(read("p.gnuplot"), AllOf(HasSubstr("set terminal svg"), HasSubstr("kahan, tile 64"), HasSubstr("\n32 ")));
    EXPECT_THAT(read("p.gnuplot"), AllOf(HasSubstr("\n$panel0curve0 << "), HasSubstr("\n$panel3curve5 << ")));
    if (std::system("gnuplot --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "gnuplot is not installed";
    EXPECT_EQ(run(measure + "p.svg").status, 0);
    EXPECT_THAT(read("p.svg"), AllOf(HasSubstr("<svg"), HasSubstr("doubly-compensated, tile 1")));
}

TEST_F(SolverBench, TellsStrassensProductsFromOthersOnACudaDevice) {
    if (solver::cuda::device_count() == 0) GTEST_SKIP() << "no CUDA device";
    const Finished graded = run("gemm --grade --size 64 --size 256 --device cuda");
    EXPECT_EQ(graded.status, 0) << graded.out << graded.err;
    for (const char* way : {"fast", "compensated", "exact", "kahan", "cublas", "outer products"})
        EXPECT_THAT(grades(graded.out, way), ElementsAre("A", "A")) << graded.out;
    EXPECT_THAT(grades(graded.out, "dngemm depth 1"), ElementsAre("C")) << graded.out;
    EXPECT_THAT(grades(graded.out, "sngemm depth 1"), ElementsAre("C")) << graded.out;
    EXPECT_THAT(grades(graded.out, "cublas tf32"), ElementsAre("unsafe")) << graded.out;
    const Finished measured = run("gemm --paper badin2013 --size 256 --device cuda --repetitions 1 --csv r.csv");
    EXPECT_EQ(measured.status, 0) << measured.err;
    EXPECT_THAT(read("r.csv"), HasSubstr("\nsngemm,single,256,"));
}

TEST_F(SolverBench, ComparesReadersOfFilesAndGeneratedMatrices) {
    const json result = report("read --matrix A.mtx --matrix poisson2d_5 --precision both");
    expect_plausible(result);
    ASSERT_EQ(result["cases"].size(), 2 * 2 * 3);
    for (const json& entry : result["cases"]) EXPECT_EQ(entry["error_ulp"], 0) << entry;  // loadMarket rounds correctly too
    EXPECT_EQ(result["cases"][0]["nonzeros"], "5");
    EXPECT_EQ(result["cases"][0]["file_bytes"], std::to_string(fs::file_size(folder_.path() / "A.mtx")));
}

TEST_F(SolverBench, WritesACsvLineForEachCase) {
    const json result = report("sum --size 100 --input random");
    const std::string csv = read("report.csv");
    EXPECT_EQ(csv.substr(0, csv.find('\n')),
              "size,input,precision,competitor,threads,repetitions,median_seconds,relative_uncertainty,gigabytes_per_second,"
              "peer,ratio_to_peer,baseline,ratio_to_baseline,error_ulp,remark");
    EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), std::ssize(result["cases"]) + 1);
    EXPECT_THAT(csv, HasSubstr("\n100,random,double,exact,2,1,"));
}

TEST_F(SolverBench, PrintsTheMachineAndALineForEachCase) {
    const Finished finished = run("dot --device cpu --size 64 --input random --repetitions 3");
    EXPECT_EQ(finished.status, 0);
    EXPECT_EQ(finished.err, "");
    for (const char* text : {"machine", "ours     solver ", "peer     Eigen 3.", "dot of 64 elements", "x fast", "error (ulp)",
                             "\n  fast ", "\n  compensated ", "\n  exact ", "\n  eigen "})
        EXPECT_THAT(finished.out, HasSubstr(text));
}

TEST_F(SolverBench, RobustnessTriesEverySolverOnEverySquareMatrixOfAFolder) {
    fs::create_directory(folder_.path() / "all");
    write("all/good.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 5\n1 1 4\n1 2 1\n2 2 3\n3 1 0.1\n3 3 -7\n");
    write("all/swapped.mtx", "%%MatrixMarket matrix coordinate integer general\n2 2 2\n1 2 5\n2 1 1\n");
    write("all/zero_row.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 5\n1 2 1\n");
    write("all/wide.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 1 1\n");
    write("all/complex.mtx", "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n");
    write("all/pattern.mtx", "%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1\n");
    write("all/unrelated.txt", "nothing");
    const Finished finished = run("robustness all --threads 2 --json r.json --csv r.csv --markdown r.md --max-iterations 50");
    ASSERT_EQ(finished.status, 0) << finished.err;
    for (const char* text : {"Left out", "wide (2 x 3)", "complex (", "pattern (a pattern)", "is reached on"})
        EXPECT_THAT(finished.out, HasSubstr(text));

    const json result = json::parse(read("r.json"));
    EXPECT_EQ(result["tolerance"], 1e-10);
    for (const json& entry : result["cases"]) {
        SCOPED_TRACE(entry.dump());
        EXPECT_FALSE(entry["false_claim"]);
        if (entry["matrix"] != "zero_row" && entry["solver"] == "auto") {
            EXPECT_TRUE(entry["reached"]);
        }
        if (entry["matrix"] == "good" && entry["solver"] == "jacobi") {
            EXPECT_TRUE(entry["reached"]);
            EXPECT_TRUE(entry["claimed"]);
            EXPECT_EQ(entry["singularity"], "regular");
            EXPECT_GT(entry["solve_seconds"], 0);
        }
        if (entry["matrix"] == "swapped" && entry["solver"] == "jacobi") {
            EXPECT_EQ(entry["status"], "failed");
            EXPECT_TRUE(entry["relative_residual"].is_null());
            EXPECT_THAT(entry["remark"].get<std::string>(), HasSubstr("diagonal"));
        }
        if (entry["matrix"] == "zero_row") {
            EXPECT_EQ(entry["singularity"], "structurally singular (rank 1 of 2)");
        }
    }

    const std::string csv = read("r.csv");
    EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), std::ssize(result["cases"]) + 1);
    const std::string table = read("r.md");
    for (const char* text : {"| good | 3 | 5 | **", "| swapped | 2 | 2 |", "singular: zero_row (structurally", "by eigen ilut",
                             "auto / best", "median time of the automatic choice"})
        EXPECT_THAT(table, HasSubstr(text));
}

TEST_F(SolverBench, RobustnessTakesNamesAndAChoiceOfSolvers) {
    const Finished finished =
        run("robustness A.mtx poisson2d_5 --solver jacobi --solver 'eigen none' --csv r.csv --time-limit 30");
    EXPECT_EQ(finished.status, 0) << finished.err;
    const std::string csv = read("r.csv");
    EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 5);
    EXPECT_THAT(csv, HasSubstr("\npoisson2d_5,25,105,regular,eigen none,converged,1,1,0,"));
    EXPECT_THAT(finished.out, HasSubstr("\n- 2 by jacobi\n"));
    EXPECT_THAT(finished.out, HasSubstr("\n- 2 by Eigen's best, 2 by our best hand-picked\n"));
    EXPECT_THAT(run("robustness A.mtx --solver jacobi --markdown r.md").out,
                HasSubstr("\n- 0 by Eigen's best, 1 by our best hand-picked\n"));
    EXPECT_THAT(read("r.md"), HasSubstr("\n|---|---:|---:|---:|\n"));
    EXPECT_THAT(run("robustness A.mtx --solver 'eigen none'").out,
                HasSubstr("\n- 1 by Eigen's best, 0 by our best hand-picked\n"));
    expect_refusal("robustness", "which matrices?");
    expect_refusal("robustness A.mtx --solver amg", "choose eigen none");
    expect_refusal("robustness A.mtx --tolerance 0", "--tolerance 0");
    expect_refusal("robustness nowhere.mtx", "no such matrix");
    expect_refusal("robustness A.mtx --markdown A.mtx", "would replace the matrix");
}

TEST_F(SolverBench, RobustnessCountsWhatTakesTooLongAndGoesOn) {
    const Finished finished =
        run("robustness poisson2d_600 A.mtx --solver none --time-limit 0.05 --tolerance 1e-15 --csv r.csv");
    EXPECT_EQ(finished.status, 0) << finished.err;
    EXPECT_THAT(finished.out, HasSubstr("1 timed out"));
    EXPECT_THAT(read("r.csv"), HasSubstr("\nA,3,5,regular,none,"));
}

// ---------------------------------------------------------------------------------------------------------------- scaling

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
    EXPECT_THAT(table, HasSubstr("| problem | unknowns | auto | best by hand | auto / best | hypre | eigen |"));
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

TEST_F(SolverBench, SaysWhatIsWrongWithTheCommandLine) {
    expect_refusal("", "spmv, dot, sum, norm2, gemm, triangular, solve, bits, read, robustness, scaling or report");
    expect_refusal("symv",
                   "there is no benchmark 'symv'; choose spmv, dot, sum, norm2, gemm, triangular, solve, bits, read, "
                   "robustness, scaling or report");
    expect_refusal("dot --matrix A.mtx", "--matrix");
    expect_refusal("dot 100", "belongs to an option");
    expect_refusal("dot --size 0", "--size 0: expected a number from 1");
    expect_refusal("dot --size 1e3", "--size 1e3: expected");
    expect_refusal("sum --input best", "choose random, worst or scattered");
    expect_refusal("gemm --input worst", "input 'worst' is not known; choose uniform, signed or lognormal");
    expect_refusal("gemm --block 0", "--block 0: expected a number from 1");
    expect_refusal("gemm --paper badin2012", "--paper badin2012: expected badin2011 or badin2013");
    expect_refusal("gemm --paper badin2011 --grade", "choose one");
    expect_refusal("gemm --plot p.svg", "add --paper");
    expect_refusal("gemm --paper badin2011 --plot p.pdf", "--plot p.pdf: expected a name that ends in .svg");
    expect_refusal("gemm --paper badin2013 --size 8 --device cpu", "need a CUDA device");
    expect_refusal("gemm --size 131072", "--size 131072: matrices of 412.3 GB, but this machine has");
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
    expect_refusal("sum --json same --csv same", "name the same file");
    expect_refusal("spmv --matrix A.mtx --json A.mtx", "would replace the matrix");
    EXPECT_THAT(read("A.mtx"), HasSubstr("%%MatrixMarket"));
    EXPECT_FALSE(exists("same"));
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
    EXPECT_EQ(run("read --help").status, 0);
    EXPECT_THAT(run("--version").out, HasSubstr("solver-bench "));
}

TEST(Badin2011, TablesAreThePublishedOnes) {
    const auto count = [](int table) {
        return std::count_if(badin2011::lines.begin(), badin2011::lines.end(),
                             [&](const auto& line) { return line.table == table; });
    };
    EXPECT_EQ(count(4), 5);
    EXPECT_EQ(count(6), 5);
    for (const int table : {5, 7, 8, 9}) EXPECT_EQ(count(table), 5 * 4);
    for (const badin2011::Line& line : badin2011::lines) {
        EXPECT_LE(line.average, -line.lowest) << line.table << " " << line.n << " " << line.tile;
        EXPECT_EQ(line.tile == 0, line.summation == solver::GemmSummation::plain);
        EXPECT_LE(line.gigaflops, 442.2);
    }
}

// ---------------------------------------------------------------------------------------------------- work in its own process

using How = solver::bench::Ending::How;

TEST(RunApart, ReturnsWhatTheWorkReturns) {
    const std::string long_text(1 << 20, 'x');
    const auto finished = run_apart([&] { return long_text; }, 60);
    EXPECT_EQ(finished.how, How::done);
    EXPECT_EQ(finished.result, long_text);
}

TEST(RunApart, SurvivesCrashesExceptionsAndHangs) {
    const auto crashed = run_apart(
        []() -> std::string {
            std::raise(SIGKILL);
            return "never";
        },
        60);
    EXPECT_EQ(crashed.how, How::died);
    EXPECT_EQ(crashed.signal, SIGKILL);
    EXPECT_EQ(run_apart([]() -> std::string { throw 1; }, 60).how, How::died);
    const auto hung = run_apart(
        []() -> std::string {
            while (true) ::pause();
        },
        0.05);
    EXPECT_EQ(hung.how, How::timed_out);
}

// --------------------------------------------------------------------------------------------------------------- its inputs

template <class T>
class BenchInputs : public ::testing::Test {};
using Precisions = ::testing::Types<float, double>;
TYPED_TEST_SUITE(BenchInputs, Precisions);

template <class T>
using Filter = std::conditional_t<std::is_same_v<T, float>, solver::FilteredFloat, solver::FilteredTriple<T>>;

constexpr std::initializer_list<std::int64_t> sizes{1000, 4097, 100'000};

TYPED_TEST(BenchInputs, NoFilterDecidesTheWorstSum) {
    using T = TypeParam;
    for (const Input input : {Input::worst, Input::scattered})
        for (const std::int64_t n : sizes) {
            Filter<T> filter;
            solver::Superaccumulator exact;
            for (const T x : vector_to_sum<T>(input, n)) {
                filter.add(x);
                exact.add(x);
            }
            T result;
            EXPECT_FALSE(filter.try_result(result)) << to_string(input) << ' ' << n;
            EXPECT_EQ(exact.template result<T>(), T(1));
            exact.add(T(-1));
            EXPECT_EQ(exact.template result<T>(), std::numeric_limits<T>::epsilon() / 2);
        }
}

TYPED_TEST(BenchInputs, NoFilterDecidesTheWorstDotProduct) {
    using T = TypeParam;
    for (const Input input : {Input::worst, Input::scattered})
        for (const std::int64_t n : sizes) {
            const Factors<T> factors = vectors_to_multiply<T>(input, n);
            Filter<T> filter;
            solver::Superaccumulator exact;
            for (std::size_t i = 0; i < factors.x.size(); ++i) {
                filter.add_product(factors.x[i], factors.y[i]);
                exact.add_product(factors.x[i], factors.y[i]);
            }
            T result;
            EXPECT_FALSE(filter.try_result(result)) << to_string(input) << ' ' << n;
            EXPECT_EQ(exact.template result<T>(), T(1));
            exact.add(T(-1));
            EXPECT_EQ(exact.template result<T>(), std::numeric_limits<T>::epsilon() / 2);
        }
}

/// Four parts, the last of them short, that threads share.
TYPED_TEST(BenchInputs, RandomElementsDoNotDependOnHowManyFollow) {
    using T = TypeParam;
    const std::vector<T> all = random_elements<T>(Elements::uniform, 0, (3 << 18) + 5, 7);
    const std::vector<T> first = random_elements<T>(Elements::uniform, 0, 1000, 7);
    EXPECT_TRUE(std::equal(first.begin(), first.end(), all.begin()));
    for (int part = 1; part <= 3; ++part) {
        EXPECT_NE(all[static_cast<std::size_t>(part) << 18], all[0]) << part;
        EXPECT_NE(all[(static_cast<std::size_t>(part) << 18) + 4], T(0)) << part;
    }
}

TYPED_TEST(BenchInputs, ErrorsAreCountedInUlpOfTheExactResult) {
    using T = TypeParam;
    using Limits = std::numeric_limits<T>;
    EXPECT_EQ(ulp_error(T(1) + Limits::epsilon(), T(1)), 1);
    EXPECT_EQ(ulp_error(T(1), T(1) - Limits::epsilon() / 2), 1);
    EXPECT_EQ(ulp_error(T(-8), T(8)), 16 / (8 * static_cast<double>(Limits::epsilon())));
    EXPECT_EQ(ulp_error(3 * Limits::denorm_min(), T(0)), 3);
    EXPECT_EQ(ulp_error(T(0), -Limits::min()), static_cast<double>(Limits::min() / Limits::denorm_min()));
    EXPECT_EQ(ulp_error(T(0), -T(0)), 0);
    EXPECT_EQ(ulp_error(Limits::quiet_NaN(), Limits::quiet_NaN()), 0);
    EXPECT_EQ(ulp_error(Limits::infinity(), Limits::infinity()), 0);
    EXPECT_EQ(ulp_error(Limits::max(), Limits::infinity()), HUGE_VAL);
    EXPECT_EQ(ulp_error(Limits::quiet_NaN(), T(1)), HUGE_VAL);
}

}  // namespace
