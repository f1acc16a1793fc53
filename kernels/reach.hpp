#pragma once

/// How far the unknowns of a system on a device lie apart.

#include "solver/cuda/csr.hpp"

#include <cstdint>

namespace solver::cuda {

/// solver::has_rows_beyond (auto_solve/reach.hpp) of a matrix in the memory of a device. Waits for the stream.
template <class T>
bool has_rows_beyond(const DeviceCsrView<T>& a, std::int64_t steps, Stream stream);

}  // namespace solver::cuda
