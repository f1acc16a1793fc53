#pragma once

/// Reductions on a CUDA device of vectors in the host's memory, which are copied there, or in the device's.

#include "solver/accuracy.hpp"
#include "solver/cuda/reduce.hpp"

#include <complex>
#include <span>

namespace solver::cuda {

/// sum_i x_i, sum_i x_i y_i, or sqrt(sum_i x_i^2), of which only dot reads y.
template <class T>
T reduce(Reduction reduction, std::span<const T> x, std::span<const T> y, Accuracy accuracy, int device);

/// The sum or the dot product itself.
template <class T>
Expansion<T> expansion(Reduction reduction, std::span<const T> x, std::span<const T> y, int device);

/// A sum, which does not read y, or a dot product of complex numbers.
template <class T>
std::complex<T> reduce(ComplexReduction reduction, std::span<const std::complex<T>> x, std::span<const std::complex<T>> y,
                       Accuracy accuracy, int device);

/// Both parts of that sum or dot product, without any rounding.
template <class T>
ComplexExpansion<T> expansion(ComplexReduction reduction, std::span<const std::complex<T>> x,
                              std::span<const std::complex<T>> y, int device);

}  // namespace solver::cuda
