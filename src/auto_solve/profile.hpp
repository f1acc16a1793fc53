#pragma once

/// Which cost profile a solve follows.

#include "solver/device.hpp"
#include "solver/solve.hpp"

namespace solver {

inline CostProfile chosen_profile(const SolveOptions& options, const Device& device) {
    if (options.profile != CostProfile::automatic) return options.profile;
    return device.kind() == Device::Kind::cuda ? CostProfile::gpu : CostProfile::processor;
}

}  // namespace solver
