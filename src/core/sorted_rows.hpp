#pragma once

/// Matrices whose rows are sorted and free of repeated columns.

#include "solver/csr_matrix.hpp"

#include <cstdint>
#include <vector>

namespace solver {

template <class T>
bool has_sorted_rows(const CsrView<T>& a) {
    for (std::int64_t i = 0; i < a.rows; ++i)
        for (std::int64_t k = a.row_offsets[i] + 1; k < a.row_offsets[i + 1]; ++k)
            if (a.column_indices[k - 1] >= a.column_indices[k]) return false;
    return true;
}

/// The same matrix, repeated entries summed with one rounding.
template <class T>
CsrMatrix<T> with_sorted_rows(const CsrView<T>& a) {
    std::vector<Entry<T>> entries;
    for (std::int64_t i = 0; i < a.rows; ++i)
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
            entries.push_back({static_cast<std::int32_t>(i), a.column_indices[k], a.values[k]});
    return csr_from_entries<T>(a.rows, a.columns, entries);
}

}  // namespace solver
