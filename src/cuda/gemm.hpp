#pragma once

/// Dense products of matrices in the host's memory, on a CUDA device.

#include "solver/gemm.hpp"

namespace solver::cuda {

/// C = alpha A B + beta C, checked; waits for the result.
template <class T>
void multiply(const GemmTask<T>& task, Accuracy accuracy, const GemmOptions& options, int device);

}  // namespace solver::cuda
