#include "child_process.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <system_error>

namespace solver::bench {
namespace {

using Clock = std::chrono::steady_clock;

bool write_all(int descriptor, const std::string& text) {
    for (std::size_t done = 0; done < text.size();) {
        const ssize_t written = ::write(descriptor, text.data() + done, text.size() - done);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        done += static_cast<std::size_t>(written);
    }
    return true;
}

/// The child's whole life. It dies with its parent, leaves no core file, and is the first to go where memory runs out.
[[noreturn]] void live(const std::function<std::string()>& work, int output) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    std::ofstream("/proc/self/oom_score_adj") << 1000;
    bool done = false;
    try {
        done = write_all(output, work());
    } catch (...) {
    }
    ::_exit(done ? 0 : 1);
}

/// Reads until the other end is closed. False where the time is up before.
bool read_all(int descriptor, Clock::time_point deadline, std::string& text) {
    std::array<char, 4096> block;
    while (true) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
        if (left <= 0) return false;
        pollfd wait{descriptor, POLLIN, 0};
        const int ready = ::poll(&wait, 1, static_cast<int>(std::min<std::int64_t>(left, 1'000'000)));
        if (ready <= 0) continue;
        const ssize_t bytes = ::read(descriptor, block.data(), block.size());
        if (bytes < 0 && errno == EINTR) continue;
        if (bytes <= 0) return true;
        text.append(block.data(), static_cast<std::size_t>(bytes));
    }
}

}  // namespace

Ending run_apart(const std::function<std::string()>& work, double time_limit) {
    const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(time_limit));
    std::fflush(nullptr);
    std::array<int, 2> pipe_ends;
    if (::pipe(pipe_ends.data()) != 0) throw std::system_error(errno, std::generic_category(), "a pipe cannot be made");
    const pid_t child = ::fork();
    if (child < 0) throw std::system_error(errno, std::generic_category(), "a process cannot be started");
    if (child == 0) {
        ::close(pipe_ends[0]);
        live(work, pipe_ends[1]);
    }
    ::close(pipe_ends[1]);
    Ending ending;
    const bool in_time = read_all(pipe_ends[0], deadline, ending.result);
    ::close(pipe_ends[0]);
    if (!in_time) ::kill(child, SIGKILL);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (!in_time) {
        ending.how = Ending::How::timed_out;
    } else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        ending.how = Ending::How::died;
        ending.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    }
    return ending;
}

}  // namespace solver::bench
