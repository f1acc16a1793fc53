#pragma once

/// Which cost profile a solve follows.

#include "solver/device.hpp"
#include "solver/solve.hpp"

namespace solver {

/// The profile asked for, else in exact the same one on every device, so that x of the default has the same bits everywhere,
/// and in the other accuracies that of the device.
inline CostProfile chosen_profile(const SolveOptions& options, const Device& device) {
    if (options.profile != CostProfile::automatic) return options.profile;
    const bool follows_the_device = options.iteration.accuracy != Accuracy::exact;
    return follows_the_device && device.kind() == Device::Kind::cuda ? CostProfile::gpu : CostProfile::processor;
}

}  // namespace solver
