#include "support/solver_command.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace solver {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::EndsWith;
using testing::Finished;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::SolverCommand;
using ::testing::StartsWith;

TEST_F(SolverCommand, PrintsATableOfPlainTextWhereThereIsNoTerminal) {
    const Finished finished = run("--matrix A.mtx --compensated --device cpu");
    EXPECT_EQ(finished.status, 0);
    EXPECT_EQ(finished.err, "");
    for (const char* text :
         {"A.mtx", "40 x 40, 118 nonzeros", "A * ones", "BiCGStab, double precision, preconditioner auto", "attempts",
          "compensated", "cpu", "converged after", "true residual", "forward error", "floor", "time", "fingerprint"})
        EXPECT_THAT(finished.out, HasSubstr(text));
    EXPECT_THAT(finished.out, Not(HasSubstr("structur"))) << "nothing is wrong with the matrix";
    EXPECT_TRUE(
        std::none_of(finished.out.begin(), finished.out.end(), [](char c) { return c != '\n' && (c < ' ' || c > '~'); }));
}

TEST_F(SolverCommand, CountsOneAndMany) {
    const std::string one = run("--matrix identity.mtx --preconditioner none --device cpu --threads 1").out;
    EXPECT_THAT(one, AllOf(HasSubstr("cpu, 1 thread,"), HasSubstr("after 1 iteration\n")));
    const std::string many = run("--matrix A.mtx --preconditioner none --fast --device cpu --threads 2").out;
    EXPECT_THAT(many, AllOf(HasSubstr("cpu, 2 threads,"), HasSubstr(" iterations\n")));
}

/// The seconds of "solve 48.3 ms".
double seconds_of(const std::string& text, const std::string& name) {
    static const std::map<std::string, double> units{{"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
    std::istringstream words(text.substr(text.find(name) + name.size()));
    double number = 0;
    std::string unit;
    words >> number >> unit;
    return number * units.at(unit.substr(0, unit.find(',')));
}

/// In single precision the recursion drifts away, so that no two of these numbers are the same.
TEST_F(SolverCommand, TheTableSaysWhatTheReportSays) {
    // in exact, so that the two residuals differ by as much with every length of vectors
    const std::string table = run("--matrix poisson2d_60 --device cpu --threads 2 --exact --preconditioner none "
                                  "--tolerance 2e-15 --report report.json")
                                  .out;
    const json r = json::parse(read("report.json"));
    const auto row = [&](std::string name) {
        name = "  " + name + std::string(18 - name.size(), ' ');
        const std::size_t begin = table.find(name);
        EXPECT_NE(begin, std::string::npos) << name;
        return table.substr(begin + name.size(), table.find('\n', begin) - begin - name.size());
    };
    const auto shown = [](const json& value) {
        std::array<char, 32> text{};
        std::snprintf(text.data(), text.size(), "%.1e", value.get<double>());
        return std::string(text.data());
    };
    EXPECT_NE(shown(r["relative_residual"]), shown(r["recursive_residual"]));
    EXPECT_EQ(row("size"), "3 600 x 3 600, 17 760 nonzeros");
    EXPECT_THAT(row("device"), StartsWith("cpu, 2 threads, SpMV "));
    EXPECT_THAT(row("status"), StartsWith(r["status"].get<std::string>() + " after " + r["iterations"].dump() + " iterations"));
    EXPECT_EQ(row("true residual"),
              shown(r["relative_residual"]) + "  tolerance 2.0e-15, updated residual " + shown(r["recursive_residual"]));
    EXPECT_THAT(row("forward error"), StartsWith(shown(r["forward_error"]) + "  floor"));
    for (const auto& [name, part] :
         {std::pair{"generate ", "read"}, std::pair{"setup ", "setup"}, std::pair{"solve ", "solve"}}) {
        const double seconds = r["seconds"][part].get<double>();
        EXPECT_NEAR(seconds_of(row("time"), name), seconds, std::max(1e-6, 0.01 * seconds)) << row("time");
    }
}

TEST_F(SolverCommand, ReportHasEveryFieldWithItsType) {
    const auto begin = std::chrono::steady_clock::now();
    const json r = report("--matrix A.mtx --device cpu --threads 2 --spmv adaptive --preconditioner none --exact");
    const double passed = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    EXPECT_EQ(r["matrix"], "A.mtx");
    EXPECT_EQ(r["rows"], 40);
    EXPECT_EQ(r["columns"], 40);
    EXPECT_EQ(r["nonzeros"], 118);
    EXPECT_EQ(r["rhs"], "A*ones");
    EXPECT_EQ(r["device"], "cpu");
    EXPECT_TRUE(r["device_name"].is_string());
    EXPECT_EQ(r["threads"], 2);
    EXPECT_EQ(r["accuracy"], "exact");
    EXPECT_EQ(r["precision"], "double");
    EXPECT_EQ(r["preconditioner"], "none");
    EXPECT_EQ(r["spmv"], "adaptive");
    EXPECT_EQ(r["status"], "converged");
    EXPECT_GT(r["iterations"].get<int>(), 0);
    EXPECT_LE(r["relative_residual"].get<double>(), 1e-10);
    EXPECT_TRUE(r["recursive_residual"].is_number());
    EXPECT_LE(r["forward_error"].get<double>(), 1e-6);
    EXPECT_LE(r["forward_error_floor"].get<double>(), 1e-10);
    double seconds = 0;
    for (const char* part : {"read", "setup", "solve"}) {
        EXPECT_GT(r["seconds"][part].get<double>(), 0) << part;
        seconds += r["seconds"][part].get<double>();
    }
    EXPECT_LT(seconds, passed);  // no part is counted twice, nor in another unit
    EXPECT_THAT(r["solution_sha256"].get<std::string>(), ::testing::MatchesRegex("[0-9a-f]+"));
    EXPECT_EQ(r["solution_sha256"].get<std::string>().size(), 64u);
}

/// Of A = (1 0.1; 0.3 1) after one iteration. In long double 1 + 0.1, 1 + 0.3 and their rounding errors are exact.
TEST_F(SolverCommand, ReportSaysHowFarRoundingBMayMoveTheSolution) {
    write("two.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 4\n1 1 1\n1 2 0.1\n2 1 0.3\n2 2 1\n");
    const json r =
        report("--matrix two.mtx --device cpu --preconditioner none --method bicgstab --max-iterations 1 --solution x.mtx");
    std::istringstream values(read("x.mtx").substr(std::string("%%MatrixMarket matrix array real general\n2 1\n").size()));
    double x = 0, y = 0;
    values >> x >> y;
    const double b = 1 + 0.1, c = 1 + 0.3;
    const auto length = [](long double u, long double v) { return static_cast<double>(std::sqrt(u * u + v * v)); };
    const double rounded = length(b - (1 + static_cast<long double>(0.1)), c - (1 + static_cast<long double>(0.3)));
    const long double dx = static_cast<long double>(x) - 1, dy = static_cast<long double>(y) - 1;
    const double error = std::max(std::abs(x - 1), std::abs(y - 1)), moved = length(dx + 0.1 * dy, 0.3 * dx + dy);
    EXPECT_GT(error, 1e-8) << "an unfinished solve";
    EXPECT_EQ(r["forward_error"], error);
    EXPECT_NEAR(r["rhs_rounding"].get<double>() / (rounded / length(b, c)), 1, 1e-14);
    EXPECT_NEAR(r["forward_error_floor"].get<double>() / (error * rounded / moved), 1, 1e-6);
}

TEST_F(SolverCommand, ReportLeavesTheForwardErrorOpenWhereTheSolutionIsUnknown) {
    EXPECT_TRUE(report("--matrix A.mtx --rhs ones")["forward_error"].is_null());
}

/// `script` gives it a terminal.
TEST_F(SolverCommand, ShowsOnATerminalWhatIsBeingPrepared) {
    const std::string command = command_ + " --matrix poisson2d_40 --device cpu --preconditioner ";
    const auto shown = [&](const std::string& kind) {
        std::string line = "script -qec '" + command;
        line.append(kind).append("' '").append(path("typed").string()).append("' >/dev/null");
        EXPECT_EQ(std::system(line.c_str()), 0);
        return read("typed");
    };
    EXPECT_THAT(shown("amg"), AllOf(HasSubstr("preparing amg, level 1: 1600 rows"), HasSubstr("preparing amg, level 2: ")));
    EXPECT_THAT(shown("ilut"), AllOf(HasSubstr("preparing matching and order"), HasSubstr("preparing ilut")));
    const std::string iterating = shown("none");
    EXPECT_THAT(iterating, HasSubstr("iteration 0   residual 1.0e+00 (to reach 1e-10)   0 iterations/s   0.0 s"));
    EXPECT_THAT(iterating, HasSubstr("\r\x1b[K\r\n  ")) << "the line is cleared before the table";
}

TEST_F(SolverCommand, IsSilentWhenQuiet) {
    const Finished finished = run("--matrix A.mtx --quiet");
    EXPECT_EQ(finished.status, 0);
    EXPECT_EQ(finished.out + finished.err, "");
}

TEST_F(SolverCommand, SaysThatTheFloorIsZeroWhereBIsExact) {
    EXPECT_THAT(run("--matrix identity.mtx").out, HasSubstr("without any rounding"));
}

TEST_F(SolverCommand, HistoryHasALineForEveryIteration) {
    EXPECT_EQ(run("--matrix A.mtx --preconditioner jacobi --history history.csv --report report.json").status, 0);
    const std::string history = read("history.csv");
    EXPECT_THAT(history, StartsWith("accuracy,column,iteration,recursive_residual,true_residual,replaced\nexact,0,0,1,"));
    const int iterations = json::parse(read("report.json"))["iterations"];
    EXPECT_EQ(std::count(history.begin(), history.end(), '\n'), iterations + 2);
}

TEST_F(SolverCommand, HistoryCountsIterationsAndReplacementsAndEndsWithTheResult) {
    run("--matrix poisson2d_60 --device cpu --preconditioner none --compensated --tolerance 1e-13 --history h.csv --report "
        "r.json");
    const json r = json::parse(read("r.json"));
    std::istringstream lines(read("h.csv"));
    std::string line;
    std::getline(lines, line);
    int number = 0, replaced = 0;
    std::vector<std::string> fields;
    for (; std::getline(lines, line); ++number) {
        fields.clear();
        std::istringstream parts(line);
        for (std::string field; std::getline(parts, field, ',');) fields.push_back(field);
        ASSERT_EQ(fields.size(), 6u) << line;
        EXPECT_EQ(fields[2], std::to_string(number));
        replaced += std::stoi(fields[5]);
    }
    EXPECT_GT(replaced, 0);
    EXPECT_EQ(replaced, r["replacements"]);
    EXPECT_EQ(number, r["iterations"].get<int>() + 1);
    EXPECT_EQ(std::stod(fields[3]), r["recursive_residual"].get<double>());
    EXPECT_EQ(std::stod(fields[4]), r["relative_residual"].get<double>());
    EXPECT_NE(fields[3], fields[4]);
}

TEST_F(SolverCommand, HistoryTellsATrueResidualOfZeroFromAnUnknownOne) {
    EXPECT_EQ(run("--matrix identity.mtx --device cpu --history history.csv").status, 0);
    EXPECT_THAT(read("history.csv"), EndsWith("\nexact,0,0,1,1,0\nexact,0,1,0,0,0\n"));
}

TEST_F(SolverCommand, ComparesTheModesAndTheReferences) {
    const Finished finished = run("--matrix A.mtx --compare --reference --report report.json --history history.csv");
    EXPECT_EQ(finished.status, 0);
    for (const char* text :
         {"fast", "compensated", "exact", "Eigen BiCGSTAB, klu", "KLU, refined", "true residual", "forward error"})
        EXPECT_THAT(finished.out, HasSubstr(text));
    const std::string table = finished.out.substr(finished.out.rfind('\n', finished.out.rfind("  status  ")) + 1);
    std::istringstream lines(table);
    for (std::string line; std::getline(lines, line) && !line.empty();)
        EXPECT_THAT(line.substr(table.find("status") - 1),
                    AnyOf(StartsWith(" status "), StartsWith(" converged "), StartsWith(" refined ")));
    const json r = json::parse(read("report.json"));
    EXPECT_EQ(r["compared"].size(), 2u);
    ASSERT_EQ(r["references"].size(), 2u);
    EXPECT_LE(r["references"][0]["relative_residual"].get<double>(), 1e-10);
    EXPECT_LE(r["references"][1]["relative_residual"].get<double>(), 1e-15);
    for (const json& reference : r["references"]) {
        EXPECT_TRUE(reference["forward_error"].is_number()) << reference;
        EXPECT_GT(reference["relative_residual"], 0) << "rounded to double, x cannot solve this system";
    }
    EXPECT_THAT(read("history.csv"),
                AllOf(HasSubstr("\nfast,0,1,"), HasSubstr("\ncompensated,0,1,"), HasSubstr("\nexact,0,1,")));
}

TEST_F(SolverCommand, TellsNoIterationsOfEigenWhereThereIsNothingToSolve) {
    std::string zeros = "%%MatrixMarket matrix array real general\n40 1\n";
    for (int i = 0; i < 40; ++i) zeros += "0\n";
    write("zeros.mtx", zeros);
    const json r = report("--matrix A.mtx --rhs zeros.mtx --reference");
    EXPECT_EQ(r["references"][0]["iterations"], 0);
    EXPECT_EQ(r["references"][0]["relative_residual"], 0);
}

TEST_F(SolverCommand, MeasuresTheDistanceFromTheDirectSolutionWhereTheTrueOneIsUnknown) {
    EXPECT_THAT(run("--matrix A.mtx --rhs random --reference").out, HasSubstr("off direct"));
}

}  // namespace
}  // namespace solver
