#pragma once

/// Products of sparse matrices row by row, (A B)_i = sum_j a_ij B_j, every element summed in double in the order of the entries
/// of A's row and of B's rows.

#include "multigrid/device_matrix.hpp"
#include "multigrid/steps.cuh"

#include <cstdint>
#include <optional>

namespace solver::cuda {

/// The left factor: rows that may lie anywhere, in the order in which they are to be taken.
template <class T>
struct RowsView {
    std::int64_t rows = 0;
    const std::int64_t* begin = nullptr;  ///< row i has the entries begin[i] <= k < end[i]
    const std::int64_t* end = nullptr;
    const std::int32_t* columns = nullptr;
    const T* values = nullptr;
};

template <class T>
RowsView<T> rows_of(const DeviceMatrix<T>& a) {
    return {a.rows, a.row_offsets.data(), a.row_offsets.data() + 1, a.column_indices.data(), a.values.data()};
}

/// Rows in any places of some room.
struct ScatteredRows {
    DeviceArray<std::int64_t> begin, end;
    DeviceArray<std::int32_t> columns;
    DeviceArray<double> values;

    RowsView<double> view() const { return {begin.size(), begin.data(), end.data(), columns.data(), values.data()}; }
};

/// Where kernels put rows.
struct RowSink {
    std::int64_t* begin;
    std::int64_t* end;
    std::int32_t* columns;
    double* values;
    std::int64_t room;
    Count* used;

    /// Where a row of this length is to be written if is_room_for says so.
    __device__ std::int64_t place(std::int64_t row, std::int64_t length) const {
        const auto first = static_cast<std::int64_t>(atomicAdd(used, static_cast<Count>(length)));
        begin[row] = first;
        end[row] = first + length;
        return first;
    }
    __device__ bool is_room_for(std::int64_t first, std::int64_t length) const { return first + length <= room; }
};

enum class ColumnOrder {
    rising,
    first_met,  ///< as the first term of each element comes
};

/// What is made of a product.
struct RowsWanted {
    ColumnOrder order = ColumnOrder::rising;
    bool unit_if_empty = false;      ///< a row without entries gets a 1 in the column of its own number
    std::int64_t likely_length = 1;  ///< of a row of the product: a guess
    std::int64_t most_entries;       ///< nothing where there would be more
    std::int64_t room;               ///< for so many entries at first: a guess
};

template <class L, class B>
std::optional<ScatteredRows> multiply_rows(const RowsView<L>& a, const DeviceCsrView<B>& b, const RowsWanted& wanted,
                                           Stream stream);

/// One after another, rounded to V.
template <class V>
DeviceMatrix<V> gathered(const ScatteredRows& rows, std::int64_t columns, Stream stream) {
    const RowsView<double> from = rows.view();
    const int device = rows.begin.device();
    DeviceMatrix<V> result{from.rows, columns, {device, from.rows + 1, "row offsets of a product"}, {}, {}};
    std::int64_t* const offsets = result.row_offsets.data();
    for_all("lengths of a product", from.rows, stream,
            [=] __device__(std::int64_t i) { offsets[i + 1] = from.end[i] - from.begin[i]; });
    const std::int64_t nonzeros = sum_up(result.row_offsets, stream);
    result.column_indices = {device, nonzeros, "column indices of a product"};
    result.values = {device, nonzeros, "values of a product"};
    std::int32_t* const to_columns = result.column_indices.data();
    V* const to_values = result.values.data();
    constexpr int lanes = 8;
    for_all("rows of a product", from.rows * lanes, stream, [=] __device__(std::int64_t t) {
        const std::int64_t i = t / lanes;
        for (std::int64_t k = offsets[i] + t % lanes; k < offsets[i + 1]; k += lanes) {
            to_columns[k] = from.columns[from.begin[i] + k - offsets[i]];
            to_values[k] = static_cast<V>(from.values[from.begin[i] + k - offsets[i]]);
        }
    });
    synchronize(device, stream);
    return result;
}

}  // namespace solver::cuda
