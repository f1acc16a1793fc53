#pragma once

/// Right-hand sides and solutions that lie on a CUDA device.

#include "krylov/run.hpp"
#include "solver/cuda/solve.hpp"

#include <string_view>
#include <vector>

namespace solver {

/// The columns of a task, which with the options is checked. Waits for the stream.
template <class T>
std::vector<Unknown<T>> unknowns_on_device(const SpmvPlan<T>& a, const cuda::SolveTask<T>& task, const KrylovOptions& options,
                                           cuda::Stream stream, std::string_view caller);

}  // namespace solver
