#pragma once

/// Building a CSR matrix from its first row to its last.

#include "solver/csr_matrix.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace solver::matrices {

struct RowEntry {
    std::int32_t column;
    double value;
};

/// A square matrix without rows yet, with memory for `entries` entries.
inline CsrMatrix<double> empty_matrix(std::int64_t rows, std::int64_t entries) {
    CsrMatrix<double> matrix;
    matrix.columns = rows;
    matrix.row_offsets.reserve(static_cast<std::size_t>(rows) + 1);
    matrix.column_indices.reserve(static_cast<std::size_t>(entries));
    matrix.values.reserve(static_cast<std::size_t>(entries));
    return matrix;
}

/// Appends one row. Its entries may come in any order, no column twice; they are sorted in place.
inline void append_row(CsrMatrix<double>& matrix, std::vector<RowEntry>& entries) {
    std::sort(entries.begin(), entries.end(), [](const RowEntry& a, const RowEntry& b) { return a.column < b.column; });
    for (const RowEntry& entry : entries) {
        matrix.column_indices.push_back(entry.column);
        matrix.values.push_back(entry.value);
    }
    matrix.row_offsets.push_back(static_cast<std::int64_t>(matrix.values.size()));
    ++matrix.rows;
}

}  // namespace solver::matrices
