#pragma once

/// Large copies between a device and memory that is not pinned.

#include "solver/cuda/runtime.hpp"

#include <cstdint>

namespace solver::cuda {

enum class Direction { to_device, to_host };

/// Copies in pieces through pinned memory, by several threads of the host, one piece under way while the next is prepared:
/// one cudaMemcpy has the speed of one thread. After what is under way in the stream; done when it returns. False where this
/// does not pay or cannot be had now (few bytes, memory that is pinned already, another copy under way): then nothing was
/// copied.
bool copy_staged(int device, void* to, const void* from, std::int64_t bytes, Direction direction, Stream stream);

}  // namespace solver::cuda
