#pragma once

/// Long rows, split into segments, a warp each, of which the last to arrive merges all in a fixed order. Of several columns,
/// blocks with the same segments follow one another, so that one reads A from memory and the others from the cache.

#include "runtime/gate.cuh"
#include "spmv/rows.cuh"

namespace solver::cuda {

inline constexpr int long_row_threads = 128;
inline constexpr int segments_a_row = 4096;  ///< at most

template <class Offset>
struct LongRows {
    const Segment<Offset>* segments;
    std::int32_t count;
    unsigned* arrived;  ///< for each segment; the row's first one counts
    void* partial;      ///< TrackedSum<A> for each segment
};

/// What the long rows of another column need.
template <Accumulator A, class Offset>
__device__ LongRows<Offset> column_of(LongRows<Offset> rows, unsigned column) {
    rows.arrived += column * rows.count;
    rows.partial = static_cast<TrackedSum<A>*>(rows.partial) + column * rows.count;
    return rows;
}

/// First with segments == nullptr, which counts them; then again, from a count of 0, to write them. They come in any order,
/// which cannot be seen in a result. A segment has a multiple of `least` entries.
template <class Offset>
__global__ void find_long_rows(const Offset* offsets, Offset rows, int longest_short, int least, Segment<Offset>* segments,
                               std::int32_t* segment_count) {
    const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const Offset row_begin = offsets[row];
    const Offset row_end = offsets[row + 1];
    if (row_end - row_begin <= longest_short) return;
    const Offset share = (row_end - row_begin + segments_a_row - 1) / segments_a_row;
    const Offset length = (share + least - 1) / least * least;
    const auto count = static_cast<std::int32_t>((row_end - row_begin + length - 1) / length);
    const std::int32_t place = atomicAdd(segment_count, count);
    for (std::int32_t i = 0; segments != nullptr && i < count; ++i) {
        const Offset begin = row_begin + i * length;
        segments[place + i] = {static_cast<Offset>(row), begin, min(static_cast<Offset>(begin + length), row_end), place,
                               count};
    }
}

template <Accumulator A, bool paired, class Rows, class T>
__global__ void __launch_bounds__(long_row_threads)
    multiply_long_rows(const __grid_constant__ Rows all_rows, const __grid_constant__ RowTask<T> first_task,
                       LongRows<typename Rows::Offset> first_long_rows, Columns columns, unsigned* escalated, Gate gate) {
    using Offset = typename Rows::Offset;
    const Share share = share_of_block<true>(columns);
    if (!is_open(gate, columns, share.column)) return;
    let_next_kernel_start();
    const RowTask<T> task = column_of(first_task, share.column * columns.stride);
    const LongRows<Offset> long_rows = column_of<A>(first_long_rows, share.column);
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    const auto index = static_cast<std::int32_t>((share.block * long_row_threads + threadIdx.x) / warp_size);
    if (index >= long_rows.count) return;
    const Segment<Offset> segment = long_rows.segments[index];
    decltype(auto) rows = all_rows.of(segment.row);
    TrackedSum<A> sum = sum_by_warp<A, 4>(rows, segment.begin, segment.end, Multiplicand<T, paired>{task.x, task.x_low});
    if (segment.count > 1) {
        auto* partial = static_cast<TrackedSum<A>*>(long_rows.partial) + segment.first;
        if (lane == 0) partial[index - segment.first] = sum;
        if (!warp_comes_last(long_rows.arrived + segment.first, static_cast<unsigned>(segment.count))) return;
        sum = TrackedSum<A>();
        for (int i = lane; i < segment.count; i += warp_size) sum.merge(load_fresh(partial + i));
        sum = merge_lanes(sum, warp_size);
    }
    finish_row(sum, rows, segment.row, task, LaneGroup(warp_size), escalated);
}

}  // namespace solver::cuda
