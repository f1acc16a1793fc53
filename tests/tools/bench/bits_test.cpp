// What solver-bench bits compares and records.

#include "record.hpp"
#include "support/solver_bench.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>

namespace {

namespace fs = std::filesystem;
using namespace solver::bench;
using solver::testing::Finished;
using solver::testing::json;
using solver::testing::SolverBench;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(SolverBench, ComparesTheBitsOfExactBetweenNumbersOfThreads) {
    fs::create_directory(folder_.path() / "all");
    write("all/good.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 5\n1 1 4\n1 2 1\n2 2 3\n3 1 0.1\n3 3 -7\n");
    write("all/no_diagonal.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 2\n2 1\n");
    write("all/wide.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 1 1\n");
    write("all/complex.mtx", "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n");
    write("all/damaged.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 2 3\n");
    const Finished finished =
        run("bits all poisson2d_20 --device cpu --threads 3 --json r.json --precision double --max-iterations 7");
    EXPECT_EQ(finished.status, 0) << finished.err;
    for (const char* text : {"the processor, 1 thread beside the processor, 3 threads",
                             "\n  Left out, for they are not square and real: ", "wide (2 x 3)", "complex (complex)",
                             "damaged (all/damaged.mtx:3:", "30 comparisons: 30 agree, 0 DIFFER"})
        EXPECT_THAT(finished.out, HasSubstr(text));
    const json cases = json::parse(read("r.json"))["cases"];
    const auto is = [](const std::string& name) { return [name](const json& entry) { return entry["matrix"] == name; }; };
    const auto poisson = std::find_if(cases.begin(), cases.end(), is("poisson2d_20"));
    ASSERT_NE(poisson, cases.end());
    EXPECT_EQ((*poisson)["rows"], 400);
    EXPECT_EQ((*poisson)["nonzeros"], 1920);
    for (const char* what : {"products", "dots"}) EXPECT_EQ((*poisson)[what], "=");
    for (const char* kind : {"none", "jacobi", "ilu0", "isai"}) EXPECT_EQ((*poisson)[kind], "7 =");
    const auto no_diagonal = std::find_if(cases.begin(), cases.end(), is("no_diagonal"));
    ASSERT_NE(no_diagonal, cases.end());
    EXPECT_THAT(no_diagonal->dump(), HasSubstr("refused"));
    expect_refusal("bits", "which matrices?");
    expect_refusal("bits thousandths_5 helmholtz_5 --device cpu --threads 2", "there are no bits to look at");
    expect_refusal("bits thousandths_5 --device cpu --record r.txt", "there are no bits to look at");
    EXPECT_FALSE(exists("r.txt"));
}

TEST_F(SolverBench, RecordsTheBitsOfEveryAccuracyForAnotherVersion) {
    const std::string bits =
        "bits A.mtx poisson2d_20 --device cpu --precision double --preconditioner jacobi --max-iterations 7 ";
    ASSERT_EQ(run(bits + "--threads 1 --record one.txt").status, 0);
    ASSERT_EQ(run(bits + "--threads 2 --record two.txt").status, 0);
    const std::string one = read("one.txt"), two = read("two.txt");
    for (const char* line :
         {"poisson2d_20 double fast products  ", "poisson2d_20 double compensated jacobi (7)  ", "  history "})
        EXPECT_THAT(one, HasSubstr(line));
    EXPECT_EQ(std::count(one.begin(), one.end(), '\n'), 1 + 2 * 3 * 4);  // a heading; matrices, accuracies, computations
    const auto parts = [&](const std::string& computation) {             // their names, without the hashes
        const std::string line = one.substr(one.find(computation) + computation.size());
        return std::regex_replace(line.substr(0, line.find('\n')), std::regex(" [0-9a-f]{16}"), "");
    };
    EXPECT_EQ(parts("A double exact products"), "  alpha beta  product  residual");
    EXPECT_EQ(parts("A double exact reductions"), "  dot  norm2  sum");
    EXPECT_THAT(one, HasSubstr("\npoisson2d_20 double exact auto ("));
    EXPECT_EQ(parts("poisson2d_20 double exact jacobi (7)"),
              "  factors  history  iterations  replacements  residual  solution  status  true residuals");
    const auto exact = [](const std::string& text) {
        std::string lines;
        std::istringstream in(text);
        for (std::string line; std::getline(in, line);)
            if (line.find(" exact ") != std::string::npos) lines += line + '\n';
        return lines;
    };
    EXPECT_EQ(exact(one), exact(two));
    EXPECT_NE(exact(one), "");
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

}  // namespace
