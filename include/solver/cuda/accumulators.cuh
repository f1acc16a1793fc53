#pragma once

/// Accumulators across the threads of a warp and of a block, for use in kernels.

#include "solver/numeric/escalation.hpp"
#include "solver/numeric/tracked_sum.hpp"

namespace solver::cuda {

inline constexpr int warp_size = 32;

template <class A>
__device__ __forceinline__ A shuffle_xor(const A& a, int mask, unsigned lanes = 0xFFFFFFFFu) {
    static_assert(sizeof(A) % 4 == 0);
    constexpr int words = sizeof(A) / 4;
    unsigned word[words];
    __builtin_memcpy(word, &a, sizeof(A));
#pragma unroll
    for (int i = 0; i < words; ++i) word[i] = __shfl_xor_sync(lanes, word[i], mask);
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
        sum = merge_lanes(shared[lane % warps], warps);
    }
    return sum;
}

/// Memory for objects that have constructors.
template <class A, int count>
struct Shared {
    alignas(16) unsigned char bytes[count * sizeof(A)];
    __device__ A* data() { return reinterpret_cast<A*>(bytes); }
};

}  // namespace solver::cuda
