#pragma once

/// One solve of a contest, and the time of its iterations.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

namespace solver::bench {

/// What a solver says of one solve.
struct Solve {
    std::int64_t iterations = 0;
    std::string status = {};          ///< empty where it says nothing
    std::optional<double> seconds{};  ///< where it takes its time by itself
};

/// Seconds of an iteration behind the first `part` ones, which took so many seconds by themselves; of all iterations where
/// these took longer than the whole, since something disturbed them.
inline double seconds_an_iteration(double seconds, std::int64_t iterations, double part_seconds, std::int64_t part) {
    const bool is_disturbed = part_seconds >= seconds;
    const std::int64_t counted = is_disturbed ? iterations : iterations - part;
    return (is_disturbed ? seconds : seconds - part_seconds) / static_cast<double>(std::max<std::int64_t>(counted, 1));
}

}  // namespace solver::bench
