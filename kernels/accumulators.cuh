#pragma once

/// Accumulators across the threads of a warp and of a block.

#include "solver/accuracy.hpp"
#include "solver/numeric/accumulators.hpp"
#include "solver/numeric/affine.hpp"
#include "solver/numeric/filtered.hpp"
#include "solver/numeric/superaccumulator.hpp"

namespace solver::cuda {

inline constexpr int warp_size = 32;

/// The accumulator that keeps the promise of a mode for values of type T.
template <class T, Accuracy accuracy>
struct AccumulatorOf;
template <class T>
struct AccumulatorOf<T, Accuracy::fast> : std::type_identity<Plain<T>> {};
template <>
struct AccumulatorOf<double, Accuracy::compensated> : std::type_identity<Dot2<double>> {};
template <>
struct AccumulatorOf<float, Accuracy::compensated> : std::type_identity<FloatInDouble> {};
template <>
struct AccumulatorOf<double, Accuracy::exact> : std::type_identity<FilteredTriple<double>> {};
template <>
struct AccumulatorOf<float, Accuracy::exact> : std::type_identity<FilteredFloat> {};

/// Calls work(std::type_identity<accumulator>()): where the run-time mode meets the templates.
template <class T, class Work>
void with_accumulator(Accuracy accuracy, const Work& work) {
    switch (accuracy) {
        case Accuracy::fast:
            return work(std::type_identity<typename AccumulatorOf<T, Accuracy::fast>::type>());
        case Accuracy::compensated:
            return work(std::type_identity<typename AccumulatorOf<T, Accuracy::compensated>::type>());
        case Accuracy::exact:
            return work(std::type_identity<typename AccumulatorOf<T, Accuracy::exact>::type>());
    }
}

/// Whether an accumulator may be unable to decide.
template <class A>
inline constexpr bool is_filter = false;
template <class T>
inline constexpr bool is_filter<FilteredTriple<T>> = true;
template <>
inline constexpr bool is_filter<FilteredFloat> = true;

/// Whether it matters to an accumulator that products have an exact two_prod. Those of floats are exact in double.
template <class A>
inline constexpr bool wants_exact_products = false;
template <>
inline constexpr bool wants_exact_products<FilteredTriple<double>> = true;

/// product_is_exact, where the product is known, by its upper word and rarely by more.
__device__ inline bool product_is_exact(double a, double b, double product) {
    constexpr int threshold = (1023 - 969) << 20;
    if ((__double2hiint(product) & 0x7FFFFFFF) >= threshold) return true;
    return a == 0 || b == 0 || magnitude(product) >= exact_product_threshold<double>;
}

/// Additions in one chain of one thread; what keeps h <= 1024.
inline constexpr int chain_length = 256;

template <class A>
__device__ __forceinline__ A shuffle_xor(const A& a, int mask) {
    static_assert(sizeof(A) % 4 == 0);
    constexpr int words = sizeof(A) / 4;
    unsigned word[words];
    __builtin_memcpy(word, &a, sizeof(A));
#pragma unroll
    for (int i = 0; i < words; ++i) word[i] = __shfl_xor_sync(0xFFFFFFFFu, word[i], mask);
    A other;
    __builtin_memcpy(&other, word, sizeof(A));
    return other;
}

/// The sums over `width` adjacent lanes, a power of two, in each of them. All lanes of the warp take part.
template <class A>
__device__ __forceinline__ A merge_lanes(A sum, int width) {
    for (int mask = width / 2; mask > 0; mask /= 2) sum.merge(shuffle_xor(sum, mask));
    return sum;
}

/// The sum over all threads of a block, in every thread of the first warp. `shared` holds one A a warp.
template <class A>
__device__ A merge_block(A sum, A* shared) {
    const int warp = static_cast<int>(threadIdx.x) / warp_size;
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    const int warps = static_cast<int>(blockDim.x) / warp_size;
    sum = merge_lanes(sum, warp_size);
    if (lane == 0) shared[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        sum = shared[lane < warps ? lane : 0];
        if (lane >= warps) sum = A();
        sum = merge_lanes(sum, warp_size);
    }
    return sum;
}

/// Memory for objects that have constructors.
template <class A, int count>
struct Shared {
    alignas(16) unsigned char bytes[count * sizeof(A)];
    __device__ A* data() { return reinterpret_cast<A*>(bytes); }
};

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
    unsigned word[sizeof(A) / 4];
    for (int i = 0; i < static_cast<int>(sizeof(A) / 4); ++i) word[i] = __ldcg(reinterpret_cast<const unsigned*>(from) + i);
    A a;
    __builtin_memcpy(&a, word, sizeof(A));
    return a;
}

/// True in all threads of the block that comes last of `count`: it sees what the others wrote before. The counter, 0 at first,
/// is 0 again afterwards.
__device__ inline bool block_comes_last(unsigned* counter, unsigned count) {
    __shared__ bool last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicInc(counter, count - 1) == count - 1;
    __syncthreads();
    if (last) __threadfence();
    return last;
}

/// The same for a warp.
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
