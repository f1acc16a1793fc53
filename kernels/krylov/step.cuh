#pragma once

/// The kernels of a step. Each updates vectors or not, sums up products or not, and its last block decides how the
/// step goes on. Every row of blocks (blockIdx.y) works on a column of its own.

#include "krylov/operation.cuh"
#include "runtime/gate.cuh"

namespace solver::cuda {

inline constexpr int step_threads = 256;

/// What the products and the squares of a step are added up in.
template <class T, Accuracy accuracy>
struct StepAccumulators {
    using Dot = typename AccumulatorOf<T, accuracy>::type;
    using Norm = typename AccumulatorOf<T, accuracy, StepsOnGpu>::type;
};

template <class A, int count>
struct SumsOfAKind {
    A sum[count];

    __device__ __forceinline__ void merge(const SumsOfAKind& other) {
#pragma unroll
        for (int q = 0; q < count; ++q) sum[q].merge(other.sum[q]);
    }
};
template <class A>
struct SumsOfAKind<A, 0> {
    __device__ void merge(const SumsOfAKind&) {}
};

/// The sums of an operation: tracked sums that know together whether a product was inexact.
template <class A, class Op>
struct StepSums {
    SumsOfAKind<typename A::Norm, Op::norms> norms;
    SumsOfAKind<typename A::Dot, Op::dots> dots;
    int inexact = 0;  ///< whether a product had no exact two_prod

    template <class T>
    __device__ __forceinline__ void add_product(T a, T b) {
        add_tracked(dots.sum[0], inexact, a, b);
    }
    template <class T>
    __device__ __forceinline__ void add_square(int q, T a) {
        add_tracked(norms.sum[q], inexact, a, a);
    }
    __device__ __forceinline__ void merge(const StepSums& other) {
        norms.merge(other.norms);
        dots.merge(other.dots);
        inexact |= other.inexact;
    }
};

/// Room for a block's sums.
inline constexpr std::int64_t largest_part = 160;

/// By the first warp, which has the sums of all blocks: a thread for each.
template <class Op, class A>
__device__ void decide(const StepMemory<typename Op::Scalars>& on, const StepSums<A, Op>& sums) {
    using T = typename Op::Value;
    const auto lane = static_cast<int>(threadIdx.x);
    const T bound = underflow_bound<T>(on.n);
    T value = 0;
    bool decided = true;
    if constexpr (Op::norms > 0) {
        typename A::Norm mine = sums.norms.sum[0];
        if (Op::norms > 1 && lane == 1) mine = sums.norms.sum[Op::norms - 1];
        if (lane < Op::norms) decided = TrackedSum<typename A::Norm>{mine, sums.inexact}.try_sqrt(value, bound);
    }
    if constexpr (Op::dots > 0)
        if (lane == Op::norms) decided = TrackedSum<typename A::Dot>{sums.dots.sum[0], sums.inexact}.try_result(value, bound);
    const bool all_decided = __all_sync(0xFFFFFFFFu, decided);
    StepValues values;
    values.norm[0] = __shfl_sync(0xFFFFFFFFu, value, 0);
    values.norm[1] = __shfl_sync(0xFFFFFFFFu, value, 1);
    values.dot = __shfl_sync(0xFFFFFFFFu, value, Op::norms);
    if (lane != 0) return;
    if (!all_decided)
        on.state->go_to(Op::rest);
    else
        Op::take(on, values);
    end_loop_outside_stages(on, on.state->stage);
}

inline constexpr int step_blocks_per_multiprocessor = 4;

/// Has the state near when the last block decides.
template <class State>
__device__ __forceinline__ void prefetch_state(const State* state) {
    constexpr int sector = 32;
    const auto offset = static_cast<std::size_t>(threadIdx.x) * sector;
    if (offset < sizeof(State)) asm volatile("prefetch.global.L1 [%0];" ::"l"(reinterpret_cast<const char*>(state) + offset));
}

/// Puts a block's sums beside the others'. True in the block that comes last: then they are those of all.
template <class Sums, class Scalars>
__device__ bool merge_blocks(const StepMemory<Scalars>& on, Sums& part, Sums* shared) {
    static_assert(sizeof(Sums) <= largest_part);
    auto* const parts = reinterpret_cast<Sums*>(on.parts);
    if (threadIdx.x == 0) parts[blockIdx.x] = part;
    if (!block_comes_last(on.arrived, gridDim.x)) return false;
    part = Sums();
    for (unsigned i = threadIdx.x; i < gridDim.x; i += step_threads) part.merge(load_fresh(parts + i));
    part = merge_block(part, shared);
    return true;
}

template <class Op, class A>
__global__ void __launch_bounds__(step_threads, step_blocks_per_multiprocessor)
    step_kernel(const __grid_constant__ StepMemory<typename Op::Scalars> columns, std::uint32_t stages) {
    const StepMemory<typename Op::Scalars> on = columns.column(blockIdx.y);
    const bool open = is_open({&on.state->stage, stages});
    // a column whose stretch has ended has ended the loop before, and waits
    if (Op::begins_chain && blockIdx.x == 0 && threadIdx.x == 0 &&
        on.state->stage != static_cast<std::int32_t>(Op::Stage::ended))
        end_loop_outside_stages(on, on.state->stage);
    if (!open) return;
    let_next_kernel_start();
    const Op operation(*on.state);
    prefetch_state(on.state);
    const std::int64_t packs = (on.n + Pack<typename Op::Value>::size - 1) / Pack<typename Op::Value>::size;
    StepSums<A, Op> part;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * step_threads + threadIdx.x; i < packs;
         i += static_cast<std::int64_t>(gridDim.x) * step_threads)
        operation.template visit<true>(on, i, part);
    if constexpr (Op::decides) {
        __shared__ Shared<StepSums<A, Op>, step_threads / warp_size> shared;
        part = merge_block(part, shared.data());
        if (gridDim.x > 1 && !merge_blocks(on, part, shared.data())) return;
        if (threadIdx.x < warp_size) decide<Op>(on, part);
    }
}

/// One of an operation's sums, by a superaccumulator.
template <class Sum>
struct ExactStepSum {
    Sum& sum;
    int wanted;  ///< the number of a norm, or -1 for the dot product

    template <class T>
    __device__ void add_product(T a, T b) {
        if (wanted < 0) sum.add_product(a, b);
    }
    template <class T>
    __device__ void add_square(int q, T a) {
        if (wanted == q) sum.add_product(a, a);
    }
};

/// All sums of an operation, its vectors having been updated, by superaccumulators, in every mode.
template <class Op>
__global__ void __launch_bounds__(warp_size)
    step_rest(const __grid_constant__ StepMemory<typename Op::Scalars> columns, std::uint32_t stages) {
    using T = typename Op::Value;
    using Digits = BlockDigits<digits_of_products<T>>;
    __shared__ Digits digits;
    const StepMemory<typename Op::Scalars> on = columns.column(blockIdx.y);
    if (!is_open({&on.state->stage, stages})) return;
    const Op operation(*on.state);
    const int thread = static_cast<int>(threadIdx.x);
    const auto blocks = static_cast<std::int64_t>(gridDim.x);
    const std::int64_t packs = (on.n + Pack<T>::size - 1) / Pack<T>::size;
    constexpr int sums = Op::norms + Op::dots;
    for (int q = 0; q < sums; ++q) {
        typename Digits::Sum sum = digits.thread_sum();
        ExactStepSum<typename Digits::Sum> sink{sum, q < Op::norms ? q : -1};
        for (std::int64_t i = blockIdx.x * std::int64_t{warp_size} + thread; i < packs; i += blocks * warp_size)
            operation.template visit<false>(on, i, sink);
        digits.store_total(sum, on.exact_parts[q * blocks + blockIdx.x]);
    }
    if (!warp_comes_last(on.arrived + 1, gridDim.x)) return;
    StepValues values;
    for (int q = 0; q < sums; ++q) {
        const typename Digits::Sum all = digits.merged(on.exact_parts + q * blocks, blocks);
        if (thread == 0) {
            if (q < Op::norms)
                values.norm[q] = all.template sqrt_result<T>();
            else
                values.dot = all.template result<T>();
        }
        __syncwarp();
    }
    if (thread != 0) return;
    Op::take(on, values);
    end_loop_outside_stages(on, on.state->stage);
}

}  // namespace solver::cuda
