/// The program as a user runs it.

#include "support/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cstdio>
#include <fstream>
#include <set>
#include <string>
#include <vector>

namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Outcome {
    int status = -1;
    std::string text;  ///< stdout and stderr
};

Outcome run(const std::string& arguments) {
    Outcome outcome;
    FILE* const pipe = ::popen((TEST_BLAS2 " " + arguments + " 2>&1").c_str(), "r");
    std::array<char, 4096> block;
    while (const std::size_t bytes = std::fread(block.data(), 1, block.size(), pipe)) outcome.text.append(block.data(), bytes);
    const int status = ::pclose(pipe);
    outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return outcome;
}

TEST(Program, ListsAndFiltersTests) {
    const Outcome list = run("--device cpu --path poisson2d_4 --gtest_list_tests");
    EXPECT_EQ(list.status, 0);
    EXPECT_THAT(list.text, HasSubstr("poisson2d_4."));
    EXPECT_THAT(list.text, HasSubstr("  spmv/double/adaptive/exact"));
    EXPECT_THAT(list.text, HasSubstr("  triangular_solve/single/compensated"));
    const Outcome one = run("--device cpu --path poisson2d_4 --gtest_filter=poisson2d_4.spmv/double/adaptive/exact");
    EXPECT_EQ(one.status, 0);
    EXPECT_THAT(one.text, HasSubstr("PASSED 1 of 1 tests, 4 verdicts on 1 matrix: 4 promises kept, 0 broken"));
    EXPECT_THAT(one.text, HasSubstr("adaptive exact"));
    EXPECT_THAT(one.text, Not(HasSubstr("general")));
}

TEST(Program, JudgesEigenBesideTheLibrary) {
    const Outcome found = run("--device cpu --path poisson2d_random_9 --single --judge eigen --gtest_filter='*spmv*'");
    EXPECT_EQ(found.status, 0) << found.text;
    EXPECT_THAT(found.text, HasSubstr("  eigen "));
    EXPECT_THAT(found.text, HasSubstr("2 on others who promised nothing"));
}

TEST(Program, RefusesOutputsThatCannotBeWrittenBeforeTheWork) {
    const Outcome nowhere = run("--device cpu --path poisson2d_4 --json /nowhere/v.json");
    EXPECT_EQ(nowhere.status, 1);
    EXPECT_THAT(nowhere.text, ::testing::StartsWith("test-blas2: /nowhere/v.json: cannot be written"));
}

TEST(Program, WritesJson) {
    const solver::testing::TemporaryFolder folder;
    const std::string file = folder.path() / "v.json";
    const Outcome found = run("--device cpu --path poisson2d_5 --x ones --json " + file);
    ASSERT_EQ(found.status, 0) << found.text;
    const auto json = nlohmann::json::parse(std::ifstream(file));
    EXPECT_EQ(json["program"], "test-blas2");
    EXPECT_THAT(json["command"].get<std::string>(), HasSubstr("--path poisson2d_5"));
    EXPECT_TRUE(json["machine"]["cuda"].is_string());
    std::set<std::string> operations, kernels, accuracies, precisions;
    for (const auto& verdict : json["verdicts"]) {
        EXPECT_EQ(verdict["matrix"], "poisson2d_5");
        EXPECT_EQ(verdict["nonzeros"], 105);
        EXPECT_EQ(verdict["judged"], "solver");
        EXPECT_EQ(verdict["device"], "cpu");
        EXPECT_TRUE(verdict["passed"].get<bool>());
        EXPECT_TRUE(verdict["same_bits"].get<bool>());
        EXPECT_GT(verdict["seconds"].get<double>(), 0);
        std::int64_t elements = 0;
        for (const auto& [name, count] : verdict["histogram"].items()) elements += count.get<std::int64_t>();
        EXPECT_EQ(elements, verdict["elements"]);
        EXPECT_EQ(verdict["worst"].is_null(), verdict["histogram"]["0"] == verdict["elements"]);
        operations.insert(verdict["operation"]);
        kernels.insert(verdict["kernel"]);
        accuracies.insert(verdict["accuracy"]);
        precisions.insert(verdict["precision"]);
    }
    EXPECT_THAT(operations, ::testing::ElementsAre("dot", "gemm", "norm2", "residual", "spmv", "sum", "triangular_solve"));
    EXPECT_THAT(kernels, ::testing::ElementsAre("", "adaptive", "general"));
    EXPECT_THAT(accuracies, ::testing::ElementsAre("compensated", "exact", "fast"));
    EXPECT_THAT(precisions, ::testing::ElementsAre("double", "single"));
}

TEST(Program, SaysWhatItLeavesOut) {
    const solver::testing::TemporaryFolder folder;
    std::ofstream(folder.path() / "a.mtx") << "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1e300\n";
    std::ofstream(folder.path() / "c.mtx") << "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 2 3\n";
    const Outcome found = run("--device cpu --path " + folder.path().string());
    EXPECT_EQ(found.status, 0) << found.text;
    EXPECT_THAT(found.text, HasSubstr("left out: a (single): "));
    EXPECT_THAT(found.text, HasSubstr("left out: c: the matrix is complex; real ones are judged"));
    EXPECT_THAT(found.text, HasSubstr("PASSED 27 of 27 tests"));
    const Outcome named = run("--device cpu --path " + (folder.path() / "c.mtx").string());
    EXPECT_EQ(named.status, 1);
    EXPECT_THAT(named.text, HasSubstr("c.mtx: the matrix is complex"));
}

TEST(Program, JudgesTheRestOfAFolderWithDamagedFilesAndFails) {
    const solver::testing::TemporaryFolder folder;
    std::ofstream(folder.path() / "a.mtx") << "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 3\n";
    std::ofstream(folder.path() / "b.mtx") << "%%MatrixMarket matrix coordinate rational general\n1 1 1\n1 1 2 3\n";
    std::ofstream(folder.path() / "c.mtx") << "%%MatrixMarket matrix coordinate real general\n1 1 2\n1 1 3\n";
    const Outcome found = run("--device cpu --gtest_filter='*sum*' --path " + folder.path().string());
    EXPECT_EQ(found.status, 1);
    EXPECT_THAT(found.text, HasSubstr("left out: b: "));
    EXPECT_THAT(found.text, HasSubstr("left out: c (double): "));
    EXPECT_THAT(found.text,
                HasSubstr("FAILED 0 of 6 tests, 12 verdicts on 1 matrix: 12 promises kept, 0 broken, and not every file"));
}

TEST(Program, FailsWhereNothingWasJudged) {
    const solver::testing::TemporaryFolder folder;
    const std::string path = folder.path() / "a.mtx";
    std::ofstream(path) << "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1e300\n";
    for (const std::string& arguments :
         std::vector<std::string>{"--path poisson2d_4 --gtest_filter=spvm*", "--gtest_filter='*single*' --path " + path}) {
        const Outcome found = run("--device cpu " + arguments);
        EXPECT_EQ(found.status, 1) << arguments;
        EXPECT_THAT(found.text, HasSubstr("test-blas2: nothing was judged")) << arguments;
        EXPECT_THAT(found.text, Not(HasSubstr("PASSED"))) << arguments;
    }
}

TEST(Program, CountsOnceWhatIsNamedTwice) {
    const std::string once = "--device cpu --x ones --path poisson2d_4 --judge eigen --gtest_filter='*spmv/double/*'";
    const Outcome found = run(once + " --x ones --path poisson2d_4 --judge eigen");
    EXPECT_EQ(found.status, 0) << found.text;
    EXPECT_THAT(found.text, HasSubstr("PASSED 7 of 7 tests, 13 verdicts on 1 matrix: 12 promises kept, 0 broken, 1 on others"));
}

// Promise: accuracy.hpp, "Bounds hold barring overflow of an intermediate sum."
TEST(Program, TellsOverflowOfIntermediateSumsApart) {
    const solver::testing::TemporaryFolder folder;
    const std::string path = folder.path() / "a.mtx", json_path = folder.path() / "v.json";
    std::ofstream file(path);
    file << "%%MatrixMarket matrix coordinate real general\n1 601 601\n";
    for (int column = 1; column <= 601; ++column)  // overflows in every order in which anybody adds
        file << "1 " << column << (column <= 301 ? " 1e308\n" : " -1e308\n");
    file.close();
    const std::string filter = " --double --x ones --alpha 1 --gtest_filter='*spmv/double/general/*'";
    const Outcome found = run("--device cpu --json " + json_path + " --path " + path + filter);
    EXPECT_EQ(found.status, 0) << found.text;
    EXPECT_THAT(found.text, HasSubstr("  OVERFLOW"));
    EXPECT_THAT(found.text, HasSubstr("1 promises kept, 0 broken, 2 without a promise for an intermediate sum that overflows"));
    const auto verdicts = nlohmann::json::parse(std::ifstream(json_path))["verdicts"];
    ASSERT_EQ(verdicts.size(), 3u);
    EXPECT_EQ(verdicts[0]["overflowed"], 1);
    EXPECT_NEAR(verdicts[0]["worst"]["condition"].get<double>(), 1202, 1e-9);
    EXPECT_EQ(verdicts[2]["overflowed"], 0) << "exact";
}

TEST(Program, RefusesWithASentence) {
    const solver::testing::TemporaryFolder folder;
    const std::string file = folder.path() / "c.mtx";
    std::ofstream(file) << "%%MatrixMarket matrix coordinate rational general\n1 1 1\n1 1 2 3\n";
    for (const auto& [arguments, sentence] : {std::pair<std::string, std::string>{"--path " + file, "test-blas2: " + file},
                                              {"--path no_such_matrix", "test-blas2: no_such_matrix: no such matrix"},
                                              {"--nonsense", "test-blas2: there is no option --nonsense"},
                                              {"--device cuda:900", "test-blas2: device cuda:900: "},
                                              {"--path poisson2d_3 --json /no/such/folder/v.json", "/no/such/folder/v.json"}}) {
        const Outcome found = run(arguments);
        EXPECT_EQ(found.status, 1) << arguments;
        EXPECT_THAT(found.text, HasSubstr(sentence)) << arguments;
    }
}

}  // namespace
