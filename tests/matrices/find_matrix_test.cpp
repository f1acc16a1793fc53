#include "matrices/find_matrix.hpp"

#include "solver/error.hpp"
#include "support/environment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <cstdlib>
#include <fstream>

namespace solver::matrices {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// A folder of its own to stand in, and two more to look into.
class FindMatrix : public ::testing::Test {
protected:
    FindMatrix() {
        std::string name = (fs::temp_directory_path() / "find_matrix_XXXXXX").string();
        root_ = ::mkdtemp(name.data());
        for (const char* folder : {"first", "second"}) {
            folders_.push_back(root_ / folder);
            fs::create_directory(folders_.back());
        }
        fs::current_path(root_);
    }
    ~FindMatrix() override {
        fs::current_path(before_);
        fs::remove_all(root_);
    }

    void touch(const fs::path& path) { std::ofstream(root_ / path) << "%%MatrixMarket\n"; }

    fs::path path_of(const std::string& name) { return std::get<fs::path>(find_matrix(name, folders_).source); }

    std::string error_of(const std::string& name) {
        try {
            find_matrix(name, folders_);
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    }

    const solver::testing::EnvironmentVariable offline_{"SOLVER_OFFLINE", "1"};
    const fs::path before_ = fs::current_path();
    fs::path root_;
    std::vector<fs::path> folders_;
};

TEST_F(FindMatrix, TakesAPathAsItIsAndAnnouncesNothing) {
    touch("here.mtx");
    EXPECT_EQ(path_of("here.mtx"), "here.mtx");
    EXPECT_EQ(path_of((root_ / "here.mtx").string()), root_ / "here.mtx");
    EXPECT_EQ(find_matrix("here.mtx", folders_).announcement, "");
}

TEST_F(FindMatrix, LooksIntoFoldersInTheirOrder) {
    touch("second/a.mtx");
    EXPECT_EQ(path_of("a.mtx"), root_ / "second/a.mtx");
    touch("first/a.mtx");
    EXPECT_EQ(path_of("a.mtx"), root_ / "first/a.mtx");
    touch("a.mtx");
    EXPECT_EQ(path_of("a.mtx"), "a.mtx");
}

TEST_F(FindMatrix, AddsSuffixesAndAnnouncesWhatItTook) {
    touch("first/packed.mtx.gz");
    touch("second/plain.mtx");
    EXPECT_EQ(path_of("packed.mtx"), root_ / "first/packed.mtx.gz");
    EXPECT_EQ(path_of("packed"), root_ / "first/packed.mtx.gz");
    EXPECT_EQ(path_of("plain"), root_ / "second/plain.mtx");
    EXPECT_THAT(find_matrix("plain", folders_).announcement, HasSubstr("second/plain.mtx"));
}

TEST_F(FindMatrix, FallsBackToGeneratorsAndSaysSo) {
    for (const char* name : {"dc2_like", "dc2_like.mtx"}) {
        const FoundMatrix found = find_matrix(name, folders_);
        EXPECT_EQ(std::get<Generator>(found.source).name, "dc2_like.mtx");
        EXPECT_THAT(found.announcement, HasSubstr("generated"));
    }
}

TEST_F(FindMatrix, PrefersAFileToAGenerator) {
    touch("second/poisson2d_3.mtx");
    EXPECT_EQ(path_of("poisson2d_3"), root_ / "second/poisson2d_3.mtx");
}

TEST_F(FindMatrix, ListsWhatWasTriedTheGeneratorsAndTheClosestNames) {
    touch("second/memplus.mtx.gz");
    EXPECT_THAT(error_of("memplsu.mtx"),
                AllOf(HasSubstr("first/memplsu.mtx\n"), HasSubstr("second/memplsu.mtx.gz\n"), HasSubstr("dc2_like.mtx"),
                      HasSubstr("power_law_N.mtx"), HasSubstr("SOLVER_MATRIX_PATH"),
                      HasSubstr("Closest names: memplus.mtx, memplus.mtx.gz\n")));
    EXPECT_THAT(error_of("poison2d_100"), HasSubstr("Closest names: poisson2d_N.mtx"));
    EXPECT_THAT(error_of("dc2_lik"), HasSubstr("Closest names: dc2_like.mtx"));
    EXPECT_THAT(error_of("dc2.mtx"), HasSubstr("dc2_like.mtx stands in"));
    EXPECT_THAT(error_of("sub/memplus.mtx"), HasSubstr("Closest names: memplus.mtx, memplus.mtx.gz"));
}

TEST_F(FindMatrix, CallsADirectoryADirectory) {
    fs::create_directory(root_ / "memplus");
    touch("second/memplus.mtx");
    EXPECT_THAT(error_of("memplus"), HasSubstr("is a directory"));
    EXPECT_THAT(error_of("."), HasSubstr("is a directory"));
}

TEST_F(FindMatrix, CallsAnUnreadableFileUnreadable) {
    touch("first/dc2_like.mtx");
    fs::permissions(root_ / "first/dc2_like.mtx", fs::perms::none);
    if (::access((root_ / "first/dc2_like.mtx").c_str(), R_OK) == 0) GTEST_SKIP() << "this user may read everything";
    EXPECT_THAT(error_of("dc2_like.mtx"), HasSubstr("may not be read"));
}

TEST_F(FindMatrix, RefusesALinkThatLeadsNowhere) {
    fs::create_symlink("nowhere", root_ / "dc2_like.mtx");
    EXPECT_THAT(error_of("dc2_like.mtx"), HasSubstr("link"));
}

TEST_F(FindMatrix, RefusesNamesThatCannotBeFiles) {
    EXPECT_THAT(error_of(""), HasSubstr("empty"));
    EXPECT_THAT(error_of(std::string(5000, 'x')), HasSubstr("no such matrix"));
    EXPECT_THAT(error_of("poisson2d_0"), HasSubstr("size N >= 1"));
    touch("file");
    EXPECT_THAT(error_of("file/below.mtx"), HasSubstr("no such matrix"));
}

TEST(MatrixFolders, ComeFromTheEnvironment) {
    ::setenv("SOLVER_MATRIX_PATH", ":/one::/two:", 1);
    ::setenv("SOLVER_CACHE", "/cache", 1);
    ::setenv("XDG_CACHE_HOME", "/xdg", 1);
    ::setenv("HOME", "/home/somebody", 1);
    EXPECT_EQ(matrix_folders()[0], "/one");
    EXPECT_EQ(matrix_folders()[1], "/two");
    EXPECT_EQ(matrix_folders().back(), "/cache");
    ::unsetenv("SOLVER_CACHE");
    EXPECT_EQ(matrix_folders().back(), "/xdg/solver");
    ::unsetenv("XDG_CACHE_HOME");
    EXPECT_EQ(matrix_folders().back(), "/home/somebody/.cache/solver");
}

}  // namespace
}  // namespace solver::matrices
