#pragma once

/// Rows of a matrix on a device that the host looks at.

#include "preparation/fill_estimate.hpp"
#include "solver/cuda/csr.hpp"
#include "solver/cuda/memory.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace solver::cuda {

/// Brings blocks of rows to the host when they are first asked for, and keeps them.
template <class T>
class FetchedRows final : public preparation::PatternRows {
public:
    explicit FetchedRows(const DeviceCsrView<T>& a)
        : a_(a), blocks_(static_cast<std::size_t>((a.rows + rows_a_block - 1) / rows_a_block)) {}

    std::int64_t rows() const override { return a_.rows; }

    std::int64_t row_length(std::int64_t row) override {
        const Block& block = block_of(row);
        return block.offsets[row % rows_a_block + 1] - block.offsets[row % rows_a_block];
    }

    std::span<const std::int32_t> columns_of(std::int64_t row) override {
        Block& block = block_of(row);
        if (block.columns.empty())
            block.columns = fetched(a_.column_indices + block.offsets.front(), block.offsets.back() - block.offsets.front());
        const std::int64_t first = block.offsets[row % rows_a_block];
        return std::span(block.columns)
            .subspan(static_cast<std::size_t>(first - block.offsets.front()),
                     static_cast<std::size_t>(block.offsets[row % rows_a_block + 1] - first));
    }

private:
    static constexpr std::int64_t rows_a_block = 8192;

    struct Block {
        std::vector<std::int64_t> offsets;
        std::vector<std::int32_t> columns;
    };

    template <class Element>
    std::vector<Element> fetched(const Element* from, std::int64_t count) const {
        std::vector<Element> elements(static_cast<std::size_t>(count));
        detail::copy_to_host(a_.device, elements.data(), from, count * static_cast<std::int64_t>(sizeof(Element)), nullptr);
        return elements;
    }

    /// With its offsets.
    Block& block_of(std::int64_t row) {
        Block& block = blocks_[row / rows_a_block];
        if (!block.offsets.empty()) return block;
        const std::int64_t first = row / rows_a_block * rows_a_block, count = std::min(rows_a_block, a_.rows - first) + 1;
        if (const auto* const wide = a_.row_offsets.template as<std::int64_t>()) {
            block.offsets = fetched(wide + first, count);
        } else {
            const auto narrow = fetched(a_.row_offsets.template as<std::int32_t>() + first, count);
            block.offsets.assign(narrow.begin(), narrow.end());
        }
        return block;
    }

    DeviceCsrView<T> a_;
    std::vector<Block> blocks_;
};

}  // namespace solver::cuda
