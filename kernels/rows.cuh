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

/// Several entries on their way from memory, so that their loads overlap. Entries beyond the end are zeros.
template <class T, int count>
struct Batch {
    T a[count];
    T x[count];
    T x_low[count];

    template <class Offset>
    __device__ __forceinline__ Batch(const CsrRows<T, Offset>& rows, Offset first, Offset end, Offset step,
                                     const RowTask<T>& task) {
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
            x[i] = inside ? __ldg(task.x + column[i]) : T(0);
            x_low[i] = inside && task.x_low != nullptr ? __ldg(task.x_low + column[i]) : T(0);
        }
    }
};

/// A sum, and whether the products in it had an exact two_prod.
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
    __device__ void merge(const RowSum& other) {
        sum.merge(other.sum);
        if constexpr (wants_exact_products<A>) inexact |= other.inexact;
    }
};

/// Adds the entries begin + step * 0, 1, ... before `end` of one thread, in chains.
template <class A, class T, class Offset>
__device__ __forceinline__ RowSum<A> sum_entries(const CsrRows<T, Offset>& rows, Offset begin, Offset end, Offset step,
                                                 const RowTask<T>& task) {
    constexpr int batch = 4;
    RowSum<A> total;
    int chain = 0;
    RowSum<A> sum;
    for (Offset k = begin; k < end; k += batch * step) {
        const Batch<T, batch> entries(rows, k, end, step, task);
#pragma unroll
        for (int i = 0; i < batch; ++i) {
            if (k + i * step >= end) break;
            sum.add_product(entries.a[i], entries.x[i]);
            if (task.x_low != nullptr) sum.add_product(entries.a[i], entries.x_low[i]);
        }
        chain += 2 * batch;
        if (chain >= chain_length) {
            total.merge(sum);
            sum = RowSum<A>();
            chain = 0;
        }
    }
    if (end - begin <= static_cast<Offset>(step) * (chain_length / 2 - batch)) return sum;
    total.merge(sum);
    return total;
}

}  // namespace solver::cuda
