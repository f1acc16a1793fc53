#pragma once

/// Ctrl-C as a question to ask, not the end of the process.

#include "solver/device.hpp"

#include <csignal>
#include <cstdint>

namespace solver::command {

/// While one lives, the first SIGINT is remembered, and one that comes more than half a second later ends the process as usual;
/// where SIGINT was ignored, it stays so. One at a time.
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

/// After so many iterations an iteration looks whether Ctrl-C was pressed. A GPU makes them without the host, for which it
/// would wait as long as many an iteration takes.
inline std::int64_t iterations_between_questions(const Device& device) {
    constexpr std::int64_t on_a_gpu = 16;
    return device.kind() == Device::Kind::cuda ? on_a_gpu : 1;
}

}  // namespace solver::command
