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
    sigaction(SIGINT, &action, &before_);
}

InterruptGuard::~InterruptGuard() { sigaction(SIGINT, &before_, nullptr); }

bool InterruptGuard::requested() const { return seen != 0; }

}  // namespace solver::command
