#pragma once

/// How kernels read stored rows, and what every row ends with.

#include "accumulators.cuh"
#include "solver/cuda.hpp"

namespace solver::cuda {

/// A matrix with the row offsets that kernels use: 32 bits where they fit. The one place that knows the storage.
template <class T, class Offset>
struct CsrRows {
    std::int64_t rows;
    const Offset* offsets;
    const std::int32_t* columns;
    const T* values;

    // Through the nearest cache: a lane with a row of its own takes a line bit by bit. Asking for early eviction (__ldcs) made
    // products of stencils take up to twice the time.
    __device__ __forceinline__ T value(Offset entry) const { return __ldg(values + entry); }
    __device__ __forceinline__ std::int32_t column(Offset entry) const { return __ldg(columns + entry); }

    // For a warp that takes whole lines, once.
    __device__ __forceinline__ T passing_value(Offset entry) const { return __ldcs(values + entry); }
    __device__ __forceinline__ std::int32_t passing_column(Offset entry) const { return __ldcs(columns + entry); }
};

/// Rows left to the superaccumulator.
template <class Offset>
struct OpenRows {
    Offset* rows;
    unsigned* count;

    __device__ void push(Offset row) const {
        const unsigned active = __activemask();
        const int lane = static_cast<int>(threadIdx.x) % warp_size;
        const int leader = __ffs(static_cast<int>(active)) - 1;
        unsigned first = 0;
        if (lane == leader) first = atomicAdd(count, static_cast<unsigned>(__popc(active)));
        first = __shfl_sync(active, first, leader);
        rows[first + static_cast<unsigned>(__popc(active & ((1u << lane) - 1)))] = row;
    }
};

/// Rounds alpha sum + beta y_in and stores it, or leaves the row open.
template <class A, class T, class Offset>
__device__ __forceinline__ void finish_row(const A& sum, Offset row, Offset length, bool exact_products, const RowTask<T>& task,
                                           const OpenRows<Offset>& open) {
    const T y_in = task.beta != T(0) ? task.y_in[row] : T(0);
    const A total = affine(sum, task.alpha, task.beta, y_in);
    if constexpr (!is_filter<A>) {
        task.y[row] = total.result();
    } else {
        T result;
        bool proven;
        if constexpr (wants_exact_products<A>) {
            const bool exact = exact_products && magnitude(task.alpha) == T(1) &&
                               (task.beta == T(0) || solver::product_is_exact(task.beta, y_in));
            proven = total.try_result(result, exact ? T(0) : affine_underflow<T>(task.alpha, length));
        } else {
            proven = total.try_result(result);
        }
        if (proven)
            task.y[row] = result;
        else
            open.push(row);
    }
}

/// x or a pair, as is known when kernels are compiled.
template <class T, bool paired>
struct Multiplicand {
    const T* x;
    const T* x_low;

    __device__ __forceinline__ T high(std::int32_t column) const { return __ldg(x + column); }
    __device__ __forceinline__ T low(std::int32_t column) const { return __ldg(x_low + column); }
};

/// A sum, and whether a product in it had no exact two_prod.
template <class A>
struct RowSum {
    A sum;
    int inexact = 0;

    template <class T>
    __device__ __forceinline__ void add_product(T a, T x) {
        if constexpr (wants_exact_products<A>) {
            const auto p = A::product(a, x);
            if (!product_is_exact(a, x, p.value)) inexact = 1;
            sum.add_term(p);
        } else {
            sum.add_product(a, x);
        }
    }
    __device__ __forceinline__ void merge(const RowSum& other) {
        sum.merge(other.sum);
        if constexpr (wants_exact_products<A>) inexact |= other.inexact;
    }
};

/// Adds `count` entries, step apart, whose loads overlap. With `checked`, those from `end` on are left out.
template <int count, bool checked, class A, class T, class Offset, bool paired>
__device__ __forceinline__ void add_entries(RowSum<A>& sum, const CsrRows<T, Offset>& rows, Offset first, Offset end, int step,
                                            const Multiplicand<T, paired>& x_of) {
    std::int32_t column[count];
    T a[count];
    T x[count];
    T x_low[count];
    const auto inside = [&](int i) { return !checked || first + i * step < end; };
#pragma unroll
    for (int i = 0; i < count; ++i) {
        column[i] = inside(i) ? rows.column(first + i * step) : 0;
        a[i] = inside(i) ? rows.value(first + i * step) : T(0);
    }
#pragma unroll
    for (int i = 0; i < count; ++i) {
        x[i] = inside(i) ? x_of.high(column[i]) : T(0);
        if constexpr (paired) x_low[i] = inside(i) ? x_of.low(column[i]) : T(0);
    }
#pragma unroll
    for (int i = 0; i < count; ++i) {
        if (!inside(i)) continue;
        sum.add_product(a[i], x[i]);
        if constexpr (paired) sum.add_product(a[i], x_low[i]);
    }
}

/// The entries first, first + step, ... before `end`: one chain.
template <class A, int unroll, class T, class Offset, bool paired>
__device__ __forceinline__ RowSum<A> sum_entries(const CsrRows<T, Offset>& rows, Offset first, Offset end, int step,
                                                 const Multiplicand<T, paired>& x_of) {
    RowSum<A> sum;
    for (; first + (unroll - 1) * step < end; first += unroll * step)
        add_entries<unroll, false>(sum, rows, first, end, step, x_of);
    add_entries<unroll - 1, true>(sum, rows, first, end, step, x_of);
    return sum;
}

/// The entries begin..end-1 of a row by a warp, the sum in all of its lanes.
template <class A, int unroll, class T, class Offset, bool paired>
__device__ __forceinline__ RowSum<A> sum_by_warp(const CsrRows<T, Offset>& rows, Offset begin, Offset end,
                                                 const Multiplicand<T, paired>& x_of) {
    constexpr Offset entries_a_chain = warp_size * chain_length / (paired ? 2 : 1);
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    RowSum<A> total;
    for (Offset first = begin; first < end; first += entries_a_chain) {
        const Offset last = min(static_cast<Offset>(first + entries_a_chain), end);
        total.merge(sum_entries<A, unroll>(rows, static_cast<Offset>(first + lane), last, warp_size, x_of));
    }
    return merge_lanes(total, warp_size);
}

}  // namespace solver::cuda
