#pragma once

/// Products of a matrix on a device as the library's own loops make them: behind launch predicates, with several vectors at
/// once, from any storage of the matrix.

#include "gate.hpp"
#include "solver/cuda/spmv.hpp"
#include "solver/error.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace solver::cuda {

template <class T>
class PackedOnDevice;

/// A matrix in one of its storages. Has working memory of its own: one product at a time.
template <class T>
class MatrixProducts {
public:
    virtual ~MatrixProducts() = default;

    /// The products of several columns of x, x_low, y_in and y, each with the bits of a product of its own; A is read from
    /// memory once for all of them. Only launches kernels: it can be captured in a CUDA graph. The promises are those of
    /// solver::SpmvPlan::multiply, and in exact the bits too. Throws InvalidArgument for more columns than it was made for.
    virtual void multiply(const RowTask<T>& task, const Columns& columns, Accuracy accuracy, Stream stream,
                          Gate gate) const = 0;

    void multiply(const RowTask<T>& task, Accuracy accuracy, Stream stream = nullptr, Gate gate = {}) const {
        multiply(task, {}, accuracy, stream, gate);
    }

    /// What the analysis and the working memory take on the device.
    virtual std::int64_t workspace_bytes() const = 0;

    /// Rows that all exact products so far have left to the last resort, modulo 2^32. Waits for the stream.
    virtual std::int64_t rows_not_certified(Stream stream) const = 0;
};

/// Throws InvalidArgument.
inline void require_columns(const Columns& columns, std::int64_t most) {
    if (columns.count > most)
        throw InvalidArgument("cuda: " + std::to_string(columns.count) +
                              " columns of a product at once; the plan was made for " + std::to_string(most));
}

/// Of the row offsets that kernels use: 32 bits where that is enough, or 64 bits in any case, which tests can ask for. Offsets
/// that the matrix has in this width are used where they are.
enum class OffsetWidth { automatic, wide };

template <class T>
class CsrProducts : public MatrixProducts<T> {
public:
    /// From now on single products with x alone read this packed copy of the same matrix, or none again; the others, and rows
    /// that exact finds hard, the matrix itself. Waits for the stream.
    virtual void use(std::shared_ptr<const PackedOnDevice<T>> packed, Stream stream) = 0;

    virtual SpmvKernel kernel() const = 0;  ///< general or adaptive
};

/// As for SpmvPlan; at most so many columns are multiplied at once. Keeps a view of A. Waits for the stream.
template <class T>
std::unique_ptr<CsrProducts<T>> make_products(const DeviceCsrView<T>& a, SpmvKernel kernel, Stream stream,
                                              std::int64_t most_columns = 1, OffsetWidth width = OffsetWidth::automatic);

/// A dense matrix in the memory of a device: row i begins i * columns elements behind the first.
template <class T>
struct DeviceDenseRows {
    int device = 0;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    const T* values = nullptr;
};

/// A dense matrix stays dense: rows by warps. Throws NotSupported for more rows or columns than 32 bits count.
template <class T>
std::unique_ptr<MatrixProducts<T>> make_products(const DeviceDenseRows<T>& a, Stream stream, std::int64_t most_columns = 1);

}  // namespace solver::cuda
