// What the bench prints and writes of made-up times and trials whose numbers all differ.

#include "report.hpp"
#include "result_table.hpp"
#include "support/expected_text.hpp"
#include "support/temporary_folder.hpp"
#include "trial_report.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace solver::bench;
using solver::testing::expect_text;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

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
        return options;
    }

    /// The first turn is not counted, and the others are taken again and again.
    static Competitor dictated(const std::string& name, std::vector<double> seconds, double error) {
        Competitor competitor;
        competitor.name = name;
        competitor.turn = [seconds, i = std::size_t{0}]() mutable {
            const std::size_t turn = i++;
            return turn == 0 ? seconds[0] : seconds[1 + (turn - 1) % (seconds.size() - 1)];
        };
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
                           dictated("exact", {9, 4e-3, 4e-3, 2e-3}, 0x1p-20),
                           dictated("fast peer", {9, 2e-3, 1e-3, 1e-3}, std::nan("")),
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
    options.effort.repetitions = 6;
    Report report(options);
    ::testing::internal::CaptureStdout();
    report.run(made_up_contest(dictated));
    report.finish();
    expect_text(::testing::internal::GetCapturedStdout(), "bench_contest.txt");
    expect_text(read("contest.json"), "bench_contest.json");
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
    Trial made = trial(solver, whose, std::nan(""), 0, 0, 0);
    made.status = status;
    made.remark = remark;
    return made;
}

/// Who reaches 1e-10: auto on three of four, jacobi on two, eigen ilut on one; on the last nobody.
TEST_F(BenchTexts, OfRobustness) {
    Options options = options_for(Subject::robustness, "robustness");
    options.max_iterations = 77;
    options.effort.time_limit = 12.5;
    TrialReport report(options);
    Trial automatic = trial("auto", 'a', 1e-11, 0.5, 1, 9);
    automatic.remark = "jacobi 4,\nilu0 | 5";
    ::testing::internal::CaptureStdout();
    report.begin({.name = "one", .unknowns = 3, .nonzeros = 5, .singularity = "regular"});
    for (const Trial& each : {trial("eigen ilut", 'p', 9e-11, 0.25, 0.5, 8), trial("jacobi", 'h', 1e-10, 0.001, 0.0004, 40),
                              trial("ilu0", 'h', 2e-11, 0.25, 0.75, 7), ended("klu", 'h', "not built", "no memory"), automatic})
        report.add(each);
    report.begin({.name = "two", .unknowns = 30, .nonzeros = 50, .singularity = "numerically singular"});
    for (const Trial& each :
         {claimed(trial("eigen ilut", 'p', 2e-10, 1, 2, 8)), trial("jacobi", 'h', 5e-11, 0, 2, 400),
          ended("ilu0", 'h', "timed out", ""), ended("klu", 'h', "not built", ""), trial("auto", 'a', 1e-12, 1, 2, 3)})
        report.add(each);
    EXPECT_FALSE(report.has_false_claims_of_ours()) << "a peer's";
    report.begin({.name = "three", .unknowns = 2, .nonzeros = 2, .singularity = "unknown"});
    for (const Trial& each :
         {ended("eigen ilut", 'p', "crashed", "signal 11"), claimed(trial("jacobi", 'h', 1, 1, 2, 5)),
          ended("ilu0", 'h', "timed out", ""), ended("klu", 'h', "not built", ""), trial("auto", 'a', 3e-11, 0.5, 0.4998, 3)})
        report.add(each);
    report.begin({.name = "none", .unknowns = 1, .nonzeros = 1, .singularity = "structurally singular (rank 0 of 1)"});
    for (const Trial& each :
         {trial("eigen ilut", 'p', 0.25, 1, 2, 3), trial("jacobi", 'h', 0.125, 1, 2, 3),
          ended("ilu0", 'h', "failed", "row 1 is empty"), ended("klu", 'h', "not built", ""), trial("auto", 'a', 0.5, 1, 2, 3)})
        report.add(each);
    EXPECT_TRUE(report.has_false_claims_of_ours());
    report.finish();
    expect_text(::testing::internal::GetCapturedStdout(), "bench_robustness.txt");
    expect_text(read("robustness.json"), "bench_robustness.json");
}

TEST_F(BenchTexts, OfTables) {
    ResultTable table({{"name", "the_name"}, {"wide title", "number"}, {"x", "x"}});
    table.add({"a|b", "1", "longer"});
    table.add({"a long name", "1,5", ""});
    ::testing::internal::CaptureStdout();
    table.print();
    EXPECT_EQ(::testing::internal::GetCapturedStdout(),
              "  name         wide title       x\n"
              "  a|b                   1  longer\n"
              "  a long name         1,5        \n");
    const Options options = options_for(Subject::gemm, "table");
    table.write(options, "gemm --grade", solver::write_file);
    const auto json = nlohmann::json::parse(read("table.json"));
    EXPECT_EQ(json["benchmark"], "gemm --grade");
    EXPECT_EQ(json["machine"]["threads"], 2);
    EXPECT_EQ(json["cases"].dump(),
              R"([{"number":"1","the_name":"a|b","x":"longer"},{"number":"1,5","the_name":"a long name","x":""}])");
}

}  // namespace
