#pragma once

/// From dense to sparse.

#include "core/floating_point_guard.hpp"
#include "core/huge_pages.hpp"
#include "core/row_ranges.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/views.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace solver {

/// The elements other than zero, by rows and columns.
template <class T>
CsrMatrix<T> nonzero_elements(const DenseView<T>& a, int threads = 1) {
    CsrMatrix<T> sparse{a.rows, a.columns, std::vector<std::int64_t>(static_cast<std::size_t>(a.rows) + 1), {}, {}};
    // Some rows at once, column after column, so that either order of the elements is read by whole lines.
    const auto for_each_nonzero = [&](const auto& work) {
        for_each_row_range(a.rows, a.rows * a.columns, threads, [&](std::int64_t begin, std::int64_t end) {
            constexpr std::int64_t at_once = 16;
            for (std::int64_t first = begin; first < end; first += at_once)
                for (std::int64_t j = 0; j < a.columns; ++j)
                    for (std::int64_t i = first; i < std::min(first + at_once, end); ++i) {
                        const T value = a.data[i * a.row_stride + j * a.column_stride];
                        if (value != T(0)) work(i, static_cast<std::int32_t>(j), value);
                    }
        });
    };
    const cpu::FloatingPointGuard guard;  // a subnormal is not 0
    for_each_nonzero([&](std::int64_t i, std::int32_t, T) { ++sparse.row_offsets[i + 1]; });
    std::partial_sum(sparse.row_offsets.begin(), sparse.row_offsets.end(), sparse.row_offsets.begin());
    resize_in_huge_pages(sparse.column_indices, sparse.row_offsets.back(), threads);
    resize_in_huge_pages(sparse.values, sparse.row_offsets.back(), threads);
    std::vector<std::int64_t> next(sparse.row_offsets.begin(), sparse.row_offsets.end() - 1);
    for_each_nonzero([&](std::int64_t i, std::int32_t j, T value) {
        sparse.column_indices[next[i]] = j;
        sparse.values[next[i]++] = value;
    });
    return sparse;
}

}  // namespace solver
