#pragma once

/// What kernels are chosen by.

#include "solver/cuda/runtime.hpp"

namespace solver::cuda {

/// A part of a DeviceDescription that takes no time to get.
struct Traits {
    int multiprocessors;
    std::int64_t level2_bytes;
    bool overlapping;  ///< whether the device can launch a kernel before the former one has ended
    FloatSums float_sums;
};
Traits traits_of(int device);

}  // namespace solver::cuda
