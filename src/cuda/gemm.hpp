#pragma once

/// Dense products of matrices in the host's memory, on a CUDA device.

#include "solver/gemm.hpp"

#include <complex>

namespace solver::cuda {

/// C = alpha A B + beta C, checked; waits for the result.
template <class T>
void multiply(const GemmTask<T>& task, Accuracy accuracy, const GemmOptions& options, int device);

/// Of complex numbers, with conj(A) and conj(B) where asked for.
template <class T>
void multiply(const GemmTask<std::complex<T>>& task, Accuracy accuracy, Conjugation conjugation, int device);

}  // namespace solver::cuda
