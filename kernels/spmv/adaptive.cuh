#pragma once

/// Adaptive: tiles of nearly equal work, a block each. The products of a tile's short rows are streamed through shared memory,
/// where one or several lanes add up each row; a long row is split into segments, a block each too, of which the last to arrive
/// merges all in a fixed order. Best where rows are of very different lengths.
///
/// Where a row's work begins is row_offsets[i] + i, which counts rows as well as entries (the merge path of Merrill and
/// Garland, SC 2016); tile t holds the rows that begin in [t tile_work, (t + 1) tile_work). So its last row alone can make it
/// have more than tile_work entries. With more than tile_entries it would take more shared memory, in all blocks, from the
/// cache in which x is looked up: then that row is a long one.

#include "runtime/gate.cuh"
#include "spmv/rows.cuh"

namespace solver::cuda {

inline constexpr int adaptive_threads = 128;
inline constexpr int tile_work = 512;
inline constexpr int tile_entries = tile_work + 64;
inline constexpr int segment_entries = 1024;  ///< at least
inline constexpr int blocks_a_row = 1024;     ///< at most
inline constexpr int row_work_a_lane = 16;    ///< entries; longer rows get a warp

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
    unsigned* arrived;  ///< for each segment; the row's first one counts
    void* partial;      ///< RowSum<A> for each segment
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

/// The same for another column.
template <Accumulator A, class Offset>
__device__ Tiling<Offset> column_of(Tiling<Offset> tiling, unsigned column) {
    tiling.arrived += column * tiling.segment_count;
    tiling.partial = static_cast<RowSum<A>*>(tiling.partial) + column * tiling.segment_count;
    return tiling;
}

template <Accumulator A, bool paired, class T, class Offset>
__device__ void multiply_segment(const CsrRows<T, Offset>& rows, const Tiling<Offset>& tiling, unsigned index,
                                 const RowTask<T>& task, unsigned* escalated) {
    __shared__ Shared<RowSum<A>, adaptive_threads / warp_size> warp_sums;
    const Segment<Offset> segment = tiling.segments[index];
    auto* partial = static_cast<RowSum<A>*>(tiling.partial) + segment.first;
    const int thread = static_cast<int>(threadIdx.x);
    RowSum<A> sum;
    constexpr Offset entries_a_chain = adaptive_threads * chain_length / (paired ? 2 : 1);
    for (Offset first = segment.begin; first < segment.end; first += entries_a_chain)
        sum.merge(sum_entries<A, 4>(rows, static_cast<Offset>(first + thread),
                                    min(static_cast<Offset>(first + entries_a_chain), segment.end), adaptive_threads,
                                    Multiplicand<T, paired>{task.x, task.x_low}));
    sum = merge_block(sum, warp_sums.data());
    if (segment.count > 1) {
        if (thread == 0) partial[static_cast<int>(index) - segment.first] = sum;
        if (!block_comes_last(tiling.arrived + segment.first, static_cast<unsigned>(segment.count))) return;
        sum = RowSum<A>();
        for (int i = thread; i < segment.count; i += adaptive_threads) sum.merge(load_fresh(partial + i));
        sum = merge_block(sum, warp_sums.data());
    }
    if (thread < warp_size) finish_row(sum, rows, segment.row, task, LaneGroup(warp_size), escalated);
}

/// The products of a tile in shared memory, with x and, behind them, with x_low.
template <Accumulator A, bool paired>
struct TileTerms {
    typename A::Term* terms;
    int count;

    __device__ __forceinline__ void add(A& sum, int begin, int end, int step) const {
        for (int k = begin; k < end; k += step) {
            sum.add_term(terms[k]);
            if constexpr (paired) sum.add_term(terms[k + count]);
        }
    }
};

/// Multiplies all entries of a tile. Returns, in all threads, whether every product is exact.
template <Accumulator A, bool paired, class T, class Offset>
__device__ __forceinline__ bool stream_tile(const CsrRows<T, Offset>& rows, Offset entry, const RowTask<T>& task,
                                            const TileTerms<A, paired>& products) {
    constexpr int batch = 4;
    const Multiplicand<T, paired> x_of{task.x, task.x_low};
    bool exact = true;
    const auto store = [&](int k, T a, T x) {
        const auto p = A::product(a, x);
        if constexpr (wants_exact_products<A>) exact = exact && product_is_exact(a, x, p.value);
        products.terms[k] = p;
    };
    for (int first = static_cast<int>(threadIdx.x); first < products.count; first += batch * adaptive_threads) {
        std::int32_t column[batch];
        T a[batch];
        T x[batch];
        T x_low[batch];
        const auto at = [&](int i) { return first + i * adaptive_threads; };
#pragma unroll
        for (int i = 0; i < batch; ++i) {
            column[i] = at(i) < products.count ? rows.passing_column(entry + at(i)) : 0;
            a[i] = at(i) < products.count ? rows.passing_value(entry + at(i)) : T(0);
        }
#pragma unroll
        for (int i = 0; i < batch; ++i) {
            x[i] = at(i) < products.count ? x_of.high(column[i]) : T(0);
            if constexpr (paired) x_low[i] = at(i) < products.count ? x_of.low(column[i]) : T(0);
        }
#pragma unroll
        for (int i = 0; i < batch; ++i) {
            if (at(i) >= products.count) continue;
            store(at(i), a[i], x[i]);
            if constexpr (paired) store(at(i) + products.count, a[i], x_low[i]);
        }
    }
    if constexpr (wants_exact_products<A>) return __syncthreads_and(exact) != 0;
    __syncthreads();
    return true;
}

/// Lanes a row: a power of two that gives every thread work.
__device__ inline int lanes_a_row(int rows) {
    int lanes = 1;
    while (lanes < warp_size && 2 * lanes * rows <= adaptive_threads) lanes *= 2;
    return lanes;
}

/// Rows of a tile that their sums do not decide. They wait for the block's end: a function called among the other rows would
/// take the registers that these need.
template <int most>
struct HardRows {
    int count;
    std::uint16_t row[most];

    /// By the one lane that has the sum.
    template <Accumulator A, class T, class Offset>
    __device__ __forceinline__ void finish(const RowSum<A>& sum, const RowTask<T>& task, Offset first, int row_of_tile,
                                           int length) {
        const std::int64_t place = static_cast<std::int64_t>(first) + row_of_tile;
        if constexpr (is_filter<A>) {
            T result;
            if (try_affine(sum, task, place, length, result))
                task.y[place] = result;
            else
                row[atomicAdd(&count, 1)] = static_cast<std::uint16_t>(row_of_tile);
        } else {
            const T y_in = task.beta != T(0) ? task.y_in[place] : T(0);
            task.y[place] = affine(sum.sum, task.alpha, task.beta, y_in).result();
        }
    }

    /// Those that are left, of a tile whose first row is `first`, by all threads of the block.
    template <class T, class Offset>
    __device__ __forceinline__ void round(const CsrRows<T, Offset>& rows, const RowTask<T>& task, Offset first,
                                          unsigned* escalated) const {
        __syncthreads();
        for (int i = static_cast<int>(threadIdx.x) / warp_size; i < count; i += adaptive_threads / warp_size)
            round_hard_row(rows, task, static_cast<Offset>(first + row[i]), LaneGroup(warp_size), escalated);
    }
};

/// Of several columns, blocks with the same work follow one another, so that one reads A from memory and the others from the
/// cache.
template <Accumulator A, bool paired, bool several, class T, class Offset>
__global__ void __launch_bounds__(adaptive_threads, paired                    ? 4
                                                    : wants_exact_products<A> ? 8
                                                                              : 12)
    multiply_adaptive(const __grid_constant__ CsrRows<T, Offset> rows, Tiling<Offset> first_tiling,
                      const __grid_constant__ RowTask<T> first_task, const __grid_constant__ Columns columns,
                      unsigned* escalated, Gate gate) {
    extern __shared__ __align__(16) unsigned char memory[];
    __shared__ int deferred[tile_entries / row_work_a_lane];
    __shared__ int deferred_count;
    __shared__ HardRows<is_filter<A> ? tile_work : 1> hard_rows;

    const Share share = share_of_block<several>(columns);
    if (!is_open(gate, columns, share.column)) return;
    let_next_kernel_start();
    decltype(auto) task = task_of_column<several>(first_task, columns, share.column);
    if (share.block < static_cast<unsigned>(first_tiling.segment_count))
        return multiply_segment<A, paired>(rows, several ? column_of<A>(first_tiling, share.column) : first_tiling, share.block,
                                           task, escalated);
    const Tile<Offset> tile = first_tiling.tiles[share.block - first_tiling.segment_count];
    if (tile.rows == 0) return;
    const TileTerms<A, paired> products{reinterpret_cast<typename A::Term*>(memory), tile.entries};
    if (threadIdx.x == 0) deferred_count = hard_rows.count = 0;

    const int width = lanes_a_row(tile.rows);
    const int lane = static_cast<int>(threadIdx.x) & (width - 1);
    const int rows_at_once = adaptive_threads / width;
    int row = static_cast<int>(threadIdx.x) / width;
    const Offset* offsets = rows.offsets + tile.row;
    // asked for before the stream, needed after it
    Offset begin = row < tile.rows ? offsets[row] : tile.entry;
    Offset end = row < tile.rows ? offsets[row + 1] : tile.entry;
    const int inexact = stream_tile(rows, tile.entry, task, products) ? 0 : 1;

    for (int first = 0; first < tile.rows; first += rows_at_once, row += rows_at_once) {
        if (first != 0) {
            begin = row < tile.rows ? offsets[row] : tile.entry;
            end = row < tile.rows ? offsets[row + 1] : tile.entry;
        }
        const auto length = static_cast<int>(end - begin);
        const bool defer = width < warp_size && length > row_work_a_lane * width;
        const auto start = static_cast<int>(begin - tile.entry);
        A sum;
        if (!defer) products.add(sum, start + lane, start + length, width);
        sum = merge_lanes(sum, width);
        if (lane != 0 || row >= tile.rows) continue;
        if (defer)
            deferred[atomicAdd(&deferred_count, 1)] = row;
        else
            hard_rows.finish(RowSum<A>{sum, inexact}, task, tile.row, row, length);
    }
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x) / warp_size; i < deferred_count; i += adaptive_threads / warp_size) {
        const int warp_lane = static_cast<int>(threadIdx.x) % warp_size;
        const int start = static_cast<int>(offsets[deferred[i]] - tile.entry);
        const int stop = static_cast<int>(offsets[deferred[i] + 1] - tile.entry);
        A sum;
        products.add(sum, start + warp_lane, stop, warp_size);
        sum = merge_lanes(sum, warp_size);
        if (warp_lane == 0) hard_rows.finish(RowSum<A>{sum, inexact}, task, tile.row, deferred[i], stop - start);
    }
    if constexpr (is_filter<A>) hard_rows.round(rows, task, tile.row, escalated);
}

}  // namespace solver::cuda
