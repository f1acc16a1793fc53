// A file system that is full, or becomes so while a result is written to it: the file of before stays as it was, nothing else
// is left, a sentence and an exit status tell of it, and the next call works.

#include "faults/started_programs.hpp"
#include "solver/error.hpp"
#include "solver/matrix_market.hpp"
#include "support/program.hpp"
#include "support/small_disk.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

namespace solver {
namespace {

namespace fs = std::filesystem;
using ::testing::AnyOf;
using testing::content;
using testing::Ended;
using ::testing::HasSubstr;
using testing::SmallDisk;
using Words = std::vector<std::string>;

constexpr const char* no_space = "No space left on device";

class FullDisk : public testing::StartedPrograms {
protected:
    static constexpr std::int64_t pages = 1024, few_files = 8;

    void SetUp() override { mount(few_files); }

    void mount(std::int64_t files_at_most) {
        disk_.reset();
        fs::create_directory(path("disk"));
        disk_ = std::make_unique<SmallDisk>(path("disk"), pages, files_at_most);
        if (!disk_->is_mounted()) GTEST_SKIP() << "a small file system cannot be mounted here, nor in a user namespace";
    }

    const SmallDisk& disk() const { return *disk_; }
    fs::path on_disk(const std::string& name) const { return disk_->folder() / name; }

    Ended run_there(const Words& words) const { return run(words, {.folder = disk_->folder()}); }

    /// With an old file `name` on the disk and `left` pages free.
    Ended run_with(std::int64_t left, const Words& words, const std::string& name) const {
        std::ofstream(on_disk(name)) << "old";
        EXPECT_TRUE(disk_->leave(left));
        return run_there(words);
    }

    void expect_as_before(const std::string& name) const {
        EXPECT_EQ(content(on_disk(name)), "old");
        EXPECT_EQ(files_in(disk_->folder()), 2);  // the old one and what fills the disk
    }

    /// What `words` write to `name` on the disk, tried with no room at all, with half of it, and with all but a page. What
    /// holds times can take a page more or less from call to call.
    void expect_refusals(const Words& words, const std::string& name) const {
        SCOPED_TRACE(words[0] + " " + words[1] + " ... " + name);
        const Ended wide = run_with(pages / 2, words, name);
        ASSERT_EQ(wide.status, 0) << wide.err;
        const std::int64_t needed = pages_of(fs::file_size(on_disk(name)));
        const bool has_times = !name.ends_with(".mtx") && !name.ends_with(".gz");
        for (const std::int64_t left : {std::int64_t{0}, needed / 2, needed - 1}) {
            if (left > 0 && has_times && left >= needed - 1) continue;
            const Ended tight = run_with(left, words, name);
            EXPECT_EQ(tight.status, 1) << left;
            EXPECT_EQ(tight.err, fs::path(words[0]).filename().string() + ": " + name + ": writing failed: " + no_space + "\n");
            expect_as_before(name);
        }
        EXPECT_EQ(run_with(needed + has_times, words, name).status, 0);
        EXPECT_NE(content(on_disk(name)), "old");
        fs::remove(on_disk(name));
    }

    static std::int64_t pages_of(std::uintmax_t bytes) {
        return (static_cast<std::int64_t>(bytes) + SmallDisk::page - 1) / SmallDisk::page;
    }

private:
    std::unique_ptr<SmallDisk> disk_;
};

Words operator+(Words words, const Words& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

const std::string solver_command = testing::program("SOLVER_COMMAND", SOLVER_COMMAND),
                  solver_generate = testing::program("SOLVER_GENERATE", SOLVER_GENERATE),
                  solver_bench = testing::program("SOLVER_BENCH", SOLVER_BENCH),
                  test_blas2 = testing::program("TEST_BLAS2", TEST_BLAS2);

const Words solve{solver_command, "--matrix", "poisson2d_40", "--quiet", "--device", "cpu"};

TEST_F(FullDisk, RefusesEveryOutputOfASolve) {
    expect_refusals(solve + Words{"--solution", "x.mtx"}, "x.mtx");
    expect_refusals(solve + Words{"--solution", "x.mtx.gz"}, "x.mtx.gz");
    expect_refusals(solve + Words{"--report", "r.json"}, "r.json");
    expect_refusals(solve + Words{"--history", "h.csv", "--preconditioner", "none"}, "h.csv");
    expect_refusals(solve + Words{"--plot", "p.html"}, "p.html");
}

TEST_F(FullDisk, RefusesThePlotOfASolve) {
    if (std::system("gnuplot --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "gnuplot is not installed";
    expect_refusals(solve + Words{"--plot", "p.svg"}, "p.svg");
    expect_refusals(solve + Words{"--plot", "p.png"}, "p.png");
}

TEST_F(FullDisk, KeepsTheOutputsThatWereWrittenBefore) {
    std::ofstream(on_disk("r.json")) << "old";
    const Words both = solve + Words{"--solution", "x.mtx", "--report", "r.json"};
    ASSERT_EQ(run_there(both).status, 0);
    const std::string solution = content(on_disk("x.mtx"));
    fs::remove(on_disk("x.mtx"));
    const std::int64_t needed = pages_of(solution.size());
    const Ended finished = run_with(needed, both, "r.json");
    EXPECT_EQ(finished.status, 1);
    EXPECT_EQ(finished.err, std::string("solver: r.json: writing failed: ") + no_space + "\n");
    EXPECT_EQ(content(on_disk("x.mtx")), solution);
    EXPECT_EQ(content(on_disk("r.json")), "old");
    EXPECT_EQ(files_in(disk().folder()), 3);
}

TEST_F(FullDisk, RefusesWhatIsGeneratedAtEveryPage) {
    for (const std::string name : {"a.mtx", "a.mtx.gz"}) {
        const Words generate{solver_generate, "poisson2d_20.mtx", "--force", "--output", name};
        expect_refusals(generate, name);
        std::int64_t left = 0;
        for (; left < pages; ++left) {
            const Ended finished = run_with(left, generate, name);
            if (finished.status == 0) break;
            EXPECT_EQ(finished.status, 1) << left;
            expect_as_before(name);
        }
        EXPECT_LT(left, pages);
        fs::remove(on_disk(name));
    }
}

TEST_F(FullDisk, RefusesTheOutputsOfTheBench) {
    const Words sum{solver_bench, "sum", "--size", "32", "--repetitions", "1", "--threads", "1", "--device", "cpu"};
    expect_refusals(sum + Words{"--json", "r.json"}, "r.json");
    const Words solves{solver_bench, "robustness", "poisson2d_5", "--solver", "jacobi", "--threads", "1"};
    expect_refusals(solves + Words{"--json", "r.json"}, "r.json");
    const Words scaling{solver_bench, "scaling", "poisson2d_5", "--solver", "jacobi", "--threads", "1"};
    expect_refusals(scaling + Words{"--json", "s.json"}, "s.json");
    const Words bits{solver_bench, "bits", "poisson2d_5", "--preconditioner", "jacobi", "--threads", "2"};
    expect_refusals(bits + Words{"--json", "b.json"}, "b.json");
    expect_refusals(bits + Words{"--record", "b.txt"}, "b.txt");
}

TEST_F(FullDisk, RefusesTheOutputsOfTestBlas2) {
    const Words judge{test_blas2, "--device", "cpu", "--path", "poisson2d_4", "--gtest_filter=*spmv/double/adaptive*"};
    expect_refusals(judge + Words{"--json", "v.json"}, "v.json");
}

/// Where it was written long before the end, nobody knows the reason any more; fmt has words of its own.
TEST_F(FullDisk, RefusesEveryProgramsStandardOutput) {
    const std::string text = on_disk("out");
    const auto run_into = [&](const Words& words) {
        EXPECT_TRUE(disk().leave(0));
        const Ended finished = run(words, {.out = text.c_str()});
        fs::remove(text);
        return finished;
    };
    EXPECT_EQ(run_into(solve).status, 0);  // which is quiet
    for (const Words& words :
         {Words{solver_command, "--matrix", "poisson2d_9", "--device", "cpu"}, Words{solver_command, "--help"},
          Words{solver_generate, "--list"}, Words{solver_bench, "--help"}, Words{test_blas2, "--help"},
          Words{solver_bench, "sum", "--size", "32", "--repetitions", "1", "--device", "cpu"},
          Words{test_blas2, "--device", "cpu", "--path", "poisson2d_4", "--gtest_filter=*sum*"}}) {
        const Ended finished = run_into(words);
        EXPECT_EQ(finished.status, 1) << words[0] << ' ' << words[1];
        const std::string program = fs::path(words[0]).filename().string();
        EXPECT_THAT(finished.err, AnyOf(HasSubstr(program + ": standard output: writing failed"),
                                        HasSubstr(program + ": cannot write to file: " + no_space)));
    }
}

TEST_F(FullDisk, RefusesAFileMoreThanThereMayBe) {
    mount(3);  // the root folder, what fills it, the old file
    const Ended finished = run_with(pages / 2, solve + Words{"--solution", "x.mtx"}, "x.mtx");
    EXPECT_EQ(finished.status, 1);
    EXPECT_THAT(finished.err, ::testing::EndsWith(std::string("x.mtx: cannot be written: no temporary file in its folder: ") +
                                                  no_space + "\n"));
    expect_as_before("x.mtx");
}

TEST_F(FullDisk, DoesNotReachAPictureWhereOnlyTheTemporaryFolderIsFull) {
    if (std::system("gnuplot --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "gnuplot is not installed";
    for (const std::string name : {"p.svg", "p.png"}) {
        const Words draw = solve + Words{"--plot", name};
        ASSERT_EQ(run(draw).status, 0);
        const std::string whole = content(path(name));
        for (std::int64_t left = 0; left < 6; ++left) {
            std::ofstream(path(name)) << "old";
            ASSERT_TRUE(disk().leave(left));
            ::setenv("TMPDIR", disk().folder().c_str(), 1);
            const Ended finished = run(draw);
            ::unsetenv("TMPDIR");
            EXPECT_EQ(content(path(name)), finished.status == 0 ? whole : "old") << left << ' ' << finished.err;
            EXPECT_EQ(files_in(disk().folder()), 1) << left;
        }
    }
}

TEST_F(FullDisk, IsToldOfByTheLibraryInCAndCpp) {
    const CsrMatrix<double> a = csr_from_entries<double>(1, 1, std::vector<Entry<double>>{{0, 0, 1.0}});
    const std::string file = on_disk("a.mtx");
    std::ofstream(file) << "old";
    ASSERT_TRUE(disk().leave(0));
    EXPECT_THROW(write_matrix_market(file, a.view()), FileError);
    expect_as_before("a.mtx");
}

}  // namespace
}  // namespace solver
