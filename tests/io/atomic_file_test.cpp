#include "io/atomic_file.hpp"

#include "solver/error.hpp"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace solver {
namespace {

using std::filesystem::path;
using testing::HasSubstr;

class AtomicFileTest : public testing::Test {
protected:
    AtomicFileTest() {
        std::string pattern = testing::TempDir() + "/atomic_file_XXXXXX";
        folder_ = ::mkdtemp(pattern.data());
        file_ = folder_ / "a.txt";
    }
    ~AtomicFileTest() override { std::filesystem::remove_all(folder_); }

    static std::string content(const path& file) {
        std::ostringstream text;
        text << std::ifstream(file).rdbuf();
        return text.str();
    }

    std::ptrdiff_t files() const { return std::distance(std::filesystem::directory_iterator(folder_), {}); }

    /// What follows the path in the message of the FileError that writing throws.
    static std::string refusal(const path& file, std::string_view bytes) {
        try {
            write_file(file, bytes);
        } catch (const FileError& error) {
            return std::string(error.what()).substr(file.string().size());
        }
        return "";
    }

    path folder_;
    path file_;
};

TEST_F(AtomicFileTest, ReplacesTheFileOnlyWhenCommitted) {
    write_file(file_, "old");
    {
        AtomicFile file(file_);
        file.write("new");
        EXPECT_EQ(content(file_), "old");
    }
    EXPECT_EQ(content(file_), "old");
    EXPECT_EQ(files(), 1);
    write_file(file_, "new");
    EXPECT_EQ(content(file_), "new");
    EXPECT_EQ(files(), 1);
}

TEST_F(AtomicFileTest, WritesToOpenFilesNamedByTheirDescriptorsWhereTheyAre) {
    std::FILE* open_file = std::fopen(file_.c_str(), "w");
    ASSERT_NE(open_file, nullptr);
    std::fputs("before ", open_file);
    std::fflush(open_file);
    write_file("/dev/fd/" + std::to_string(fileno(open_file)), "written ");
    std::fputs("after", open_file);
    std::fclose(open_file);
    EXPECT_EQ(content(file_), "before written after");
    EXPECT_EQ(files(), 1);
    EXPECT_THROW(write_file("/dev/fd/9999", "x"), FileError);
}

TEST_F(AtomicFileTest, KeepsTheOldFileWhenTheDiskIsFull) {
    write_file(file_, "old");
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    const rlimit small{1 << 16, before.rlim_max};
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    const std::string message = refusal(file_, std::string(1 << 20, 'x'));
    setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
    EXPECT_EQ(message, ": writing failed: File too large");
    EXPECT_EQ(content(file_), "old");
    EXPECT_EQ(files(), 1);
}

TEST_F(AtomicFileTest, GivesTheRightsOfAnyNewFile) {
    const path other = folder_ / "other.txt";
    std::ofstream(other) << "x";
    write_file(file_, "x");
    EXPECT_EQ(std::filesystem::status(file_).permissions(), std::filesystem::status(other).permissions());
}

TEST_F(AtomicFileTest, RefusesFoldersAndPathsThatDoNotExist) {
    EXPECT_EQ(refusal(folder_, "x"), ": cannot be written: it is a folder");
    EXPECT_EQ(refusal(folder_ / "absent" / "a.txt", "x"),
              ": cannot be written: no temporary file in its folder: No such file or directory");
}

TEST_F(AtomicFileTest, RefusesAFolderWithoutWritePermission) {
    if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
    write_file(file_, "old");
    ::chmod(folder_.c_str(), 0500);
    const std::string message = refusal(file_, "new");
    ::chmod(folder_.c_str(), 0700);
    EXPECT_THAT(message, HasSubstr("Permission denied"));
    EXPECT_EQ(content(file_), "old");
}

TEST_F(AtomicFileTest, KeepsPermissionsAndFollowsLinks) {
    write_file(file_, "old");
    ::chmod(file_.c_str(), 0640);
    std::filesystem::create_symlink(file_, folder_ / "link");
    write_file(folder_ / "link", "new");
    EXPECT_EQ(content(file_), "new");
    EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "link"));
    EXPECT_EQ(std::filesystem::status(file_).permissions(), std::filesystem::perms(0640));
}

TEST_F(AtomicFileTest, FollowsLinksToAFileThatIsNotThereYet) {
    std::filesystem::create_symlink("middle", folder_ / "link");
    std::filesystem::create_symlink(file_, folder_ / "middle");
    write_file(folder_ / "link", "new");
    EXPECT_EQ(content(file_), "new");
    EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "link"));
    EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "middle"));
}

TEST_F(AtomicFileTest, WritesToDevicesWithoutReplacingThem) {
    write_file("/dev/null", "x");
    EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
    EXPECT_EQ(refusal("/dev/full", "x"), ": writing failed: No space left on device");
}

TEST_F(AtomicFileTest, AcceptsNamesInTheCurrentFolder) {
    const path before = std::filesystem::current_path();
    std::filesystem::current_path(folder_);
    write_file("a.txt", "here");
    std::filesystem::current_path(before);
    EXPECT_EQ(content(file_), "here");
}

TEST_F(AtomicFileTest, WritesDraftsWhereALaterWriteReplacesThem) {
    write_draft(file_, "one");
    write_draft(file_, "two");
    EXPECT_EQ(content(file_), "two");
    const path pipe = folder_ / "pipe";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    write_draft(pipe, "nobody reads it, and nobody waits");
    write_draft("/dev/full", "x");
    std::FILE* open_file = std::fopen(file_.c_str(), "a");
    ASSERT_NE(open_file, nullptr);
    write_draft("/dev/fd/" + std::to_string(fileno(open_file)), "x");
    std::fclose(open_file);
    EXPECT_EQ(content(file_), "two");
}

TEST_F(AtomicFileTest, KnowsWhatCanBeWrittenWithoutOpeningPipes) {
    const path pipe = folder_ / "pipe";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    require_writable(pipe);  // which nobody reads
    require_writable(file_);
    EXPECT_FALSE(std::filesystem::exists(file_));
    EXPECT_THROW(require_writable(folder_), FileError);
    EXPECT_THROW(require_writable(folder_ / "absent" / "a.txt"), FileError);
    EXPECT_THROW(require_writable(folder_ / std::string(300, 'x')), FileError);
    if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
    ::chmod(pipe.c_str(), 0400);
    EXPECT_THROW(require_writable(pipe), FileError);
}

std::vector<std::string> told;

TEST_F(AtomicFileTest, RemovesWhatIsBeingWrittenWhenAHandlerOfSignalsAsks) {
    write_file(file_, "old");
    told.clear();
    {
        AtomicFile first(file_), second(folder_ / "b.txt"), device("/dev/null"), done(folder_ / "c.txt");
        done.write("whole");
        done.commit();
        first.write("half");
        EXPECT_EQ(files(), 4);
        abandon_unfinished_files(
            [](const char* name, bool directly) { told.push_back(name + std::string(directly ? "!" : "")); });
    }
    EXPECT_THAT(told, testing::UnorderedElementsAre(file_.string(), (folder_ / "b.txt").string(), "/dev/null!"));
    EXPECT_EQ(content(file_), "old");
    EXPECT_EQ(content(folder_ / "c.txt"), "whole");
    EXPECT_EQ(files(), 2);
}

TEST_F(AtomicFileTest, TellsOfNothingWhereNothingIsBeingWritten) {
    write_file(file_, "whole");
    EXPECT_THROW(AtomicFile(folder_ / "absent" / "a.txt"), FileError);
    EXPECT_THROW(AtomicFile("/dev/fd/9999"), FileError);
    told.clear();
    abandon_unfinished_files([](const char* name, bool) { told.emplace_back(name); });
    EXPECT_THAT(told, testing::IsEmpty());
}

}  // namespace
}  // namespace solver
