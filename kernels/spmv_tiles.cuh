#pragma once

/// Adaptive: a warp works on a tile, adjacent rows with nearly as many entries as any other tile's; a long row is split into
/// segments, one warp each, of which the last to arrive merges all in a fixed order.
///
/// Where a row's work begins is row_offsets[i] + i, which counts rows as well as entries (the merge path of Merrill and Garland,
/// SC 2016); tile t holds the rows that begin in [t work, (t + 1) work). Hence a row longer than `work` is the last of its tile:
/// these are the long ones.

#include "spmv_rows.cuh"

namespace solver::cuda {

inline constexpr int segment_entries = 1024;  ///< of a long row, at least
inline constexpr int segments_a_row = 4096;   ///< at most

/// Adjacent rows, none of them long.
template <class Offset>
struct Tile {
    Offset row;
    std::int32_t rows;
};

/// A part of a long row.
template <class Offset>
struct Segment {
    Offset row;
    Offset begin;
    Offset end;
    std::int32_t first;  ///< the row's first segment
    std::int32_t count;  ///< how many the row has
};

template <class Offset>
struct Tiling {
    const Tile<Offset>* tiles;
    std::int64_t tile_count;
    const Segment<Offset>* segments;
    std::int32_t segment_count;
    unsigned* arrived;  ///< for each segment; the row's first one counts
    void* partial;      ///< RowSum<A> for each segment
};

/// Sizes found by the analysis.
struct TilingSizes {
    std::int32_t segments;
    std::int32_t largest_tile;  ///< entries
};

/// The first row that begins at `work` or later, or `rows`.
template <class Offset>
__device__ Offset first_row_from(const Offset* offsets, Offset rows, std::int64_t work) {
    Offset low = 0;
    Offset high = rows;
    while (low < high) {
        const Offset middle = low + (high - low) / 2;
        if (static_cast<std::int64_t>(offsets[middle]) + middle < work)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/// How many entries a segment of a long row has: a multiple of segment_entries.
template <class Offset>
__device__ Offset segment_length(Offset row_length) {
    const Offset share = (row_length + segments_a_row - 1) / segments_a_row;
    return (share + segment_entries - 1) / segment_entries * segment_entries;
}

/// One thread a tile. First with segments == nullptr, which counts them in `sizes`; then again, from a count of 0, to write them.
template <class Offset>
__global__ void make_tiles(const Offset* offsets, Offset rows, int work, std::int64_t tiles, Tile<Offset>* tile,
                           Segment<Offset>* segments, TilingSizes* sizes) {
    const std::int64_t t = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (t >= tiles) return;
    const Offset first = first_row_from(offsets, rows, t * work);
    Offset last = first_row_from(offsets, rows, (t + 1) * work);
    const Offset last_length = last > first ? offsets[last] - offsets[last - 1] : 0;
    if (last_length > work) {
        const Offset row = --last;
        const Offset length = segment_length(last_length);
        const auto count = static_cast<std::int32_t>((last_length + length - 1) / length);
        const std::int32_t place = atomicAdd(&sizes->segments, count);
        for (std::int32_t i = 0; segments != nullptr && i < count; ++i) {
            const Offset begin = offsets[row] + i * length;
            const Offset end = min(begin + length, offsets[row + 1]);
            segments[place + i] = {row, begin, end, place, count};
        }
    }
    if (segments == nullptr) atomicMax(&sizes->largest_tile, static_cast<std::int32_t>(offsets[last] - offsets[first]));
    tile[t] = {first, static_cast<std::int32_t>(last - first)};
}

template <class A, bool paired, class T, class Offset>
__device__ void multiply_segment(const CsrRows<T, Offset>& rows, const Tiling<Offset>& tiling, std::int32_t index,
                                 const RowTask<T>& task, const OpenRows<Offset>& open) {
    const Segment<Offset> segment = tiling.segments[index];
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    RowSum<A> sum =
        sum_by_warp<A>(rows, segment.begin, segment.end, Multiplicand<T, paired>{task.x, task.x_low});
    if (segment.count > 1) {
        auto* partial = static_cast<RowSum<A>*>(tiling.partial) + segment.first;
        if (lane == 0) partial[index - segment.first] = sum;
        if (!warp_comes_last(tiling.arrived + segment.first, static_cast<unsigned>(segment.count))) return;
        sum = RowSum<A>();
        for (int i = lane; i < segment.count; i += warp_size) sum.merge(load_fresh(partial + i));
        sum = merge_lanes(sum, warp_size);
    }
    if (lane == 0) {
        const Offset length = rows.offsets[segment.row + 1] - rows.offsets[segment.row];
        finish_row(sum.sum, segment.row, length, sum.inexact == 0, task, open);
    }
}

template <class A, bool paired, class T, class Offset>
__global__ void __launch_bounds__(warps_a_block* warp_size)
    multiply_adaptive(CsrRows<T, Offset> rows, Tiling<Offset> tiling, RowTask<T> task, int capacity, OpenRows<Offset> open) {
    extern __shared__ __align__(16) unsigned char shared[];
    const int warp = static_cast<int>(threadIdx.x) / warp_size;
    const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * warps_a_block + warp;
    if (index < tiling.segment_count)
        return multiply_segment<A, paired>(rows, tiling, static_cast<std::int32_t>(index), task, open);
    if (index - tiling.segment_count >= tiling.tile_count) return;
    const Tile<Offset> tile = tiling.tiles[index - tiling.segment_count];
    auto* terms = reinterpret_cast<typename A::Term*>(shared) + warp * capacity * (paired ? 2 : 1);
    for (int done = 0; done < tile.rows; done += warp_size)
        multiply_some_rows<A, T, Offset, paired>(rows, static_cast<Offset>(tile.row + done), min(warp_size, tile.rows - done),
                                                 task, {terms, capacity}, open);
}

}  // namespace solver::cuda
