#pragma once

/// Multigrid on a CUDA device.

#include "core/multigrid/level.hpp"
#include "solver/cuda/preconditioner.hpp"

#include <memory>

namespace solver::cuda {

/// z = M^-1 r by one V-cycle in V, with the bits of the processor's in exact. The levels are copied to the device. Doubles with
/// a cycle in floats are scaled by a power of two, as on the processor.
template <class T, class V>
std::unique_ptr<DevicePreconditioner<T>> make_multigrid(int device, const amg::Levels<V>& levels);

}  // namespace solver::cuda
