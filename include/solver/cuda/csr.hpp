#pragma once

/// Sparse matrices in the memory of a CUDA device.

#include "solver/cuda/memory.hpp"
#include "solver/row_offsets.hpp"
#include "solver/views.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace solver::cuda {

/// A sparse matrix in the memory of a device; the layout of CsrView.
template <class T>
struct DeviceCsrView {
    int device = 0;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t nonzeros = 0;
    RowOffsetPointer row_offsets;
    const std::int32_t* column_indices = nullptr;
    const T* values = nullptr;
};

/// Throws InvalidArgument, which names the first offender, unless row offsets rise from 0 to the number of entries and every
/// column lies within 0..columns-1. Reads the matrix once, on its device, and waits for the stream. Nothing else checks what a
/// view holds.
template <class T>
void check(const DeviceCsrView<T>& matrix, Stream stream = nullptr);

/// A copy of a matrix in the memory of a device.
template <class T>
class DeviceCsrMatrix {
public:
    /// Waits for the stream.
    DeviceCsrMatrix(int device, const CsrView<T>& a, Stream stream = nullptr)
        : offsets_(device, a.row_offsets.bytes(), "the row offsets of a matrix", stream),
          columns_(device, a.column_indices, "the column indices of a matrix", stream),
          values_(device, a.values, "the values of a matrix", stream),
          view_{device,          a.rows,        a.columns, a.nonzeros(), a.row_offsets.copied_to(offsets_.data()),
                columns_.data(), values_.data()} {}

    /// Other values in the same pattern; views stay valid. Waits for the stream.
    void update_values(std::span<const T> values, Stream stream = nullptr) { values_.copy_from(values, stream); }

    const DeviceCsrView<T>& view() const { return view_; }

private:
    DeviceArray<std::byte> offsets_;  ///< of the width that they have on the host
    DeviceArray<std::int32_t> columns_;
    DeviceArray<T> values_;
    DeviceCsrView<T> view_;
};

}  // namespace solver::cuda
