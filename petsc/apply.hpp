#pragma once

/// Updates at a place.

#include "place.hpp"
#include "updates.hpp"

#include <cstdint>

namespace petscsolver {

/// update(i) for 0 <= i < n; of updates.hpp. On a device it is put on the stream.
template <class Update>
void apply(const Place& place, std::int64_t n, const Update& update);

/// What apply does on a device: cuda_updates.cu, or nothing where the plugin has no CUDA.
template <class Update>
void apply_on_device(const Place& place, std::int64_t n, const Update& update);

}  // namespace petscsolver
