#pragma once

/// Rows without entries, which no preconditioner that divides takes.

#include "solver/csr_matrix.hpp"

#include <cstdint>

namespace solver {

/// A with 1 on the diagonal of rows that have no entry but zeros; what else they store stays, so that A's pattern stays its own
/// transpose. Where these columns are empty, too, the other rows and columns stay a system of their own.
template <class T>
CsrMatrix<T> with_ones_in_empty_rows(const CsrView<T>& a) {
    CsrMatrix<T> filled{a.rows, a.columns, {0}, {}, {}};
    for (std::int64_t i = 0; i < a.rows; ++i) {
        const std::int64_t first = a.row_offsets[i], end = a.row_offsets[i + 1];
        T diagonal = 0;
        bool is_empty = true;
        for (std::int64_t k = first; k < end; ++k)
            if (a.column_indices[k] == i)
                diagonal += a.values[k];
            else
                is_empty = is_empty && a.values[k] == T(0);
        is_empty = is_empty && diagonal == T(0);
        bool has_one = !is_empty;
        const auto add = [&](std::int64_t column, T value) {
            filled.column_indices.push_back(static_cast<std::int32_t>(column));
            filled.values.push_back(value);
        };
        const auto add_one = [&] {
            if (!has_one) add(i, T(1));
            has_one = true;
        };
        for (std::int64_t k = first; k < end; ++k) {
            const std::int32_t column = a.column_indices[k];
            if (column >= i) add_one();
            if (!is_empty || column != i) add(column, a.values[k]);
        }
        add_one();
        filled.row_offsets.push_back(filled.nonzeros());
    }
    return filled;
}

}  // namespace solver
