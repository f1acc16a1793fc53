#pragma once

/// Products with a packed matrix: a slice is a warp's and a row of it a lane's, so that entries of a step lie side by side and
/// no lane waits for another's sum. Long rows go to warps of their own (long_rows.cuh) and are read, like rows that exact finds
/// hard, from the CSR matrix.

#include "packed.hpp"
#include "spmv/long_rows.cuh"

#include <memory>

namespace solver::cuda {

/// What a plan needs to multiply by a packed matrix: the device's copy, which plans share, and its own working memory.
template <class T>
class PackedProduct {
public:
    /// `rows` is the same matrix as CSR. Waits for the stream.
    PackedProduct(int device, std::shared_ptr<const PackedOnDevice<T>> packed, const CsrRows<T, std::int32_t>& rows,
                  Stream stream);

    /// A task with x alone and alpha other than 0; `escalated` counts rows left to the last resort. `overlapping`: whether the
    /// device lets a kernel begin before the one before it has ended.
    void multiply(const RowTask<T>& task, Accuracy accuracy, bool overlapping, unsigned* escalated, Stream stream,
                  Gate gate) const;

    std::int64_t bytes() const { return segments_.bytes() + arrived_.bytes() + partial_.bytes(); }  ///< working memory

private:
    template <class A>
    void multiply_with(const RowTask<T>& task, bool overlapping, unsigned* escalated, Stream stream, Gate gate) const;

    std::shared_ptr<const PackedOnDevice<T>> packed_;
    CsrRows<T, std::int32_t> rows_;
    DeviceArray<Segment<std::int32_t>> segments_;
    DeviceArray<unsigned> arrived_;
    DeviceArray<RowSum<FilteredTriple<double>>> partial_;  ///< the largest of its kind
};

}  // namespace solver::cuda
