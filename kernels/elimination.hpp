#pragma once

/// Gaussian elimination of full matrices on a device.

#include "solver/cuda/runtime.hpp"

#include <cstdint>
#include <span>

namespace solver::cuda {

/// The elements of an order.size() x order.size() matrix on the host, row by row, become L, below the diagonal, and U of
/// L U = P B, with the bits that full_lu.hpp promises; `order` is permuted as the rows are. Returns how many pivots were found:
/// where they are fewer than rows, neither is of use. The device needs 8 bytes an element. Throws ResourceLimit, CudaError.
std::int64_t eliminate(int device, std::span<double> elements, std::span<std::int32_t> order, Stream stream = nullptr);

}  // namespace solver::cuda
