#pragma once

/// What the kernels need of accumulators beyond what a user's kernels do; blocks that hand results to one another.

#include "solver/cuda/accumulators.cuh"
#include "solver/cuda/runtime.hpp"
#include "solver/numeric/affine.hpp"
#include "solver/numeric/superaccumulator.hpp"

namespace solver::cuda {

/// Calls work(std::type_identity<accumulator of the mode at a place>()).
template <class T, class Place = Anywhere, class Work>
void with_accumulator(Accuracy accuracy, const Work& work) {
    with_accuracy(accuracy, [&](auto mode) { work(std::type_identity<typename AccumulatorOf<T, mode.value, Place>::type>()); });
}

/// Calls work with the accumulator of the mode at a place, where a device may prefer accumulators of floats for floats.
template <class T, class Place = Anywhere, class Work>
void with_accumulator(Accuracy accuracy, FloatSums float_sums, const Work& work) {
    if constexpr (std::is_same_v<T, float>)
        if (float_sums == FloatSums::in_float) return with_accumulator<T, FloatsOnly>(accuracy, work);
    with_accumulator<T, Place>(accuracy, work);
}

/// Additions in one chain of one thread; what keeps h <= 1024.
inline constexpr int chain_length = 256;

/// Lets the next kernel of the stream be launched while this one runs, where it was launched so (launch_after); it waits for
/// the results with wait_for_former_kernel.
__device__ __forceinline__ void let_next_kernel_start() {
#if __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}
__device__ __forceinline__ void wait_for_former_kernel() {
#if __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
}

/// What another block has written, past this multiprocessor's cache.
template <class A>
__device__ A load_fresh(const A* from) {
    static_assert(sizeof(A) % 4 == 0);
    struct Words {
        unsigned word[sizeof(A) / 4];
    } words;
    for (int i = 0; i < static_cast<int>(sizeof(A) / 4); ++i)
        words.word[i] = __ldcg(reinterpret_cast<const unsigned*>(from) + i);
    return __builtin_bit_cast(A, words);
}

/// True in all threads of the block that comes last of `count`: it sees what the others wrote before. The counter, 0 at first,
/// is 0 again afterwards.
__device__ inline bool block_comes_last(unsigned* counter, unsigned count) {
    __shared__ bool last;
    __syncthreads();
    if (threadIdx.x == 0) {  // fences are cumulative: one covers what the barrier has ordered before it
        __threadfence();
        last = atomicInc(counter, count - 1) == count - 1;
        __threadfence();
    }
    __syncthreads();
    return last;
}

/// Whether this warp is the last of so many to come here.
__device__ inline bool warp_comes_last(unsigned* counter, unsigned count) {
    unsigned before = 0;
    __threadfence();
    __syncwarp();
    if (threadIdx.x % warp_size == 0) before = atomicInc(counter, count - 1);
    const bool last = __shfl_sync(0xFFFFFFFFu, before, 0) == count - 1;
    if (last) __threadfence();
    return last;
}

}  // namespace solver::cuda
