#pragma once

/// Launch predicates: kernels of a loop on a device are launched whether or not they have work, and look for themselves.

#include <cstdint>

namespace solver::cuda {

/// Kernels given a gate do nothing unless the stage, a number below 32 in the device's memory, is one of the mask's bits when
/// they begin. So a chain of kernels can be put on a stream once and decide on the device which of its links work. The default
/// is open.
struct Gate {
    const std::int32_t* stage = nullptr;
    std::uint32_t mask = ~std::uint32_t{0};
};

/// Several vectors that are multiplied together: those of column j begin j * stride elements behind those of the first. A gate
/// asks the stage of each column, j * stage_stride numbers behind the first one's, and is open for some of them at a time.
struct Columns {
    std::int64_t count = 1;
    std::int64_t stride = 0;
    std::int64_t stage_stride = 0;
};

}  // namespace solver::cuda
