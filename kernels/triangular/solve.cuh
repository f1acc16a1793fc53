#pragma once

/// Triangular solves in one kernel: a row waits for the elements of x that it needs, and for nothing else.
///
/// Blocks take items in order by a ticket, warps of a block take the item's chunks in order (schedule.hpp). An
/// element of x is its own flag: one word that is `unsolved`, a NaN that no result is, until it is known. Elements of the
/// block's own item lie in shared memory, those that other blocks may need in the device's memory as well. There they lie
/// twice: a solve uses one half and makes the other one unsolved for the next.
///
/// That somebody always gets on: of all chunks not done take the first in the order of tickets. It is the first of its warp,
/// which runs, since its block has the ticket; what it waits for is in earlier chunks, hence done.

#include "core/complex_quotient.hpp"
#include "runtime/divisor.hpp"
#include "runtime/gate.cuh"
#include "spmv/rows.cuh"
#include "triangular/schedule.hpp"

namespace solver::cuda {

inline constexpr int triangular_threads = 512;  ///< at most
inline constexpr unsigned all_lanes = 0xFFFFFFFFu;

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
    void* partial;      ///< TrackedSum<A> of each segment of a long row
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

/// What any thread writes is seen at last. In shared memory by its 32-bit address: the compiler would go through generic ones.
template <class T>
__device__ __forceinline__ T load_shared_now(unsigned from) {
    if constexpr (sizeof(T) == 8) {
        long long word;
        asm volatile("ld.volatile.shared.b64 %0, [%1];" : "=l"(word) : "r"(from));
        return __longlong_as_double(word);
    } else {
        int word;
        asm volatile("ld.volatile.shared.b32 %0, [%1];" : "=r"(word) : "r"(from));
        return __int_as_float(word);
    }
}
template <class T>
__device__ __forceinline__ T load_global_now(const T* from) {
    if constexpr (sizeof(T) == 8) {
        long long word;
        asm volatile("ld.relaxed.gpu.global.b64 %0, [%1];" : "=l"(word) : "l"(from));
        return __longlong_as_double(word);
    } else {
        int word;
        asm volatile("ld.relaxed.gpu.global.b32 %0, [%1];" : "=r"(word) : "l"(from));
        return __int_as_float(word);
    }
}
template <class T>
__device__ __forceinline__ void store_shared_now(unsigned to, T x) {
    if constexpr (sizeof(T) == 8)
        asm volatile("st.volatile.shared.b64 [%0], %1;" ::"r"(to), "l"(__double_as_longlong(x)) : "memory");
    else
        asm volatile("st.volatile.shared.b32 [%0], %1;" ::"r"(to), "r"(__float_as_int(x)) : "memory");
}
template <class T>
__device__ __forceinline__ void store_global_now(T* to, T x) {
    if constexpr (sizeof(T) == 8)
        asm volatile("st.relaxed.gpu.global.b64 [%0], %1;" ::"l"(to), "l"(__double_as_longlong(x)) : "memory");
    else
        asm volatile("st.relaxed.gpu.global.b32 [%0], %1;" ::"l"(to), "r"(__float_as_int(x)) : "memory");
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

/// What a block knows. Column c >= 0 is element c of the item, the one after its last is 0; c < 0 is place ~c.
template <class T>
struct ItemInWork {
    std::int32_t first_place;
    std::int32_t places;
    std::int32_t last_chunk;
    unsigned solved;  ///< the shared memory's address of the item's elements
    T* all_solved;    ///< by place
    T* next_solved;

    __device__ __forceinline__ unsigned shared_address(std::int32_t column) const {
        return solved + static_cast<unsigned>(column) * static_cast<unsigned>(sizeof(T));
    }

    /// Unsolved until it is known.
    __device__ __forceinline__ T element(std::int32_t column) const {
        return column >= 0 ? load_shared_now<T>(shared_address(column)) : load_global_now(all_solved + ~column);
    }

    /// Waits until x, the column's element as far as it was known, is known in all lanes. All lanes wait together, and what
    /// comes from shared memory in a loop of few instructions: branches that diverge take longer than the load.
    __device__ __forceinline__ void wait_for(T& x, std::int32_t column) const {
        while (__any_sync(all_lanes, column < 0 && is_unsolved(x)))
            if (is_unsolved(x)) x = element(column);
        const unsigned from = shared_address(column);
        while (__any_sync(all_lanes, is_unsolved(x)))
            if (is_unsolved(x)) x = load_shared_now<T>(from);
    }
};

inline constexpr int triangular_unroll = 4;
static_assert(late_entries == triangular_unroll);

/// Some entries of a lane.
template <class T>
struct LaneEntries {
    std::int32_t column[triangular_unroll];
    T value[triangular_unroll];

    /// Entries step apart, of which `left` are there; the others are those of column `zero`.
    __device__ __forceinline__ void load(const std::int32_t* columns, const T* values, int step, int left, std::int32_t zero) {
#pragma unroll
        for (int i = 0; i < triangular_unroll; ++i) {
            column[i] = i < left ? __ldcs(columns + i * step) : zero;
            value[i] = i < left ? __ldcs(values + i * step) : T(0);
        }
    }
};

/// What a lane needs for its part of a chunk, loaded ahead.
template <class T>
struct LaneWork {
    TriangleChunk chunk;
    std::int32_t row;
    T b;
    T pivot;
    LaneEntries<T> entries;  ///< the first ones

    static __device__ __forceinline__ int lane() { return static_cast<int>(threadIdx.x) % warp_size; }
    __device__ __forceinline__ int row_in_chunk() const { return lane() >> chunk.log2_width; }
    __device__ __forceinline__ std::int32_t place() const { return chunk.first_place + row_in_chunk(); }
    __device__ __forceinline__ bool has_entries() const { return lane() < chunk.lanes(); }
    __device__ __forceinline__ bool is_first() const { return has_entries() && (lane() & ((1 << chunk.log2_width) - 1)) == 0; }

    __device__ __forceinline__ void load_chunk(const TriangleView<T>& a, int index, int last) {
        chunk = index < last ? a.chunk[index] : TriangleChunk{};
    }
    __device__ __forceinline__ void load_row(const TriangleView<T>& a) { row = is_first() ? __ldg(a.row + place()) : 0; }
    __device__ __forceinline__ void load_rest(const TriangleView<T>& a, const T* right_side, std::int32_t zero) {
        const std::int64_t first = chunk.first_entry + lane();
        entries.load(a.column + first, a.value + first, chunk.lanes(), has_entries() ? chunk.depth : 0, zero);
        pivot = is_first() && a.pivot != nullptr ? __ldg(a.pivot + place()) : T(1);
        b = is_first() ? right_side[row] : T(0);
    }
};

/// Adds the products of `count` entries, the same for all lanes, each as soon as its elements are known.
template <Accumulator A, class T>
__device__ __forceinline__ void add_solved(TrackedSum<A>& sum, const ItemInWork<T>& work, LaneEntries<T>& entries, int count) {
    T x[triangular_unroll];
#pragma unroll
    for (int i = 0; i < triangular_unroll; ++i) x[i] = work.element(entries.column[i]);
    if constexpr (!A::is_filter) {
#pragma unroll
        for (int i = 0; i < triangular_unroll; ++i) {
            if (i >= count) break;
            work.wait_for(x[i], entries.column[i]);
            sum.add_product(entries.value[i], x[i]);
        }
    } else {  // in a loop, since so many instructions would not be at hand
#pragma unroll 1
        while (true) {
            work.wait_for(x[0], entries.column[0]);
            sum.add_product(entries.value[0], x[0]);
            if (--count <= 0) break;
#pragma unroll
            for (int i = 0; i + 1 < triangular_unroll; ++i) {
                entries.column[i] = entries.column[i + 1];
                entries.value[i] = entries.value[i + 1];
                x[i] = x[i + 1];
            }
        }
    }
}

/// Adds the products of one row of a chunk; where the row is long, `chunk` is its first segment.
template <class Sum, class T>
__device__ __forceinline__ void add_row(Sum& sum, const TriangleView<T>& a, const ItemInWork<T>& work,
                                        const TriangleChunk* chunk, int row_in_chunk) {
    const auto add = [&](std::int64_t k) { sum.add_product(a.value[k], work.element(a.column[k])); };
    const int segments = max(1, chunk->segments);
    for (int segment = 0; segment < segments; ++segment, ++chunk) {
        const int width = 1 << chunk->log2_width;
        for (int e = 0; e < chunk->depth; ++e)
            for (int lane = 0; lane < width; ++lane)
                add(chunk->first_entry + std::int64_t{e} * chunk->lanes() + row_in_chunk * width + lane);
        for (int e = 0; e < chunk->late(); ++e) add(chunk->first_late() + e * chunk->rows + row_in_chunk);
    }
}

/// b - sum of a row, rounded, by the superaccumulator.
template <class T>
__device__ __noinline__ T round_exactly(const TriangleView<T>& a, const ItemInWork<T>& work, const TriangleChunk* chunk,
                                        int row_in_chunk, T b, std::int64_t* digit) {
    for (int k = 0; k < superaccumulator_digits; ++k) digit[k] = 0;
    BasicSuperaccumulator<StridedDigits<1>> sum(StridedDigits<1>{digit});
    sum.add(b);
    add_row(sum, a, work, chunk, row_in_chunk);
    return sum.template result<T>();
}

/// Tries to round the row by the filter that follows in the table of escalation, if there is one; false where it cannot.
template <class T>
__device__ __noinline__ bool try_again(const TriangleView<T>& a, const ItemInWork<T>& work, const TriangleChunk* chunk,
                                       int row_in_chunk, T b, std::int64_t length, T& result) {
    TrackedSum<typename Escalation<T, TrianglesOnGpu>::Again> sum;
    sum.sum.add(b);
    add_row(sum, a, work, chunk, row_in_chunk);
    return sum.try_result(result, affine_underflow(T(1), length));
}

/// The sum of a long row in the warp that comes last, where `sum` is of one segment: true there.
template <Accumulator A, class T>
__device__ __noinline__ bool is_whole_row(const TriangleView<T>& a, const TriangleChunk& chunk, TrackedSum<A>& sum) {
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    auto* partial = static_cast<TrackedSum<A>*>(a.partial) + chunk.first_segment;
    if (lane == 0) partial[chunk.segment] = sum;
    if (!warp_comes_last(a.arrived + chunk.first_segment, static_cast<unsigned>(chunk.segments))) return false;
    sum = TrackedSum<A>();
    for (int i = lane; i < chunk.segments; i += warp_size) sum.merge(load_fresh(partial + i));
    sum = merge_lanes(sum, warp_size);
    return true;
}

/// The rounded sums of a chunk's rows, in the first lane of each. `first` is where the row's first chunk comes from.
template <Accumulator A, class T>
__device__ __forceinline__ T round_rows(const TriangleView<T>& a, const ItemInWork<T>& work, const TriangleChunk* first,
                                        const LaneWork<T>& mine, const TrackedSum<A>& sum, LastResort& last_resort) {
    if constexpr (!A::is_filter) {
        return sum.sum.result();
    } else {
        const TriangleChunk& chunk = mine.chunk;
        T result{};
        const std::int64_t length = (std::int64_t{chunk.depth} << chunk.log2_width) * max(1, chunk.segments) + chunk.late();
        bool proven = sum.try_result(result, affine_underflow(T(1), length)) || !mine.is_first();
        if (__all_sync(all_lanes, proven)) return result;
        if constexpr (!std::is_same_v<typename Escalation<T, TrianglesOnGpu>::Again, NoFilter>)
            if (!proven) proven = try_again(a, work, first, mine.row_in_chunk(), mine.b, length, result);
        const unsigned open = __ballot_sync(all_lanes, !proven);
        if (open != 0) last_resort.take();
        for (unsigned left = open; left != 0; left &= left - 1) {
            if (mine.lane() == __ffs(static_cast<int>(left)) - 1)
                result = round_exactly(a, work, first, mine.row_in_chunk(), mine.b, last_resort.digit);
            __syncwarp();
        }
        if (open != 0) last_resort.give_back();
        return result;
    }
}

/// A chunk of quotients: each lane has p and q as the values of its entries, whose elements are the parts of the numerator.
template <class T>
__device__ __forceinline__ void solve_quotients(const ItemInWork<T>& work, const LaneWork<T>& mine, T* x) {
    T re = work.element(mine.entries.column[0]), im = work.element(mine.entries.column[1]);
    work.wait_for(re, mine.entries.column[0]);
    work.wait_for(im, mine.entries.column[1]);
    if (!mine.is_first()) return;
    const std::int32_t place = mine.place();
    const T p = mine.entries.value[0], q = mine.entries.value[1];
    const T result = canonical(mine.row % 2 == 0 ? quotient_of_sums(re, im, p, q) : quotient_of_sums(im, -re, p, q));
    work.next_solved[place] = unsolved<T>();
    store_shared_now(work.shared_address(place - work.first_place), result);
    store_global_now(work.all_solved + place, result);
    x[mine.row] = result;
}

/// The rows of a chunk, by a warp. `at` is where the chunk comes from. Of a complex triangle x is written by quotients alone.
template <Accumulator A, bool is_complex, class T>
__device__ __forceinline__ void solve_chunk(const TriangleView<T>& a, const ItemInWork<T>& work, const TriangleChunk* at,
                                            const LaneWork<T>& mine, T* x, LastResort& last_resort) {
    const TriangleChunk& chunk = mine.chunk;
    if (is_complex && chunk.is_quotients) return solve_quotients(work, mine, x);
    const bool is_first = mine.is_first();
    const std::int32_t place = mine.place();
    unsigned in_item = work.shared_address(place - work.first_place);
    T* in_all = work.all_solved + place;
    T* in_x = x + mine.row;
    asm volatile("" : "+r"(in_item), "+l"(in_all), "+l"(in_x));  // computed before the wait
    const Divisor<T> pivot(mine.pivot);
    if (is_first) work.next_solved[place] = unsolved<T>();

    TrackedSum<A> sum;
    sum.sum.add(chunk.segment == 0 ? mine.b : T(0));
    LaneEntries<T> entries = mine.entries;
    const std::int32_t* columns = a.column + chunk.first_entry + mine.lane();
    const T* values = a.value + chunk.first_entry + mine.lane();
    const int step = chunk.lanes() * triangular_unroll;
#pragma unroll 1
    for (int left = chunk.depth; left > 0; left -= triangular_unroll) {
        columns += step;
        values += step;
        const bool is_last = left <= triangular_unroll;
        LaneEntries<T> next;
        if (!is_last)
            next.load(columns, values, chunk.lanes(), mine.has_entries() ? left - triangular_unroll : 0, work.places);
        else if (chunk.late() > 0)
            next.load(a.column + chunk.first_late() + mine.row_in_chunk(), a.value + chunk.first_late() + mine.row_in_chunk(),
                      chunk.rows, is_first ? late_entries : 0, work.places);
        add_solved(sum, work, entries, min(left, triangular_unroll));
        if (is_last && chunk.log2_width == 0) break;  // in the usual case nothing else stands between the sum and its rounding
        entries = next;
    }
    if (chunk.log2_width > 0) {
        sum = merge_lanes(sum, 1 << chunk.log2_width);
        if (chunk.late() > 0) add_solved(sum, work, entries, late_entries);
        if (chunk.segments > 0) {
            const TriangleChunk segment = chunk;
            TrackedSum<A> whole = sum;
            if (!is_whole_row(a, segment, whole)) return;
            sum = whole;
        }
    }

    T result = round_rows(a, work, at - chunk.segment, mine, sum, last_resort);
    if (!is_first) return;
    if (a.pivot != nullptr) result = canonical(pivot.divide(result));
    store_shared_now(in_item, result);
    store_global_now(in_all, result);
    if (!is_complex) *in_x = result;
}

/// A warp's chunks in order. What chunks are, which rows they hold and what these need is loaded up to three chunks ahead.
template <Accumulator A, bool is_complex, class T>
__device__ __forceinline__ void solve_chunks(const TriangleView<T>& a, const ItemInWork<T>& work, int index, int step,
                                             const T* b, T* x, LastResort& last_resort) {
    LaneWork<T> now, next, later, last;
    now.load_chunk(a, index, work.last_chunk);
    next.load_chunk(a, index + step, work.last_chunk);
    later.load_chunk(a, index + 2 * step, work.last_chunk);
    now.load_row(a);
    next.load_row(a);
    now.load_rest(a, b, work.places);
    for (; index < work.last_chunk; index += step) {
        next.load_rest(a, b, work.places);
        later.load_row(a);
        last.load_chunk(a, index + 3 * step, work.last_chunk);
        solve_chunk<A, is_complex>(a, work, a.chunk + index, now, x, last_resort);
        __syncwarp();
        now = next;
        next.chunk = later.chunk;
        next.row = later.row;
        later.chunk = last.chunk;
    }
}

template <Accumulator A, bool is_complex, class T>
__global__ void __launch_bounds__(triangular_threads, 1)
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
    const TriangleItem item = a.item[odd ? ticket - a.items : ticket];
    T* const solved = reinterpret_cast<T*>(memory);
    for (int i = static_cast<int>(threadIdx.x); i < item.places; i += static_cast<int>(blockDim.x)) solved[i] = unsolved<T>();
    if (threadIdx.x == 0) solved[item.places] = T(0);
    __syncthreads();

    ItemInWork<T> work{item.first_place,
                       item.places,
                       item.last_chunk,
                       static_cast<unsigned>(__cvta_generic_to_shared(solved)),
                       a.solved + (odd ? a.places : 0),
                       a.solved + (odd ? 0 : a.places)};
    // so that they stay in registers: the compiler would find them out again and again while it waits
    asm volatile("" : "+r"(work.solved), "+l"(work.all_solved), "+l"(work.next_solved));
    const int warp = static_cast<int>(threadIdx.x) / warp_size;
    const int warps = static_cast<int>(blockDim.x) / warp_size;
    solve_chunks<A, is_complex>(a, work, item.first_chunk + warp, warps, b, x, last_resort);
}

}  // namespace solver::cuda
