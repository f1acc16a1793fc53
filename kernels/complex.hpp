#pragma once

/// Complex matrices on a device: what the products of their real forms do not do.

#include "made_matrix.hpp"
#include "solver/cuda/spmv.hpp"

#include <complex>

namespace solver::cuda {

/// solver::real_form, made on the matrix's device. Waits for the stream. Throws InvalidArgument for more rows or columns than
/// it takes.
template <class T>
DeviceMatrix<T> real_form(const DeviceCsrView<std::complex<T>>& a, Stream stream);

/// RN(K x) and RN(K x - high) for the real form K and x by its parts.
template <class T>
struct RoundedTwice {
    const T* high = nullptr;
    const T* low = nullptr;
};

/// The task with any factors, both parts of each element rounded once: from the product rounded twice and, where that does not
/// prove the rounding, digit by digit. Only launches a kernel.
template <class T>
void round_complex_rows(const DeviceCsrView<T>& real_form, const RowTask<std::complex<T>>& task, const RoundedTwice<T>& product,
                        Stream stream);

}  // namespace solver::cuda
