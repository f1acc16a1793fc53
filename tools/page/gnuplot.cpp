#include "gnuplot.hpp"

#include "io/atomic_file.hpp"
#include "solver/error.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace solver::page {
namespace {

namespace fs = std::filesystem;

/// A folder of our own that goes away.
class TemporaryFolder {
public:
    TemporaryFolder() : path_((fs::temp_directory_path() / "solver-plot-XXXXXX").string()) {
        if (mkdtemp(path_.data()) == nullptr)
            throw FileError(path_, 0, "cannot make this temporary folder; set TMPDIR to another");
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    fs::path file(const char* name) const { return fs::path(path_) / name; }

private:
    std::string path_;
};

std::string contents(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream bytes;
    bytes << file.rdbuf();
    return bytes.str();
}

std::string in_quotes(const fs::path& path) {
    std::string quoted = "'";
    for (const char c : path.string()) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

}  // namespace

std::string drawn_by_gnuplot(const std::string& script, std::string_view instead) {
    const TemporaryFolder folder;
    const fs::path script_file = folder.file("script"), picture = folder.file("picture"), messages = folder.file("messages");
    write_file(script_file, script);
    const std::string command =
        fmt::format("gnuplot {} >{} 2>{}", in_quotes(script_file), in_quotes(picture), in_quotes(messages));
    const int status = std::system(command.c_str());
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        throw NotSupported(
            fmt::format("--plot: gnuplot was not found on the PATH; install it (gnuplot-nox), or use {}", instead));
    if (status != 0) throw Error(fmt::format("--plot: gnuplot failed: {}", contents(messages)));
    return contents(picture);
}

std::string escaped_for_gnuplot(std::string_view text) {
    std::string safe;
    for (const char c : text) {
        if (std::string_view("_^{}@&~\\\"").find(c) != std::string_view::npos) safe += "\\\\";
        safe += c == '"' ? '\'' : c;
    }
    return safe;
}

}  // namespace solver::page
