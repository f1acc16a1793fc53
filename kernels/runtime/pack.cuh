#pragma once

/// Elements of a vector, 16 bytes at once.

#include <cstdint>

namespace solver::cuda {

template <class T>
struct alignas(16) Pack {
    static constexpr int size = 16 / sizeof(T);
    T element[size];
};

/// Elements i * size and following of a vector of n elements that begins at a multiple of 16 bytes; zeros beyond the end.
template <class T>
__device__ __forceinline__ Pack<T> load_pack(const T* x, std::int64_t i, std::int64_t n) {
    constexpr int size = Pack<T>::size;
    Pack<T> pack;
    if ((i + 1) * size <= n) {
        const float4 raw = *reinterpret_cast<const float4*>(x + i * size);
        __builtin_memcpy(&pack, &raw, sizeof raw);
    } else {
#pragma unroll
        for (int j = 0; j < size; ++j) pack.element[j] = i * size + j < n ? x[i * size + j] : T(0);
    }
    return pack;
}

template <class T>
__device__ __forceinline__ void store_pack(T* x, std::int64_t i, std::int64_t n, const Pack<T>& pack) {
    constexpr int size = Pack<T>::size;
    if ((i + 1) * size <= n) {
        float4 raw;
        __builtin_memcpy(&raw, &pack, sizeof raw);
        *reinterpret_cast<float4*>(x + i * size) = raw;
    } else {
#pragma unroll
        for (int j = 0; j < size; ++j)
            if (i * size + j < n) x[i * size + j] = pack.element[j];
    }
}

}  // namespace solver::cuda
