#pragma once

/// A matrix in tiles of nearly equal work, and its long rows in segments.
///
/// Where a row's work begins is row_offsets[i] + i, which counts rows as well as entries (the merge path of Merrill and
/// Garland, SC 2016); tile t holds the rows that begin in [t tile_work, (t + 1) tile_work). So its last row alone can make it
/// have more than tile_work entries. With more than tile_entries it would take more shared memory, in all blocks, from the
/// cache in which x is looked up: then that row is a long one.

#include "spmv/rows.cuh"

#include <cstdint>

namespace solver::cuda {

inline constexpr int tile_work = 512;
inline constexpr int tile_entries = tile_work + 64;
inline constexpr int segment_entries = 1024;  ///< at least
inline constexpr int blocks_a_row = 2048;     ///< at most

/// The short rows of a tile, adjacent.
template <class Offset>
struct Tile {
    Offset row;
    Offset entry;
    std::int32_t rows;
    std::int32_t entries;
};

template <class Offset>
struct Tiling {
    const Tile<Offset>* tiles;
    const Segment<Offset>* segments;
    std::int32_t segment_count;
    unsigned* arrived;          ///< for each segment; the row's first one counts
    void* partial;              ///< TrackedSum<A> for each segment
    std::uint8_t* without_try;  ///< products that each segment (the row's first one counts) and tile goes without a first try
    std::int32_t blocks;        ///< segments and tiles
};

/// Sizes found by the analysis.
struct TilingSizes {
    std::int32_t segments;
    std::int32_t largest_tile;  ///< entries
};

inline std::int64_t tile_count(std::int64_t rows, std::int64_t nonzeros) {
    return rows == 0 ? 0 : (rows + nonzeros - 1) / tile_work + 1;
}

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
    const Offset share = (row_length + blocks_a_row - 1) / blocks_a_row;
    return (share + segment_entries - 1) / segment_entries * segment_entries;
}

/// One thread a tile. First with segments == nullptr, which counts them in `sizes`; then again, from a count of 0, to write
/// them.
template <class Offset>
__global__ void make_tiles(const Offset* offsets, Offset rows, std::int64_t tiles, Tile<Offset>* tile,
                           Segment<Offset>* segments, TilingSizes* sizes) {
    const std::int64_t t = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (t >= tiles) return;
    const Offset first = first_row_from(offsets, rows, t * tile_work);
    Offset last = first_row_from(offsets, rows, (t + 1) * tile_work);
    if (offsets[last] - offsets[first] > tile_entries) {
        const Offset row = --last;
        const Offset last_length = offsets[row + 1] - offsets[row];
        const Offset length = segment_length(last_length);
        const auto count = static_cast<std::int32_t>((last_length + length - 1) / length);
        const std::int32_t place = atomicAdd(&sizes->segments, count);
        for (std::int32_t i = 0; segments != nullptr && i < count; ++i) {
            const Offset begin = offsets[row] + i * length;
            const Offset end = begin + length < offsets[row + 1] ? begin + length : offsets[row + 1];
            segments[place + i] = {row, begin, end, place, count};
        }
    }
    const auto entries = static_cast<std::int32_t>(offsets[last] - offsets[first]);
    if (segments == nullptr) atomicMax(&sizes->largest_tile, entries);
    tile[t] = {first, offsets[first], static_cast<std::int32_t>(last - first), entries};
}

/// What the tiles of another column need.
template <Accumulator A, class Offset>
__device__ Tiling<Offset> column_of(Tiling<Offset> tiling, unsigned column) {
    tiling.arrived += column * tiling.segment_count;
    tiling.partial = static_cast<TrackedSum<A>*>(tiling.partial) + column * tiling.segment_count;
    tiling.without_try += static_cast<std::int64_t>(column) * tiling.blocks;
    return tiling;
}

template <Accumulator A, bool several, class Offset>
__device__ __forceinline__ decltype(auto) tiling_of_column(const Tiling<Offset>& first, unsigned column) {
    if constexpr (several)
        return column_of<A>(first, column);
    else
        return (first);
}

}  // namespace solver::cuda
