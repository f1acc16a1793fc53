#pragma once

/// How long something has taken: told to the caller, never decided by.

#include <chrono>

namespace solver {

/// Since it was made.
class Elapsed {
public:
    double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point start_ = Clock::now();
};

}  // namespace solver
