// Signals that end a program while it writes, for every output: nothing half-written stands under the output's name, nothing
// else is left, one sentence tells of it, and the program ends by the signal, as shells expect it.

#include "faults/started_programs.hpp"
#include "faults/traced_program.hpp"
#include "support/program.hpp"

#include <gmock/gmock.h>
#include <poll.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace solver {
namespace {

namespace fs = std::filesystem;
using testing::content;
using testing::Ended;
using ::testing::EndsWith;
using testing::TracedProgram;
using Words = std::vector<std::string>;

Words operator+(Words words, const Words& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

std::string name_of(int signal) { return signal == SIGINT ? "SIGINT" : signal == SIGTERM ? "SIGTERM" : "SIGHUP"; }

const std::string solver_command = testing::program("SOLVER_COMMAND", SOLVER_COMMAND),
                  solver_generate = testing::program("SOLVER_GENERATE", SOLVER_GENERATE),
                  solver_bench = testing::program("SOLVER_BENCH", SOLVER_BENCH),
                  test_blas2 = testing::program("TEST_BLAS2", TEST_BLAS2);

const Words solve{solver_command, "--matrix", "poisson2d_20", "--quiet", "--device", "cpu", "--threads", "2"};

/// With outputs that fill more than a page.
const Words long_solve{solver_command, "--matrix", "poisson2d_100", "--quiet", "--device", "cpu", "--preconditioner", "none"};

class Signals : public testing::StartedPrograms {
protected:
    bool has_temporary_file() const {
        for (const auto& entry : fs::directory_iterator(path(".")))
            if (entry.path().extension() == ".tmp") return true;
        return false;
    }

    /// How often the first thread enters or leaves the kernel while a temporary file is there; -1 where that cannot be traced.
    int moments(const Words& words) const {
        TracedProgram program(start(words, {.prepare = testing::be_traced}));
        if (!program.is_traced()) return -1;
        int moments = 0;
        while (program.step()) moments += has_temporary_file();
        EXPECT_EQ(program.status(), 0) << words[0] << ' ' << words[1];
        return moments;
    }

    Ended ended_at(int moment, int signal, const Words& words) const {
        const pid_t child = start(words, {.prepare = testing::be_traced});
        TracedProgram program(child);
        for (int seen = -1; seen < moment;) {
            if (!program.step()) return {-1, "it ended before that moment"};
            seen += has_temporary_file();
        }
        program.release(signal);
        return wait_for(child);
    }

    /// The file of before and the sentence, or the new file and no sentence. Some programs replace a file several times.
    /// Returns whether it is the file of before without a sentence, since nothing was being written any more.
    bool is_silent(const Ended& ended, int signal, const Words& words, const std::string& name) const {
        const std::string program = fs::path(words[0]).filename().string();
        EXPECT_EQ(ended.status, -signal);
        EXPECT_EQ(files(), 1);
        if (!ended.err.empty()) {
            EXPECT_EQ(ended.err, program + ": " + name + ": " + name_of(signal) + " ended the writing; nothing was changed\n");
        }
        const std::string found = content(path(name));
        if (found == "old") return ended.err.empty();
        EXPECT_TRUE(is_whole(name, found)) << found;
        EXPECT_TRUE(ended.err.empty() || program == "solver-bench" || program == "test-blas2");
        return false;
    }

    /// Times differ from call to call.
    bool is_whole(const std::string& name, const std::string& found) const {
        const auto lines = [](const std::string& text) { return std::count(text.begin(), text.end(), '\n'); };
        const bool has_times = !name.ends_with(".mtx") && !name.ends_with(".gz");
        return found == whole_ || (has_times && lines(found) == lines(whole_) && found.ends_with('\n'));
    }

    /// SIGINT and SIGTERM in turn at `count` of the moments, the last among them; all of them where 0.
    void end_while_writing(const Words& words, const std::string& name, int count) {
        SCOPED_TRACE(words[0] + " " + words[1] + " ... " + name);
        const int all = moments(words);
        if (all < 0) GTEST_SKIP() << "programs may not be traced here";
        ASSERT_GT(all, 10);
        whole_ = content(path(name));
        const int stride = count == 0 ? 1 : std::max(1, all / count);
        int silent = 0;
        for (int moment = all - 1; moment >= 0; moment -= stride) {
            SCOPED_TRACE(moment);
            std::ofstream(path(name)) << "old";
            const int signal = moment % 2 == 0 ? SIGINT : SIGTERM;
            silent += is_silent(ended_at(moment, signal, words), signal, words, name);
        }
        EXPECT_LE(silent, 1);  // just after it was tried, before the work, whether the file can be written
        fs::remove(path(name));
    }

private:
    std::string whole_;
};

TEST_F(Signals, LeaveEveryOutputOfASolveAsItWas) {
    end_while_writing(solve + Words{"--solution", "x.mtx"}, "x.mtx", 0);
    end_while_writing(solve + Words{"--solution", "x.mtx.gz"}, "x.mtx.gz", 5);
    end_while_writing(solve + Words{"--report", "r.json"}, "r.json", 5);
    end_while_writing(solve + Words{"--history", "h.csv"}, "h.csv", 5);
    end_while_writing(solve + Words{"--plot", "p.html"}, "p.html", 5);
    if (std::system("gnuplot --version >/dev/null 2>&1") == 0) end_while_writing(solve + Words{"--plot", "p.svg"}, "p.svg", 5);
}

TEST_F(Signals, LeaveAGeneratedMatrixAsItWas) {
    for (const std::string name : {"a.mtx", "a.mtx.gz"})
        end_while_writing({solver_generate, "poisson2d_60.mtx", "--force", "--output", name}, name, 12);
}

TEST_F(Signals, LeaveTheOutputsOfTheBenchAsTheyWere) {
    const Words sum{solver_bench, "sum", "--size",   "32",  "--repetitions", "1",
                    "--threads",  "1",   "--device", "cpu", "--input",       "random"};
    end_while_writing(sum + Words{"--json", "r.json"}, "r.json", 4);
    const Words bits{solver_bench, "bits",        "poisson2d_5", "--preconditioner", "jacobi", "--threads",
                     "1",          "--precision", "double"};
    end_while_writing(bits + Words{"--record", "b.txt"}, "b.txt", 4);
}

TEST_F(Signals, LeaveTheOutputsOfTestBlas2AsTheyWere) {
    const Words judge{test_blas2, "--device", "cpu", "--path", "poisson2d_4", "--gtest_filter=*spmv/double/adaptive*"};
    end_while_writing(judge + Words{"--json", "v.json"}, "v.json", 4);
}

/// A named pipe of a page, whose reader waits until the writer does.
class SlowReader {
public:
    explicit SlowReader(fs::path path) : path_(std::move(path)) {
        ::mkfifo(path_.c_str(), 0600);
        descriptor_ = ::open(path_.c_str(), O_RDONLY | O_NONBLOCK);
        ::fcntl(descriptor_, F_SETPIPE_SZ, 4096);
    }
    ~SlowReader() { ::close(descriptor_); }
    SlowReader(const SlowReader&) = delete;
    SlowReader& operator=(const SlowReader&) = delete;

    /// Until the pipe takes no more; false where its writer ended before, or took more than half a minute.
    bool wait_until_full(pid_t writer) const {
        const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(30);
        bool full = false;
        while (!full && !has_ended(writer) && std::chrono::steady_clock::now() < give_up) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            pollfd room{::open(path_.c_str(), O_WRONLY | O_NONBLOCK), POLLOUT, 0};
            full = ::poll(&room, 1, 0) == 0;
            ::close(room.fd);
        }
        return full;
    }

    /// All until the writer closes it.
    std::string read_all() const {
        ::fcntl(descriptor_, F_SETFL, 0);
        std::string text;
        char block[4096];
        for (ssize_t bytes = 0; (bytes = ::read(descriptor_, block, sizeof block)) > 0;) text.append(block, bytes);
        return text;
    }

private:
    /// It can be waited for afterwards.
    static bool has_ended(pid_t child) {
        siginfo_t how{};
        return ::waitid(P_PID, child, &how, WEXITED | WNOHANG | WNOWAIT) == 0 && how.si_pid == child;
    }

    fs::path path_;
    int descriptor_;
};

TEST_F(Signals, EndWhatWaitsForASlowReader) {
    const std::string fifo = "fifo.html";
    const SlowReader reader(path(fifo));
    const Words judge{test_blas2, "--device", "cpu", "--path", "poisson2d_4", "--gtest_filter=*spmv/double/adaptive*"};
    for (const Words& words :
         {long_solve + Words{"--solution", fifo}, long_solve + Words{"--history", fifo}, long_solve + Words{"--plot", fifo},
          judge + Words{"--json", fifo}, Words{solver_generate, "poisson2d_60.mtx", "--force", "--output", fifo}}) {
        for (const int signal : {SIGHUP, SIGINT, SIGTERM}) {
            SCOPED_TRACE(words[0] + " ... " + words[words.size() - 2] + " " + name_of(signal));
            const pid_t child = start(words);
            EXPECT_TRUE(reader.wait_until_full(child));
            ::kill(child, signal);
            const Ended ended = wait_for(child);
            EXPECT_EQ(ended.status, -signal);
            EXPECT_EQ(ended.err, fs::path(words[0]).filename().string() + ": " + fifo + ": " + name_of(signal) +
                                     " ended the writing; a part may be there\n");
            EXPECT_EQ(files(), 1);
            reader.read_all();
        }
    }
}

TEST_F(Signals, LeaveTheOutputsThatWereWrittenBefore) {
    const SlowReader reader(path("fifo"));
    const Words both = long_solve + Words{"--solution", "x.mtx", "--history", "fifo"};
    const pid_t child = start(both);
    EXPECT_TRUE(reader.wait_until_full(child));
    const std::string solution = content(path("x.mtx"));
    ::kill(child, SIGTERM);
    EXPECT_EQ(wait_for(child).status, -SIGTERM);
    EXPECT_EQ(std::count(solution.begin(), solution.end(), '\n'), 2 + 10000);
    EXPECT_EQ(content(path("x.mtx")), solution);
    EXPECT_EQ(files(), 2);
}

TEST_F(Signals, StayIgnoredWhereTheyWere) {
    const SlowReader reader(path("fifo"));
    const pid_t child = start(long_solve + Words{"--history", "fifo"}, {.prepare = [] {
                                  ::signal(SIGINT, SIG_IGN);
                                  ::signal(SIGHUP, SIG_IGN);
                              }});
    EXPECT_TRUE(reader.wait_until_full(child));
    ::kill(child, SIGINT);
    ::kill(child, SIGHUP);
    EXPECT_THAT(reader.read_all(), EndsWith("\n"));
    const Ended ended = wait_for(child);
    EXPECT_EQ(ended.status, 0);
    EXPECT_EQ(ended.err, "");
}

TEST_F(Signals, EndThePlottingWithoutATrace) {
    fs::create_directory(path("bin"));
    fs::create_directory(path("temporary"));
    std::ofstream(path("p.svg")) << "old";
    for (const std::string number : {"INT", "TERM"}) {
        // As Ctrl-C does it: to all who run in the foreground.
        std::ofstream(path("bin/gnuplot")) << "#!/bin/sh\nkill -" << number << " $SOLVER_PID\nkill -" << number << " $$\n";
        fs::permissions(path("bin/gnuplot"), fs::perms::owner_all);
        ::setenv("TMPDIR", path("temporary").c_str(), 1);
        const std::string before = std::getenv("PATH");
        ::setenv("PATH", (path("bin").string() + ":" + before).c_str(), 1);
        const Ended ended = run(solve + Words{"--plot", "p.svg"},
                                {.prepare = [] { ::setenv("SOLVER_PID", std::to_string(::getpid()).c_str(), 1); }});
        ::setenv("PATH", before.c_str(), 1);
        ::unsetenv("TMPDIR");
        EXPECT_EQ(ended.status, number == "INT" ? -SIGINT : -SIGTERM);
        EXPECT_EQ(content(path("p.svg")), "old");
        EXPECT_EQ(files(), 3);
        EXPECT_EQ(files_in(path("temporary")), 0);
    }
}

using Pipes = testing::StartedPrograms;

/// A reader would take that for the end.
TEST_F(Pipes, AreNotOpenedAndClosedBeforeThereIsSomethingToWrite) {
    ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
    const pid_t child = start({solver_bench, "sum", "--size", "32", "--repetitions", "1", "--device", "cpu", "--json", "fifo"});
    const std::string found = content(path("fifo"));
    EXPECT_THAT(found, ::testing::HasSubstr("compensated"));
    if (found.empty()) ::kill(child, SIGKILL);
    EXPECT_EQ(wait_for(child).status, 0);
}

}  // namespace
}  // namespace solver
