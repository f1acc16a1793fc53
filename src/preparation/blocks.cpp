#include "preparation/blocks.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace solver::preparation {
namespace {

/// A block (re, -im; im, re) at a pair of columns.
template <class T>
struct Block {
    std::int32_t column;
    T re = 0;
    T im = 0;
};

/// The blocks of rows `row` and `row` + 1, as the first row tells them.
template <class T>
void read_blocks(const CsrView<T>& a, std::int64_t row, std::vector<Block<T>>& blocks) {
    blocks.clear();
    for (std::int64_t k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k) {
        const std::int32_t column = a.column_indices[k] / 2;
        if (blocks.empty() || blocks.back().column != column) blocks.push_back({column});
        (a.column_indices[k] % 2 == 0 ? blocks.back().re : blocks.back().im) =
            a.column_indices[k] % 2 == 0 ? a.values[k] : -a.values[k];
    }
}

/// Whether a row is the second one of these blocks.
template <class T>
bool is_second_row(const CsrView<T>& a, std::int64_t row, const std::vector<Block<T>>& blocks) {
    std::int64_t k = a.row_offsets[row];
    const std::int64_t end = a.row_offsets[row + 1];
    const auto follows = [&](std::int32_t column, T value) {
        if (value == 0) return true;
        const bool is_there = k < end && a.column_indices[k] == column && a.values[k] == value;
        ++k;
        return is_there;
    };
    const auto is_there = [&](const Block<T>& block) {
        return follows(2 * block.column, block.im) && follows(2 * block.column + 1, block.re);
    };
    return std::all_of(blocks.begin(), blocks.end(), is_there) && k == end;
}

/// The number at a place, by the rows that stand there.
template <class T>
Block<T> block_at(const CsrView<T>& a, std::int64_t row, std::int32_t column, std::vector<Block<T>>& blocks) {
    read_blocks(a, 2 * row, blocks);
    const auto found =
        std::find_if(blocks.begin(), blocks.end(), [&](const Block<T>& block) { return block.column == column; });
    return found == blocks.end() ? Block<T>{column} : *found;
}

std::vector<std::int32_t> twice_each(const std::vector<std::int32_t>& values) {
    std::vector<std::int32_t> result;
    result.reserve(2 * values.size());
    for (const std::int32_t value : values) result.insert(result.end(), {value, value});
    return result;
}

}  // namespace

template <class T>
bool is_real_form(const CsrView<T>& a) {
    if (a.rows % 2 != 0 || a.columns % 2 != 0) return false;
    bool has_imaginary_parts = false;
    std::vector<Block<T>> blocks;
    for (std::int64_t row = 0; row < a.rows; row += 2) {
        read_blocks(a, row, blocks);
        if (!is_second_row(a, row + 1, blocks)) return false;
        has_imaginary_parts |= std::any_of(blocks.begin(), blocks.end(), [](const Block<T>& block) { return block.im != 0; });
    }
    return has_imaginary_parts;
}

template <class T>
CsrMatrix<T> block_magnitudes(const CsrView<T>& a) {
    CsrMatrix<T> result{a.rows / 2, a.columns / 2, {0}, {}, {}};
    std::vector<Block<T>> blocks;
    for (std::int64_t row = 0; row < a.rows; row += 2) {
        read_blocks(a, row, blocks);
        for (const Block<T>& block : blocks) {
            result.column_indices.push_back(block.column);
            result.values.push_back(std::max(std::abs(block.re), std::abs(block.im)));
        }
        result.row_offsets.push_back(result.nonzeros());
    }
    return result;
}

bool keeps_pairs(const Preparation& preparation) {
    const auto &rows = preparation.row_order, &columns = preparation.column_order;
    if (rows.size() % 2 != 0) return false;
    for (std::size_t k = 0; k < rows.size(); k += 2)
        if (rows[k] / 2 != rows[k + 1] / 2 || columns[k] % 2 != 0 || columns[k + 1] != columns[k] + 1) return false;
    return true;
}

template <class T>
Preparation in_pairs(const Preparation& of_blocks, const CsrView<T>& a) {
    Preparation result;
    result.row_exponents = twice_each(of_blocks.row_exponents);
    result.column_exponents = twice_each(of_blocks.column_exponents);
    result.structural_rank = 2 * of_blocks.structural_rank;
    std::vector<Block<T>> blocks;
    for (std::size_t k = 0; k < of_blocks.row_order.size(); ++k) {
        const std::int32_t row = of_blocks.row_order[k], column = of_blocks.column_order[k];
        const Block<T> pivot = block_at(a, row, column, blocks);
        const int first = std::abs(pivot.im) > std::abs(pivot.re) ? 1 : 0;
        result.row_order.insert(result.row_order.end(), {2 * row + first, 2 * row + 1 - first});
        result.column_order.insert(result.column_order.end(), {2 * column, 2 * column + 1});
    }
    // A number makes four entries, and complex arithmetic takes four operations for one of real numbers.
    if (of_blocks.fill) result.fill = FillPrediction{4 * of_blocks.fill->factor_entries, 4 * of_blocks.fill->flops};
    return result;
}

template bool is_real_form(const CsrView<float>&);
template bool is_real_form(const CsrView<double>&);
template CsrMatrix<float> block_magnitudes(const CsrView<float>&);
template CsrMatrix<double> block_magnitudes(const CsrView<double>&);
template Preparation in_pairs(const Preparation&, const CsrView<float>&);
template Preparation in_pairs(const Preparation&, const CsrView<double>&);

}  // namespace solver::preparation
