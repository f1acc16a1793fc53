#pragma once

/// General: adjacent lanes share a row, as many for all rows.

#include "rows.cuh"

namespace solver::cuda {

inline constexpr int general_threads = 256;

template <class A, class T, class Offset>
__global__ void __launch_bounds__(general_threads)
    multiply_general(CsrRows<T, Offset> rows, RowTask<T> task, int width, OpenRows<Offset> open) {
    const int lane = static_cast<int>(threadIdx.x) & (width - 1);
    const std::int64_t row = (static_cast<std::int64_t>(blockIdx.x) * general_threads + threadIdx.x) / width;
    const bool inside = row < rows.rows;
    const Offset begin = inside ? rows.offsets[row] : 0;
    const Offset end = inside ? rows.offsets[row + 1] : 0;
    RowSum<A> sum = sum_entries<A>(rows, static_cast<Offset>(begin + lane), end, static_cast<Offset>(width), task);
    sum = merge_lanes(sum, width);
    if (inside && lane == 0)
        finish_row(sum.sum, static_cast<Offset>(row), static_cast<Offset>(end - begin), sum.inexact == 0, task, open);
}

/// Lanes a row for rows of this mean length: about half of it, since every doubling costs a merge.
inline int general_width(std::int64_t rows, std::int64_t nonzeros) {
    int width = 1;
    while (width < warp_size && 4 * width * rows < nonzeros) width *= 2;
    return width;
}

}  // namespace solver::cuda
