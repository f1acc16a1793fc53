#pragma once

/// Whether an attempt is worth going on with.

#include "solver/krylov.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>

namespace solver {

/// What an attempt is given up for.
enum class GiveUp {
    never,
    when_too_slow,  ///< at the rate of the last quarter of the iterations, it would take more than its share
    when_stuck,     ///< the residual has not halved in the last half of the iterations, 1024 or more
    for_a_look,     ///< when stuck, 256 iterations or more: for a look at something else, before it goes on
};

/// Judges after a first number of iterations and whenever that has doubled, by the least residuals: those of Krylov methods may
/// rise before they fall. What may be too slow is judged first when a quarter of its share is used. To go on for a quarter in
/// vain costs a quarter more than to give up at once; to give up what was about to converge costs much more: conjugate
/// gradients gather speed when the spectrum's ends are found (van der Sluis and van der Vorst, Numer. Math. 48, 1986), after
/// standing still, perhaps, behind first digits that came easily. The rate is that of the last quarter of the iterations: by
/// less, what stands still for a moment seems to do so for good; by more, that it has gathered speed does not show.
///
/// Where is_out_of_reach is given, there is an early check after a sixteenth of the share, at least 16 iterations: what is too
/// slow there and cannot gather speed within its share, as is_out_of_reach() says, is given up. It is asked nowhere else.
class ConvergenceMonitor {
public:
    ConvergenceMonitor(GiveUp rule, double tolerance, std::int64_t share, std::function<bool()> is_out_of_reach = {})
        : rule_(rule),
          tolerance_(tolerance),
          share_(share),
          is_out_of_reach_(std::move(is_out_of_reach)),
          first_check_(first_check(rule, share)),
          early_check_(is_out_of_reach_ ? std::min(std::max(earliest, share / 16), first_check_) : first_check_),
          check_(early_check_) {}

    /// Told of every iteration. Whether to give up here.
    bool gives_up(const Iteration& iteration) {
        const double residual = iteration.recursive_residual;
        if (iteration.number == 0) least_ = least_before_ = residual;
        least_ = std::min(least_, residual);
        if (iteration.number == check_ - window()) least_before_ = least_;
        if (rule_ == GiveUp::never || iteration.number != check_) return false;
        bool hopeless = rule_ == GiveUp::when_too_slow ? is_too_slow() : !(least_ <= least_before_ / 2);
        if (check_ < first_check_) hopeless = hopeless && is_out_of_reach_();
        check_ = next_check(check_);
        return hopeless;
    }

    /// The first iteration after this one at which it judges.
    std::int64_t next_check(std::int64_t iteration) const {
        if (rule_ == GiveUp::never) return std::numeric_limits<std::int64_t>::max();
        if (iteration < early_check_) return early_check_;
        std::int64_t check = first_check_;
        while (check <= iteration) check *= 2;
        return check;
    }

private:
    static constexpr std::int64_t earliest = 16;

    static std::int64_t first_check(GiveUp rule, std::int64_t share) {
        constexpr std::int64_t least = 4, when_stuck = 1024, for_a_look = 256;
        if (rule == GiveUp::when_too_slow) return std::max(least, share / 4);
        return rule == GiveUp::for_a_look ? for_a_look : when_stuck;
    }

    /// The last iterations before a check that it judges by.
    std::int64_t window() const {
        constexpr std::int64_t least = 8;
        return rule_ == GiveUp::when_too_slow ? std::max(check_ / 4, std::min(check_ / 2, least)) : check_ / 2;
    }

    /// At a check.
    bool is_too_slow() const {
        const double needed = std::log2(least_ / tolerance_);
        const double gained = std::log2(least_before_ / least_);
        return static_cast<double>(check_) * gained + static_cast<double>(window()) * needed >
               static_cast<double>(share_) * gained;
    }

    GiveUp rule_;
    double tolerance_;
    std::int64_t share_;
    std::function<bool()> is_out_of_reach_;
    std::int64_t first_check_;
    std::int64_t early_check_;
    std::int64_t check_;  ///< the iteration of the next check
    double least_ = 1;
    double least_before_ = 1;  ///< where the window begins
};

/// Whether the least residual has been one number, nearly, in the last half of the iterations, where there were enough: since
/// the last but one that is a power of two.
class PlateauWatch {
public:
    /// Told of every iteration.
    void see(const Iteration& iteration) {
        if (iteration.number == 0) *this = {};
        least_ = std::min(least_, iteration.recursive_residual);
        const auto number = static_cast<std::uint64_t>(iteration.number);
        if (number >= least_number && std::has_single_bit(number)) before_ = std::exchange(at_power_, least_);
    }

    bool stands_still() const { return std::isfinite(before_) && least_ >= (1 - 0x1p-20) * before_; }

private:
    static constexpr std::uint64_t least_number = 8;

    double least_ = std::numeric_limits<double>::infinity();
    double at_power_ = least_, before_ = least_;
};

}  // namespace solver
