#pragma once

/// Time that passes on the wall.

#include <chrono>
#include <utility>

namespace solver::command {

class Stopwatch {
public:
    /// Seconds since the last call.
    double lap() {
        const auto now = std::chrono::steady_clock::now();
        return std::chrono::duration<double>(now - std::exchange(last_, now)).count();
    }

private:
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace solver::command
