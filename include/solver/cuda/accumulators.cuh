#pragma once

/// Accumulators across the threads of a warp and of a block, for use in kernels.

#include "solver/accuracy.hpp"
#include "solver/numeric/accumulators.hpp"
#include "solver/numeric/filtered.hpp"

#include <type_traits>

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

/// The same for floats without a double, for devices where these are slow.
template <class T, Accuracy accuracy>
struct AccumulatorInFloats;
template <>
struct AccumulatorInFloats<float, Accuracy::fast> : std::type_identity<Plain<float>> {};
template <>
struct AccumulatorInFloats<float, Accuracy::compensated> : std::type_identity<Dot2<float>> {};
template <>
struct AccumulatorInFloats<float, Accuracy::exact> : std::type_identity<FilteredTriple<float>> {};

/// Whether an accumulator may be unable to decide.
template <class A>
inline constexpr bool is_filter = false;
template <class T>
inline constexpr bool is_filter<FilteredPair<T>> = true;
template <class T>
inline constexpr bool is_filter<FilteredWatchedPair<T>> = true;
template <class T>
inline constexpr bool is_filter<FilteredTriple<T>> = true;
template <>
inline constexpr bool is_filter<FilteredFloat> = true;

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
