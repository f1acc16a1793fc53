// The page of solver-bench report.

#include "support/solver_bench.hpp"
#include "support/well_formed.hpp"

#include <gmock/gmock.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

namespace {

using solver::testing::Finished;
using solver::testing::json;
using solver::testing::SolverBench;
using ::testing::HasSubstr;

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

}  // namespace
