#pragma once

/// From dense to sparse.

#include "core/floating_point_guard.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/views.hpp"

#include <cstdint>

namespace solver {

/// The elements other than zero, by rows and columns.
template <class T>
CsrMatrix<T> nonzero_elements(const DenseView<T>& a) {
    const cpu::FloatingPointGuard guard;  // a subnormal is not 0
    CsrMatrix<T> sparse{a.rows, a.columns, {0}, {}, {}};
    sparse.row_offsets.reserve(static_cast<std::size_t>(a.rows) + 1);
    for (std::int64_t i = 0; i < a.rows; ++i) {
        for (std::int64_t j = 0; j < a.columns; ++j) {
            const T value = a.data[i * a.row_stride + j * a.column_stride];
            if (value == T(0)) continue;
            sparse.column_indices.push_back(static_cast<std::int32_t>(j));
            sparse.values.push_back(value);
        }
        sparse.row_offsets.push_back(sparse.nonzeros());
    }
    return sparse;
}

}  // namespace solver
