#pragma once

/// Triangular solves in one kernel: a row waits for the elements of x that it needs, and for nothing else.
///
/// Blocks take items in order by a ticket, warps of a block take the item's chunks in order (triangular_schedule.hpp). An
/// element of x is its own flag: one word that is `unsolved`, a NaN that no result is, until it is known. Elements of the
/// block's own item lie in shared memory, those that other blocks may need in the device's memory as well. There they lie
/// twice: a solve uses one half and makes the other one unsolved for the next.
///
/// That somebody always gets on: of all chunks not done take the first in the order of tickets. It is the first of its warp,
/// which runs, since its block has the ticket; what it waits for is in earlier chunks, hence done.

#include "gate.cuh"
#include "rows.cuh"
#include "triangular_schedule.hpp"

namespace solver::cuda {

inline constexpr int triangular_threads = 512;  ///< at most

template <class T>
struct TriangleView {
    std::int32_t places;
    std::uint32_t items;
    const TriangleItem* item;
    const TriangleChunk* chunk;
    const std::int32_t* row;  ///< of each place
    const T* pivot;           ///< of each place, or null
    const std::int32_t* column;
    const T* value;
    T* solved;          ///< 2 * places
    void* partial;      ///< RowSum<A> of each segment of a long row
    unsigned* arrived;  ///< of each segment; the row's first one counts
    unsigned* ticket;   ///< from 0 to 2 * items - 1 and round again
};

/// All bits set: a NaN, but not the canonical one, which is the only NaN that a row gives.
template <class T>
__device__ __forceinline__ T unsolved() {
    if constexpr (sizeof(T) == 8)
        return __longlong_as_double(-1);
    else
        return __int_as_float(-1);
}
template <class T>
__device__ __forceinline__ bool is_unsolved(T x) {
    if constexpr (sizeof(T) == 8)
        return __double_as_longlong(x) == -1;
    else
        return __float_as_int(x) == -1;
}

/// In shared memory or the device's: what any thread writes is seen at last.
template <class T>
__device__ __forceinline__ T load_now(const T* from) {
    return *const_cast<const volatile T*>(from);
}
template <class T>
__device__ __forceinline__ void store_now(T* to, T x) {
    *const_cast<volatile T*>(to) = x;
}

/// The superaccumulator of a block, for one warp at a time.
struct LastResort {
    std::int64_t digit[superaccumulator_digits];
    int taken;

    __device__ void take() {
        if (threadIdx.x % warp_size == 0)
            while (atomicCAS(&taken, 0, 1) != 0) {
            }
        __threadfence_block();
        __syncwarp();
    }
    __device__ void give_back() {
        __threadfence_block();
        __syncwarp();
        if (threadIdx.x % warp_size == 0) atomicExch(&taken, 0);
    }
};

/// What a block knows.
template <class T>
struct ItemInWork {
    TriangleItem item;
    T* solved;      ///< elements of the item, in shared memory
    T* all_solved;  ///< by place
    T* next_solved;

    __device__ __forceinline__ const T* element(std::int32_t column) const {
        return column >= 0 ? solved + column : all_solved + ~column;
    }
};

/// Adds the lane's entries first, first + step, ..., `count` of them or `left` if that is less, once their elements are known.
template <int count, class A, class T>
__device__ __forceinline__ void add_solved(RowSum<A>& sum, const TriangleView<T>& a, const ItemInWork<T>& work,
                                           std::int64_t first, int step, int left) {
    std::int32_t column[count];
    T value[count];
    T x[count];
#pragma unroll
    for (int i = 0; i < count; ++i) {
        column[i] = i < left ? __ldcs(a.column + first + i * step) : no_column;
        value[i] = i < left ? __ldcs(a.value + first + i * step) : T(0);
    }
#pragma unroll
    for (int i = 0; i < count; ++i) x[i] = column[i] != no_column ? load_now(work.element(column[i])) : T(0);
#pragma unroll
    for (int i = 0; i < count; ++i) {
        if (i >= left) break;
        while (is_unsolved(x[i])) x[i] = load_now(work.element(column[i]));
        sum.add_product(value[i], x[i]);
    }
}

/// b - sum of a row, rounded, by the superaccumulator. Where the row is long, `chunk` is its first segment.
template <class T>
__device__ __noinline__ T round_exactly(const TriangleView<T>& a, const ItemInWork<T>& work, const TriangleChunk* chunk,
                                        int row_in_chunk, T b, std::int64_t* digit) {
    for (int k = 0; k < superaccumulator_digits; ++k) digit[k] = 0;
    BasicSuperaccumulator<StridedDigits<1>> sum(StridedDigits<1>{digit});
    sum.add(b);
    const int segments = max(1, chunk->segments);
    for (int segment = 0; segment < segments; ++segment, ++chunk) {
        const int width = 1 << chunk->log2_width;
        for (int e = 0; e < chunk->depth; ++e)
            for (int lane = 0; lane < width; ++lane) {
                const std::int64_t k = chunk->first_entry + std::int64_t{e} * chunk->lanes() + row_in_chunk * width + lane;
                if (a.column[k] != no_column) sum.add_product(a.value[k], load_now(work.element(a.column[k])));
            }
    }
    return sum.template result<T>();
}

/// The rows of a chunk, by a warp.
template <class A, class T>
__device__ __forceinline__ void solve_chunk(const TriangleView<T>& a, const ItemInWork<T>& work, const TriangleChunk* at,
                                            const TriangleChunk& chunk, const T* b, T* x, LastResort& last_resort) {
    constexpr int unroll = 4;
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    const int width = 1 << chunk.log2_width;
    const int lanes = chunk.lanes();
    const int row_in_chunk = lane >> chunk.log2_width;
    const bool is_first = lane < lanes && (lane & (width - 1)) == 0;
    const std::int32_t place = chunk.first_place + row_in_chunk;
    const std::int32_t row = is_first ? __ldg(a.row + place) : 0;
    const T numerator = is_first ? b[row] : T(0);
    const T pivot = is_first && a.pivot != nullptr ? __ldg(a.pivot + place) : T(1);

    RowSum<A> sum;
    if (is_first && chunk.segment == 0) sum.sum.add(numerator);
    const std::int64_t first = chunk.first_entry + lane;
    const int depth = lane < lanes ? chunk.depth : 0;
    for (int e = 0; e < depth; e += unroll) add_solved<unroll>(sum, a, work, first + std::int64_t{e} * lanes, lanes, depth - e);
    __syncwarp();
    sum = merge_lanes(sum, width);

    if (chunk.segments > 0) {
        auto* partial = static_cast<RowSum<A>*>(a.partial) + chunk.first_segment;
        if (lane == 0) partial[chunk.segment] = sum;
        if (!warp_comes_last(a.arrived + chunk.first_segment, static_cast<unsigned>(chunk.segments))) return;
        sum = RowSum<A>();
        for (int i = lane; i < chunk.segments; i += warp_size) sum.merge(load_fresh(partial + i));
        sum = merge_lanes(sum, warp_size);
    }

    T result{};
    if constexpr (is_filter<A>) {
        bool proven;
        if constexpr (wants_exact_products<A>) {
            const std::int64_t length = std::int64_t{chunk.depth} * width * max(1, chunk.segments);
            proven = sum.sum.try_result(result, sum.inexact == 0 ? T(0) : affine_underflow<T>(T(1), length));
        } else {
            proven = sum.sum.try_result(result);
        }
        unsigned open = __ballot_sync(0xFFFFFFFFu, is_first && !proven);
        if (open != 0) {
            last_resort.take();
            for (; open != 0; open &= open - 1) {
                if (lane == __ffs(static_cast<int>(open)) - 1)
                    result = round_exactly(a, work, at - chunk.segment, row_in_chunk, numerator, last_resort.digit);
                __syncwarp();
            }
            last_resort.give_back();
        }
    } else {
        result = sum.sum.result();
    }
    if (!is_first) return;
    if (a.pivot != nullptr) result = canonical(div_rn(result, pivot));
    store_now(work.solved + (place - work.item.first_place), result);
    store_now(work.all_solved + place, result);
    x[row] = result;
    work.next_solved[place] = unsolved<T>();
}

template <class A, class T>
__global__ void __launch_bounds__(triangular_threads)
    solve_triangle(const __grid_constant__ TriangleView<T> a, const T* b, T* x, Gate gate) {
    extern __shared__ __align__(16) unsigned char memory[];
    __shared__ LastResort last_resort;
    __shared__ unsigned shared_ticket;
    if (!is_open(gate)) return;
    if (threadIdx.x == 0) {
        shared_ticket = atomicInc(a.ticket, 2 * a.items - 1);
        last_resort.taken = 0;
    }
    __syncthreads();
    const unsigned ticket = shared_ticket;
    const bool odd = ticket >= a.items;
    ItemInWork<T> work;
    work.item = a.item[odd ? ticket - a.items : ticket];
    work.solved = reinterpret_cast<T*>(memory);
    work.all_solved = a.solved + (odd ? a.places : 0);
    work.next_solved = a.solved + (odd ? 0 : a.places);
    for (int i = static_cast<int>(threadIdx.x); i < work.item.places; i += static_cast<int>(blockDim.x))
        work.solved[i] = unsolved<T>();
    __syncthreads();

    const int warps = static_cast<int>(blockDim.x) / warp_size;
    int index = work.item.first_chunk + static_cast<int>(threadIdx.x) / warp_size;
    if (index >= work.item.last_chunk) return;
    TriangleChunk chunk = a.chunk[index];
    while (true) {
        const int next = index + warps;
        const bool has_next = next < work.item.last_chunk;
        TriangleChunk next_chunk{};
        if (has_next) next_chunk = a.chunk[next];  // while this one waits
        solve_chunk<A>(a, work, a.chunk + index, chunk, b, x, last_resort);
        if (!has_next) return;
        chunk = next_chunk;
        index = next;
        __syncwarp();
    }
}

}  // namespace solver::cuda
