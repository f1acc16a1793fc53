#pragma once

/// Matrices whose memory belongs to somebody else. Views are cheap to copy and never outlive what they look at.

#include "solver/device.hpp"
#include "solver/row_offsets.hpp"

#include <cstdint>
#include <span>

namespace solver {

/// A sparse matrix by rows (CSR). Row i has the entries row_offsets[i] <= k < row_offsets[i + 1], entry k stands in column
/// column_indices[k] (counted from 0) and has the value values[k]. Columns need not be sorted; a repeated column counts as a
/// sum. row_offsets has rows + 1 elements, of 32 or 64 bits, and starts at 0.
template <class T>
struct CsrView {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    RowOffsets row_offsets;
    std::span<const std::int32_t> column_indices;
    std::span<const T> values;

    std::int64_t nonzeros() const { return static_cast<std::int64_t>(values.size()); }
    std::int64_t row_length(std::int64_t row) const { return row_offsets[row + 1] - row_offsets[row]; }
};

/// A dense matrix: element (i, j) is data[i * row_stride + j * column_stride]. Row-major has column_stride 1, column-major
/// (Fortran, BLAS, Matrix Market) row_stride 1; swapping the two strides transposes.
template <class T>
struct DenseView {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t row_stride = 0;
    std::int64_t column_stride = 0;
    const T* data = nullptr;

    DenseView transposed() const { return {columns, rows, column_stride, row_stride, data}; }
};

/// A dense matrix in memory of the caller's that is written: a_ij is data[i row_stride + j column_stride].
template <class T>
struct MutableDenseView {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t row_stride = 0;
    std::int64_t column_stride = 0;
    T* data = nullptr;

    MutableDenseView transposed() const { return {columns, rows, column_stride, row_stride, data}; }
    operator DenseView<T>() const { return {rows, columns, row_stride, column_stride, data}; }
};

/// Throws InvalidArgument or DimensionMismatch unless the view describes a matrix: sizes that agree, row offsets that rise
/// from 0 to the number of entries, every column within 0..columns-1. By the threads that the device has, with
/// the same message for any number. Whatever takes a CsrView calls it, but in solver/cuda/, where SpmvOptions say that it was
/// called, and where no index is followed (convert).
template <class T>
void check(const CsrView<T>& matrix, const Device& device = Device::cpu(1));

}  // namespace solver
