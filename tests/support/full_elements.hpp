#pragma once

/// The elements of a sparse matrix, zeros among them.

#include "solver/csr_matrix.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace solver::testing {

/// By rows.
template <class T>
std::vector<T> full_elements(const CsrMatrix<T>& a) {
    std::vector<T> elements(static_cast<std::size_t>(a.rows * a.columns));
    for (std::int64_t i = 0; i < a.rows; ++i)
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
            elements[i * a.columns + a.column_indices[k]] = a.values[k];
    return elements;
}

}  // namespace solver::testing
