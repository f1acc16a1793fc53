#pragma once

/// Solves with triangles that have every entry. Each row waits for the one before it, so that a level has one row and a
/// schedule (schedule.hpp) nothing to share out. Here steps are taken in blocks: one block of threads solves the rows of a
/// block of steps, one row a lane, then all others subtract what these contribute to the rows that follow, a row a warp.

#include "reduce/accumulators.cuh"
#include "runtime/divisor.hpp"
#include "runtime/gate.cuh"
#include "solver/numeric/digitwise.hpp"
#include "spmv/rows.cuh"
#include "triangular/solve.cuh"

namespace solver::cuda {

inline constexpr int full_steps = 64;      ///< of a block
inline constexpr int rows_subtracted = 8;  ///< by a block of threads, a warp each

/// So many steps are added up by themselves before they join the others: then a term passes at most 1024 additions up to three
/// million rows, as the bound of compensated sums asks (accuracy.hpp). Of two additions a merge: 2 in its lane, 5 merges of
/// lanes, 255 of its chain, one for each later chain, one with the chain, and the 64 steps of the row's own block.
inline constexpr std::int32_t chain_steps = full_steps * chain_length;

/// What is known of a row's sum.
template <Accumulator A>
struct PartialSums {
    TrackedSum<A> former;  ///< of b and of former chains
    TrackedSum<A> chain;
};

/// The entries of one row beside the diagonal, in the order in which their elements of x are solved.
template <class T>
struct FullRow {
    std::int32_t index;    ///< of the row in the matrix, and of its element in b and x
    std::int32_t entries;  ///< one for each step before this row's
    std::int32_t first_column;
    std::int32_t direction;  ///< from one step's column, and entry, to the next one's
    const T* first_value;
    const T* diagonal;

    __device__ __forceinline__ T value(std::int32_t step) const {
        return -__ldg(first_value + static_cast<std::int64_t>(step) * direction);
    }
    __device__ __forceinline__ std::int32_t column(std::int32_t step) const { return first_column + step * direction; }
};

/// The stored entries, row by row.
template <class T>
struct FullTriangle {
    std::int32_t rows;
    bool is_lower;
    bool has_pivots;
    const T* values;

    /// The row that is solved at a step.
    __device__ __forceinline__ FullRow<T> row(std::int32_t step) const {
        const std::int64_t s = step, n = rows;
        const std::int64_t pivots = has_pivots ? 1 : 0;
        if (is_lower) {
            const T* const begin = values + s * (s - 1) / 2 + s * pivots;
            return {step, step, 0, 1, begin, begin + s};
        }
        const std::int64_t i = n - 1 - s;  // before it stand rows of n - 1, n - 2, ... entries beside their pivots
        const T* const begin = values + i * (2 * n - 1 - i) / 2 + i * pivots;
        return {static_cast<std::int32_t>(i), step, rows - 1, -1, begin + pivots + s - 1, begin};
    }
};

/// b - sum of a row that its filter left open, by all lanes of a warp, rounded: in all of them.
template <class T>
__device__ __noinline__ T round_full_row(const FullRow<T>& row, const T* x, T b) {
    const LaneGroup warp(warp_size);
    const auto for_each = [&](const auto& visit) {  // elements of this block's steps have just been written: not by __ldg
        for (std::int32_t k = warp.lane; k < row.entries; k += warp_size)
            visit(row.value(k), load_global_now(x + row.column(k)));
    };
    using Again = typename Escalation<T, TrianglesOnGpu>::Again;
    if constexpr (!std::is_same_v<Again, NoFilter>) {
        TrackedSum<Again> sum;
        if (warp.lane == 0) sum.sum.add(b);
        for_each([&](T value, T element) { sum.add_product(value, element); });
        T result;
        const bool proven = merge_lanes(sum, warp_size).try_result(result, affine_underflow(T(1), row.entries));
        if (__shfl_sync(all_lanes, proven ? 1 : 0, 0) != 0) return __shfl_sync(all_lanes, result, 0);
    }
    return round_digitwise<T>(for_each, T(1), T(1), double{b}, warp);
}

/// The rows of one warp, which lacks nothing but its own elements. `steps` of them are there; `entry` has those of the calling
/// lane's row in this block of steps, and `solved` gets the elements of the block.
template <Accumulator A, class T>
__device__ __forceinline__ void solve_full_rows(const FullTriangle<T>& a, const FullRow<T>& row, TrackedSum<A>& sum, T b, T* x,
                                                std::int32_t first_step, int steps, const T* entry, T* solved) {
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    const Divisor<T> pivot(a.has_pivots && lane < steps ? __ldg(row.diagonal) : T(1));
    for (int j = 0; j < steps; ++j) {
        T result{};
        const bool proven = sum.try_result(result, affine_underflow(T(1), row.entries));
        if constexpr (A::is_filter) {
            if (__shfl_sync(all_lanes, proven ? 1 : 0, j) == 0)
                result = round_full_row(a.row(first_step + j), x, __shfl_sync(all_lanes, b, j));
        }
        if (lane == j) {
            if (a.has_pivots) result = canonical(pivot.divide(result));
            x[row.index] = solved[j] = result;
        }
        __syncwarp();
        if (lane > j) sum.add_product(entry[j], solved[j]);
    }
}

/// x of the steps from the first on, by one block of a thread for each.
template <Accumulator A, class T>
__global__ void __launch_bounds__(full_steps) solve_full_block(const __grid_constant__ FullTriangle<T> a, std::int32_t first,
                                                               const T* b, T* x, const PartialSums<A>* partial, Gate gate) {
    __shared__ T entry[full_steps][full_steps + 1];  // of odd length: a column lies in all banks
    __shared__ T solved[full_steps];
    if (!is_open(gate)) return;
    const int steps = min(full_steps, a.rows - first);
    for (int k = static_cast<int>(threadIdx.x); k < steps * full_steps; k += full_steps) {
        const int i = k / full_steps, j = k % full_steps;
        if (j < i) entry[i][j] = a.row(first + i).value(first + j);
    }
    const int mine = static_cast<int>(threadIdx.x), my_warp = mine / warp_size;
    const FullRow<T> row = a.row(first + min(mine, steps - 1));
    const T b_mine = b[row.index];  // before x, which may be b, is written
    TrackedSum<A> sum;
    if (first == 0) {
        sum.sum.add(b_mine);
    } else {
        const PartialSums<A> sums = partial[first + min(mine, steps - 1)];
        sum = sums.former;
        sum.merge(sums.chain);
    }
    __syncthreads();
    for (int warp = 0; warp < full_steps / warp_size; ++warp) {
        const int begin = warp * warp_size;
        if (my_warp == warp)
            solve_full_rows(a, row, sum, b_mine, x, first + begin, min(warp_size, steps - begin), entry[mine] + begin,
                            solved + begin);
        __syncthreads();
        if (my_warp > warp && mine < steps)
            for (int j = begin; j < begin + warp_size; ++j) sum.add_product(entry[mine][j], solved[j]);
    }
}

/// What a block of steps contributes to the rows of later ones, whose sums so far are `partial`.
template <Accumulator A, class T>
__global__ void __launch_bounds__(rows_subtracted* warp_size)
    subtract_full_block(const __grid_constant__ FullTriangle<T> a, std::int32_t first, const T* b, const T* x,
                        PartialSums<A>* partial, Gate gate) {
    if (!is_open(gate)) return;
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    const int warp = static_cast<int>(threadIdx.x) / warp_size;
    const std::int32_t step = first + full_steps + static_cast<std::int32_t>(blockIdx.x) * rows_subtracted + warp;
    if (step >= a.rows) return;
    const FullRow<T> row = a.row(step);
    TrackedSum<A> sum;
#pragma unroll
    for (int k = lane; k < full_steps; k += warp_size) sum.add_product(row.value(first + k), x[row.column(first + k)]);
    sum = merge_lanes(sum, warp_size);
    if (lane != 0) return;
    PartialSums<A> sums;
    if (first == 0)
        sums.former.sum.add(b[row.index]);
    else
        sums = partial[step];
    if (first % chain_steps == 0) {
        if (first > 0) sums.former.merge(sums.chain);
        sums.chain = sum;
    } else {
        sums.chain.merge(sum);
    }
    partial[step] = sums;
}

}  // namespace solver::cuda
