// The command `solver` as its users meet it: a process with arguments, files, output and an exit status.

#include "support/program.hpp"
#include "support/temporary_folder.hpp"
#include "support/well_formed.hpp"

#include <gmock/gmock.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* ones_3_sha256 = "cc143326a2646c605ea66139d7b440df7cbde18c050f1f8cf4dd30f42cfe7123";

struct Finished {
    int status;
    std::string out;
    std::string err;
};

class SolverCommand : public ::testing::Test {
protected:
    void SetUp() override {
        write("A.mtx", tridiagonal(40));
        write("identity.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 1\n2 2 1\n3 3 1\n");
    }

    /// Unsymmetric, diagonally dominant, with values whose row sums are not exact.
    static std::string tridiagonal(int n) {
        std::ostringstream text;
        text << "%%MatrixMarket matrix coordinate real general\n" << n << ' ' << n << ' ' << 3 * n - 2 << '\n';
        for (int i = 1; i <= n; ++i) {
            text << i << ' ' << i << " 3.3\n";
            if (i > 1) text << i << ' ' << i - 1 << " 1.1\n";
            if (i < n) text << i << ' ' << i + 1 << " 0.7\n";
        }
        return text.str();
    }

    fs::path path(const std::string& name) const { return folder_.path() / name; }

    void write(const std::string& name, const std::string& text) const { std::ofstream(path(name)) << text; }

    std::string read(const std::string& name) const {
        std::ifstream file(path(name));
        EXPECT_TRUE(file) << name;
        return {std::istreambuf_iterator<char>(file), {}};
    }

    /// Runs `solver ARGUMENTS` in the folder, by the shell, with variables set as in "A=1 B=2".
    Finished run(const std::string& arguments, const std::string& environment = "") const {
        const std::string command = "cd '" + folder_.path().string() + "' && " + environment + " '" + command_ + "' " +
                                    arguments + " >.out 2>.err </dev/null";
        const int status = std::system(command.c_str());
        return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read(".out"), read(".err")};
    }

    json report(const std::string& arguments) const {
        const Finished finished = run(arguments + " --quiet --report report.json");
        EXPECT_EQ(finished.err, "");
        return json::parse(read("report.json"));
    }

    std::vector<std::string> files() const {
        std::vector<std::string> names;
        for (const auto& entry : fs::directory_iterator(folder_.path())) names.push_back(entry.path().filename().string());
        std::sort(names.begin(), names.end());
        return names;
    }

    const std::string command_ = solver::testing::program("SOLVER_COMMAND", SOLVER_COMMAND);

private:
    solver::testing::TemporaryFolder folder_;
};

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
              shown(r["relative_residual"]) + "  tolerance 2.0e-15, the recursion says " + shown(r["recursive_residual"]));
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

TEST_F(SolverCommand, ReportLeavesTheForwardErrorOpenWhereTheSolutionIsUnknown) {
    EXPECT_TRUE(report("--matrix A.mtx --rhs ones")["forward_error"].is_null());
}

TEST_F(SolverCommand, OptionsReachTheSolve) {
    EXPECT_EQ(report("--matrix A.mtx")["accuracy"], "fast");
    EXPECT_EQ(report("--matrix A.mtx --compensated")["accuracy"], "compensated");
    EXPECT_EQ(report("--matrix A.mtx --accuracy exact --exact")["accuracy"], "exact");
    EXPECT_EQ(report("--matrix A.mtx --precision single --tolerance 1e-4")["precision"], "single");
    EXPECT_EQ(report("--matrix A.mtx --preconditioner ilu0")["preconditioner"], "ilu0");
    EXPECT_EQ(report("--matrix A.mtx --spmv general --device cpu --threads 1")["spmv"], "general");
    EXPECT_EQ(report("--matrix A.mtx --tolerance 0.5")["tolerance"], 0.5);
    EXPECT_EQ(report("--matrix A.mtx --preconditioner none --absolute-tolerance 1e9")["iterations"], 0);
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
        EXPECT_EQ(run(std::string("--matrix A.mtx --quiet --preconditioner none ") + option).status, 0) << option;
    EXPECT_EQ(report("--matrix A.mtx --absolute-tolerance 0")["absolute_tolerance"], 0);
    EXPECT_EQ(report("--matrix A.mtx --absolute-tolerance 0.5")["absolute_tolerance"], 0.5);
}

/// The clamped plate of elasticity2d_40, and its rigid-body modes as a file: (1, 0), (0, 1), (-y, x).
TEST_F(SolverCommand, TellsTheHierarchyAndTakesItsNearNullSpace) {
    constexpr int n = 40, rows = 2 * n * (n + 1);
    std::ostringstream modes;
    modes << "%%MatrixMarket matrix array real general\n" << rows << " 3\n";
    for (int mode = 0; mode < 3; ++mode)
        for (int row = 0; row < rows; ++row) {
            const int x = row / 2 % n + 1, y = row / 2 / n;
            modes << (mode == 2 ? (row % 2 == 0 ? -y : x) : mode == row % 2 ? 1 : 0) << '\n';
        }
    write("modes.mtx", modes.str());
    const std::string by_amg = "--matrix elasticity2d_40 --device cpu --preconditioner amg";
    const json scalar = report(by_amg + " --unknowns-per-node 1"), found = report(by_amg),
               told = report(by_amg + " --near-null modes.mtx");
    EXPECT_EQ(told["status"], "converged");
    EXPECT_LT(2 * found["iterations"].get<int>(), scalar["iterations"].get<int>());
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

/// `script` gives it a terminal.
TEST_F(SolverCommand, ShowsOnATerminalWhatIsBeingPrepared) {
    const std::string command = command_ + " --matrix poisson2d_60 --device cpu --preconditioner ";
    const auto shown = [&](const std::string& kind) {
        std::string line = "script -qec '" + command;
        line.append(kind).append("' '").append(path("typed").string()).append("' >/dev/null");
        EXPECT_EQ(std::system(line.c_str()), 0);
        return read("typed");
    };
    EXPECT_THAT(shown("amg"), AllOf(HasSubstr("preparing amg, level 1: 3600 rows"), HasSubstr("preparing amg, level 2: ")));
    EXPECT_THAT(shown("ilut"), AllOf(HasSubstr("preparing matching and order"), HasSubstr("preparing ilut")));
    EXPECT_THAT(shown("none"), HasSubstr("iteration 0   residual 1.0e+00 (to reach 1e-10)"));
}

TEST_F(SolverCommand, IsSilentWhenQuiet) {
    const Finished finished = run("--matrix A.mtx --quiet");
    EXPECT_EQ(finished.status, 0);
    EXPECT_EQ(finished.out + finished.err, "");
}

TEST_F(SolverCommand, ExitStatusIs2WhenTheIterationDoesNotConverge) {
    const Finished finished = run("--matrix A.mtx --preconditioner none --max-iterations 2 --report report.json");
    EXPECT_EQ(finished.status, 2);
    EXPECT_THAT(finished.out, AllOf(HasSubstr("iteration limit after 2 iterations"), HasSubstr("what may help")));
    EXPECT_EQ(json::parse(read("report.json"))["status"], "iteration limit");
}

TEST_F(SolverCommand, ExitStatusIs2WhenTheNumbersOverflow) {
    write("huge.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 1.7e308\n1 2 1.7e308\n2 2 1\n");
    const Finished finished = run("--matrix huge.mtx --report report.json");
    EXPECT_EQ(finished.status, 2);
    EXPECT_THAT(finished.out, HasSubstr("non-finite"));
    EXPECT_EQ(json::parse(read("report.json"))["status"], "non-finite");
}

TEST_F(SolverCommand, FingerprintIsTheSha256OfLittleEndianDoubles) {
    const Finished finished = run("--matrix identity.mtx --report report.json");
    EXPECT_EQ(json::parse(read("report.json"))["solution_sha256"], ones_3_sha256);
    EXPECT_THAT(finished.out, HasSubstr(std::string(ones_3_sha256, 16)));
}

TEST_F(SolverCommand, SaysThatTheFloorIsZeroWhereBIsExact) {
    EXPECT_THAT(run("--matrix identity.mtx").out, HasSubstr("without any rounding"));
}

TEST_F(SolverCommand, WritesTheSolutionAsMatrixMarket) {
    EXPECT_EQ(run("--matrix identity.mtx --solution x.mtx").status, 0);
    EXPECT_EQ(read("x.mtx"), "%%MatrixMarket matrix array real general\n3 1\n1\n1\n1\n");
}

TEST_F(SolverCommand, HistoryHasALineForEveryIteration) {
    EXPECT_EQ(run("--matrix A.mtx --preconditioner jacobi --history history.csv --report report.json").status, 0);
    const std::string history = read("history.csv");
    EXPECT_THAT(history, StartsWith("accuracy,column,iteration,recursive_residual,true_residual,replaced\nfast,0,0,1,"));
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
    EXPECT_THAT(read("history.csv"), EndsWith("\nfast,0,0,1,1,0\nfast,0,1,0,0,0\n"));
}

TEST_F(SolverCommand, ASolutionServesAsInitialGuess) {
    EXPECT_EQ(run("--matrix A.mtx --solution x.mtx --tolerance 1e-12").status, 0);
    EXPECT_EQ(report("--matrix A.mtx --initial x.mtx")["iterations"], 0);
}

TEST_F(SolverCommand, AGeneratedMatrixIsAnnouncedAndAFileOfThatNameWins) {
    const Finished generated = run("--matrix poisson2d_5.mtx --report report.json");
    EXPECT_EQ(generated.status, 0);
    EXPECT_THAT(generated.err, HasSubstr("generated"));
    EXPECT_EQ(std::count(generated.err.begin(), generated.err.end(), '\n'), 1);
    EXPECT_EQ(json::parse(read("report.json"))["rows"], 25);
    write("poisson2d_5.mtx", tridiagonal(7));
    EXPECT_EQ(report("--matrix poisson2d_5.mtx")["rows"], 7);
}

TEST_F(SolverCommand, RandomRightHandSidesDependOnTheSeedAlone) {
    const auto hash = [&](const std::string& rhs) { return report("--matrix identity.mtx --rhs " + rhs)["solution_sha256"]; };
    EXPECT_EQ(hash("random"), hash("random:1"));
    EXPECT_NE(hash("random:1"), hash("random:2"));
}

/// SplitMix64 of seed 0 begins with e220a8397b1dcdaf, 6e789e6aa1b965f4, 06c45d188009454f; its top 53 bits, moved to [-1, 1).
TEST_F(SolverCommand, RandomRightHandSidesAreThePublishedGenerators) {
    EXPECT_EQ(run("--matrix identity.mtx --rhs random:0 --solution b.mtx").status, 0);
    std::istringstream values(read("b.mtx").substr(std::string("%%MatrixMarket matrix array real general\n3 1\n").size()));
    for (const std::uint64_t bits :
         std::initializer_list<std::uint64_t>{0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4, 0x06c45d188009454f}) {
        double value = 0;
        values >> value;
        EXPECT_EQ(value, static_cast<double>(bits >> 11) * 0x1p-52 - 1);
    }
}

TEST_F(SolverCommand, ReadsTheRightHandSideFromAFile) {
    write("b.mtx", "%%MatrixMarket matrix array real general\n3 1\n1\n1\n1\n");
    EXPECT_EQ(report("--matrix identity.mtx --rhs b.mtx")["solution_sha256"], ones_3_sha256);
}

TEST_F(SolverCommand, ReadsSparseColumnsOfTheRightHandSide) {
    write("b.mtx", "%%MatrixMarket matrix coordinate real general\n3 2 3\n1 1 1\n3 1 4\n2 2 5\n");
    EXPECT_EQ(run("--matrix identity.mtx --rhs b.mtx --solution x.mtx").status, 0);
    EXPECT_EQ(read("x.mtx"), "%%MatrixMarket matrix array real general\n3 2\n1\n0\n4\n0\n5\n0\n");
}

TEST_F(SolverCommand, ReportsTheWorstOfSeveralRightHandSidesWhereverItStands) {
    std::vector<std::string> sides(3);  // done at once, and two that are not, by different residuals
    for (int i = 1; i <= 40; ++i) {
        sides[0] += "0\n";
        sides[1] += std::to_string(i) + "\n";
        sides[2] += i <= 20 ? "1\n" : "-2\n";
    }
    std::sort(sides.begin(), sides.end());
    do {
        write("b.mtx", "%%MatrixMarket matrix array real general\n40 3\n" + sides[0] + sides[1] + sides[2]);
        EXPECT_EQ(
            run("--matrix A.mtx --rhs b.mtx --preconditioner none --max-iterations 1 --quiet --report report.json").status, 2);
        const json r = json::parse(read("report.json"));
        double largest = 0;
        for (const json& side : r["right_hand_sides"]) largest = std::max(largest, side["relative_residual"].get<double>());
        EXPECT_EQ(r["status"], "iteration limit");
        EXPECT_EQ(r["relative_residual"], largest);
        EXPECT_GT(largest, 1e-10);
    } while (std::next_permutation(sides.begin(), sides.end()));
}

TEST_F(SolverCommand, SolvesAllColumnsOfTheRightHandSideEachAsIfAlone) {
    const std::string head = "%%MatrixMarket matrix array real general\n40 ";
    std::string first, second;
    for (int i = 1; i <= 40; ++i) {
        first += std::to_string(i) + '\n';
        second += std::to_string(1.0 / i) + '\n';
    }
    write("first.mtx", head + "1\n" + first);
    write("second.mtx", head + "1\n" + second);
    write("both.mtx", head + "2\n" + first + second);
    const std::string exactly = "--matrix A.mtx --exact --quiet --preconditioner jacobi ";
    EXPECT_EQ(run(exactly + "--rhs both.mtx --solution both_x.mtx --report report.json --history history.csv").status, 0);
    EXPECT_EQ(run(exactly + "--rhs first.mtx --solution first_x.mtx").status, 0);
    EXPECT_EQ(run(exactly + "--rhs second.mtx --solution second_x.mtx").status, 0);
    const auto values = [&](const char* name) {
        const std::string text = read(name);
        return text.substr(text.find('\n', text.find('\n') + 1) + 1);
    };
    EXPECT_EQ(values("both_x.mtx"), values("first_x.mtx") + values("second_x.mtx"));
    const json sides = json::parse(read("report.json"))["right_hand_sides"];
    ASSERT_EQ(sides.size(), 2u);
    std::map<std::string, int> lines;  // of the history, by mode and column
    std::istringstream history(read("history.csv"));
    for (std::string line; std::getline(history, line);) ++lines[line.substr(0, line.find(',', line.find(',') + 1))];
    EXPECT_EQ(lines["exact,0"], sides[0]["iterations"].get<int>() + 1);
    EXPECT_EQ(lines["exact,1"], sides[1]["iterations"].get<int>() + 1);
    EXPECT_THAT(run("--matrix A.mtx --rhs both.mtx").out, HasSubstr("2 of 2 right-hand sides converged"));
}

TEST_F(SolverCommand, SolvesDenseMatrices) {
    write("dense.mtx", "%%MatrixMarket matrix array real general\n2 2\n2\n1\n1\n3\n");
    write("b.mtx", "%%MatrixMarket matrix array real general\n2 1\n4\n7\n");
    EXPECT_EQ(run("--matrix dense.mtx --rhs b.mtx --solution x.mtx").status, 0);
    EXPECT_EQ(read("x.mtx"), "%%MatrixMarket matrix array real general\n2 1\n1\n2\n");
}

TEST_F(SolverCommand, ADenseMatrixGivesTheBitsOfTheSparseOneInExact) {
    constexpr int n = 24;
    std::ostringstream dense, sparse, sides;
    dense << "%%MatrixMarket matrix array real general\n" << n << ' ' << n << '\n';
    sparse << "%%MatrixMarket matrix coordinate real general\n" << n << ' ' << n << ' ' << n * n << '\n';
    sides << "%%MatrixMarket matrix array real general\n" << n << " 5\n";
    for (int j = 1; j <= n; ++j)
        for (int i = 1; i <= n; ++i) {
            const double value = i == j ? n / 2.0 : 1.0 / (3 * i + j) - 0.07 * ((i * j) % 3);
            dense << value << '\n';
            sparse << i << ' ' << j << ' ' << value << '\n';
        }
    for (int i = 0; i < 5 * n; ++i) sides << (i / n == 3 ? 0 : 1.0 / (1 + i)) << '\n';
    write("dense.mtx", dense.str());
    write("sparse.mtx", sparse.str());
    write("B.mtx", sides.str());
    for (const char* how :
         {"", "--precision single", "--precision mixed", "--preconditioner jacobi", "--preconditioner none --precision single",
          "--preconditioner jacobi --precision mixed", "--preconditioner ilu0"}) {
        SCOPED_TRACE(how);
        const std::string options = std::string(" --exact --device cpu --rhs B.mtx ") + how;
        const json of_dense = report("--matrix dense.mtx" + options);
        const json of_sparse = report("--matrix sparse.mtx" + options);
        EXPECT_EQ(of_dense["status"], "converged");
        EXPECT_EQ(of_dense["solution_sha256"], of_sparse["solution_sha256"]);
        EXPECT_EQ(of_dense["right_hand_sides"], of_sparse["right_hand_sides"]);
        EXPECT_EQ(of_dense["nonzeros"], of_sparse["nonzeros"]);
        EXPECT_EQ(of_dense["structure"], of_sparse["structure"]);
    }
}

TEST_F(SolverCommand, SolvesWhereTheDiagonalIsZeroAndSaysSo) {
    write("zero.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 2 1e8\n2 1 1\n2 2 1\n");
    const Finished finished = run("--matrix zero.mtx --report report.json");
    EXPECT_EQ(finished.status, 0);
    EXPECT_THAT(finished.out, HasSubstr("1 row (the first: 1) with zero on the diagonal"));
    const json r = json::parse(read("report.json"));
    EXPECT_EQ(r["structure"]["zero_diagonals"], 1);
    EXPECT_EQ(r["structure"]["structural_rank"], 2);
    EXPECT_EQ(r["attempts"].back()["results"][0]["status"], "converged");
}

TEST_F(SolverCommand, NamesStructurallySingularMatrices) {
    write("singular.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 1\n1 2 1\n3 2 1\n");
    const Finished finished = run("--matrix singular.mtx --rhs ones");
    EXPECT_EQ(finished.status, 2);
    EXPECT_THAT(finished.out, AllOf(HasSubstr("structural rank 2"), HasSubstr("1 empty row (the first: 2)"),
                                    HasSubstr("1 empty column (the first: 3)")));
}

TEST_F(SolverCommand, MixedPrecisionReachesDoublePrecisionResiduals) {
    for (const char* accuracy : {"fast", "compensated", "exact"}) {
        const json r =
            report(std::string("--matrix A.mtx --precision mixed --preconditioner jacobi --rhs random --tolerance 1e-14 ") +
                   "--accuracy " + accuracy);
        EXPECT_EQ(r["status"], "converged");
        EXPECT_LE(r["relative_residual"].get<double>(), 1e-14);
    }
}

TEST_F(SolverCommand, ComparesTheModesAndTheReferences) {
    const Finished finished = run("--matrix A.mtx --compare --reference --report report.json --history history.csv");
    EXPECT_EQ(finished.status, 0);
    for (const char* text :
         {"fast", "compensated", "exact", "Eigen BiCGSTAB, klu", "KLU, refined", "true residual", "forward error"})
        EXPECT_THAT(finished.out, HasSubstr(text));
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

TEST_F(SolverCommand, MeasuresTheDistanceFromTheDirectSolutionWhereTheTrueOneIsUnknown) {
    EXPECT_THAT(run("--matrix A.mtx --rhs random --reference").out, HasSubstr("off direct"));
}

TEST_F(SolverCommand, PlotsResidualsAndLeavesNothingElseBehind) {
    if (std::system("gnuplot --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "gnuplot is not installed";
    EXPECT_EQ(run("--matrix A.mtx --preconditioner none --compare --plot residuals.svg").status, 0);
    EXPECT_THAT(read("residuals.svg"),
                AllOf(HasSubstr("<svg"), HasSubstr("compensated: converged"), HasSubstr("true residual")));
    EXPECT_EQ(run("--matrix A.mtx --preconditioner none --plot residuals.png").status, 0);
    EXPECT_THAT(read("residuals.png"), StartsWith("\x89PNG"));
    EXPECT_EQ(run("--matrix A.mtx --plot \"it's a plot.svg\"").status, 0);
    EXPECT_THAT(read("it's a plot.svg"), HasSubstr("<svg"));
}

TEST_F(SolverCommand, MakesAPageOfEverythingItFound) {
    const Finished finished =
        run("--matrix A.mtx --device cpu --preconditioner jacobi --compare --reference --plot page.html", "PATH=/nowhere");
    EXPECT_EQ(finished.status, 0) << finished.err;
    const std::string page = read("page.html");
    EXPECT_TRUE(solver::testing::stands_alone(page));
    for (const char* text :
         {"<h1>A.mtx</h1>", "40 × 40", "118 nonzeros", "jacobi", "<b>fast</b> converged after", "<b>compensated</b>",
          "<b>exact</b>", "<b>Eigen BiCGSTAB, jacobi</b>", "KLU, refined", "claimed residual", "true residual", "forward error",
          "<i>x</i> = ones", "<i>x</i> random", ">no digit<", "superaccumulator", "GCC", "Eigen 3", "solver --matrix A.mtx"})
        EXPECT_THAT(page, HasSubstr(text));
    const json r = report("--matrix A.mtx --device cpu --preconditioner jacobi");
    EXPECT_THAT(page, HasSubstr(r["solution_sha256"].get<std::string>().substr(0, 16)));
    int exact_products = 0;  // of which every element is correctly rounded: all in the first column
    const std::string exact_row = "<th scope=\"row\">exact</th>";
    for (std::size_t row = page.find(exact_row); row != std::string::npos; row = page.find(exact_row, row + 1))
        if (page.substr(row, page.find("</td>", row) - row).ends_with("</i>40")) ++exact_products;
    EXPECT_EQ(exact_products, 2) << "of ones and of a random vector";
}

TEST_F(SolverCommand, PagesOfOneRunAndOfFilesWithStrangeNames) {
    const std::string name = "a<b>&\"c'.mtx";
    write(name, tridiagonal(5));
    EXPECT_EQ(run("--matrix 'a<b>&\"c'\\''.mtx' --precision single --tolerance 1e-5 --plot 'p<a>&.html'").status, 0);
    const std::string page = read("p<a>&.html");
    EXPECT_TRUE(solver::testing::stands_alone(page));
    EXPECT_THAT(page, AllOf(HasSubstr("<h1>a&lt;b&gt;&amp;&quot;c&#39;.mtx</h1>"), HasSubstr("p&lt;a&gt;&amp;.html"),
                            HasSubstr("single precision"), Not(HasSubstr("compensated</b>"))));
}

TEST_F(SolverCommand, SaysWhatIsMissingWhereThereIsNoGnuplotAndStillShowsTheResult) {
    const Finished finished = run("--matrix A.mtx --plot residuals.svg", "PATH=/nowhere");
    EXPECT_EQ(finished.status, 1);
    EXPECT_THAT(finished.err, AllOf(StartsWith("solver: --plot"), HasSubstr("gnuplot"), HasSubstr("--history")));
    EXPECT_THAT(finished.out, HasSubstr("converged"));
}

TEST_F(SolverCommand, ExactGivesTheSameBitsForEveryThreadCountAndKernel) {
    run("--matrix A.mtx --exact --quiet --threads 1 --spmv general --history first.csv --solution first.mtx");
    for (const char* how : {"--threads 2 --spmv adaptive", "--threads 7 --spmv general", "--threads 7 --spmv adaptive"}) {
        run(std::string("--matrix A.mtx --exact --quiet --history again.csv --solution again.mtx ") + how);
        EXPECT_EQ(read("first.mtx"), read("again.mtx")) << how;
        EXPECT_EQ(read("first.csv"), read("again.csv")) << how;
    }
}

TEST_F(SolverCommand, SinglePrecisionWithAPairReachesDoublePrecisionResiduals) {
    EXPECT_EQ(report("--matrix A.mtx --precision single --compensated --rhs random")["status"], "converged");
}

TEST_F(SolverCommand, HelpNamesEveryOptionAndGivesExamples) {
    const Finished finished = run("--help");
    EXPECT_EQ(finished.status, 0);
    for (const char* option :
         {"--matrix",    "--rhs",     "--initial", "--solution",       "--accuracy", "--compensated", "--exact",
          "--precision", "--device",  "--threads", "--preconditioner", "--spmv",     "--tolerance",   "--max-iterations",
          "--report",    "--history", "--quiet",   "--version",        "--help",     "Examples:",     "Exit status:"})
        EXPECT_THAT(finished.out, HasSubstr(option));
}

TEST_F(SolverCommand, VersionSaysWhetherCudaIsThere) {
    EXPECT_THAT(run("--version").out, AllOf(StartsWith("solver "), HasSubstr("CUDA: ")));
}

struct Refusal {
    const char* name;
    const char* arguments;
    std::vector<const char*> says;
};

void PrintTo(const Refusal& refusal, std::ostream* out) { *out << "solver " << refusal.arguments; }

class BadUsage : public SolverCommand, public ::testing::WithParamInterface<Refusal> {};

TEST_P(BadUsage, IsRefusedInOneClearLine) {
    write("zero_diagonal.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 1\n2 1 1\n");
    write("wide.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 1 1\n");
    write("broken.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n1 5 1\n");
    write("b2.mtx", "%%MatrixMarket matrix array real general\n2 1\n1\n1\n");
    write("none.mtx", "%%MatrixMarket matrix array real general\n40 0\n");
    write("one.mtx", "%%MatrixMarket matrix array real general\n3 1\n1\n1\n1\n");
    write("two.mtx", "%%MatrixMarket matrix array real general\n3 2\n1\n1\n1\n1\n1\n1\n");
    const auto before = files();
    const Finished finished = run(GetParam().arguments);
    EXPECT_EQ(finished.status, 1);
    EXPECT_EQ(finished.out, "");
    EXPECT_THAT(finished.err, AllOf(StartsWith("solver: "), EndsWith("\n")));
    for (const char* text : GetParam().says) EXPECT_THAT(finished.err, HasSubstr(text));
    auto expected = before;
    for (const char* captured : {".err", ".out"}) expected.push_back(captured);
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(files(), expected) << "nothing is left behind";
    EXPECT_EQ(read("A.mtx"), tridiagonal(40)) << "no input is touched";
}

const Refusal refusals[] = {
    {"NoArguments", "", {"--matrix FILE is missing"}},
    {"DenseMatrixNotSquare", "--matrix two.mtx", {"two.mtx: the matrix is 3 x 2", "square"}},
    {"UnknownOption", "--matrx A.mtx", {"no option --matrx", "did you mean --matrix?"}},
    {"UnknownOptionUnlikeAny", "--frobnicate", {"no option --frobnicate", "--help"}},
    {"AbbreviatedOption", "--matrix A.mtx --tol 1e-3", {"no option --tol"}},
    {"StrayArgument", "A.mtx", {"--matrix FILE"}},
    {"OptionTwice", "--matrix A.mtx --matrix A.mtx", {"--matrix", "more than once"}},
    {"ValueMissing", "--matrix", {"--matrix", "missing"}},
    {"ValueEmpty", "--matrix ''", {"--matrix needs a value"}},
    {"ContradictoryShortForms", "--matrix A.mtx --compensated --exact", {"compensated and exact", "choose one"}},
    {"ContradictoryAccuracy", "--matrix A.mtx --accuracy fast --exact", {"fast and exact", "choose one"}},
    {"UnknownAccuracy", "--matrix A.mtx --accuracy superb", {"superb", "fast, compensated or exact"}},
    {"UnknownPrecision", "--matrix A.mtx --precision half", {"half", "double, single or mixed"}},
    {"UnknownPreconditioner", "--matrix A.mtx --preconditioner amgx", {"amgx", "jacobi", "amg"}},
    {"UnknownKernel", "--matrix A.mtx --spmv merge", {"merge", "adaptive"}},
    {"UnknownDevice", "--matrix A.mtx --device gpu", {"gpu", "auto, cpu, cuda"}},
    {"NegativeTolerance", "--matrix A.mtx --tolerance -1", {"--tolerance -1", "above 0"}},
    {"ToleranceZero", "--matrix A.mtx --tolerance 0", {"--tolerance 0", "above 0"}},
    {"FillFactorBelowZero", "--matrix A.mtx --fill-factor -1", {"--fill-factor -1", "from 0 to 1e6"}},
    {"ToleranceThatIsNoNumber", "--matrix A.mtx --tolerance 1e-10x", {"--tolerance 1e-10x"}},
    {"NegativeAbsoluteTolerance", "--matrix A.mtx --absolute-tolerance -1", {"--absolute-tolerance -1", "0 or more"}},
    {"ToleranceNan", "--matrix A.mtx --tolerance nan", {"--tolerance nan"}},
    {"NoThreads", "--matrix A.mtx --threads 0", {"--threads 0", "1 to 4096"}},
    {"HalfAThread", "--matrix A.mtx --threads 1.5", {"--threads 1.5"}},
    {"NegativeIterations", "--matrix A.mtx --max-iterations -1", {"--max-iterations -1"}},
    {"SeedThatIsNoNumber", "--matrix A.mtx --rhs random:x", {"random:x", "seed"}},
    {"MatrixMissing", "--matrix nowhere.mtx", {"nowhere.mtx"}},
    {"MatrixBroken", "--matrix broken.mtx", {"broken.mtx:4:", "5"}},
    {"MatrixIsAFolder", "--matrix .", {"expected a Matrix Market file"}},
    {"MatrixNotSquare", "--matrix wide.mtx", {"2 x 3", "square"}},
    {"ZeroDiagonal", "--matrix zero_diagonal.mtx --preconditioner jacobi", {"diagonal", "row 1", "none"}},
    {"RhsOfWrongSize", "--matrix A.mtx --rhs b2.mtx", {"b2.mtx", "2 rows", "40"}},
    {"RhsMissing", "--matrix A.mtx --rhs nowhere.mtx", {"nowhere.mtx"}},
    {"InitialOfWrongSize", "--matrix A.mtx --initial b2.mtx", {"b2.mtx", "initial guess", "40"}},
    {"ReportIntoNoFolder", "--matrix A.mtx --report nowhere/report.json", {"--report", "nowhere/report.json"}},
    {"SolutionIsAFolder", "--matrix A.mtx --solution .", {"--solution", "folder"}},
    {"SolutionReplacesTheMatrix", "--matrix A.mtx --solution ./A.mtx", {"--solution", "replace", "--matrix"}},
    {"ReportReplacesTheRhs", "--matrix A.mtx --rhs b2.mtx --report b2.mtx", {"--report", "replace", "--rhs"}},
    {"HistoryReplacesTheInitialGuess",
     "--matrix A.mtx --initial b2.mtx --history b2.mtx",
     {"--history", "replace", "--initial"}},
    {"TwoOutputsInOneFile", "--matrix A.mtx --report out --history ./out", {"--report and --history", "same file"}},
    {"PlotOfAnUnknownKind", "--matrix A.mtx --plot a.pdf", {"--plot a.pdf", ".svg, .png or .html"}},
    {"PlotReplacesTheMatrix", "--matrix a.svg --plot a.svg", {"a.svg"}},
    {"PageReplacesTheMatrix", "--matrix a.html --plot a.html", {"a.html"}},
    {"PageInAFolderThatIsNotThere", "--matrix A.mtx --plot nowhere/a.html", {"--plot nowhere/a.html"}},
    {"PageIsTheReport", "--matrix A.mtx --plot a.html --report a.html", {"--report and --plot", "same file"}},
    {"ReferenceInSingle", "--matrix A.mtx --reference --precision single", {"--reference", "double or mixed"}},
    {"DropToleranceAboveOne", "--matrix A.mtx --drop-tolerance 2", {"--drop-tolerance 2", "from 0 to 1"}},
    {"NodesOfNoUnknowns", "--matrix A.mtx --unknowns-per-node -1", {"--unknowns-per-node -1", "1 to 100"}},
    {"NodesThatDoNotFit", "--matrix A.mtx --preconditioner amg --unknowns-per-node 3", {"3 unknowns", "40 rows"}},
    {"NearNullSpaceOfWrongSize", "--matrix A.mtx --near-null b2.mtx", {"b2.mtx", "near-null space", "40"}},
    {"SolutionReplacesTheNearNullSpace",
     "--matrix A.mtx --near-null b2.mtx --solution b2.mtx",
     {"--solution", "replace", "--near-null"}},
    {"NoMemory", "--matrix A.mtx --memory-limit 0", {"--memory-limit 0", "gigabytes"}},
    {"LimitTooSmallForTheFactors",
     "--matrix A.mtx --preconditioner klu --memory-limit 1e-6",
     {"klu", "the limit is 1e-06 GB", "ilut"}},
    {"RhsWithoutColumns", "--matrix A.mtx --rhs none.mtx", {"none.mtx", "column"}},
    {"OneGuessForTwoRightHandSides",
     "--matrix identity.mtx --rhs two.mtx --initial one.mtx",
     {"one.mtx: 1 columns", "2 right-hand sides"}},
    {"QuietStillTellsErrors", "--quiet --matrix nowhere.mtx", {"nowhere.mtx"}},
};

INSTANTIATE_TEST_SUITE_P(SolverCommand, BadUsage, ::testing::ValuesIn(refusals),
                         [](const auto& info) { return std::string(info.param.name); });

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
    for (const char* how : {"none", "jacobi", "ilu0", "isai", "ilut", "klu", "auto"}) {
        SCOPED_TRACE(how);
        const std::string arguments = std::string("--matrix poisson2d_30.mtx --quiet --exact --preconditioner ") + how;
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
