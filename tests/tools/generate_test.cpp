// The command `solver-generate` as its users meet it.

#include "support/program.hpp"
#include "support/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace {

namespace fs = std::filesystem;
using solver::testing::Finished;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class SolverGenerate : public ::testing::Test {
protected:
    fs::path path(const std::string& name) const { return folder_.path() / name; }

    std::string read(const std::string& name) const {
        std::ifstream file(path(name));
        return {std::istreambuf_iterator<char>(file), {}};
    }

    /// Runs `solver-generate ARGUMENTS` in the folder, by the shell.
    Finished run(const std::string& arguments) const {
        const std::string command = "cd '" + folder_.path().string() + "' && '" +
                                    solver::testing::program("SOLVER_GENERATE", SOLVER_GENERATE) + "' " + arguments +
                                    " >.out 2>.err </dev/null";
        const int status = std::system(command.c_str());
        return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read(".out"), read(".err")};
    }

    solver::testing::TemporaryFolder folder_;
};

TEST_F(SolverGenerate, WritesAFileOfTheGeneratorsName) {
    EXPECT_EQ(run("poisson2d_03").out, "poisson2d_3.mtx: 9 rows, 9 columns, 33 nonzeros\n");
    EXPECT_THAT(read("poisson2d_3.mtx"), StartsWith("%%MatrixMarket matrix coordinate real "));
    EXPECT_EQ(run("helmholtz_3 --output h.mtx").status, 0);
    EXPECT_THAT(read("h.mtx"), StartsWith("%%MatrixMarket matrix coordinate complex "));
}

TEST_F(SolverGenerate, ReplacesNothingUnasked) {
    std::ofstream(path("file.mtx")) << "mine";
    fs::create_symlink("nowhere", path("link.mtx"));
    for (const std::string name : {"file.mtx", "link.mtx"}) {
        const Finished refused = run("poisson2d_3 --output " + name);
        EXPECT_EQ(refused.status, 1) << name;
        EXPECT_THAT(refused.err, HasSubstr("exists already; --force replaces it"));
    }
    EXPECT_EQ(read("file.mtx"), "mine");
    EXPECT_TRUE(fs::is_symlink(path("link.mtx")));
    EXPECT_EQ(run("poisson2d_3 --output file.mtx --force").status, 0);
    EXPECT_THAT(read("file.mtx"), StartsWith("%%MatrixMarket"));
}

TEST_F(SolverGenerate, ExplainsItself) {
    EXPECT_THAT(run("--help").out, HasSubstr("solver-generate NAME"));
    EXPECT_THAT(run("--list").out, HasSubstr("poisson2d_N.mtx"));
    EXPECT_THAT(run("--version").out, ::testing::MatchesRegex("solver-generate [0-9.]+\n"));
    EXPECT_THAT(run("").err, HasSubstr("one NAME is needed"));
    EXPECT_THAT(run("nonsense_3").err, HasSubstr("there is no generator 'nonsense_3'"));
}

}  // namespace
