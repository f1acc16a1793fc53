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

/// What a code in memory is, in a register of its own: the compiler clears the upper bits of a byte that it reads as such
/// again.
template <class Code>
__device__ __forceinline__ Code fetch(const Code* code) {
    return __ldg(code);
}
__device__ __forceinline__ unsigned fetch(const std::uint8_t* code) {
    unsigned value;
    asm("ld.global.nc.u8 %0, [%1];" : "=r"(value) : "l"(code));
    return value;
}
__device__ __forceinline__ unsigned fetch(const std::uint16_t* code) {
    unsigned value;
    asm("ld.global.nc.u16 %0, [%1];" : "=r"(value) : "l"(code));
    return value;
}

// How values are read: codes from memory, and what they mean. All threads of a block call load(table) before value(code,
// table).

template <class V, class T>
struct StoredSlots {
    using Code = V;
    struct Table {};
    const V* codes;

    __device__ __forceinline__ void load(Table&) const {}
    __device__ __forceinline__ T value(V code, const Table&) const { return static_cast<T>(code); }
};

/// A dictionary of bytes has a table in shared memory.
template <class T>
struct SmallDictionarySlots {
    using Code = std::uint8_t;
    struct Table {
        T value[256];
    };
    const std::uint8_t* codes;
    const T* dictionary;
    int size;

    __device__ __forceinline__ void load(Table& table) const {
#pragma unroll
        for (int first = 0; first < 256; first += slice_threads) {
            const int i = first + static_cast<int>(threadIdx.x);
            if (i < size) table.value[i] = __ldg(dictionary + i);
        }
        __syncthreads();
    }
    __device__ __forceinline__ T value(unsigned code, const Table& table) const { return table.value[code]; }
};

template <class T>
struct LargeDictionarySlots {
    using Code = std::uint16_t;
    struct Table {};
    const std::uint16_t* codes;
    const T* dictionary;

    __device__ __forceinline__ void load(Table&) const {}
    __device__ __forceinline__ T value(unsigned code, const Table&) const { return __ldg(dictionary + code); }
};

template <class Values>
inline constexpr bool has_table = !std::is_empty_v<typename Values::Table>;
template <class Values>
inline constexpr bool is_stored = false;
template <class V, class T>
inline constexpr bool is_stored<StoredSlots<V, T>> = true;

// How columns are read, by one lane: of a step that is so many behind the present one.

struct RunColumns {
    const std::int32_t* base;
    int lane;

    __device__ __forceinline__ std::int32_t at(int i) const { return __ldg(base + i) + lane; }
    __device__ __forceinline__ void skip(int steps) { base += steps; }
};

template <class Offset>
struct OffsetColumns {
    const std::int32_t* base;
    const Offset* offsets;  ///< of the present step and this lane

    __device__ __forceinline__ std::int32_t at(int i) const {
        return __ldg(base + i) + static_cast<std::int32_t>(fetch(offsets + i * warp_size));
    }
    __device__ __forceinline__ void skip(int steps) {
        base += steps;
        offsets += steps * warp_size;
    }
};

/// Where a lane reads.
template <class Values, class Columns>
struct Steps {
    const typename Values::Code* code;  ///< of the present step and this lane
    Columns columns;
    int step;    ///< the present one
    int length;  ///< of the lane's row

    __device__ __forceinline__ void skip(int steps) {
        code += steps * warp_size;
        columns.skip(steps);
        step += steps;
    }
};

/// Sums that want to see the first steps before they add them.
template <class Sum, class T, int count>
concept IsAnchored = requires(Sum sum, const T (&steps)[count]) {
    sum.anchor(steps, steps);
};

/// Adds `count` steps, whose loads overlap. With `checked`, those behind the end of the lane's row are read, for they are in
/// the slice, and left out.
template <int count, bool checked, bool first, class Sum, class Values, class Columns, class T>
__device__ __forceinline__ void add_steps(Sum& sum, Steps<Values, Columns>& steps, const Values& values,
                                          const typename Values::Table& table, const T* x) {
    T a[count];
    T element[count];
    const auto inside = [&](int i) { return !checked || steps.step + i < steps.length; };
#pragma unroll
    for (int i = 0; i < count; ++i) {
        element[i] = __ldg(x + steps.columns.at(i));
        a[i] = values.value(fetch(steps.code + i * warp_size), table);
    }
    if constexpr (first) {
        if constexpr (checked) {
#pragma unroll
            for (int i = 0; i < count; ++i)
                if (!inside(i)) a[i] = element[i] = T(0);
        }
        sum.anchor(a, element);
    }
#pragma unroll
    for (int i = 0; i < count; ++i)
        if (inside(i)) sum.add_product(a[i], element[i]);
    steps.skip(count);
}

/// Adds the last 1 to 3 steps of a slice.
template <bool first, class Sum, class Values, class Columns, class T>
__device__ __forceinline__ void add_last_steps(Sum& sum, int count, Steps<Values, Columns>& steps, const Values& values,
                                               const typename Values::Table& table, const T* x) {
    if (count == 1) add_steps<1, true, first>(sum, steps, values, table, x);
    if (count == 2) add_steps<2, true, first>(sum, steps, values, table, x);
    if (count == 3) add_steps<3, true, first>(sum, steps, values, table, x);
}

/// Adds the calling lane's row; `common` of the slice's `count` steps are in every row.
template <class Sum, class Values, class Columns, class T>
__device__ __forceinline__ void add_row(Sum& sum, int common, int count, Steps<Values, Columns> steps, const Values& values,
                                        const typename Values::Table& table, const T* x) {
    constexpr int unroll = 4;
    if constexpr (IsAnchored<Sum, T, unroll>) {
        if (count < unroll) return add_last_steps<true>(sum, count, steps, values, table, x);
        if (common >= unroll)
            add_steps<unroll, false, true>(sum, steps, values, table, x);
        else
            add_steps<unroll, true, true>(sum, steps, values, table, x);
    }
#pragma unroll 1
    while (steps.step + unroll <= common) add_steps<unroll, false, false>(sum, steps, values, table, x);
#pragma unroll 1
    while (steps.step + unroll <= count) add_steps<unroll, true, false>(sum, steps, values, table, x);
    add_last_steps<false>(sum, count - steps.step, steps, values, table, x);
}

template <class Sum, class Values, class T>
__device__ __forceinline__ void add_lane(Sum& sum, const Slices& slices, const PackedSlice& slice, int lane, int common,
                                         int length, const Values& values, const typename Values::Table& table, const T* x) {
    const typename Values::Code* const code = values.codes + slice.first_step * warp_size + lane;
    const std::int32_t* const base = slices.base + slice.first_step;
    const std::uint8_t* const offsets = slices.offsets + slice.first_offset;
    const auto add = [&]<class Columns>(const Columns& columns) {
        add_row(sum, common, slice.steps, Steps<Values, Columns>{code, columns, 0, length}, values, table, x);
    };
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
