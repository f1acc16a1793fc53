#pragma once

/// Adjacent rows by one warp: their products are streamed through shared memory, entries side by side, then each row is added up
/// by one lane or several.

#include "rows.cuh"

namespace solver::cuda {

inline constexpr int warps_a_block = 4;
inline constexpr int entries_a_lane = 32;  ///< longer rows are added up by the whole warp

/// Bytes of shared memory that a warp may use for terms.
inline constexpr int most_term_bytes = 8192;

/// One warp and its shared memory.
template <class Term>
struct WarpTerms {
    Term* terms;
    int capacity;  ///< twice that many where x is a pair
};

/// Multiplies `count` entries from `first` on. Returns, in all lanes, whether every product is exact.
template <class A, class T, class Offset, bool paired>
__device__ __forceinline__ bool stream(const CsrRows<T, Offset>& rows, Offset first, int count,
                                       const Multiplicand<T, paired>& x_of, const WarpTerms<typename A::Term>& memory) {
    constexpr int batch = 8;
    bool exact = true;
    const auto store = [&](int k, T a, T x) {
        const auto p = A::product(a, x);
        if constexpr (wants_exact_products<A>) exact = exact && product_is_exact(a, x, p.value);
        memory.terms[k] = p;
    };
    for (int k = static_cast<int>(threadIdx.x) % warp_size; k < count; k += batch * warp_size) {
        const Batch<T, paired, batch> entries(rows, static_cast<Offset>(first + k), static_cast<Offset>(first + count), warp_size,
                                              x_of);
#pragma unroll
        for (int i = 0; i < batch; ++i) {
            const int at = k + i * warp_size;
            if (at >= count) break;
            store(at, entries.a[i], entries.x[i]);
            if constexpr (paired) store(at + memory.capacity, entries.a[i], entries.x_low[i]);
        }
    }
    __syncwarp();
    if constexpr (wants_exact_products<A>) return __all_sync(0xFFFFFFFFu, exact) != 0;
    return true;
}

/// The least power of two that is not below n, 1 <= n <= 32.
__device__ inline int power_of_two_from(int n) { return n <= 1 ? 1 : 1 << (warp_size - __clz(n - 1)); }

/// Up to 32 rows from `first` on.
template <class A, class T, class Offset, bool paired>
__device__ __forceinline__ void multiply_some_rows(const CsrRows<T, Offset>& rows, Offset first, int count,
                                                   const RowTask<T>& task, const WarpTerms<typename A::Term>& memory,
                                                   const OpenRows<Offset>& open) {
    constexpr unsigned all = 0xFFFFFFFFu;
    const Multiplicand<T, paired> x_of{task.x, task.x_low};
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    const Offset own_begin = rows.offsets[first + (lane < count ? lane : count)];
    const Offset end_of_all = rows.offsets[first + count];
    const Offset next = __shfl_down_sync(all, own_begin, 1);
    const Offset own_end = lane == warp_size - 1 ? end_of_all : next;
    const Offset begin_of_all = __shfl_sync(all, own_begin, 0);

    const int width = warp_size / power_of_two_from(count);  // lanes a row
    const int row = lane / width;
    const Offset begin = __shfl_sync(all, own_begin, row);
    const Offset end = __shfl_sync(all, own_end, row);
    const bool by_warp = end - begin > width * entries_a_lane || width == warp_size;
    A sum;
    bool exact = true;
    if (width < warp_size) {
        for (Offset base = begin_of_all; base < end_of_all; base += memory.capacity) {
            const int size = static_cast<int>(min(static_cast<Offset>(memory.capacity), end_of_all - base));
            exact &= stream<A>(rows, base, size, x_of, memory);
            const int from = static_cast<int>(max(begin, base) - base) + lane % width;
            const int to = by_warp ? 0 : static_cast<int>(min(end - base, static_cast<Offset>(size)));
            for (int k = from; k < to; k += width) {
                sum.add_term(memory.terms[k]);
                if constexpr (paired) sum.add_term(memory.terms[k + memory.capacity]);
            }
            __syncwarp();
        }
        sum = merge_lanes(sum, width);
    }
    const bool responsible = lane % width == 0 && row < count;
    if (responsible && !by_warp)
        finish_row(sum, static_cast<Offset>(first + row), static_cast<Offset>(end - begin), exact, task, open);
    for (unsigned rest = __ballot_sync(all, responsible && by_warp); rest != 0; rest &= rest - 1) {
        const int owner = __ffs(static_cast<int>(rest)) - 1;
        const Offset its_begin = __shfl_sync(all, begin, owner);
        const Offset its_end = __shfl_sync(all, end, owner);
        const RowSum<A> its_sum = sum_by_warp<A>(rows, its_begin, its_end, x_of);
        if (lane == 0)
            finish_row(its_sum.sum, static_cast<Offset>(first + owner / width), static_cast<Offset>(its_end - its_begin),
                       its_sum.inexact == 0, task, open);
    }
}

/// General: equal numbers of rows a warp.
template <class A, bool paired, class T, class Offset>
__global__ void __launch_bounds__(warps_a_block* warp_size)
    multiply_general(CsrRows<T, Offset> rows, RowTask<T> task, int rows_a_warp, int capacity, OpenRows<Offset> open) {
    extern __shared__ __align__(16) unsigned char shared[];
    const int warp = static_cast<int>(threadIdx.x) / warp_size;
    const std::int64_t first = (static_cast<std::int64_t>(blockIdx.x) * warps_a_block + warp) * rows_a_warp;
    if (first >= rows.rows) return;
    const int count = static_cast<int>(min(static_cast<std::int64_t>(rows_a_warp), rows.rows - first));
    auto* terms = reinterpret_cast<typename A::Term*>(shared) + warp * capacity * (paired ? 2 : 1);
    multiply_some_rows<A, T, Offset, paired>(rows, static_cast<Offset>(first), count, task, {terms, capacity}, open);
}

}  // namespace solver::cuda
