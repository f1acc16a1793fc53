#pragma once

/// Whether an attempt is worth going on with.

#include "solver/krylov.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

namespace solver {

/// What an attempt is given up for.
enum class GiveUp {
    never,
    when_too_slow,  ///< at the mean rate so far, it would take more iterations than its share
    when_stuck,     ///< the residual has not halved in the last half of the iterations, 1024 or more
};

/// Judges after powers of two of iterations. What may be too slow is judged first when an eighth of the share is used, and
/// not before the fourth iteration: residuals of Krylov methods may rise before they fall.
class ConvergenceMonitor {
public:
    ConvergenceMonitor(GiveUp rule, double tolerance, std::int64_t share) : rule_(rule), tolerance_(tolerance), share_(share) {}

    /// Told of every iteration. Whether to give up here.
    bool gives_up(const Iteration& iteration) {
        const double residual = iteration.recursive_residual;
        if (iteration.number == 0) first_ = least_ = least_before_ = residual;
        least_ = std::min(least_, residual);
        if (!std::has_single_bit(static_cast<std::uint64_t>(iteration.number))) return false;
        const double before = std::exchange(least_before_, least_);
        if (rule_ == GiveUp::never || iteration.number < first_check()) return false;
        return rule_ == GiveUp::when_stuck ? !(least_ <= before / 2) : is_too_slow(iteration.number);
    }

    /// The first iteration after this one at which it judges.
    std::int64_t next_check(std::int64_t iteration) const {
        if (rule_ == GiveUp::never) return std::numeric_limits<std::int64_t>::max();
        const std::int64_t from = std::max(iteration + 1, first_check());
        return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(from)));
    }

private:
    std::int64_t first_check() const { return rule_ == GiveUp::when_stuck ? 1024 : std::max<std::int64_t>(4, share_ / 8); }

    bool is_too_slow(std::int64_t iterations) const {
        const double needed = std::log2(first_ / tolerance_);
        const double gained = std::log2(first_ / least_);
        return static_cast<double>(iterations) * needed > static_cast<double>(share_) * gained;
    }

    GiveUp rule_;
    double tolerance_;
    std::int64_t share_;
    double first_ = 1;
    double least_ = 1;
    double least_before_ = 1;  ///< at the last power of two
};

}  // namespace solver
