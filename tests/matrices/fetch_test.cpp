// The script matrices/fetch, and find_matrix on top of it, with a collection of its own in a folder: no network.

#include "matrices/find_matrix.hpp"

#include "solver/error.hpp"
#include "support/environment.hpp"
#include "support/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <thread>

namespace solver::matrices {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* banner = "%%MatrixMarket matrix coordinate real ";
constexpr const char* sha256_of_g =  // of "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 5\n"
    "f34e25c866e1b602def665c55b7fd812d4d0737bd95565e5681bf354860b64e6";

struct Finished {
    int status;
    std::string out;
    std::string err;
};

/// Whether what the script runs is there; the rest of the tests says nothing without it.
bool has_tools() { return std::system("command -v curl tar bash awk sha256sum >/dev/null 2>&1") == 0; }

class Fetch : public ::testing::Test {
protected:
    void SetUp() override {
        if (!has_tools()) GTEST_SKIP() << "curl, tar, bash, awk or sha256sum is missing";
        write("catalogue.tsv", std::string("name\tgroup\trows\tcolumns\tnonzeros\tstored_zeros\tfield\tkind\tgood_for\tsha256\n"
                                           "s\tG\t3\t3\t5\t0\treal\ttest\tsymmetric\t-\n"
                                           "g\tG\t2\t2\t0\t1\tinteger\ttest\tchecksum\t") +
                                   sha256_of_g +
                                   "\n"
                                   "dc2\tG\t3\t3\t5\t0\treal\ttest\tnot in the collection\t-\n");
        pack("G/s", banner + std::string("symmetric\n% a comment\n3 3 4\n1 1 1.5\n2 1 2\n2 2 3\n3 3 1\n"));
        pack("G/g", banner + std::string("general\n2 2 1\n1 2 5\n"));
    }

    fs::path path(const std::string& name) const { return folder_.path() / name; }

    void write(const std::string& name, const std::string& text) const {
        fs::create_directories(path(name).parent_path());
        std::ofstream(path(name), std::ios::binary) << text;
    }

    std::string read(const std::string& name) const {
        std::ifstream file(path(name));
        return {std::istreambuf_iterator<char>(file), {}};
    }

    /// Puts GROUP/NAME.tar.gz with NAME/NAME.mtx into the collection.
    void pack(const std::string& matrix, const std::string& text) const {
        const fs::path name = fs::path(matrix).filename();
        write(("source" / name / name).string() + ".mtx", text);
        fs::create_directories(path("MM") / fs::path(matrix).parent_path());
        const std::string command =
            "tar -C '" + path("source").string() + "' -czf '" + path("MM/" + matrix).string() + ".tar.gz' " + name.string();
        ASSERT_EQ(std::system(command.c_str()), 0);
    }

    Finished run(const std::string& arguments) const {
        const std::string command = std::string("'") + SOLVER_SOURCE_FOLDER + "/matrices/fetch' " + arguments + " >'" +
                                    path("out").string() + "' 2>'" + path("err").string() + "' </dev/null";
        const int status = std::system(command.c_str());
        return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read("out"), read("err")};
    }

    /// What lies in the cache, hidden files too, as paths from there.
    std::vector<std::string> cached() const {
        std::vector<std::string> files;
        if (!fs::exists(path("cache"))) return files;
        for (const auto& entry : fs::recursive_directory_iterator(path("cache")))
            files.push_back(entry.path().lexically_relative(path("cache")).string());
        std::sort(files.begin(), files.end());
        return files;
    }

    /// Fetching NAME fails, says so and leaves nothing behind.
    void expect_refusal(const std::string& name, const std::string& text) const {
        const Finished finished = run(name);
        EXPECT_EQ(finished.status, 1) << name;
        EXPECT_EQ(finished.out, "") << name;
        EXPECT_THAT(finished.err, HasSubstr(text)) << name;
        EXPECT_THAT(cached(), IsEmpty()) << name;
    }

    std::string error_of(const std::string& name) const {
        try {
            find_matrix(name, {path("cache")}, Fetching::quietly);
        } catch (const FileError& error) {
            return error.what();
        }
        return "";
    }

private:
    using Variable = solver::testing::EnvironmentVariable;
    solver::testing::TemporaryFolder folder_;
    Variable catalogue_{"SOLVER_CATALOGUE", path("catalogue.tsv").string()};
    Variable collection_{"SOLVER_COLLECTION", "file://" + path("MM").string()};
    Variable cache_{"SOLVER_CACHE", path("cache").string()};
    Variable offline_{"SOLVER_OFFLINE", ""};
};

TEST_F(Fetch, PutsACheckedMatrixIntoTheCacheAndPrintsItsPath) {
    const Finished finished = run("s");
    EXPECT_EQ(finished.status, 0) << finished.err;
    EXPECT_EQ(finished.out, path("cache/s.mtx").string() + "\n");
    EXPECT_THAT(finished.err, AllOf(HasSubstr("sizes are right"), HasSubstr("unverified")));
    EXPECT_EQ(read("cache/s.mtx"), read("source/s/s.mtx"));
    EXPECT_THAT(cached(), ElementsAre("s.mtx"));
}

TEST_F(Fetch, TakesNamesWithSuffixAndGroupAndSeveralAtOnce) {
    EXPECT_EQ(run("--quiet s.mtx G/g").status, 0);
    EXPECT_EQ(read("err"), "");
    EXPECT_THAT(cached(), ElementsAre("g.mtx", "s.mtx"));
}

TEST_F(Fetch, VerifiesAChecksumThatIsKnown) {
    EXPECT_THAT(run("g").err, HasSubstr("sizes and checksum are right"));
    fs::remove_all(path("cache"));
    pack("G/g", banner + std::string("general\n2 2 1\n2 1 5\n"));
    expect_refusal("g", sha256_of_g);
}

TEST_F(Fetch, LeavesWhatIsThereAlone) {
    write("cache/s.mtx", "mine");
    EXPECT_EQ(run("s").status, 0);
    EXPECT_EQ(read("cache/s.mtx"), "mine");
}

TEST_F(Fetch, FetchesWhatIsNotInTheCatalogueByItsGroupAndSaysThatItIsUnchecked) {
    pack("Other/s", banner + std::string("general\n1 1 1\n1 1 1\n"));
    const Finished finished = run("Other/s");
    EXPECT_EQ(finished.status, 0) << finished.err;
    EXPECT_THAT(finished.err, AllOf(HasSubstr("not in the catalogue"), HasSubstr("unverified")));
    EXPECT_THAT(cached(), ElementsAre("Other", "Other/s.mtx")) << "another matrix of the same name is not in its way";
    EXPECT_EQ(std::get<fs::path>(find_matrix("Other/s", {path("cache")}).source), path("cache/Other/s.mtx"));
}

TEST_F(Fetch, RefusesWhatIsNotTheMatrixOfTheCatalogue) {
    pack("G/s", banner + std::string("symmetric\n3 3 3\n1 1 1.5\n2 2 3\n3 3 1\n"));
    expect_refusal("s", "expected (field, rows, columns, entries) real 3 3 5, the file has real 3 3 3");
    pack("G/s", banner + std::string("symmetric\n4 3 4\n1 1 1.5\n2 1 2\n2 2 3\n3 3 1\n"));
    expect_refusal("s", "the file has real 4 3 5");
    pack("G/s", "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 4\n1 1\n2 1\n2 2\n3 3\n");
    expect_refusal("s", "the file has pattern 3 3 5");
}

TEST_F(Fetch, RefusesBrokenFiles) {
    pack("G/s", banner + std::string("symmetric\n3 3 4\n1 1 1.5\n2 1 2\n2 2 3\n"));
    expect_refusal("s", "3 entries follow, 4 are announced");
    pack("G/s", "<html>\n");
    expect_refusal("s", "begins with <html>");
    pack("G/s", "");
    expect_refusal("s", "no line of sizes");
    pack("G/s", "%%MatrixMarket matrix array real general\n1 1\n1\n");
    expect_refusal("s", "matrix array");
}

TEST_F(Fetch, RefusesBrokenArchives) {
    write("MM/G/s.tar.gz", "<html>sign in</html>");
    expect_refusal("s", "is no archive; does this network ask for a sign-in");
    fs::copy_file(path("MM/G/g.tar.gz"), path("MM/G/s.tar.gz"), fs::copy_options::overwrite_existing);
    expect_refusal("s", "has no s/s.mtx");
    fs::resize_file(path("MM/G/s.tar.gz"), 40);
    expect_refusal("s", "damaged");
}

TEST_F(Fetch, SaysWhatWasTriedWhereThereIsNothing) {
    expect_refusal("dc2", "file://" + path("MM/G/dc2.tar.gz").string());
    EXPECT_THAT(read("err"), HasSubstr("put dc2.mtx into"));
}

TEST_F(Fetch, NamesTheClosestNames) {
    expect_refusal("dc3", "closest names: dc2");
    for (const char* name : {"../etc", "G/../../x", "/etc/passwd", "''", "G/s/t", "'s t'", "'$(x)/y'", ".hidden/x"})
        expect_refusal(name, "");
}

TEST_F(Fetch, HeedsOffline) {
    const solver::testing::EnvironmentVariable offline("SOLVER_OFFLINE", "1");
    expect_refusal("s", "SOLVER_OFFLINE forbids");
    write("cache/s.mtx", "there");
    EXPECT_EQ(run("s").status, 0);
}

TEST_F(Fetch, FailsClearlyWhereTheCacheCannotBeWritten) {
    write("cache", "a file where a folder is wanted");
    const Finished finished = run("s");
    EXPECT_EQ(finished.status, 1);
    EXPECT_THAT(finished.err, HasSubstr("SOLVER_CACHE may name another folder"));
}

TEST_F(Fetch, LeavesNothingBehindWhenInterrupted) {
    ASSERT_EQ(std::system(("mkfifo '" + path("MM/G/dc2.tar.gz").string() + "'").c_str()), 0);  // never answers
    const Finished finished = run("dc2 2>/dev/null & script=$!; sleep 0.5; kill -TERM $script; wait $script");
    EXPECT_EQ(finished.status, 130);
    EXPECT_THAT(cached(), IsEmpty());
}

TEST_F(Fetch, SeveralAtOnceDoNotDisturbEachOther) {
    std::vector<std::thread> threads;
    std::vector<int> status(4, -1);
    for (int& one : status)
        threads.emplace_back(
            [&] { one = std::system((std::string(SOLVER_SOURCE_FOLDER) + "/matrices/fetch --quiet s >/dev/null").c_str()); });
    for (std::thread& thread : threads) thread.join();
    EXPECT_THAT(status, ::testing::Each(0));
    EXPECT_THAT(cached(), ElementsAre("s.mtx"));
    EXPECT_EQ(read("cache/s.mtx"), read("source/s/s.mtx"));
}

TEST_F(Fetch, HelpAndListAreForPeople) {
    EXPECT_THAT(run("--help").out, AllOf(HasSubstr("Usage: fetch"), HasSubstr("SOLVER_OFFLINE")));
    EXPECT_THAT(run("--list").out, AllOf(HasSubstr("dc2"), HasSubstr("symmetric"), Not(HasSubstr("good_for"))));
    EXPECT_EQ(run("").status, 1);
    EXPECT_THAT(run("--frobnicate").err, HasSubstr("no option --frobnicate"));
}

// ------------------------------------------------------------------------------------------------------------- find_matrix

TEST_F(Fetch, FindMatrixFetchesWhatTheCatalogueHas) {
    for (const char* name : {"s.mtx", "s", "G/s"}) {
        fs::remove_all(path("cache"));
        const FoundMatrix found = find_matrix(name, {path("cache")}, Fetching::quietly);
        EXPECT_EQ(std::get<fs::path>(found.source), path("cache/s.mtx"));
        EXPECT_TRUE(fs::exists(path("cache/s.mtx")));
    }
}

TEST_F(Fetch, FindMatrixAnnouncesInOneLine) {
    ::testing::internal::CaptureStderr();
    find_matrix("g", {path("cache")}, Fetching::announced);
    const std::string err = ::testing::internal::GetCapturedStderr();
    EXPECT_THAT(err, AllOf(HasSubstr("fetching G/g (2 x 2,"), HasSubstr(path("cache").string())));
    ::testing::internal::CaptureStderr();
    find_matrix("s", {path("cache")}, Fetching::quietly);
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST_F(Fetch, FindMatrixNamesTheStandInWhereFetchingFails) {
    EXPECT_THAT(error_of("dc2.mtx"), AllOf(HasSubstr("fetching it failed"), HasSubstr("dc2_like.mtx stands in"),
                                           HasSubstr(path("cache/dc2.mtx").string())));
    const solver::testing::EnvironmentVariable offline("SOLVER_OFFLINE", "1");
    EXPECT_THAT(error_of("dc2"), AllOf(HasSubstr("SOLVER_OFFLINE forbids"), HasSubstr("dc2_like.mtx stands in")));
    EXPECT_THAT(error_of("s"), AllOf(HasSubstr("SOLVER_OFFLINE forbids"), Not(HasSubstr("_like"))));
    EXPECT_THAT(error_of("dc3"), AllOf(HasSubstr("no such matrix"), HasSubstr("Closest names: dc2.mtx")));
}

TEST_F(Fetch, FindMatrixDoesNotFetchWhenToldNeverTo) {
    EXPECT_THROW(find_matrix("s", {path("cache")}, Fetching::never), FileError);
    EXPECT_THAT(cached(), IsEmpty());
}

}  // namespace
}  // namespace solver::matrices
