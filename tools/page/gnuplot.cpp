#include "gnuplot.hpp"

#include "io/atomic_file.hpp"
#include "solver/error.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

namespace solver::page {
namespace {

/// A file without a name, in memory, which goes away with its last user however the program ends. Programs started here inherit
/// it and know it by its path.
class MemoryFile {
public:
    MemoryFile() : descriptor_(::memfd_create("solver-plot", 0)) {
        if (descriptor_ < 0) throw Error(fmt::format("--plot: no file in memory can be made: {}", std::strerror(errno)));
    }
    ~MemoryFile() { ::close(descriptor_); }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;

    std::string path() const { return fmt::format("/dev/fd/{}", descriptor_); }

    std::string contents() const {
        std::string bytes;
        std::array<char, 1 << 16> block;
        ssize_t count = 0;
        while ((count = ::pread(descriptor_, block.data(), block.size(), static_cast<off_t>(bytes.size()))) > 0)
            bytes.append(block.data(), static_cast<std::size_t>(count));
        return bytes;
    }

private:
    int descriptor_;
};

/// Ctrl-C is for us as well, but nobody hears of it while std::system waits.
void heed_signals(int status) {
    const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status) - 128;
    if (signal == SIGINT || signal == SIGQUIT) std::raise(signal);
}

}  // namespace

std::string drawn_by_gnuplot(const std::string& script, std::string_view instead) {
    const MemoryFile script_file, picture, messages;
    write_file(script_file.path(), script);
    const std::string command = fmt::format("gnuplot {} >{} 2>{}", script_file.path(), picture.path(), messages.path());
    const int status = std::system(command.c_str());
    heed_signals(status);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        throw NotSupported(
            fmt::format("--plot: gnuplot was not found on the PATH; install it (gnuplot-nox), or use {}", instead));
    if (status != 0) throw Error(fmt::format("--plot: gnuplot failed: {}", messages.contents()));
    return picture.contents();
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
