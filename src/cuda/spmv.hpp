#pragma once

/// What solver::SpmvPlan keeps on a CUDA device.

#include "kernels/packed.hpp"
#include "kernels/products.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/cuda/csr.hpp"
#include "solver/cuda/memory.hpp"
#include "solver/spmv.hpp"

#include <memory>
#include <mutex>
#include <optional>
#include <span>

namespace solver::cuda {

/// The matrix, or a copy of the host's, with its analysis, and room for vectors that come from the host.
template <class T>
class SpmvOnDevice {
public:
    SpmvOnDevice(int device, const CsrView<T>& a, SpmvKernel kernel);

    /// Of a matrix that is the caller's, where it lies.
    SpmvOnDevice(const DeviceCsrView<T>& a, SpmvKernel kernel);

    const DeviceCsrView<T>& matrix() const { return matrix_; }
    bool is_a_copy() const { return copy_.has_value(); }

    /// The caller's matrix in the host's memory: copied there when first asked for.
    const CsrView<T>& on_host();
    SpmvKernel kernel() const { return products_->kernel(); }

    /// Products read a packed copy from now on, which is made on the device; or the matrix itself again.
    PackedDescription pack();
    void unpack();

    /// The packed copy, or null.
    const std::shared_ptr<const PackedOnDevice<T>>& packed() const { return packed_; }

    /// Products of its own for somebody with another stream, with so many vectors at once; they share the matrix and its packed
    /// copy.
    std::unique_ptr<MatrixProducts<T>> new_products(Stream stream, std::int64_t most_columns) const;

    /// Other values in the same pattern, packed anew where they were.
    void update_values(std::span<const T> values);

    /// The 1-norms of the columns of `a`, the matrix this was made of: computed when first asked for.
    const DeviceArray<T>& column_norms(const CsrView<T>& a);

    /// Tasks in the host's memory, one after another; waits for the results. Calls from several threads take turns.
    void multiply(std::span<const SpmvTask<T>> tasks, Accuracy accuracy);

private:
    const T* uploaded(DeviceArray<T>& to, std::span<const T> from, const char* purpose);
    void multiply(const SpmvTask<T>& task, Accuracy accuracy);
    void use(PackedOnDevice<T> packed);

    int device_;
    OwnedStream stream_;
    std::optional<DeviceCsrMatrix<T>> copy_;
    DeviceCsrView<T> matrix_;
    std::unique_ptr<CsrProducts<T>> products_;
    std::shared_ptr<const PackedOnDevice<T>> packed_;
    std::mutex mutex_;
    DeviceArray<T> x_, x_low_, y_;  ///< made when first used
    DeviceArray<T> column_norms_;   ///< likewise
    std::optional<CsrMatrix<T>> host_copy_;
    CsrView<T> on_host_;
};

}  // namespace solver::cuda
