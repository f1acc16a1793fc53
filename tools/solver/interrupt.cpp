#include "interrupt.hpp"

namespace solver::command {
namespace {

volatile std::sig_atomic_t seen = 0;

}  // namespace

InterruptGuard::InterruptGuard() {
    seen = 0;
    struct sigaction action {};
    action.sa_handler = [](int) { seen = 1; };
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(SIGINT, nullptr, &before_);
    if (before_.sa_handler != SIG_IGN) sigaction(SIGINT, &action, nullptr);  // as of what a shell runs in the background
}

InterruptGuard::~InterruptGuard() { sigaction(SIGINT, &before_, nullptr); }

bool InterruptGuard::requested() const { return seen != 0; }

}  // namespace solver::command
