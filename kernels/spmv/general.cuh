#pragma once

/// General: a row belongs to one lane or some adjacent ones, which read it straight from memory. Rows lie side by side in a
/// warp, so that what one lane leaves of a cache line the next loads of its row use, and neighbouring rows of a stencil read
/// neighbouring elements of x. Best where rows are of similar lengths.
///
/// Few lanes a row, since merging lanes costs as much as several entries, the more so in exact. Measured on an H200, double,
/// exact, microseconds with 1, 2, 4, 8 lanes a row: 5-point 4000^2 343, 443, 822, -; 27-point 160^3 -, 429, 485, 802.

#include "runtime/gate.cuh"
#include "spmv/rows.cuh"

namespace solver::cuda {

inline constexpr int general_threads = 128;

/// Blocks to be resident on a multiprocessor: what bounds the registers.
template <Accumulator A, int unroll, bool paired>
inline constexpr int general_blocks = paired                     ? 6
                                      : !A::wants_exact_products ? (unroll == 8 ? 10 : 16)
                                      : unroll == 8              ? 8
                                      : unroll == 4              ? 9
                                                                 : 12;

/// `2^log2_width` lanes a row. Rows longer than longest_short are left out. Of several columns, blocks with the same rows
/// follow one another, so that one reads A from memory and the others from the cache. (Two or four columns a lane, which loads
/// an entry once for all of them, were little faster, and in exact, for want of registers, slower.)
template <Accumulator A, int unroll, bool paired, bool several, class T, class Offset>
__global__ void __launch_bounds__(general_threads, general_blocks<A, unroll, paired>)
    multiply_general(const __grid_constant__ CsrRows<T, Offset> rows, const __grid_constant__ RowTask<T> first_task,
                     const __grid_constant__ Columns columns, int log2_width, int longest_short, unsigned* escalated,
                     Gate gate) {
    const Share share = share_of_block<several>(columns);
    if (!is_open(gate, columns, share.column)) return;
    let_next_kernel_start();
    decltype(auto) task = task_of_column<several>(first_task, columns, share.column);
    const int width = 1 << log2_width;
    const int lane = static_cast<int>(threadIdx.x) & (width - 1);
    const std::int64_t row = (static_cast<std::int64_t>(share.block) * general_threads + threadIdx.x) >> log2_width;
    const bool inside = row < rows.rows;
    const Offset begin = inside ? __ldg(rows.offsets + row) : 0;
    const Offset end = inside ? __ldg(rows.offsets + row + 1) : 0;
    const bool is_long = end - begin > longest_short;
    const Multiplicand<T, paired> x_of{task.x, task.x_low};
    TrackedSum<A> sum = sum_entries<A, unroll>(rows, static_cast<Offset>(begin + lane), is_long ? begin : end, width, x_of);
    sum = merge_lanes(sum, width);
    if (inside && !is_long) finish_row(sum, rows, static_cast<Offset>(row), task, LaneGroup(width), escalated);

    wait_for_former_kernel();  // which works on the long rows; whoever waits for this kernel has waited for both
}

}  // namespace solver::cuda
