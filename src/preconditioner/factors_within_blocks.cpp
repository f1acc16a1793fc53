#include "preconditioner/factors_within_blocks.hpp"

#include "preconditioner/within_blocks.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <unordered_map>

namespace solver {
namespace {

/// Rows of a block diagonal matrix: those of the next block, whose columns begin where its rows do.
template <class T>
void append_rows(const CsrMatrix<T>& block, CsrMatrix<T>& all) {
    const auto first = static_cast<std::int32_t>(all.row_offsets.size() - 1);
    const std::int64_t entries = all.nonzeros();
    for (const std::int32_t column : block.column_indices) all.column_indices.push_back(first + column);
    all.values.insert(all.values.end(), block.values.begin(), block.values.end());
    for (std::int64_t i = 1; i <= block.rows; ++i) all.row_offsets.push_back(entries + block.row_offsets[i]);
}

}  // namespace

std::vector<std::vector<std::int32_t>> rows_of_blocks(std::span<const std::int32_t> block_of_row, int rows_each,
                                                      std::int64_t rows) {
    require_blocks(block_of_row, rows_each, rows);
    std::vector<std::vector<std::int32_t>> blocks;
    std::unordered_map<std::int32_t, std::size_t> place;
    for (std::int64_t row = 0; row < rows; ++row) {
        const auto found = place.try_emplace(block_of_row[row / rows_each], blocks.size()).first;
        if (found->second == blocks.size()) blocks.emplace_back();
        blocks[found->second].push_back(static_cast<std::int32_t>(row));
    }
    return blocks;
}

template <class T>
CsrMatrix<T> principal_submatrix(const CsrView<T>& a, std::span<const std::int32_t> rows, std::vector<std::int32_t>& place) {
    const auto n = static_cast<std::int64_t>(rows.size());
    CsrMatrix<T> part{n, n, {0}, {}, {}};
    part.row_offsets.reserve(rows.size() + 1);
    for (std::size_t i = 0; i < rows.size(); ++i) place[rows[i]] = static_cast<std::int32_t>(i);
    for (const std::int32_t row : rows) {
        for (std::int64_t k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k) {
            if (place[a.column_indices[k]] < 0) continue;
            part.column_indices.push_back(place[a.column_indices[k]]);
            part.values.push_back(a.values[k]);
        }
        part.row_offsets.push_back(part.nonzeros());
    }
    for (const std::int32_t row : rows) place[row] = -1;
    return part;
}

template <class T>
PreparedFactors<T> without_blocks(std::int64_t n) {
    PreparedFactors<T> all;
    for (CsrMatrix<T>* const factor : {&all.factors.lower, &all.factors.upper}) {
        factor->rows = factor->columns = n;
        factor->row_offsets = {0};
    }
    all.preparation.row_exponents.resize(static_cast<std::size_t>(n));
    all.preparation.column_exponents.resize(static_cast<std::size_t>(n));
    return all;
}

template <class T>
void append_block(const PreparedFactors<T>& block, std::span<const std::int32_t> rows, PreparedFactors<T>& all) {
    append_rows(block.factors.lower, all.factors.lower);
    append_rows(block.factors.upper, all.factors.upper);
    const Preparation& of_block = block.preparation;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        all.preparation.row_exponents[rows[i]] = of_block.row_exponents[i];
        all.preparation.column_exponents[rows[i]] = of_block.column_exponents[i];
        all.preparation.row_order.push_back(rows[of_block.row_order[i]]);
        all.preparation.column_order.push_back(rows[of_block.column_order[i]]);
    }
}

void refuse_block(std::int32_t block, const InvalidArgument& error) {
    throw InvalidArgument(fmt::format("block {}, whose rows count from 1 here: {}", block, error.what()));
}

template CsrMatrix<float> principal_submatrix(const CsrView<float>&, std::span<const std::int32_t>, std::vector<std::int32_t>&);
template CsrMatrix<double> principal_submatrix(const CsrView<double>&, std::span<const std::int32_t>,
                                               std::vector<std::int32_t>&);
template PreparedFactors<float> without_blocks(std::int64_t);
template PreparedFactors<double> without_blocks(std::int64_t);
template void append_block(const PreparedFactors<float>&, std::span<const std::int32_t>, PreparedFactors<float>&);
template void append_block(const PreparedFactors<double>&, std::span<const std::int32_t>, PreparedFactors<double>&);

}  // namespace solver
