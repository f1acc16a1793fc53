#pragma once

/// Whether a solve will be done in time.

#include "solver/bicgstab.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace solver {

/// Judges a solve after powers of two of iterations by the digits gained so far. It looks first when a sixteenth of the share
/// is used, and not before the fourth iteration: residuals of Krylov methods may rise before they fall.
class ConvergenceMonitor {
public:
    ConvergenceMonitor(double tolerance, std::int64_t share) : tolerance_(tolerance), share_(share) {}

    /// Told of every iteration. Whether, at the mean rate so far, it would take more iterations than the share.
    bool is_too_slow(const Iteration& iteration) {
        if (iteration.number == 0) first_ = least_ = iteration.recursive_residual;
        least_ = std::min(least_, iteration.recursive_residual);
        if (!is_checked_at(iteration.number)) return false;
        const double needed = std::log2(first_ / tolerance_);
        const double gained = std::log2(first_ / least_);
        return static_cast<double>(iteration.number) * needed > static_cast<double>(share_) * gained;
    }

    /// The first iteration after this one at which it judges.
    std::int64_t next_check(std::int64_t iteration) const {
        const std::int64_t from = std::max(iteration + 1, first_check());
        return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(from)));
    }

private:
    std::int64_t first_check() const { return std::max<std::int64_t>(4, share_ / 16); }

    bool is_checked_at(std::int64_t iteration) const {
        return iteration >= first_check() && std::has_single_bit(static_cast<std::uint64_t>(iteration));
    }

    double tolerance_;
    std::int64_t share_;
    double first_ = 1;
    double least_ = 1;
};

}  // namespace solver
