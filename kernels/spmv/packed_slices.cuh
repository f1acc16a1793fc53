#pragma once

/// How kernels read the slices of a packed matrix: a slice is a warp's and a row of it a lane's. Where rows are paired, a
/// complex row has two lanes: the even one sums re x_re - im x_im, the odd one im x_re + re x_im.

#include "packed.hpp"
#include "spmv/rows.cuh"

namespace solver::cuda {

inline constexpr int slice_threads = 128;
inline constexpr int slices_a_block = slice_threads / warp_size;

/// The arrays of a packed matrix, but for its values. A row has so many lanes as components.
template <int parts>
struct Slices {
    static constexpr int components = parts;
    static constexpr int height = warp_size / parts;
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

// How columns are read, by one lane: of a step that is so many behind the present one. A step has `height` of them.

struct RunColumns {
    const std::int32_t* base;
    int row;  ///< of the slice

    __device__ __forceinline__ std::int32_t at(int i) const { return __ldg(base + i) + row; }
    __device__ __forceinline__ void skip(int steps) { base += steps; }
};

template <int height, class Offset>
struct OffsetColumns {
    const std::int32_t* base;
    const Offset* offsets;  ///< of the present step and this lane

    __device__ __forceinline__ std::int32_t at(int i) const {
        return __ldg(base + i) + static_cast<std::int32_t>(fetch(offsets + i * height));
    }
    __device__ __forceinline__ void skip(int steps) {
        base += steps;
        offsets += steps * height;
    }
};

__device__ __forceinline__ double negated_if(bool negative, double a) {
    return __hiloint2double(__double2hiint(a) ^ (negative ? static_cast<int>(0x80000000u) : 0), __double2loint(a));
}
__device__ __forceinline__ float negated_if(bool negative, float a) {
    return __int_as_float(__float_as_int(a) ^ (negative ? static_cast<int>(0x80000000u) : 0));
}

/// Where a lane reads.
template <int parts, class Values, class Columns>
struct Steps {
    static constexpr int components = parts;
    const typename Values::Code* code;  ///< of the present step and this lane
    Columns columns;
    int step;    ///< the present one
    int length;  ///< of the lane's row

    __device__ __forceinline__ void skip(int steps) {
        code += steps * warp_size;
        columns.skip(steps);
        step += steps;
    }

    /// The products of the lane's row in the step that is `i` behind the present one, in the order in which CSR has them.
    template <class T>
    __device__ __forceinline__ void load(int i, const Values& values, const typename Values::Table& table, const T* x, T* a,
                                         T* element) const {
        const T* const from = x + components * columns.at(i);
        const typename Values::Code* const own = code + i * warp_size;
        element[0] = __ldg(from);
        a[0] = values.value(fetch(own), table);
        if constexpr (components == 2) {
            const bool is_real = threadIdx.x % 2 == 0;
            element[1] = __ldg(from + 1);
            a[1] = negated_if(is_real, values.value(fetch(own + (is_real ? 1 : -1)), table));
        }
    }
};

/// Sums that want to see the first steps before they add them.
template <class Sum, class T, int count>
concept IsAnchored = requires(Sum sum, const T (&steps)[count]) {
    sum.anchor(steps, steps);
};

/// Adds `count` steps, whose loads overlap. With `checked`, those behind the end of the lane's row are read, for they are in
/// the slice, and left out.
template <int count, bool checked, bool first, class Sum, int components, class Values, class Columns, class T>
__device__ __forceinline__ void add_steps(Sum& sum, Steps<components, Values, Columns>& steps, const Values& values,
                                          const typename Values::Table& table, const T* x) {
    constexpr int products = count * components;
    T a[products];
    T element[products];
    const auto inside = [&](int product) { return !checked || steps.step + product / components < steps.length; };
#pragma unroll
    for (int i = 0; i < count; ++i) steps.load(i, values, table, x, a + i * components, element + i * components);
    if constexpr (first) {
        if constexpr (checked) {
#pragma unroll
            for (int i = 0; i < products; ++i)
                if (!inside(i)) a[i] = element[i] = T(0);
        }
        sum.anchor(a, element);
    }
#pragma unroll
    for (int i = 0; i < products; ++i)
        if (inside(i)) sum.add_product(a[i], element[i]);
    steps.skip(count);
}

/// Adds the last steps of a slice: 1 to 3, of complex entries 1.
template <bool first, class Sum, int components, class Values, class Columns, class T>
__device__ __forceinline__ void add_last_steps(Sum& sum, int count, Steps<components, Values, Columns>& steps,
                                               const Values& values, const typename Values::Table& table, const T* x) {
    if (count == 1) add_steps<1, true, first>(sum, steps, values, table, x);
    if constexpr (components == 1) {
        if (count == 2) add_steps<2, true, first>(sum, steps, values, table, x);
        if (count == 3) add_steps<3, true, first>(sum, steps, values, table, x);
    }
}

/// Adds the calling lane's row; `common` of the slice's `count` steps are in every row.
template <class Sum, int components, class Values, class Columns, class T>
__device__ __forceinline__ void add_row(Sum& sum, int common, int count, Steps<components, Values, Columns> steps,
                                        const Values& values, const typename Values::Table& table, const T* x) {
    constexpr int products = 4;
    constexpr int unroll = products / components;
    if constexpr (IsAnchored<Sum, T, products>) {
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

template <class Sum, int components, class Values, class T>
__device__ __forceinline__ void add_lane(Sum& sum, const Slices<components>& slices, const PackedSlice& slice, int lane,
                                         int common, int length, const Values& values, const typename Values::Table& table,
                                         const T* x) {
    constexpr int height = Slices<components>::height;
    const typename Values::Code* const code = values.codes + slice.first_step * warp_size + lane;
    const std::int32_t* const base = slices.base + slice.first_step;
    const std::uint8_t* const offsets = slices.offsets + slice.first_offset;
    const int row = lane / components;
    const auto add = [&]<class Columns>(const Columns& columns) {
        add_row(sum, common, slice.steps, Steps<components, Values, Columns>{code, columns, 0, length}, values, table, x);
    };
    switch (slice.offsets) {
        case ColumnOffsets::none:
            return add(RunColumns{base, row});
        case ColumnOffsets::bits8:
            return add(OffsetColumns<height, std::uint8_t>{base, offsets + row});
        case ColumnOffsets::bits16:
            return add(OffsetColumns<height, std::uint16_t>{base, reinterpret_cast<const std::uint16_t*>(offsets) + row});
        default:
            return add(OffsetColumns<height, std::uint32_t>{base, reinterpret_cast<const std::uint32_t*>(offsets) + row});
    }
}

}  // namespace solver::cuda
