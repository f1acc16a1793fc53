#pragma once

/// Ctrl-C as a question to ask, not the end of the process.

#include <csignal>

namespace solver::command {

/// While one lives, the first SIGINT is remembered and a second one ends the process as usual; where
/// SIGINT was ignored, it stays so. One at a time.
class InterruptGuard {
public:
    InterruptGuard();
    ~InterruptGuard();
    InterruptGuard(const InterruptGuard&) = delete;
    InterruptGuard& operator=(const InterruptGuard&) = delete;

    bool requested() const;

private:
    struct sigaction before_ {};
};

}  // namespace solver::command
