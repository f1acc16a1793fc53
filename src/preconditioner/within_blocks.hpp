#pragma once

/// The blocks of a matrix that its user names.

#include "solver/csr_matrix.hpp"
#include "solver/error.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <span>

namespace solver {

/// Throws DimensionMismatch where there is not a block for each `rows_each` of so many rows.
inline void require_blocks(std::span<const std::int32_t> block_of_row, int rows_each, std::int64_t rows) {
    if (std::ssize(block_of_row) * rows_each != rows)
        throw DimensionMismatch(fmt::format("preconditioner: block_of_row has {} elements and A {} rows; expected one for each",
                                            block_of_row.size(), rows / rows_each));
}

/// The square A without its entries between rows of different blocks; row i is of block_of_row[i / rows_each]. The entries of a
/// row keep their order. Throws as require_blocks does.
template <class T>
CsrMatrix<T> within_blocks(const CsrView<T>& a, std::span<const std::int32_t> block_of_row, int rows_each) {
    require_blocks(block_of_row, rows_each, a.rows);
    CsrMatrix<T> blocks{a.rows, a.columns, {}, {}, {}};
    blocks.row_offsets.reserve(static_cast<std::size_t>(a.rows) + 1);
    blocks.row_offsets.push_back(0);
    for (std::int64_t i = 0; i < a.rows; ++i) {
        const std::int32_t block = block_of_row[i / rows_each];
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) {
            if (block_of_row[a.column_indices[k] / rows_each] != block) continue;
            blocks.column_indices.push_back(a.column_indices[k]);
            blocks.values.push_back(a.values[k]);
        }
        blocks.row_offsets.push_back(blocks.nonzeros());
    }
    return blocks;
}

}  // namespace solver
