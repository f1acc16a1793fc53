#include "matrices/fetch_matrix.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace solver::matrices {
namespace {

namespace fs = std::filesystem;

bool is_set(const char* value) { return value != nullptr && *value != '\0'; }

fs::path script() {
    const fs::path here = fs::path(SOLVER_MATRICES_SOURCE_FOLDER) / "fetch";
    std::error_code ignored;
    return fs::exists(here, ignored) ? here : fs::path(SOLVER_MATRICES_INSTALLED_FOLDER) / "fetch";
}

/// Becomes the script; its standard output, the path of the file, goes nowhere. It ends with its parent.
[[noreturn]] void run(const fs::path& script, const std::string& matrix, bool quiet) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    const char* first = quiet ? "--quiet" : matrix.c_str();
    const char* second = quiet ? matrix.c_str() : nullptr;
    if (std::freopen("/dev/null", "w", stdout) != nullptr) ::execl(script.c_str(), script.c_str(), first, second, nullptr);
    ::_exit(127);
}

}  // namespace

bool is_offline() {
    const char* offline = std::getenv("SOLVER_OFFLINE");
    return is_set(offline) && std::strcmp(offline, "0") != 0;
}

fs::path cache_folder() {
    if (const char* cache = std::getenv("SOLVER_CACHE"); is_set(cache)) return cache;
    if (const char* cache = std::getenv("XDG_CACHE_HOME"); is_set(cache)) return fs::path(cache) / "solver";
    if (const char* home = std::getenv("HOME"); is_set(home)) return fs::path(home) / ".cache" / "solver";
    return {};
}

bool fetch_matrix(const CatalogueEntry& matrix, bool quiet) {
    const fs::path path = script();
    const std::string name = matrix.group + '/' + matrix.name;
    const pid_t child = ::fork();
    if (child == 0) run(path, name, quiet);
    int status = 0;
    while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace solver::matrices
