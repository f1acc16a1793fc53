#pragma once

/// What solver::SpmvPlan keeps on a CUDA device.

#include "solver/cuda.hpp"
#include "solver/spmv.hpp"

#include <mutex>
#include <span>

namespace solver::cuda {

/// A copy of the matrix with its analysis, and room for vectors that come from the host.
template <class T>
class SpmvOnDevice {
public:
    SpmvOnDevice(int device, const CsrView<T>& a, SpmvKernel kernel);

    const DeviceCsrView<T>& matrix() const { return matrix_.view(); }
    SpmvKernel kernel() const { return plan_.kernel(); }

    /// The 1-norms of the columns of `a`, the matrix this was made of: computed when first asked for.
    const DeviceArray<T>& column_norms(const CsrView<T>& a);

    /// Tasks in the host's memory, one after another; waits for the results. Calls from several threads take turns.
    void multiply(std::span<const SpmvTask<T>> tasks, Accuracy accuracy);

private:
    const T* uploaded(DeviceArray<T>& to, std::span<const T> from, const char* purpose);
    void multiply(const SpmvTask<T>& task, Accuracy accuracy);

    int device_;
    OwnedStream stream_;
    DeviceCsrMatrix<T> matrix_;
    SpmvPlan<T> plan_;
    std::mutex mutex_;
    DeviceArray<T> x_, x_low_, y_;  ///< made when first used
    std::once_flag norms_are_known_;
    DeviceArray<T> column_norms_;
};

}  // namespace solver::cuda
