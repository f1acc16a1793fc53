// What the bench prints and writes of made-up times and trials whose numbers all differ.

#include "figure.hpp"
#include "report.hpp"
#include "report_page.hpp"
#include "result_table.hpp"
#include "robustness_report.hpp"
#include "scaling_report.hpp"
#include "support/expected_text.hpp"
#include "support/temporary_folder.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace solver::bench;
using solver::testing::expect_text;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

class BenchTexts : public ::testing::Test {
protected:
    std::filesystem::path path(const std::string& name) const { return folder_.path() / name; }

    std::string read(const std::string& name) const {
        std::ifstream file(path(name));
        EXPECT_TRUE(file) << name;
        return {std::istreambuf_iterator<char>(file), {}};
    }

    Options options_for(Subject subject, const std::string& name) const {
        Options options;
        options.subject = subject;
        options.command = "solver-bench " + std::string(to_string(subject));
        options.threads = 2;
        options.json = path(name + ".json");
        options.csv = path(name + ".csv");
        return options;
    }

    /// The first turn is not counted.
    static Competitor dictated(const std::string& name, std::vector<double> seconds, double error) {
        Competitor competitor;
        competitor.name = name;
        competitor.turn = [seconds, i = std::size_t{0}]() mutable { return seconds[i++ % seconds.size()]; };
        competitor.error = [error] { return error; };
        return competitor;
    }

    solver::testing::TemporaryFolder folder_;
};

/// Medians 2 us, 4 ms, 8 s and 0.25 us. "quick" is no peer, or it would be the fastest of them.
Contest made_up_contest(const std::function<Competitor(const std::string&, std::vector<double>, double)>& dictated) {
    Contest contest;
    contest.parameters = {{"matrix", "A,\"b\""}, {"size", "3"}};
    contest.heading = "y = A x, A,\"b\"";
    contest.competitors = {dictated("fast", {9, 2e-6, 1e-6, 4e-6}, 1.25), dictated("slow peer", {9, 8, 8, 8}, 12345),
                           dictated("exact", {9, 4e-3, 4e-3, 2e-3}, 0x1p-20), dictated("fast peer", {9, 2e-3, 1e-3, 1e-3}, nan),
                           dictated("quick", {9, 2.5e-7, 2.5e-7, 2.5e-7}, 0)};
    contest.peers = {1, 3};
    contest.baseline = 2;
    contest.details = {{"mean (ulp)", "mean_error_ulp"}};
    for (std::size_t i = 0; i < contest.competitors.size(); ++i) {
        Competitor& one = contest.competitors[i];
        one.threads = static_cast<int>(i);
        one.bytes = 3e3;
        one.details = [i] { return std::vector{0.5 + static_cast<double>(i)}; };
    }
    contest.competitors[0].remark = [] { return std::string("3, iterations"); };
    contest.competitors[0].histogram = [] {
        solver::page::UlpHistogram histogram;
        solver::page::count(histogram, 0, 100);
        solver::page::count(histogram, 3, 100);
        solver::page::count(histogram, 90, 100);
        histogram.worst = {7, 5, "1.5", "-2.5"};
        return histogram;
    };
    contest.competitors[3].residuals = [] { return Residuals{{{0, 1}, {1.5, 0.25}}, {{2, 0.125}}}; };
    contest.competitors[2].must_be_exact = true;
    return contest;
}

TEST_F(BenchTexts, OfAContest) {
    Options options = options_for(Subject::spmv, "contest");
    options.effort.repetitions = 3;
    Report report(options);
    ::testing::internal::CaptureStdout();
    report.run(made_up_contest(dictated));
    report.finish();
    expect_text(::testing::internal::GetCapturedStdout(), "bench_contest.txt");
    expect_text(read("contest.json"), "bench_contest.json");
    expect_text(read("contest.csv"), "bench_contest.csv");
    EXPECT_FALSE(report.verified()) << "exact has an error";
}

/// Operations instead of bytes make the rate; where nobody is a peer there is no ratio.
TEST_F(BenchTexts, OfAContestWithoutPeersByOperations) {
    Options options = options_for(Subject::gemm, "alone");
    options.effort.repetitions = 1;
    Report report(options);
    Contest contest{.parameters = {{"size", "3"}}, .heading = "C = A B"};
    contest.competitors = {dictated("fast", {1, 0.5}, 0.004), dictated("exact", {1, 1e-3}, 0)};
    for (Competitor& one : contest.competitors) {
        one.bytes = 1;
        one.operations = 6e9;
    }
    contest.competitors[1].must_be_exact = true;
    contest.rate = {"GFLOPS", "gigaflops"};
    contest.error = {"true residual", "relative_residual"};
    ::testing::internal::CaptureStdout();
    report.run(contest);
    expect_text(::testing::internal::GetCapturedStdout(), "bench_alone.txt");
    expect_text(read("alone.csv"), "bench_alone.csv");
    EXPECT_TRUE(report.verified());
}

Trial trial(const std::string& solver, char whose, double residual, double setup, double solve, std::int64_t iterations) {
    Trial made;
    made.solver = solver;
    made.ours = whose != 'p';
    made.automatic = whose == 'a';
    made.residual = residual;
    made.claimed = residual <= 1e-10;
    made.status = made.claimed ? "converged" : "iteration limit";
    made.setup_seconds = setup;
    made.solve_seconds = solve;
    made.iterations = iterations;
    return made;
}

Trial claimed(Trial trial) {
    trial.claimed = true;
    trial.status = "converged";
    return trial;
}

Trial ended(const std::string& solver, char whose, const std::string& status, const std::string& remark) {
    Trial made = trial(solver, whose, nan, 0, 0, 0);
    made.status = status;
    made.remark = remark;
    return made;
}

/// Who reaches 1e-10: auto on three of four, jacobi on two, eigen ilut on one; on the last nobody.
TEST_F(BenchTexts, OfRobustness) {
    Options options = options_for(Subject::robustness, "robustness");
    options.markdown = path("robustness.md");
    options.max_iterations = 77;
    options.effort.time_limit = 12.5;
    RobustnessReport report(options);
    Trial automatic = trial("auto", 'a', 1e-11, 0.5, 1, 9);
    automatic.remark = "jacobi 4,\nilu0 | 5";
    ::testing::internal::CaptureStdout();
    report.begin({.name = "one", .rows = 3, .nonzeros = 5, .singularity = "regular"});
    for (const Trial& each : {trial("eigen ilut", 'p', 9e-11, 0.25, 0.5, 8), trial("jacobi", 'h', 1e-10, 0.001, 0.0004, 40),
                              trial("ilu0", 'h', 2e-11, 0.25, 0.75, 7), ended("klu", 'h', "not built", "no memory"), automatic})
        report.add(each);
    report.begin({.name = "two", .rows = 30, .nonzeros = 50, .singularity = "numerically singular"});
    for (const Trial& each :
         {claimed(trial("eigen ilut", 'p', 2e-10, 1, 2, 8)), trial("jacobi", 'h', 5e-11, 0, 2, 400),
          ended("ilu0", 'h', "timed out", ""), ended("klu", 'h', "not built", ""), trial("auto", 'a', 1e-12, 1, 2, 3)})
        report.add(each);
    EXPECT_FALSE(report.has_false_claims_of_ours()) << "a peer's";
    report.begin({.name = "three", .rows = 2, .nonzeros = 2, .singularity = "unknown"});
    for (const Trial& each :
         {ended("eigen ilut", 'p', "crashed", "signal 11"), claimed(trial("jacobi", 'h', 1, 1, 2, 5)),
          ended("ilu0", 'h', "timed out", ""), ended("klu", 'h', "not built", ""), trial("auto", 'a', 3e-11, 0.5, 0.4998, 3)})
        report.add(each);
    report.begin({.name = "none", .rows = 1, .nonzeros = 1, .singularity = "structurally singular (rank 0 of 1)"});
    for (const Trial& each :
         {trial("eigen ilut", 'p', 0.25, 1, 2, 3), trial("jacobi", 'h', 0.125, 1, 2, 3),
          ended("ilu0", 'h', "failed", "row 1 is empty"), ended("klu", 'h', "not built", ""), trial("auto", 'a', 0.5, 1, 2, 3)})
        report.add(each);
    EXPECT_TRUE(report.has_false_claims_of_ours());
    report.finish();
    expect_text(::testing::internal::GetCapturedStdout(), "bench_robustness.txt");
    expect_text(read("robustness.json"), "bench_robustness.json");
    expect_text(read("robustness.csv"), "bench_robustness.csv");
    expect_text(read("robustness.md"), "bench_robustness.md");
}

/// An even number of prices, and nobody automatic.
TEST_F(BenchTexts, OfRobustnessByHandAlone) {
    Options options = options_for(Subject::robustness, "hand");
    options.markdown = path("hand.md");
    options.threads = 1;
    options.accuracy = solver::Accuracy::exact;
    RobustnessReport report(options);
    ::testing::internal::CaptureStdout();
    report.begin({.name = "one", .rows = 3, .nonzeros = 5, .singularity = "regular"});
    report.add(trial("jacobi", 'h', 1, 1, 2, 5));
    report.finish();
    ::testing::internal::GetCapturedStdout();
    expect_text(read("hand.md"), "bench_robustness_by_hand.md");
}

Trial with_memory(Trial trial, double bytes) {
    trial.memory_bytes = bytes;
    return trial;
}

TEST_F(BenchTexts, OfScaling) {
    Options options = options_for(Subject::scaling, "scaling");
    options.markdown = path("scaling.md");
    options.plot = path("s.gnuplot");
    ScalingReport report(options);
    ::testing::internal::CaptureStdout();
    report.begin({.name = "p_10", .unknowns = 100, .nonzeros = 400, .tolerance = 1e-10});
    Trial automatic = with_memory(trial("auto", 'a', 1e-11, 0.5, 1, 9), 5e6);
    automatic.remark = "jacobi 4,\nand sixty characters more than a line of the table can hold at all, klu";
    for (const Trial& each :
         {automatic, trial("jacobi", 'h', 1e-10, 0.25, 0.5, 40), trial("ilu0", 'h', 2e-11, 0.25, 0.75, 7),
          trial("hypre pcg", 'p', 3e-11, 0.125, 0.125, 5), trial("hypre bicgstab", 'p', 3e-11, 0.25, 0.125, 4),
          claimed(trial("eigen cg", 'p', 3e-10, 0.01, 0.02, 6)), ended("pyamg cg", 'p', "left out", "not symmetric")})
        report.add(each);
    report.end();
    report.begin({.name = "p_100", .unknowns = 10'000, .nonzeros = 49'600, .tolerance = 1e-10});
    for (const Trial& each : {with_memory(trial("auto", 'a', 1e-11, 10, 5, 18), 25e6), trial("jacobi", 'h', 1e-11, 50, 25, 400),
                              trial("hypre pcg", 'p', 3e-11, 100, 50, 10)})
        report.add(each);
    report.begin({.name = "q", .unknowns = 7, .nonzeros = 9, .tolerance = 1e-10});
    report.add(trial("auto", 'a', 1e-3, 1, 1, 18));
    EXPECT_FALSE(report.has_false_claims_of_ours()) << "a peer's";
    report.add(claimed(trial("jacobi", 'h', 1e-3, 1, 1, 18)));
    EXPECT_TRUE(report.has_false_claims_of_ours());
    report.finish();
    expect_text(::testing::internal::GetCapturedStdout(), "bench_scaling.txt");
    expect_text(read("scaling.json"), "bench_scaling.json");
    expect_text(read("scaling.csv"), "bench_scaling.csv");
    expect_text(read("scaling.md"), "bench_scaling.md");
    for (const std::string quantity : {"time", "iterations", "memory"})
        expect_text(read("s_" + quantity + ".gnuplot"), "bench_scaling_" + quantity + ".gnuplot");
    Options again = options;
    again.recorded = {options.json};
    again.markdown = path("again.md");
    again.json = path("again.json");
    ScalingReport recorded(again);
    recorded.read(options.json);
    EXPECT_TRUE(recorded.has_false_claims_of_ours());
    ::testing::internal::CaptureStdout();
    recorded.finish();
    ::testing::internal::GetCapturedStdout();
    const auto without_machine = [](const std::string& text) { return text.substr(text.find(". b = A x*")); };
    EXPECT_EQ(without_machine(read("again.md")), without_machine(read("scaling.md")));
    const auto cases = [&](const std::string& name) { return nlohmann::json::parse(read(name))["cases"]; };
    EXPECT_EQ(cases("again.json"), cases("scaling.json"));
}

TEST_F(BenchTexts, OfFigures) {
    std::vector<Panel> panels{{"first_one", "seconds", {}}, {"second", "ulp", {}}, {"third", "ulp", {}}};
    panels[0].add("a", 1, 2);
    panels[0].add("b", 1, 0);
    panels[0].add("a", 4, 12345.678);
    panels[0].add("b", 2, std::numeric_limits<double>::infinity());
    panels[0].add("b", 3, 1e-9);
    panels[1].add("b", 8, 1);
    for (char name = 'c'; name <= 'k'; ++name) panels[2].add(std::string(1, name), 16, name);
    write_figure(path("f.gnuplot"), "A \"title\"", panels);
    expect_text(read("f.gnuplot"), "bench_figure.gnuplot");
    panels.pop_back();
    write_figure(path("g.gnuplot"), "title", panels, {.size = "unknowns", .base = 10, .one_legend = true});
    expect_text(read("g.gnuplot"), "bench_figure_with_legend.gnuplot");
}

TEST_F(BenchTexts, OfTables) {
    ResultTable table({{"name", "the_name"}, {"wide title", "number"}, {"x", "x"}});
    EXPECT_TRUE(table.empty());
    table.add({"a|b", "1", "longer"});
    table.add({"a long name", "1,5", ""});
    EXPECT_FALSE(table.empty());
    ::testing::internal::CaptureStdout();
    table.print();
    EXPECT_EQ(::testing::internal::GetCapturedStdout(),
              "  name         wide title       x\n"
              "  a|b                   1  longer\n"
              "  a long name         1,5        \n");
    EXPECT_EQ(table.csv(), "the_name,number,x\na|b,1,longer\na long name,\"1,5\",\n");
    EXPECT_EQ(table.markdown(), "| name | wide title | x |\n|---|---:|---:|\n| a/b | 1 | longer |\n| a long name | 1,5 |  |\n");
    const Options options = options_for(Subject::gemm, "table");
    table.write(options, "gemm --grade", solver::write_file);
    EXPECT_EQ(read("table.csv"), table.csv());
    const auto json = nlohmann::json::parse(read("table.json"));
    EXPECT_EQ(json["benchmark"], "gemm --grade");
    EXPECT_EQ(json["machine"]["threads"], 2);
    EXPECT_EQ(json["cases"].dump(),
              R"([{"number":"1","the_name":"a|b","x":"longer"},{"number":"1,5","the_name":"a long name","x":""}])");
}

nlohmann::ordered_json entry(const std::string& heading, const std::string& competitor, double seconds) {
    return {{"heading", heading},        {"competitor", competitor},
            {"median_seconds", seconds}, {"rate", 1e-6 / seconds},
            {"peer", "eig<en>"},         {"ratio_to_peer", 1},
            {"baseline", "fast"},        {"ratio_to_baseline", 0.5},
            {"error_ulp", 3.14159},      {"remark", ""}};
}

nlohmann::ordered_json part(const std::string& benchmark, const std::string& processor, bool verified) {
    return {{"solver", "1.2.3"},
            {"benchmark", benchmark},
            {"command", "solver-bench " + benchmark},
            {"made", "a day"},
            {"machine",
             {{"processor", processor},
              {"processors", 12345},
              {"optimised", true},
              {"share", 0.5},
              {"peer", "Eigen 3 (AVX (2), SSE), other"}}},
            {"verified", verified},
            {"rate", {{"title", "GB/s"}, {"name", "rate"}}},
            {"error", {{"title", "error (ulp)"}, {"name", "error_ulp"}}},
            {"cases", nlohmann::ordered_json::array()}};
}

nlohmann::ordered_json with_histogram(nlohmann::ordered_json entry, int right, int wrong, double ratio) {
    entry["elements"] = right + wrong + 2;
    entry["histogram"] = {{"0", right}, {"2", 1}, {"wrong_digits", wrong}, {"non_finite", 1}};
    entry["largest_ulps"] = wrong > 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(1.75);
    entry["worst"] = {{"row", 4321}, {"length", 17}, {"computed", "-1.25 (-0x1.4p0)"}, {"true", "2.5 (0x1.4p1)"}};
    entry["ratio_to_peer"] = ratio;
    return entry;
}

nlohmann::ordered_json products_part() {
    auto products = part("spmv", "one (of many)", true);
    products["cases"] = {with_histogram(entry("first product", "fast", 2e-3), 7, 1, 2),
                         with_histogram(entry("first product", "exact", 4e-9), 30, 0, 0.5),
                         entry("first product", "plan", 0.9996), with_histogram(entry("second", "fast", 0.99951e-6), 1, 1, 8)};
    products["cases"][2]["ratio_to_peer"] = nullptr;
    return products;
}

nlohmann::ordered_json solves_part() {
    auto solves = part("solve", "one", false);
    solves["error"] = {{"title", "true residual"}, {"name", "relative_residual"}};
    for (const auto& [name, truth] : {std::pair("fast", 1e-3), std::pair("exact", 1e-8)}) {
        auto one = entry("a solve", name, 12.5);
        one.update({{"matrix", "A&B"},
                    {"precision", "double"},
                    {"rows", "1234"},
                    {"nonzeros", "56789"},
                    {"preconditioner", "jacobi"},
                    {"tolerance", "1e-08"},
                    {"remark", "3 iterations, converged"},
                    {"relative_residual", truth}});
        one["residuals"] = {{"believed", {{0, 1}, {3, 1e-9}}}, {"true", {{3, truth}}}};
        solves["cases"].push_back(one);
    }
    return solves;
}

nlohmann::ordered_json verdict(const std::string& accuracy, bool passed, nlohmann::ordered_json cost) {
    return {{"matrix", passed ? "A" : "B"},
            {"x", "ones"},
            {"operation", "sparse_product"},
            {"kernel", "general"},
            {"precision", "single"},
            {"accuracy", accuracy},
            {"judged", "somebody"},
            {"device", "cpu"},
            {"elements", 3},
            {"histogram", {{"0", 2}, {"4", 1}, {"wrong_digits", 0}, {"non_finite", 0}}},
            {"largest_ulps", passed ? 2.5 : 3.5},
            {"worst", {{"row", 2}, {"computed", "1"}, {"true", "-2"}}},
            {"cost", std::move(cost)},
            {"passed", passed},
            {"reason", passed ? "" : "too <far>"}};
}

TEST_F(BenchTexts, OfAPage) {
    auto dots = part("dot", "another", true);
    dots["cases"] = {entry("x'y", "fast", 1e-9), entry("x'y", "exact", 0.5)};
    dots["cases"][1].update({{"rate", 12345.6}, {"error_ulp", 0}, {"ratio_to_peer", 1.5}});
    dots["cases"][0]["error_ulp"] = 0.001;
    const nlohmann::ordered_json verdicts{
        {"program", "test-blas2"},
        {"command", "test-blas2 all"},
        {"solver", "1.2.4"},
        {"verdicts", {verdict("fast", true, 1), verdict("fast", false, 4), verdict("", true, nullptr), verdict("", true, 0)}}};
    expect_text(report_page({{"parts", {products_part(), solves_part(), dots}}, {"verdicts", {verdicts}}}), "bench_page.html");
    const std::string alone = report_page({{"parts", nlohmann::ordered_json::array()}, {"verdicts", {verdicts}}});
    EXPECT_THAT(alone, HasSubstr("<h1>Accuracy</h1>\n"));
    const std::string verified = report_page({{"parts", {products_part()}}, {"verdicts", nlohmann::ordered_json::array()}});
    EXPECT_THAT(verified, HasSubstr("<h1>Accuracy and speed on one</h1>"));
    EXPECT_THAT(verified, HasSubstr("Errors are those of the results that were timed."));
}

TEST(CsvFields, AreQuotedWhereTheyHaveTo) {
    EXPECT_EQ(csv_field("plain text"), "plain text");
    EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
    EXPECT_EQ(csv_field("a \"b\""), "\"a \"\"b\"\"\"");
    EXPECT_EQ(csv_field("a\nb"), "\"a\nb\"");
    EXPECT_EQ(csv_field("a\rb"), "\"a\rb\"");
}

}  // namespace
