#pragma once

/// One line on the terminal that says what is going on, and goes away.

#include "solver/bicgstab.hpp"

#include <chrono>
#include <string>

namespace solver::command {

/// Writes to standard error where that is a terminal, else nowhere.
class LiveLine {
public:
    explicit LiveLine(bool wanted);
    ~LiveLine() { clear(); }
    LiveLine(const LiveLine&) = delete;
    LiveLine& operator=(const LiveLine&) = delete;

    void show(const std::string& text);
    void clear();

    /// Shows a step of the iteration, ten times a second at most. The first one starts the clock.
    void show(const Iteration& iteration, double tolerance);

private:
    using Clock = std::chrono::steady_clock;

    bool on_;
    bool shown_ = false;
    Clock::time_point start_{};
    Clock::time_point next_{};
};

}  // namespace solver::command
