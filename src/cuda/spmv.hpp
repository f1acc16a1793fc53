#pragma once

/// What solver::SpmvPlan keeps on a CUDA device.

#include "solver/cuda.hpp"
#include "solver/spmv.hpp"

#include <mutex>
#include <span>

namespace solver::cuda {

/// A copy of the matrix with its analysis, and room for vectors that come from the host. Its working memory serves one user at
/// a time: hold lock() while using plan().
template <class T>
class SpmvOnDevice {
public:
    SpmvOnDevice(int device, const CsrView<T>& a, SpmvKernel kernel);

    const DeviceCsrView<T>& matrix() const { return matrix_.view(); }
    const SpmvPlan<T>& plan() const { return plan_; }
    Stream stream() const { return stream_.get(); }
    std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }

    /// Tasks in the host's memory, one after another; locks, and waits for the results.
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
};

}  // namespace solver::cuda
