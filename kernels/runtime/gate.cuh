#pragma once

/// Kernels that are links of a chain run only in their turn.

#include "gate.hpp"
#include "reduce/accumulators.cuh"

namespace solver::cuda {

/// Whether it is the kernel's turn: one answer for all its threads, since nothing changes the stage while a kernel before its
/// last block runs. A link of a chain may have been launched before the one before it has ended (launch_after), and waits for
/// it here.
__device__ __forceinline__ bool is_open(const Gate& gate) {
    if (gate.stage == nullptr) return true;
    wait_for_former_kernel();
    return (gate.mask >> *gate.stage & 1) != 0;
}

/// The gate of one of several columns.
__host__ __device__ __forceinline__ Gate gate_of(const Gate& gate, const Columns& columns, std::int64_t column) {
    return {gate.stage == nullptr ? nullptr : gate.stage + column * columns.stage_stride, gate.mask};
}
__device__ __forceinline__ bool is_open(const Gate& gate, const Columns& columns, std::int64_t column) {
    return is_open(gate_of(gate, columns, column));
}

}  // namespace solver::cuda
