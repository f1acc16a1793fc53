#pragma once

/// Multigrid on a CUDA device.

#include "core/multigrid/level.hpp"
#include "multigrid/device_matrix.hpp"
#include "solver/cuda/preconditioner.hpp"

#include <memory>

namespace solver::cuda {

/// A copy of levels in the memory of a device.
template <class V>
std::shared_ptr<const DeviceLevels<V>> copy_to_device(int device, const amg::Levels<V>& levels);

/// z = M^-1 r by one V-cycle in V, with the bits of the processor's in exact. Doubles with a cycle in floats are scaled by a
/// power of two, as on the processor.
template <class T, class V>
std::unique_ptr<DevicePreconditioner<T>> make_multigrid(int device, std::shared_ptr<const DeviceLevels<V>> levels);

}  // namespace solver::cuda
