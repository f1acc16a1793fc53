#pragma once

/// What calls cost, measured in turn so that a ratio compares neighbours in time.

#include <functional>
#include <span>
#include <vector>

namespace solver::blas2 {

struct Timing {
    double seconds = 0;  ///< of a call, median
    double cost = 0;     ///< by the first one's, median of the ratios within a round
};

/// The seconds of one call, by the clock on the wall: as many calls as take 0.2 ms.
double seconds_of(const std::function<void()>& call);

/// The seconds of one call, by the clock on the wall, of so many calls and what waits for them at the end.
double seconds_of_calls(int calls, const std::function<void()>& call, const std::function<void()>& wait);

/// Gives everybody a turn, which returns the seconds of a call, five times over.
std::vector<Timing> compare(std::span<const std::function<double()>> turns);

}  // namespace solver::blas2
