#pragma once

/// Multigrid on a CUDA device.

#include "core/multigrid/level.hpp"
#include "gate.hpp"
#include "multigrid/device_matrix.hpp"
#include "solver/cuda/preconditioner.hpp"
#include "solver/cuda/runtime.hpp"

#include <cstdint>
#include <memory>

namespace solver::cuda {

/// A copy of levels in the memory of a device.
template <class V>
std::shared_ptr<const DeviceLevels<V>> copy_to_device(int device, const amg::Levels<V>& levels);

/// z = M^-1 r by one V-cycle in V, with the bits of the processor's in exact. Doubles with a cycle in floats are scaled by a
/// power of two, as on the processor.
template <class T, class V>
std::unique_ptr<DevicePreconditioner<T>> make_multigrid(int device, std::shared_ptr<const DeviceLevels<V>> levels);

/// The largest amg::magnitude_bits of n numbers, 0 where there are none; all in the memory of the device.
void find_largest_magnitude(int device, std::int64_t n, const double* x, std::uint64_t* largest, Stream stream, Gate gate = {});

}  // namespace solver::cuda
