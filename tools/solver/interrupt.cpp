#include "interrupt.hpp"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <ctime>
#include <string_view>

namespace solver::command {
namespace {

/// timeout(1), srun and mpiexec send one signal to a process and once more to its group, which is to count once.
constexpr std::int64_t nanoseconds_of_one_press = 500'000'000;

std::atomic<std::int64_t> first = 0;  ///< nanoseconds of the steady clock at the first SIGINT; 0 where there was none
static_assert(decltype(first)::is_always_lock_free, "a handler may use it");

std::int64_t now() {
    timespec t{};
    ::clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1'000'000'000) + t.tv_nsec + 1;
}

/// Factors and proofs do not ask; who waits for them is told what to do.
void remember(int) {
    constexpr std::string_view told = "\ninterrupted: the solve ends after this step; once more ends it at once\n";
    const int before = errno;
    std::int64_t none = 0;
    if (const std::int64_t time = now(); first.compare_exchange_strong(none, time)) {
        [[maybe_unused]] const auto written = ::write(STDERR_FILENO, told.data(), told.size());
    } else if (time - none > nanoseconds_of_one_press) {
        std::signal(SIGINT, SIG_DFL);
        std::raise(SIGINT);
    }
    errno = before;
}

}  // namespace

InterruptGuard::InterruptGuard() {
    first = 0;
    struct sigaction action {};
    action.sa_handler = remember;
    action.sa_flags = SA_RESTART;
    sigaction(SIGINT, nullptr, &before_);
    if (before_.sa_handler != SIG_IGN) sigaction(SIGINT, &action, nullptr);  // as of what a shell runs in the background
}

InterruptGuard::~InterruptGuard() { sigaction(SIGINT, &before_, nullptr); }

bool InterruptGuard::requested() const { return first != 0; }

}  // namespace solver::command
