#pragma once

/// How kernels read stored rows, and what every row ends with. Functions take Rows: a row is its entries
/// begin(row)..end(row)-1, each with a value and a column. Another storage is another such class (dense.cuh).

#include "gate.hpp"
#include "reduce/accumulators.cuh"
#include "solver/cuda/spmv.hpp"
#include "solver/numeric/digitwise.hpp"
#include "solver/numeric/filtered_expansion.hpp"

namespace solver::cuda {

/// A part of a long row, for a warp or a block.
template <class Offset>
struct Segment {
    Offset row;
    Offset begin;
    Offset end;
    std::int32_t first;  ///< the row's first segment
    std::int32_t count;  ///< how many the row has
};

/// A matrix with the row offsets that kernels use: 32 bits where they fit.
template <class T, class O>
struct CsrRows {
    using Offset = O;

    std::int64_t rows;
    const Offset* offsets;
    const std::int32_t* columns;
    const T* values;

    __device__ __forceinline__ const CsrRows& of(Offset) const { return *this; }  ///< what has this row
    __device__ __forceinline__ Offset begin(Offset row) const { return offsets[row]; }
    __device__ __forceinline__ Offset end(Offset row) const { return offsets[row + 1]; }

    // Through the nearest cache: a lane with a row of its own takes a line bit by bit. Asking for early eviction (__ldcs) made
    // products of stencils take up to twice the time.
    __device__ __forceinline__ T value(Offset entry) const { return __ldg(values + entry); }
    __device__ __forceinline__ std::int32_t column(Offset entry) const { return __ldg(columns + entry); }

    // For a warp that takes whole lines, once.
    __device__ __forceinline__ T passing_value(Offset entry) const { return __ldcs(values + entry); }
    __device__ __forceinline__ std::int32_t passing_column(Offset entry) const { return __ldcs(columns + entry); }
};

/// The task of another column, so many elements behind.
template <class T>
__host__ __device__ RowTask<T> column_of(RowTask<T> task, std::int64_t offset) {
    for (const T** vector : {&task.x, &task.x_low, &task.y_in})
        if (*vector != nullptr) *vector += offset;
    task.y += offset;
    return task;
}

/// What a block does where those of several columns with the same rows follow one another.
struct Share {
    unsigned column;
    unsigned block;  ///< of the column
};

template <bool several>
__device__ __forceinline__ Share share_of_block(const Columns& columns) {
    if (!several) return {0, blockIdx.x};
    const auto count = static_cast<unsigned>(columns.count);
    return {blockIdx.x % count, blockIdx.x / count};
}

/// A single column's stays where it is: registers are scarce.
template <bool several, class T>
__device__ __forceinline__ decltype(auto) task_of_column(const RowTask<T>& first, const Columns& columns, unsigned column) {
    if constexpr (several)
        return column_of(first, column * columns.stride);
    else
        return (first);
}

/// x or a pair, as is known when kernels are compiled.
template <class T, bool paired>
struct Multiplicand {
    const T* x;
    const T* x_low;

    __device__ __forceinline__ T high(std::int32_t column) const { return __ldg(x + column); }
    __device__ __forceinline__ T low(std::int32_t column) const { return __ldg(x_low + column); }
};

/// The largest sum of a row, for arrays in which parts of long rows lie in every mode.
using LargestRowSum = TrackedSum<FilteredTriple<double>>;

/// Adjacent lanes of a warp that share a row, a power of two.
struct LaneGroup {
    int width;
    int lane;       ///< the calling one's place in the group
    unsigned mask;  ///< the group's lanes in the warp

    __device__ __forceinline__ explicit LaneGroup(int lanes) : width(lanes) {
        const int in_warp = static_cast<int>(threadIdx.x) % warp_size;
        lane = in_warp & (width - 1);
        mask = (width == warp_size ? ~0u : (1u << width) - 1) << (in_warp - lane);
    }

    // What all lanes have, combined, in all of them: a team for DigitwiseSum.
    __device__ Alone::Int128 sum(Alone::Int128 value) const {
        for (int step = width / 2; step > 0; step /= 2) {
            const auto low = __shfl_xor_sync(mask, static_cast<unsigned long long>(value), step);
            const auto high = __shfl_xor_sync(mask, static_cast<long long>(value >> 64), step);
            value += (Alone::Int128{high} << 64) + low;
        }
        return value;
    }
    __device__ double sum(double value) const {
        for (int step = width / 2; step > 0; step /= 2) value = add_rn(value, __shfl_xor_sync(mask, value, step));
        return value;
    }
    __device__ int smallest(int value) const {
        for (int step = width / 2; step > 0; step /= 2) value = min(value, __shfl_xor_sync(mask, value, step));
        return value;
    }
    __device__ int largest(int value) const {
        for (int step = width / 2; step > 0; step /= 2) value = max(value, __shfl_xor_sync(mask, value, step));
        return value;
    }
};

/// alpha sum + beta y_in: the result, or false where a filter does not know it.
template <Accumulator A, class T>
__device__ __forceinline__ bool try_affine(const TrackedSum<A>& sum, const RowTask<T>& task, std::int64_t row,
                                           std::int64_t length, T& result) {
    return solver::try_affine(sum, task.alpha, task.beta, task.beta != T(0) ? task.y_in[row] : T(0), length, result);
}

/// Adds `count` entries, step apart, whose loads overlap. With `checked`, those from `end` on are left out.
template <int count, bool checked, Accumulator A, class Rows, class T, bool paired>
__device__ __forceinline__ void add_entries(TrackedSum<A>& sum, const Rows& rows, typename Rows::Offset first,
                                            typename Rows::Offset end, int step, const Multiplicand<T, paired>& x_of) {
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
template <Accumulator A, int unroll, class Rows, class T, bool paired>
__device__ __forceinline__ TrackedSum<A> sum_entries(const Rows& rows, typename Rows::Offset first, typename Rows::Offset end,
                                                     int step, const Multiplicand<T, paired>& x_of) {
    TrackedSum<A> sum;
    for (; first + (unroll - 1) * step < end; first += unroll * step)
        add_entries<unroll, false>(sum, rows, first, end, step, x_of);
    add_entries<unroll - 1, true>(sum, rows, first, end, step, x_of);
    return sum;
}

/// RN(alpha sum a_k x_k + beta y_in), digit by digit, by all lanes of the group. `for_each(visit)` calls visit(a_k, x_k) for
/// the lane's share of the products, as often as it is asked.
template <class T, class ForEach>
__device__ T round_digitwise(const ForEach& for_each, T alpha, T beta, double y_in, const LaneGroup& group) {
    const bool finite = is_finite(alpha);
    const double factor = finite ? double{alpha} : 1.0;
    const DigitwiseSum sum(
        [&](const auto& visit) {
            for_each([&](double a, double x) { visit(a, x, factor); });
            if (beta != T(0) && group.lane == 0 && finite) visit(double{beta}, y_in, 1.0);
        },
        group);
    if (finite) return sum.template result<T>();
    const double product = mul_rn(double{alpha}, sum.special() != 0 ? sum.special() : double(sum.sign()));
    const double other = mul_rn(double{beta}, y_in);
    return canonical(static_cast<T>(beta == T(0) || is_finite(other) ? product : add_rn(product, other)));
}

/// The last resort for a row.
template <class Rows, class T>
__device__ T round_digitwise(const Rows& rows, const RowTask<T>& task, typename Rows::Offset row, const LaneGroup& group) {
    using Offset = typename Rows::Offset;
    const Offset end = rows.end(row);
    const auto for_each = [&](const auto& visit) {
        for (Offset k = rows.begin(row) + group.lane; k < end; k += group.width) {
            visit(double{rows.value(k)}, double{task.x[rows.column(k)]});
            if (task.x_low != nullptr) visit(double{rows.value(k)}, double{task.x_low[rows.column(k)]});
        }
    };
    return round_digitwise(for_each, task.alpha, task.beta, task.beta != T(0) ? double{task.y_in[row]} : 0.0, group);
}

/// A row that cancels by more than three terms hold, in six: lane 0 of the group has the result, or none is proven.
template <class Rows>
__device__ bool try_six_terms(const Rows& rows, const RowTask<double>& task, typename Rows::Offset row, const LaneGroup& group,
                              double& result) {
    using Offset = typename Rows::Offset;
    using A = typename Escalation<double, RowsOnGpu>::Again;
    if (magnitude(task.alpha) != 1.0) return false;
    const auto first = static_cast<Offset>(rows.begin(row) + group.lane);
    const Offset end = rows.end(row);
    TrackedSum<A> sum = task.x_low == nullptr
                            ? sum_entries<A, 4>(rows, first, end, group.width, Multiplicand<double, false>{task.x, nullptr})
                            : sum_entries<A, 4>(rows, first, end, group.width, Multiplicand<double, true>{task.x, task.x_low});
    for (int step = group.width / 2; step > 0; step /= 2) sum.merge(shuffle_xor(sum, step, group.mask));
    if (task.alpha < 0) sum.sum.negate();
    if (task.beta != 0) sum.add_product(task.beta, task.y_in[row]);
    const bool proven = sum.inexact == 0 && sum.sum.try_result(result);
    return __shfl_sync(group.mask, proven ? 1 : 0, 0, group.width) != 0;  // lanes merge in orders of their own
}

/// A row that its sum does not decide: by an accumulator that sees farther, then digit by digit. All lanes of the group take
/// part.
template <class Rows, class T>
__device__ __noinline__ void round_hard_row(const Rows& rows, const RowTask<T>& task, typename Rows::Offset row,
                                            LaneGroup group, unsigned* escalated) {
    using Offset = typename Rows::Offset;
    T result;
    bool proven = false;
    if constexpr (std::is_same_v<T, double>) {
        proven = try_six_terms(rows, task, row, group, result);
    } else {
        constexpr int longest = 256;  // a lane, so that the bound holds
        const Offset begin = rows.begin(row);
        const Offset end = rows.end(row);
        if (end - begin <= longest * group.width) {
            TrackedSum<typename Escalation<T, RowsOnGpu>::Again> wider;
            for (Offset k = begin + group.lane; k < end; k += group.width) {
                wider.add_product(double{rows.value(k)}, double{task.x[rows.column(k)]});
                if (task.x_low != nullptr) wider.add_product(double{rows.value(k)}, double{task.x_low[rows.column(k)]});
            }
            for (int step = group.width / 2; step > 0; step /= 2) wider.merge(shuffle_xor(wider, step, group.mask));
            proven = try_affine(wider, task, row, end - begin, result);
        }
    }
    if (!proven) {
        result = round_digitwise(rows, task, row, group);
        if (group.lane == 0) atomicAdd(escalated, 1u);
    }
    if (group.lane == 0) task.y[row] = result;
}

/// What the quickest test does not decide: by all tests of the sum, which all lanes of the group have, then without it.
template <Accumulator A, class Rows, class T>
__device__ __noinline__ void finish_hard_row(TrackedSum<A> sum, const Rows& rows, const RowTask<T>& task,
                                             typename Rows::Offset row, LaneGroup group, unsigned* escalated) {
    T result;
    if (!try_affine(sum, task, row, rows.end(row) - rows.begin(row), result))
        round_hard_row(rows, task, row, group, escalated);
    else if (group.lane == 0)
        task.y[row] = result;
}

/// Rounds alpha sum + beta y_in and stores it. All lanes of the group have the sum.
template <Accumulator A, class Rows, class T>
__device__ __forceinline__ void finish_row(const TrackedSum<A>& sum, const Rows& rows, typename Rows::Offset row,
                                           const RowTask<T>& task, const LaneGroup& group, unsigned* escalated) {
    if constexpr (!A::is_filter) {
        if (group.lane != 0) return;
        T result;
        try_affine(sum, task, row, 0, result);
        task.y[row] = result;
    } else {
        T result;
        bool proven = false;
        if (task.alpha == T(1) && task.beta == T(0)) {
            constexpr T much = std::is_same_v<T, double> ? T(0x1p-900) : T(0x1p-80);  // far more than 2^63 eta
            if constexpr (A::wants_exact_products)
                proven = sum.sum.try_quickly(result, sum.lost(much));
            else
                proven = sum.sum.try_result(result);
        }
        if (!proven)
            finish_hard_row(sum, rows, task, row, group, escalated);
        else if (group.lane == 0)
            task.y[row] = result;
    }
}

/// The entries begin..end-1 of a row by a warp, the sum in all of its lanes.
template <Accumulator A, int unroll, class Rows, class T, bool paired>
__device__ __forceinline__ TrackedSum<A> sum_by_warp(const Rows& rows, typename Rows::Offset begin, typename Rows::Offset end,
                                                     const Multiplicand<T, paired>& x_of) {
    using Offset = typename Rows::Offset;
    constexpr Offset entries_a_chain = warp_size * chain_length / (paired ? 2 : 1);
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    TrackedSum<A> total;
    for (Offset first = begin; first < end; first += entries_a_chain) {
        const Offset last = min(static_cast<Offset>(first + entries_a_chain), end);
        total.merge(sum_entries<A, unroll>(rows, static_cast<Offset>(first + lane), last, warp_size, x_of));
    }
    return merge_lanes(total, warp_size);
}

}  // namespace solver::cuda
