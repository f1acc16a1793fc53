#pragma once

/// A sparse matrix that owns its memory.

#include "solver/device.hpp"
#include "solver/views.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace solver {

/// A sparse matrix by rows; see CsrView for the layout. The members are open: fill them.
template <class T>
struct CsrMatrix {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::vector<std::int64_t> row_offsets{0};
    std::vector<std::int32_t> column_indices;
    std::vector<T> values;

    std::int64_t nonzeros() const { return static_cast<std::int64_t>(values.size()); }
    CsrView<T> view() const { return {rows, columns, row_offsets, column_indices, values}; }
    operator CsrView<T>() const { return view(); }
};

/// One stored entry, row and column counted from 0.
template <class T>
struct Entry {
    std::int32_t row;
    std::int32_t column;
    T value;
};

/// The matrix of these entries, in any order: columns sorted within each row, entries at one place summed with one rounding
/// (Superaccumulator), explicit zeros kept. Throws InvalidArgument for an entry outside rows x columns.
template <class T>
CsrMatrix<T> csr_from_entries(std::int64_t rows, std::int64_t columns, std::span<const Entry<T>> entries);

/// The transpose; columns come out sorted within each row. By the threads that the device has, the same for any number.
template <class T>
CsrMatrix<T> transpose(const CsrView<T>& matrix, const Device& device = Device::cpu(1));

/// A copy of the matrix with every value rounded to To, to nearest.
template <class To, class From>
CsrMatrix<To> convert(const CsrView<From>& matrix);

}  // namespace solver
