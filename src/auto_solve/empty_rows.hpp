#pragma once

/// Rows without entries, which no preconditioner that divides takes.

#include "solver/csr_matrix.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace solver {

/// A with 1 on the diagonal of rows that have no entry but zeros. Where these columns are empty, too, the other rows and
/// columns stay a system of their own.
template <class T>
CsrMatrix<T> with_ones_in_empty_rows(const CsrView<T>& a) {
    CsrMatrix<T> filled{a.rows, a.columns, {0}, {}, {}};
    for (std::int64_t i = 0; i < a.rows; ++i) {
        const auto first = static_cast<std::size_t>(a.row_offsets[i]), length = static_cast<std::size_t>(a.row_length(i));
        const std::span<const std::int32_t> columns = a.column_indices.subspan(first, length);
        const std::span<const T> values = a.values.subspan(first, length);
        if (std::ranges::all_of(values, [](T value) { return value == T(0); })) {
            filled.column_indices.push_back(static_cast<std::int32_t>(i));
            filled.values.push_back(T(1));
        } else {
            filled.column_indices.insert(filled.column_indices.end(), columns.begin(), columns.end());
            filled.values.insert(filled.values.end(), values.begin(), values.end());
        }
        filled.row_offsets.push_back(filled.nonzeros());
    }
    return filled;
}

}  // namespace solver
