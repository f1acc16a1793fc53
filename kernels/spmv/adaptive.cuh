#pragma once

/// Adaptive: tiles of nearly equal work, a block each (tiling.cuh). The products of a tile's short rows are streamed through
/// shared memory, where one or several lanes add up each row; a long row is split into segments, a block each too, of which
/// the last to arrive merges all in a fixed order. Best where rows are of very different lengths.

#include "runtime/gate.cuh"
#include "spmv/rows.cuh"
#include "spmv/tiling.cuh"

namespace solver::cuda {

inline constexpr int adaptive_threads = 128;
inline constexpr int row_work_a_lane = 16;  ///< entries; longer rows get a warp

/// What tries the rows of a tile first; A itself where nothing does.
template <Accumulator A, bool paired>
using TileSum = std::conditional_t<paired, A, FirstTry<A, TilesOnGpu>>;
template <Accumulator A, bool paired>
inline constexpr bool has_first_try = !std::is_same_v<A, TileSum<A, paired>>;

/// The entries begin..end-1 of a row by a block, the sum in all threads of its first warp.
template <Accumulator A, bool paired, int unroll = 4, class T, class Offset>
__device__ __forceinline__ TrackedSum<A> sum_by_block(const CsrRows<T, Offset>& rows, Offset begin, Offset end,
                                                      const RowTask<T>& task, TrackedSum<A>* warp_sums) {
    constexpr Offset entries_a_chain = adaptive_threads * chain_length / (paired ? 2 : 1);
    TrackedSum<A> sum;
    for (Offset first = begin; first < end; first += entries_a_chain)
        sum.merge(sum_entries<A, unroll>(rows, static_cast<Offset>(first + static_cast<Offset>(threadIdx.x)),
                                         min(static_cast<Offset>(first + entries_a_chain), end), adaptive_threads,
                                         Multiplicand<T, paired>{task.x, task.x_low}));
    return merge_block(sum, warp_sums);
}

/// Sums a segment and, in the block that comes last of the row's, all of them: true there, and the first warp has the sum.
/// Partial sums of a cheaper accumulator than A lie where A's would.
template <Accumulator S, Accumulator A, bool paired, class T, class Offset>
__device__ __forceinline__ bool sum_segments(const CsrRows<T, Offset>& rows, const Tiling<Offset>& tiling, unsigned index,
                                             const Segment<Offset>& segment, const RowTask<T>& task, void* block_memory,
                                             TrackedSum<S>& sum) {
    static_assert(sizeof(TrackedSum<S>) <= sizeof(TrackedSum<A>));
    constexpr int unroll = std::is_same_v<S, A> ? 4 : 2;  // more would spill registers
    auto* const warp_sums = static_cast<TrackedSum<S>*>(block_memory);
    const auto partial = [&](int i) {
        return reinterpret_cast<TrackedSum<S>*>(static_cast<TrackedSum<A>*>(tiling.partial) + segment.first + i);
    };
    const int thread = static_cast<int>(threadIdx.x);
    sum = sum_by_block<S, paired, unroll>(rows, segment.begin, segment.end, task, warp_sums);
    if (segment.count == 1) return true;
    if (thread == 0) *partial(static_cast<int>(index) - segment.first) = sum;
    if (!block_comes_last(tiling.arrived + segment.first, static_cast<unsigned>(segment.count))) return false;
    sum = TrackedSum<S>();
    for (int i = thread; i < segment.count; i += adaptive_threads) sum.merge(load_fresh(partial(i)));
    sum = merge_block(sum, warp_sums);
    return true;
}

/// The row of these segments, by the blocks of all.
template <Accumulator A, bool paired, class T, class Offset>
__device__ __forceinline__ void multiply_segment(const CsrRows<T, Offset>& rows, const Tiling<Offset>& tiling, unsigned index,
                                                 const RowTask<T>& task, unsigned* escalated) {
    __shared__ Shared<TrackedSum<A>, adaptive_threads / warp_size> memory;
    const Segment<Offset> segment = tiling.segments[index];
    TrackedSum<A> sum;
    if (!sum_segments<A, A, paired>(rows, tiling, index, segment, task, memory.data(), sum)) return;
    if (threadIdx.x < warp_size) finish_row(sum, rows, segment.row, task, LaneGroup(warp_size), escalated);
}

/// A segment without a first try, where one would be too dear if it failed, or failed lately.
template <Accumulator A, class T, class Offset>
__device__ __noinline__ void multiply_segment_with_care(const CsrRows<T, Offset>& rows, const Tiling<Offset>& tiling,
                                                        unsigned index, const RowTask<T>& task, void* memory,
                                                        unsigned* escalated) {
    const Segment<Offset> segment = tiling.segments[index];
    TrackedSum<A> sum;
    if (!sum_segments<A, A, false>(rows, tiling, index, segment, task, memory, sum)) return;
    std::uint8_t& without_try = tiling.without_try[segment.first];
    if (threadIdx.x == 0 && without_try != 0) --without_try;
    if (threadIdx.x < warp_size) finish_row(sum, rows, segment.row, task, LaneGroup(warp_size), escalated);
}

/// A row that its first try left open, by one block.
template <Accumulator A, class T, class Offset>
__device__ __noinline__ void sum_long_row_again(const CsrRows<T, Offset>& rows, Offset row, const RowTask<T>& task,
                                                void* memory, unsigned* escalated) {
    const auto sum = sum_by_block<A, false>(rows, rows.begin(row), rows.end(row), task, static_cast<TrackedSum<A>*>(memory));
    if (threadIdx.x < warp_size) finish_row(sum, rows, row, task, LaneGroup(warp_size), escalated);
}

/// A segment that is tried in fewer terms first.
template <Accumulator A, class T, class Offset>
__device__ __forceinline__ void try_segment(const CsrRows<T, Offset>& rows, const Tiling<Offset>& tiling, unsigned index,
                                            const RowTask<T>& task, unsigned* escalated) {
    using S = TileSum<A, false>;
    __shared__ Shared<TrackedSum<A>, adaptive_threads / warp_size> memory;
    // Rows of more than a million entries are not tried, for one block would take too long to sum them again. They have more
    // segments than these, the longest rows too: those have between half as many as there may be, and all.
    constexpr int longest = blocks_a_row / 2;
    const Segment<Offset> segment = tiling.segments[index];
    if (segment.count > longest || tiling.without_try[segment.first] != 0)
        return multiply_segment_with_care<A>(rows, tiling, index, task, memory.data(), escalated);
    TrackedSum<S> sum;
    if (!sum_segments<S, A, false>(rows, tiling, index, segment, task, memory.data(), sum)) return;
    bool open = false;
    if (threadIdx.x == 0) {
        T result;
        open = !try_affine(sum, task, segment.row, rows.end(segment.row) - rows.begin(segment.row), result);
        if (open)
            tiling.without_try[segment.first] = Escalation<T, SegmentsOnGpu>::skip.next;
        else
            task.y[segment.row] = result;
    }
    if (__syncthreads_or(open)) sum_long_row_again<A>(rows, segment.row, task, memory.data(), escalated);
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
        if constexpr (A::wants_exact_products) exact = exact && product_is_exact(a, x, p.value);
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
    if constexpr (A::wants_exact_products) return __syncthreads_and(exact) != 0;
    __syncthreads();
    return true;
}

/// Lanes a row: a power of two that gives every thread work.
__device__ inline int lanes_a_row(int rows) {
    int lanes = 1;
    while (lanes < warp_size && 2 * lanes * rows <= adaptive_threads) lanes *= 2;
    return lanes;
}

/// Rows of a tile that their sums do not decide. They wait for the block's end: what is done to them would take the registers
/// that the others need.
struct OpenInTile {
    unsigned rows[tile_work / warp_size];  ///< a bit for each
    int count;

    /// By all threads of the block, which meet before the first row is added.
    __device__ __forceinline__ void clear() {
        const int i = static_cast<int>(threadIdx.x);
        if (i < tile_work / warp_size) rows[i] = 0;
        if (i == 0) count = 0;
    }
    __device__ __forceinline__ void add(int row) {
        atomicOr(rows + row / warp_size, 1u << row % warp_size);
        atomicAdd(&count, 1);
    }
};

/// Rounds a row's sum and stores it, or finds the row open. By one lane.
template <Accumulator A, class T>
__device__ __forceinline__ void finish_in_tile(const TrackedSum<A>& sum, const RowTask<T>& task, std::int64_t first, int row,
                                               int length, OpenInTile& open) {
    const std::int64_t place = first + row;
    T result;
    if (try_affine(sum, task, place, length, result))
        task.y[place] = result;
    else
        open.add(row);
}

/// What a block needs to add up the rows of its tile.
template <class T, class Offset>
struct TileRows {
    const Tile<Offset>& tile;
    const Offset* offsets;  ///< of the tile's first row
    const RowTask<T>& task;
    int inexact;  ///< whether any product of the tile is
};

/// Rows of a tile that need a warp.
struct DeferredRows {
    int count;
    int row[tile_entries / row_work_a_lane];
};

/// Where the calling lane's first row begins and ends. Asked for before the products are made, it is there when they are.
template <class Offset>
struct LaneRow {
    int width;  ///< lanes that share a row
    Offset begin;
    Offset end;
};
template <class Offset>
__device__ __forceinline__ LaneRow<Offset> first_row_of_lane(const Tile<Offset>& tile, const Offset* offsets) {
    const int width = lanes_a_row(tile.rows);
    const int row = static_cast<int>(threadIdx.x) / width;
    return {width, row < tile.rows ? offsets[row] : tile.entry, row < tile.rows ? offsets[row + 1] : tile.entry};
}

/// Adds up the rows of a tile and finishes them.
template <Accumulator S, bool paired, class T, class Offset>
__device__ __forceinline__ void sum_tile(const TileRows<T, Offset>& rows, const TileTerms<S, paired>& products,
                                         LaneRow<Offset> lane_row, DeferredRows& deferred, OpenInTile& open) {
    const Tile<Offset>& tile = rows.tile;
    auto [width, begin, end] = lane_row;
    const int lane = static_cast<int>(threadIdx.x) & (width - 1);
    const int rows_at_once = adaptive_threads / width;
    int row = static_cast<int>(threadIdx.x) / width;
    for (int first = 0; first < tile.rows; first += rows_at_once, row += rows_at_once) {
        if (first != 0) {
            begin = row < tile.rows ? rows.offsets[row] : tile.entry;
            end = row < tile.rows ? rows.offsets[row + 1] : tile.entry;
        }
        const auto length = static_cast<int>(end - begin);
        const bool defer = width < warp_size && length > row_work_a_lane * width;
        const auto start = static_cast<int>(begin - tile.entry);
        S sum;
        if (!defer) products.add(sum, start + lane, start + length, width);
        sum = merge_lanes(sum, width);
        if (lane != 0 || row >= tile.rows) continue;
        if (defer)
            deferred.row[atomicAdd(&deferred.count, 1)] = row;
        else
            finish_in_tile(TrackedSum<S>{sum, rows.inexact}, rows.task, tile.row, row, length, open);
    }
    __syncthreads();
    const int warp_lane = static_cast<int>(threadIdx.x) % warp_size;
    for (int i = static_cast<int>(threadIdx.x) / warp_size; i < deferred.count; i += adaptive_threads / warp_size) {
        const int start = static_cast<int>(rows.offsets[deferred.row[i]] - tile.entry);
        const int stop = static_cast<int>(rows.offsets[deferred.row[i] + 1] - tile.entry);
        S sum;
        products.add(sum, start + warp_lane, stop, warp_size);
        sum = merge_lanes(sum, warp_size);
        if (warp_lane == 0)
            finish_in_tile(TrackedSum<S>{sum, rows.inexact}, rows.task, tile.row, deferred.row[i], stop - start, open);
    }
}

/// The rows that are left, a warp each: `round(row)`.
template <class Round>
__device__ __forceinline__ void for_each_open_row(const OpenInTile& open, int rows, const Round& round) {
    const int warp = static_cast<int>(threadIdx.x) / warp_size;
    int turn = 0;
    for (int first = 0; first < rows; first += warp_size)
        for (unsigned left = open.rows[first / warp_size]; left != 0; left &= left - 1)
            if (turn++ % (adaptive_threads / warp_size) == warp) round(first + __ffs(static_cast<int>(left)) - 1);
}

/// Rows that no filter has decided.
template <class T, class Offset>
__device__ __forceinline__ void round_open_rows(const CsrRows<T, Offset>& rows, const Tile<Offset>& tile,
                                                const RowTask<T>& task, const OpenInTile& open, unsigned* escalated) {
    __syncthreads();
    if (open.count == 0) return;
    for_each_open_row(open, tile.rows, [&](int row) {
        round_hard_row(rows, task, static_cast<Offset>(tile.row + row), LaneGroup(warp_size), escalated);
    });
}

/// What the first try left open of a tile whose products are in shared memory: those rows, or all where there was no try. It
/// looks its tile up again, so that no register keeps it for this while rows are tried.
template <Accumulator A, bool several, class T, class Offset>
__device__ __noinline__ void sum_tile_with_care(const CsrRows<T, Offset>& rows, const Tiling<Offset>& tiling,
                                                const RowTask<T>& first_task, const Columns& columns, int inexact, bool tried,
                                                DeferredRows& deferred, OpenInTile& open, unsigned* escalated) {
    extern __shared__ __align__(16) unsigned char memory[];
    const Share share = share_of_block<several>(columns);
    decltype(auto) task = task_of_column<several>(first_task, columns, share.column);
    const Tile<Offset> tile = tiling.tiles[share.block - tiling.segment_count];
    std::uint8_t* without_try = tiling.without_try + static_cast<std::int64_t>(share.column) * tiling.blocks + share.block;
    const Offset* offsets = rows.offsets + tile.row;
    const TileTerms<A, false> products{reinterpret_cast<typename A::Term*>(memory), tile.entries};
    if (threadIdx.x == 0) *without_try = tried ? Escalation<T, TilesOnGpu>::skip.next : *without_try - 1;
    if (tried)
        return for_each_open_row(open, tile.rows, [&](int row) {
            const auto start = static_cast<int>(offsets[row] - tile.entry);
            const auto stop = static_cast<int>(offsets[row + 1] - tile.entry);
            A sum;
            products.add(sum, start + static_cast<int>(threadIdx.x) % warp_size, stop, warp_size);
            finish_hard_row(TrackedSum<A>{merge_lanes(sum, warp_size), inexact}, rows, task,
                            static_cast<Offset>(tile.row + row), LaneGroup(warp_size), escalated);
        });
    sum_tile(TileRows<T, Offset>{tile, offsets, task, inexact}, products, first_row_of_lane(tile, offsets), deferred, open);
    round_open_rows(rows, tile, task, open, escalated);
}

/// Blocks to be resident on a multiprocessor, which bounds the registers: of 8 to 16 what was fastest on an H200.
template <Accumulator A, bool paired>
inline constexpr int adaptive_blocks = paired                                                        ? 4
                                       : A::wants_exact_products && !has_first_try<A, paired>        ? 8
                                       : A::wants_exact_products || std::is_same_v<A, Plain<double>> ? 10
                                       : has_first_try<A, paired>                                    ? 16
                                                                                                     : 12;

/// Of several columns, blocks with the same work follow one another, so that one reads A from memory and the others from the
/// cache.
template <Accumulator A, bool paired, bool several, class T, class Offset>
__global__ void __launch_bounds__(adaptive_threads, adaptive_blocks<A, paired>)
    multiply_adaptive(const __grid_constant__ CsrRows<T, Offset> rows, const __grid_constant__ Tiling<Offset> first_tiling,
                      const __grid_constant__ RowTask<T> first_task, const __grid_constant__ Columns columns,
                      unsigned* escalated, Gate gate) {
    using S = TileSum<A, paired>;
    extern __shared__ __align__(16) unsigned char memory[];
    __shared__ DeferredRows deferred;
    __shared__ OpenInTile open;

    const Share share = share_of_block<several>(columns);
    if (!is_open(gate, columns, share.column)) return;
    let_next_kernel_start();
    decltype(auto) task = task_of_column<several>(first_task, columns, share.column);
    if (share.block < static_cast<unsigned>(first_tiling.segment_count)) {
        decltype(auto) tiling = tiling_of_column<A, several>(first_tiling, share.column);
        if constexpr (has_first_try<A, paired>)
            return try_segment<A>(rows, tiling, share.block, task, escalated);
        else
            return multiply_segment<A, paired>(rows, tiling, share.block, task, escalated);
    }
    const Tile<Offset> tile = first_tiling.tiles[share.block - first_tiling.segment_count];
    bool careful = false;
    if constexpr (has_first_try<A, paired>)
        careful = first_tiling.without_try[static_cast<std::int64_t>(share.column) * first_tiling.blocks + share.block] != 0;
    if (tile.rows == 0) return;
    if (threadIdx.x == 0) deferred.count = 0;
    if constexpr (A::is_filter) open.clear();
    const Offset* offsets = rows.offsets + tile.row;
    const LaneRow<Offset> lane_row = first_row_of_lane(tile, offsets);
    const TileTerms<S, paired> products{reinterpret_cast<typename S::Term*>(memory), tile.entries};
    const int inexact = stream_tile(rows, tile.entry, task, products) ? 0 : 1;
    if (!careful) sum_tile(TileRows<T, Offset>{tile, offsets, task, inexact}, products, lane_row, deferred, open);
    if constexpr (has_first_try<A, paired>) {
        __syncthreads();
        if (careful || open.count != 0)
            sum_tile_with_care<A, several>(rows, first_tiling, first_task, columns, inexact, !careful, deferred, open,
                                           escalated);
    } else if constexpr (A::is_filter) {
        round_open_rows(rows, tile, task, open, escalated);
    }
}

}  // namespace solver::cuda
