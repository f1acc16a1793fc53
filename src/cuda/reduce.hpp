#pragma once

/// Reductions on a CUDA device of vectors in the host's memory.

#include "solver/accuracy.hpp"
#include "solver/cuda/reduce.hpp"

#include <span>

namespace solver::cuda {

/// sum_i x_i, sum_i x_i y_i, or sqrt(sum_i x_i^2), of which only dot reads y.
template <class T>
T reduce(Reduction reduction, std::span<const T> x, std::span<const T> y, Accuracy accuracy, int device);

/// The sum or the dot product itself.
template <class T>
Expansion<T> expansion(Reduction reduction, std::span<const T> x, std::span<const T> y, int device);

}  // namespace solver::cuda
