#pragma once

/// How kernels read the slices of a packed matrix: a slice is a warp's and a row of it a lane's.

#include "packed.hpp"
#include "spmv/rows.cuh"

namespace solver::cuda {

inline constexpr int slice_threads = 128;
inline constexpr int slices_a_block = slice_threads / warp_size;

/// The arrays of a packed matrix, but for its values.
struct Slices {
    std::int32_t count;
    const PackedSlice* slices;
    const std::int32_t* row;
    const std::uint16_t* length;
    const std::int32_t* base;
    const std::uint8_t* offsets;
};

// How values are read. All threads of a block call load(table) before at(slot, table).

template <class V, class T>
struct StoredSlots {
    struct Table {};
    const V* values;

    __device__ __forceinline__ void load(Table&) const {}
    __device__ __forceinline__ T at(std::int64_t slot, const Table&) const { return static_cast<T>(__ldg(values + slot)); }
};

/// A dictionary of bytes has a table in shared memory.
template <class T>
struct SmallDictionarySlots {
    struct Table {
        T value[256];
    };
    const std::uint8_t* index;
    const T* dictionary;
    int size;

    __device__ __forceinline__ void load(Table& table) const {
        for (int i = static_cast<int>(threadIdx.x); i < size; i += slice_threads) table.value[i] = __ldg(dictionary + i);
        __syncthreads();
    }
    __device__ __forceinline__ T at(std::int64_t slot, const Table& table) const { return table.value[__ldg(index + slot)]; }
};

template <class T>
struct LargeDictionarySlots {
    struct Table {};
    const std::uint16_t* index;
    const T* dictionary;

    __device__ __forceinline__ void load(Table&) const {}
    __device__ __forceinline__ T at(std::int64_t slot, const Table&) const { return __ldg(dictionary + __ldg(index + slot)); }
};

// How columns are read, by one lane.

struct RunColumns {
    const std::int32_t* base;
    int lane;

    __device__ __forceinline__ std::int32_t at(int k) const { return __ldg(base + k) + lane; }
};

template <class Offset>
struct OffsetColumns {
    const std::int32_t* base;
    const Offset* offsets;  ///< of step 0 and this lane

    __device__ __forceinline__ std::int32_t at(int k) const {
        return __ldg(base + k) + static_cast<std::int32_t>(__ldg(offsets + k * warp_size));
    }
};

/// Sums that want to see the first steps before they add them.
template <class Sum, class T, int count>
concept IsAnchored = requires(Sum sum, const T (&steps)[count]) {
    sum.anchor(steps, steps);
};

/// Adds `count` steps, whose loads overlap. With `checked`, those from `end` on are left out.
template <int count, bool checked, bool first, class Sum, class Values, class Columns, class T>
__device__ __forceinline__ void add_steps(Sum& sum, int k, int end, std::int64_t slot, const Values& values,
                                          const typename Values::Table& table, const Columns& columns, const T* x) {
    T a[count];
    T element[count];
    const auto inside = [&](int i) { return !checked || k + i < end; };
#pragma unroll
    for (int i = 0; i < count; ++i) {
        a[i] = inside(i) ? values.at(slot + (k + i) * warp_size, table) : T(0);
        element[i] = inside(i) ? __ldg(x + columns.at(k + i)) : T(0);
    }
    if constexpr (first) sum.anchor(a, element);
#pragma unroll
    for (int i = 0; i < count; ++i)
        if (inside(i)) sum.add_product(a[i], element[i]);
}

/// Adds the calling lane's row, of `length` entries; `common` are in every row of the slice.
template <class Sum, class Values, class Columns, class T>
__device__ __forceinline__ void add_row(Sum& sum, int common, int length, std::int64_t slot, const Values& values,
                                        const typename Values::Table& table, const Columns& columns, const T* x) {
    constexpr int unroll = 4;
    int k = 0;
    if constexpr (IsAnchored<Sum, T, unroll>) {
        if (common >= unroll)
            add_steps<unroll, false, true>(sum, k, length, slot, values, table, columns, x);
        else
            add_steps<unroll, true, true>(sum, k, length, slot, values, table, columns, x);
        k = unroll;
    }
    for (; k + unroll <= common; k += unroll) add_steps<unroll, false, false>(sum, k, length, slot, values, table, columns, x);
    for (; k < length; k += unroll) add_steps<unroll, true, false>(sum, k, length, slot, values, table, columns, x);
}

template <class Sum, class Values, class T>
__device__ __forceinline__ void add_lane(Sum& sum, const Slices& slices, const PackedSlice& slice, int lane, int common,
                                         int length, const Values& values, const typename Values::Table& table, const T* x) {
    const std::int64_t slot = slice.first_step * warp_size + lane;
    const std::int32_t* const base = slices.base + slice.first_step;
    const std::uint8_t* const offsets = slices.offsets + slice.first_offset;
    const auto add = [&](const auto& columns) { add_row(sum, common, length, slot, values, table, columns, x); };
    switch (slice.offsets) {
        case ColumnOffsets::none:
            return add(RunColumns{base, lane});
        case ColumnOffsets::bits8:
            return add(OffsetColumns<std::uint8_t>{base, offsets + lane});
        case ColumnOffsets::bits16:
            return add(OffsetColumns<std::uint16_t>{base, reinterpret_cast<const std::uint16_t*>(offsets) + lane});
        default:
            return add(OffsetColumns<std::uint32_t>{base, reinterpret_cast<const std::uint32_t*>(offsets) + lane});
    }
}

}  // namespace solver::cuda
