#pragma once

/// Kernels that are links of a chain run only in their turn.

#include "solver/cuda.hpp"

namespace solver::cuda {

/// The same for all threads of a kernel, since nothing changes the stage while a kernel before its last block runs.
__device__ __forceinline__ bool is_open(const Gate& gate) {
    return gate.stage == nullptr || (gate.mask >> *gate.stage & 1) != 0;
}

}  // namespace solver::cuda
