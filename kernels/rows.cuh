#pragma once

/// How kernels read stored rows, and what every row ends with.

#include "accumulators.cuh"
#include "cuda.hpp"

namespace solver::cuda {

/// A matrix with the row offsets that kernels use: 32 bits where they fit. The one place that knows the storage.
template <class T, class Offset>
struct CsrRows {
    std::int64_t rows;
    const Offset* offsets;
    const std::int32_t* columns;
    const T* values;

    // Read once, whereas x is read often: evict these first.
    __device__ T value(Offset entry) const { return __ldcs(values + entry); }
    __device__ std::int32_t column(Offset entry) const { return __ldcs(columns + entry); }
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

/// What of a task is known when kernels are compiled: whether there is x_low.
template <class T, bool paired>
struct Multiplicand {
    const T* x;
    const T* x_low;

    __device__ __forceinline__ T high(std::int32_t column) const { return __ldg(x + column); }
    __device__ __forceinline__ T low(std::int32_t column) const { return paired ? __ldg(x_low + column) : T(0); }
};

/// Several entries on their way from memory, so that their loads overlap. Entries beyond the end are zeros.
template <class T, bool paired, int count>
struct Batch {
    T a[count];
    T x[count];
    T x_low[paired ? count : 1];

    template <class Offset>
    __device__ __forceinline__ Batch(const CsrRows<T, Offset>& rows, Offset first, Offset end, int step,
                                     const Multiplicand<T, paired>& x_of) {
        std::int32_t column[count];
#pragma unroll
        for (int i = 0; i < count; ++i) {
            const bool inside = first + i * step < end;
            column[i] = inside ? rows.column(first + i * step) : 0;
            a[i] = inside ? rows.value(first + i * step) : T(0);
        }
#pragma unroll
        for (int i = 0; i < count; ++i) {
            const bool inside = first + i * step < end;
            x[i] = inside ? x_of.high(column[i]) : T(0);
            if constexpr (paired) x_low[i] = inside ? x_of.low(column[i]) : T(0);
        }
    }
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

/// The sum of the entries begin..end-1 of a row by a warp, in all of its lanes.
template <class A, class T, class Offset, bool paired>
__device__ RowSum<A> sum_by_warp(const CsrRows<T, Offset>& rows, Offset begin, Offset end, const Multiplicand<T, paired>& x_of) {
    constexpr int batch = 4;
    constexpr int batches_a_chain = chain_length / batch / (paired ? 2 : 1);
    RowSum<A> total;
    Offset k = begin + static_cast<Offset>(threadIdx.x) % warp_size;
    do {
        RowSum<A> chain;
        for (int i = 0; i < batches_a_chain && k < end; ++i, k += batch * warp_size) {
            const Batch<T, paired, batch> entries(rows, k, end, warp_size, x_of);
#pragma unroll
            for (int j = 0; j < batch; ++j) {
                if (k + j * warp_size >= end) break;
                chain.add_product(entries.a[j], entries.x[j]);
                if constexpr (paired) chain.add_product(entries.a[j], entries.x_low[j]);
            }
        }
        total.merge(chain);
    } while (k < end);
    return merge_lanes(total, warp_size);
}

}  // namespace solver::cuda
