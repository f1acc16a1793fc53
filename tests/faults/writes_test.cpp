// Disks that are full, files that may not grow, kills at any moment: whatever happens to a program, a result stands there whole
// or not at all, and where it lives to tell, a sentence and an exit status say so.

#include "faults/started_programs.hpp"
#include "solver/error.hpp"
#include "solver/matrix_market.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace solver {
namespace {

using testing::content;
using testing::Ended;
using ::testing::HasSubstr;
using ::testing::StartsWith;

using Faults = testing::StartedPrograms;
namespace fs = std::filesystem;

TEST_F(Faults, AFileThatMayNotGrowIsRefusedAtEveryPageWithASentence) {
    const std::vector<std::string> generate{SOLVER_GENERATE, "poisson2d_40.mtx", "--force", "--output", "a.mtx"};
    ASSERT_EQ(run(generate).status, 0);
    const std::string whole = content(path("a.mtx"));
    std::ofstream(path("a.mtx")) << "old";
    for (rlim_t limit = 0; limit < whole.size(); limit += 4096) {
        const Ended finished = run(generate, {.file_size = limit});
        EXPECT_EQ(finished.status, 1) << limit;
        // Where nothing may be written, not even the sentence can be.
        if (limit > 0) {
            EXPECT_THAT(finished.err, StartsWith("solver-generate: a.mtx: writing failed: File too large")) << limit;
        }
        EXPECT_EQ(content(path("a.mtx")), "old") << limit;
        EXPECT_EQ(files(), 1) << limit;
    }
    EXPECT_EQ(run(generate, {.file_size = whole.size()}).status, 0);
    EXPECT_EQ(content(path("a.mtx")), whole);
}

TEST_F(Faults, EveryOutputOfASolveOnAFullDiskIsRefusedWithASentence) {
    for (const char* option : {"--solution", "--report", "--history"}) {
        const Ended finished = run({SOLVER_COMMAND, "--matrix", "poisson2d_9", "--quiet", option, "/dev/full"});
        EXPECT_EQ(finished.status, 1) << option;
        EXPECT_EQ(finished.err, "solver: /dev/full: writing failed: No space left on device\n") << option;
    }
}

TEST_F(Faults, AFileThatMayNotGrowIsRefusedByASolve) {
    const Ended finished =
        run({SOLVER_COMMAND, "--matrix", "poisson2d_40", "--quiet", "--solution", "x.mtx"}, {.file_size = 4096});
    EXPECT_EQ(finished.status, 1);
    EXPECT_THAT(finished.err, StartsWith("solver: x.mtx: writing failed: File too large"));
    EXPECT_EQ(files(), 0);
}

TEST_F(Faults, AKillAtAnyMomentLeavesTheOldFileOrTheNewOne) {
    const std::vector<std::string> generate{SOLVER_GENERATE, "poisson2d_150.mtx", "--force", "--output", "a.mtx"};
    ASSERT_EQ(run(generate).status, 0);
    const std::string whole = content(path("a.mtx"));
    int killed = 0;
    for (int moment = 0; moment < 40; ++moment) {
        std::ofstream(path("a.mtx")) << "old";
        const pid_t child = start(generate);
        std::this_thread::sleep_for(std::chrono::milliseconds(2 * moment));
        ::kill(child, SIGKILL);
        killed += wait_for(child).status == -SIGKILL;
        const std::string found = content(path("a.mtx"));
        EXPECT_TRUE(found == "old" || found == whole) << "half a file at moment " << moment;
    }
    EXPECT_GT(killed, 0);
}

TEST_F(Faults, ASignalDuringSetupOrIterationEndsTheSolveAndWritesWhatIsThere) {
    for (const int milliseconds : {0, 50, 400}) {
        const pid_t child =
            start({SOLVER_COMMAND, "--matrix", "poisson2d_250", "--quiet", "--device", "cpu", "--preconditioner", "jacobi",
                   "--tolerance", "1e-300", "--max-iterations", "100000000", "--solution", "x.mtx"});
        std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
        ::kill(child, SIGINT);
        const int status = wait_for(child).status;
        EXPECT_TRUE(status == 2 || status == -SIGINT) << status;  // before the solve there is nothing to be kept
        if (fs::exists(path("x.mtx"))) {
            EXPECT_EQ(read_vector<double>(path("x.mtx")).size(), 62500u);
        }
        if (status == 2) {
            EXPECT_TRUE(fs::exists(path("x.mtx")));
        }
        fs::remove(path("x.mtx"));
    }
}

TEST_F(Faults, AFileThatShrinksWhileItIsReadIsRefusedOrReadWhole) {
    ASSERT_EQ(run({SOLVER_GENERATE, "poisson2d_300.mtx", "--output", "a.mtx"}).status, 0);
    const std::string whole = content(path("a.mtx"));
    int refused = 0;
    for (int moment = 0; moment < 30; ++moment) {
        std::ofstream(path("a.mtx"), std::ios::binary) << whole;
        std::thread shrinks([&] {
            std::this_thread::sleep_for(std::chrono::microseconds(500 * moment));
            fs::resize_file(path("a.mtx"), whole.size() / 3);
        });
        try {
            EXPECT_EQ(read_csr<double>(path("a.mtx"), {.threads = 2}).rows, 90000);
        } catch (const FileError& error) {
            ++refused;
            EXPECT_THAT(error.what(), StartsWith(path("a.mtx").string() + ":"));
        }
        shrinks.join();
    }
    EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace solver
