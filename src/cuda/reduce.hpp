#pragma once

/// Reductions on a CUDA device of vectors in the host's memory, which are copied there, or in the device's.

#include "solver/accuracy.hpp"
#include "solver/cuda/reduce.hpp"

#include <span>

namespace solver::cuda {

/// Of real numbers sum_i x_i, sum_i x_i y_i, or sqrt(sum_i x_i^2), by a Reduction; of complex ones a sum or a dot product, by a
/// ComplexReduction. Only dot products read y.
template <class Kind, class S>
S reduce(Kind kind, std::span<const S> x, std::span<const S> y, Accuracy accuracy, int device);

/// The sum or the dot product without any rounding: an Expansion, or the ComplexExpansion of both parts.
template <class Exact, class Kind, class S>
Exact expansion(Kind kind, std::span<const S> x, std::span<const S> y, int device);

}  // namespace solver::cuda
