#include "interrupt.hpp"

#include <unistd.h>

#include <cerrno>
#include <string_view>

namespace solver::command {
namespace {

volatile std::sig_atomic_t seen = 0;

/// Factors and proofs do not ask; who waits for them is told what to do.
void remember(int) {
    constexpr std::string_view told = "\ninterrupted: the solve ends after this step; once more ends it at once\n";
    const int before = errno;
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, told.data(), told.size());
    errno = before;
    seen = 1;
}

}  // namespace

InterruptGuard::InterruptGuard() {
    seen = 0;
    struct sigaction action {};
    action.sa_handler = remember;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(SIGINT, nullptr, &before_);
    if (before_.sa_handler != SIG_IGN) sigaction(SIGINT, &action, nullptr);  // as of what a shell runs in the background
}

InterruptGuard::~InterruptGuard() { sigaction(SIGINT, &before_, nullptr); }

bool InterruptGuard::requested() const { return seen != 0; }

}  // namespace solver::command
