#pragma once

/// Programs started in a folder of their own, limited and ended by the test.

#include "support/temporary_folder.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace solver::testing {

namespace fs = std::filesystem;

inline std::string content(const fs::path& file) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
}

struct Ended {
    int status;  ///< of the exit, or minus the signal
    std::string err;
};

/// What becomes of a child before its program begins.
struct Start {
    rlim_t file_size = RLIM_INFINITY;  ///< that no file may grow beyond
    const char* out = "/dev/null";     ///< standard output, below `folder`
    std::string folder = {};           ///< the current one, where it is not the test's
    void (*prepare)() = [] {};         ///< called last
};

class StartedPrograms : public ::testing::Test {
protected:
    fs::path path(const std::string& name) const { return folder_.path() / name; }

    /// Standard error goes to the file err of the test's folder.
    pid_t start(const std::vector<std::string>& words, const Start& how = {}) const {
        const pid_t child = ::fork();
        if (child != 0) return child;
        std::vector<char*> arguments;
        for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
        arguments.push_back(nullptr);
        const fs::path here = how.folder.empty() ? folder_.path() : fs::path(how.folder);
        if (::chdir(here.c_str()) != 0) ::_exit(127);
        ::dup2(::open(path("err").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
        ::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
        ::dup2(::open(how.out, O_WRONLY | O_CREAT, 0600), STDOUT_FILENO);
        const rlimit size{how.file_size, RLIM_INFINITY};
        if (::setrlimit(RLIMIT_FSIZE, &size) != 0) ::_exit(127);
        how.prepare();
        ::execv(arguments[0], arguments.data());
        ::_exit(127);
    }

    Ended wait_for(pid_t child) const {
        int status = 0;
        ::waitpid(child, &status, 0);
        return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), content(path("err"))};
    }

    Ended run(const std::vector<std::string>& words, const Start& how = {}) const { return wait_for(start(words, how)); }

    static std::ptrdiff_t files_in(const fs::path& folder) { return std::distance(fs::directory_iterator(folder), {}); }

    /// What lies in the test's folder, but for standard error.
    std::ptrdiff_t files() const { return files_in(folder_.path()) - 1; }

private:
    TemporaryFolder folder_;
};

}  // namespace solver::testing
