#pragma once

/// What products with any storage share.

#include "runtime/gate.cuh"
#include "solver/cuda/spmv.hpp"
#include "solver/numeric/rounding.hpp"

#include <cstdint>
#include <limits>

namespace solver::cuda {

inline constexpr int plain_threads = 256;

inline unsigned blocks_for(std::int64_t items, int threads) { return static_cast<unsigned>((items + threads - 1) / threads); }

/// alpha == 0: y = beta y_in
template <class T>
__global__ void scale(std::int64_t n, RowTask<T> task, Gate gate) {
    if (!is_open(gate)) return;
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) task.y[i] = task.beta == T(0) ? T(0) : canonical(mul_rn(task.beta, task.y_in[i]));
}

/// Of rows and entries that kernels count with 32 bits: what they add to one must not overflow.
inline constexpr std::int64_t largest_narrow = std::numeric_limits<std::int32_t>::max() - (std::int64_t{1} << 20);

}  // namespace solver::cuda
