#pragma once

/// What solver::SpmvPlan keeps on a CUDA device.

#include "kernels/facts.hpp"
#include "kernels/packed.hpp"
#include "kernels/products.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/cuda/csr.hpp"
#include "solver/cuda/gemm.hpp"
#include "solver/cuda/memory.hpp"
#include "solver/spmv.hpp"

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <variant>
#include <vector>

namespace solver::cuda {

/// The matrix, or a copy of the host's, with its analysis, and room for vectors that come from the host.
template <class T>
class SpmvOnDevice {
public:
    SpmvOnDevice(int device, const CsrView<T>& a, SpmvKernel kernel);

    /// Of a matrix that is the caller's, where it lies.
    SpmvOnDevice(const DeviceCsrView<T>& a, SpmvKernel kernel);

    /// A dense matrix, by rows. It has no pattern: not to be packed, nor given other values.
    SpmvOnDevice(int device, const DenseView<T>& a);

    bool is_a_copy() const;

    /// Of a sparse matrix: the one that is read.
    const DeviceCsrView<T>& matrix() const { return std::get<Sparse>(storage_).matrix; }

    /// The caller's matrix in the host's memory: copied there when first asked for.
    const CsrView<T>& on_host();

    SpmvKernel kernel() const;

    /// Products read a packed copy from now on, which is made on the device; or the matrix itself again.
    PackedDescription pack();
    void unpack();

    /// The packed copy, or null.
    std::shared_ptr<const PackedOnDevice<T>> packed() const;

    /// Products of its own for somebody with another stream, with so many vectors at once; they share the matrix and its packed
    /// copy.
    std::unique_ptr<MatrixProducts<T>> new_products(Stream stream, std::int64_t most_columns) const;

    /// Other values in the same pattern, packed anew where they were.
    void update_values(std::span<const T> values);

    std::int64_t stored_entries() const { return std::get<Sparse>(storage_).matrix.nonzeros; }  ///< of a sparse matrix

    /// Of a sparse matrix: computed when first asked for.
    const FactsOnDevice& facts();

    /// Of a sparse matrix, where each row has one diagonal entry, other than zero; nothing else.
    std::optional<DeviceArray<T>> diagonal();

    /// Of a sparse matrix: auto_solve/reach.hpp.
    bool has_rows_beyond(std::int64_t steps);

    /// The 1-norms of the columns of `a`, the matrix this was made of, computed when first asked for.
    const DeviceArray<T>& column_norms(const solver::SpmvPlan<T>& a);

    /// ||(w_j x_j)||, exact, w_j these norms; x in the memory of the host or of the device.
    T norm_of_terms(const solver::SpmvPlan<T>& a, std::span<const T> x);

    /// Tasks in the memory of the host or of the device, one after another; waits for the results. Calls from several threads
    /// take turns.
    void multiply(std::span<const SpmvTask<T>> tasks, Accuracy accuracy);

    /// Those with a dense A, the alpha and the beta of the first one and no x_low as one product of matrices.
    void multiply_together(std::span<const SpmvTask<T>> tasks, Accuracy accuracy);

private:
    struct Sparse {
        std::optional<DeviceCsrMatrix<T>> copy;  ///< none of the caller's matrix
        DeviceCsrView<T> matrix;
        std::unique_ptr<CsrProducts<T>> products;
        std::shared_ptr<const PackedOnDevice<T>> packed;
    };
    struct Dense {
        DeviceArray<T> elements;
        DeviceDenseRows<T> rows;
        std::unique_ptr<MatrixProducts<T>> products;
        std::optional<Multiplier> multiplier;  ///< made when first used
    };

    static Dense by_rows(int device, const DenseView<T>& a, Stream stream);
    Sparse& sparse() { return std::get<Sparse>(storage_); }
    const MatrixProducts<T>& products() const;
    const T* uploaded(DeviceArray<T>& to, std::span<const T> from, const char* purpose);
    void multiply(const SpmvTask<T>& task, Accuracy accuracy);
    void use(PackedOnDevice<T> packed);

    int device_;
    OwnedStream stream_;
    std::variant<Sparse, Dense> storage_;
    std::mutex mutex_;
    DeviceArray<T> x_, x_low_, y_;  ///< made when first used
    DeviceArray<T> row_norms_;      ///< made with the facts
    DeviceArray<T> column_norms_;   ///< made when first used, where they are not the norms of the rows
    std::optional<FactsOnDevice> facts_;
    std::optional<CsrMatrix<T>> host_copy_;
    CsrView<T> on_host_;
};

}  // namespace solver::cuda
