#pragma once

/// A dense matrix that owns its memory.

#include "solver/views.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace solver {

/// rows x columns values, column by column (column-major, as BLAS and Matrix Market have it).
template <class T>
struct DenseMatrix {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::vector<T> values;

    DenseView<T> view() const { return {rows, columns, 1, rows, values.data()}; }
    MutableDenseView<T> mutable_view() { return {rows, columns, 1, rows, values.data()}; }
    operator DenseView<T>() const { return view(); }

    /// The elements of column j, 0 <= j < columns, one after another, where they are.
    std::span<const T> column(std::int64_t j) const { return {values.data() + j * rows, static_cast<std::size_t>(rows)}; }
    std::span<T> column(std::int64_t j) { return {values.data() + j * rows, static_cast<std::size_t>(rows)}; }
};

}  // namespace solver
