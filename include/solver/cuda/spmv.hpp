#pragma once

/// Sparse matrix times vector on a CUDA device.

#include "solver/accuracy.hpp"
#include "solver/cuda/csr.hpp"
#include "solver/spmv.hpp"

#include <cstdint>
#include <memory>

namespace solver::cuda {

template <class T>
struct PlannedProducts;

/// y = alpha A (x + x_low) + beta y_in, all in the device's memory and aligned as their type, complex numbers as their parts; y
/// may be y_in, and overlaps nothing else.
template <class T>
struct RowTask {
    T alpha = 1;
    const T* x = nullptr;
    const T* x_low = nullptr;  ///< or none
    T beta = 0;
    const T* y_in = nullptr;  ///< read only where beta is not 0
    T* y = nullptr;
};

/// The analysis of a matrix, made on the device: a copy of row offsets that do not have the width of the kernels, and for
/// `adaptive` tiles of nearly equal work. Keeps a view; the matrix must outlive the plan unchanged. A plan has working memory
/// of its own: one product at a time.
///
/// T is float, double or std::complex of one. A complex matrix is multiplied as solver::SpmvPlan<std::complex<T>> says, by its
/// real form (complex.hpp), which is made on the device; the plan keeps that and no view: the matrix need not outlive it.
/// Throws InvalidArgument from 2^30 complex rows or columns on.
template <class T>
class SpmvPlan {
public:
    /// Waits for the stream. `automatic` chooses general where no row is much longer than the mean, else adaptive.
    SpmvPlan(const DeviceCsrView<T>& a, SpmvKernel kernel, Stream stream = nullptr);
    SpmvPlan(SpmvPlan&&) noexcept;
    SpmvPlan& operator=(SpmvPlan&&) noexcept;
    ~SpmvPlan();

    /// The promises are those of solver::SpmvPlan<T>::multiply, and in exact the bits too. Complex alpha and beta with
    /// imaginary parts take two exact products in every mode. Only launches kernels: it can be captured in a CUDA graph.
    void multiply(const RowTask<T>& task, Accuracy accuracy, Stream stream = nullptr) const;

    SpmvKernel kernel() const;  ///< general or adaptive

    /// What the analysis, the working memory and a complex matrix's real form take on the device.
    std::int64_t workspace_bytes() const;

    /// Rows that all exact products since the plan was made have left to the last resort, modulo 2^32, a complex row being two
    /// real ones: for telling what a matrix costs. Waits for the stream.
    std::int64_t rows_not_certified(Stream stream = nullptr) const;

private:
    std::unique_ptr<PlannedProducts<T>> products_;
};

}  // namespace solver::cuda
