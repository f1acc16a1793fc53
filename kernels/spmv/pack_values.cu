/// What src/packed/values.cpp does on the processor: the same encoding, the same dictionary, the same bytes.

#include "packed.hpp"
#include "runtime/workspace.cuh"
#include "spmv/rows.cuh"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_select.cuh>

#include <algorithm>
#include <type_traits>

namespace solver::cuda {
namespace {

constexpr int threads = 256;
constexpr int most_blocks = 1024;

unsigned blocks_for(std::int64_t items) { return static_cast<unsigned>((items + threads - 1) / threads); }

__device__ std::uint64_t bits_of(double value) { return static_cast<std::uint64_t>(__double_as_longlong(value)); }
__device__ std::uint64_t bits_of(float value) { return __float_as_uint(value); }

/// Adds to *totals, which are zero before.
__global__ void add_up_slices(const PackedSlice* slices, std::int64_t count, std::int64_t height, SliceTotals* totals) {
    SliceTotals mine;
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * threads;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x; i < count; i += step)
        mine.add(slices[i], height);
    const auto add = [](std::int64_t& to, std::int64_t what) {
        if (what != 0) atomicAdd(reinterpret_cast<unsigned long long*>(&to), static_cast<unsigned long long>(what));
    };
    for (int kind = 0; kind < column_offset_kinds; ++kind) add(totals->steps[kind], mine.steps[kind]);
    add(totals->bytes, mine.bytes);
}

/// The bits of different values, found by open addressing. All ones, which are the bits of a NaN, stand for an empty place and
/// are counted apart.
struct Table {
    static constexpr std::uint64_t nothing = ~std::uint64_t{0};
    static constexpr int log2_size = 19;  // more than a dictionary can have and all threads can add at once
    static constexpr std::int64_t size = std::int64_t{1} << log2_size;
    static_assert(most_in_dictionary + most_blocks * threads < size);

    std::uint64_t* bits;

    __device__ static std::uint32_t place_of(std::uint64_t bits) {
        return static_cast<std::uint32_t>((bits * 0x9E3779B97F4A7C15u) >> (64 - log2_size));
    }
    __device__ static std::uint32_t next(std::uint32_t place) { return (place + 1) & (size - 1); }

    /// Whether they were not there.
    __device__ bool add(std::uint64_t value) const {
        for (std::uint32_t place = place_of(value);; place = next(place)) {
            std::uint64_t found = __ldcg(bits + place);
            if (found == nothing) found = atomicCAS(reinterpret_cast<unsigned long long*>(bits + place), nothing, value);
            if (found == nothing) return true;
            if (found == value) return false;
        }
    }
    /// Where they are; they must be there.
    __device__ std::uint32_t find(std::uint64_t value) const {
        std::uint32_t place = place_of(value);
        while (__ldg(bits + place) != value) place = next(place);
        return place;
    }
};

struct Found {
    unsigned different;     ///< values in the table
    unsigned has_all_ones;  ///< a value that is not
};

/// Adds all values to the table, until there are too many. A block remembers some that it has added, so that values which
/// repeat do not all go to one place in memory.
template <class T>
__global__ void __launch_bounds__(threads) find_different(const T* values, std::int64_t count, Table table, Found* found) {
    constexpr int remembered = 1024;
    __shared__ std::uint64_t added[remembered];
    __shared__ bool too_many;
    for (int i = static_cast<int>(threadIdx.x); i < remembered; i += threads) added[i] = Table::nothing;
    if (threadIdx.x == 0) too_many = false;
    __syncthreads();
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * threads;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x; i < count; i += step) {
        const std::uint64_t bits = bits_of(__ldcs(values + i));
        if (bits == Table::nothing) {
            found->has_all_ones = 1;
            continue;
        }
        volatile std::uint64_t& memory = added[Table::place_of(bits) % remembered];
        if (memory == bits) continue;
        if (*static_cast<volatile bool*>(&too_many) || __ldcg(&found->different) > most_in_dictionary) {
            too_many = true;
            return;
        }
        if (table.add(bits)) atomicAdd(&found->different, 1u);
        memory = bits;
    }
}

/// *other = 1 where a value is not a float.
__global__ void __launch_bounds__(threads) find_other_than_floats(const double* values, std::int64_t count, unsigned* other) {
    constexpr int looks = 8;  // between two at *other
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * threads;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x; i < count; i += looks * step) {
        bool all_floats = true;
#pragma unroll
        for (int look = 0; look < looks; ++look) {
            const std::int64_t k = i + look * step;
            if (k < count) all_floats = is_float(bits_of(__ldcs(values + k))) && all_floats;
        }
        if (!all_floats) *other = 1;
        if (__ldcg(other) != 0) return;
    }
}

struct IsThere {
    __device__ bool operator()(std::uint64_t bits) const { return bits != Table::nothing; }
};

/// code[place] = where the bits in that place of the table stand among the sorted ones.
__global__ void __launch_bounds__(threads)
    number_values(Table table, const std::uint64_t* sorted, std::int32_t count, std::uint16_t* code) {
    const std::uint32_t place = blockIdx.x * threads + threadIdx.x;
    const std::uint64_t bits = table.bits[place];
    if (bits == Table::nothing) return;
    std::int32_t low = 0;
    for (std::int32_t high = count; low < high;) {
        const std::int32_t middle = (low + high) / 2;
        if (sorted[middle] < bits)
            low = middle + 1;
        else
            high = middle;
    }
    code[place] = static_cast<std::uint16_t>(low);
}

template <class T>
__global__ void __launch_bounds__(threads) write_dictionary(const std::uint64_t* sorted, std::int32_t count, T* dictionary) {
    const std::int32_t i = static_cast<std::int32_t>(blockIdx.x * threads + threadIdx.x);
    if (i >= count) return;
    if constexpr (std::is_same_v<T, double>)
        dictionary[i] = __longlong_as_double(static_cast<long long>(sorted[i]));
    else
        dictionary[i] = __uint_as_float(static_cast<unsigned>(sorted[i]));
}

struct AsItIs {
    template <class T>
    __device__ T operator()(T value) const {
        return value;
    }
};

/// Of a double that is a float. The device's conversion would lose the payload of a NaN.
struct AsFloat {
    __device__ float operator()(double value) const {
        if (value == value) return static_cast<float>(value);
        const std::uint64_t bits = bits_of(value);
        return __uint_as_float(static_cast<unsigned>(bits >> 32 & 0x80000000u) | 0x7F800000u |
                               static_cast<unsigned>(bits >> 29 & 0x7FFFFFu));
    }
};

template <class Code>
struct AsIndex {
    Table table;
    const std::uint16_t* code;
    Code of_all_ones;

    template <class T>
    __device__ Code operator()(T value) const {
        const std::uint64_t bits = bits_of(value);
        return bits == Table::nothing ? of_all_ones : static_cast<Code>(__ldg(code + table.find(bits)));
    }
};

/// A slice a warp: encode(value) of every entry into its slot, and 0 into the idle ones.
template <class T, class Code, class Encode>
__global__ void __launch_bounds__(threads)
    fill_slots(std::int64_t count, const PackedSlice* slices, const std::int32_t* row, const std::uint16_t* lengths,
               RowOffsetPointer row_offsets, const T* all_values, Code* slots, Encode encode) {
    const std::int64_t s = (blockIdx.x * std::int64_t{threads} + threadIdx.x) / warp_size;
    if (s >= count) return;
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    const int length = lengths[s * warp_size + lane];
    const int steps = slices[s].steps;
    const T* const values = all_values + row_offsets[row[s * warp_size + lane]];
    Code* const to = slots + slices[s].first_step * warp_size + lane;
#pragma unroll 4
    for (int k = 0; k < steps; ++k) to[k * warp_size] = k < length ? encode(__ldg(values + k)) : Code(0);
}

template <class T>
class ValuePacker {
public:
    ValuePacker(const PackedPatternOnDevice& pattern, const DeviceCsrView<T>& a, Stream stream)
        : pattern_(pattern), a_(a), stream_(stream), workspace_(a.device, bytes_needed, "packing values") {}

    PackedValuesOnDevice<T> pack() {
        const std::int64_t different = find_values();
        PackedValuesOnDevice<T> packed;
        packed.encoding = choose_encoding(different, a_.nonzeros, [&] { return are_narrower(); });
        switch (packed.encoding) {
            case ValueEncoding::plain:
                packed.plain = filled<T>(AsItIs());
                break;
            case ValueEncoding::floats:
                if constexpr (std::is_same_v<T, double>) packed.floats = filled<float>(AsFloat());
                break;
            case ValueEncoding::dictionary8:
                packed.index8 = indices<std::uint8_t>(packed.dictionary);
                break;
            case ValueEncoding::dictionary16:
                packed.index16 = indices<std::uint16_t>(packed.dictionary);
                break;
        }
        return packed;
    }

private:
    static constexpr std::int64_t bytes_needed = std::int64_t{8} << 20;  // the table, its codes, and two dictionaries

    /// Fills the table. The number of different values, or -1 where there are too many.
    std::int64_t find_values() {
        check(cudaMemsetAsync(table_.bits, 0xFF, Table::size * sizeof(std::uint64_t), stream_), "cudaMemsetAsync");
        auto* const found = workspace_.take<Found>(1);
        check(cudaMemsetAsync(found, 0, sizeof(Found), stream_), "cudaMemsetAsync");
        if (a_.nonzeros > 0) {
            find_different<<<some_blocks(), threads, 0, stream_>>>(a_.values, a_.nonzeros, table_, found);
            check_launch("find_different");
        }
        found_ = copy_to_host(a_.device, found, 1, stream_).front();
        const std::int64_t different = std::int64_t{found_.different} + found_.has_all_ones;
        return different <= most_in_dictionary ? different : -1;
    }

    bool are_narrower() {
        if constexpr (std::is_same_v<T, float>) {
            return false;
        } else {
            auto* const other = workspace_.take<unsigned>(1);
            check(cudaMemsetAsync(other, 0, sizeof(unsigned), stream_), "cudaMemsetAsync");
            find_other_than_floats<<<some_blocks(), threads, 0, stream_>>>(a_.values, a_.nonzeros, other);
            check_launch("find_other_than_floats");
            return copy_to_host(a_.device, other, 1, stream_).front() == 0;
        }
    }

    unsigned some_blocks() const { return std::min<unsigned>(blocks_for(a_.nonzeros), most_blocks); }

    template <class Code, class Encode>
    DeviceArray<Code> filled(const Encode& encode) const {
        DeviceArray<Code> slots(a_.device, pattern_.slots(), "the values of a packed matrix");
        const std::int64_t count = pattern_.slices.size();
        if (count == 0) return slots;
        fill_slots<<<blocks_for(count * warp_size), threads, 0, stream_>>>(count, pattern_.slices.data(), pattern_.row.data(),
                                                                           pattern_.length.data(), a_.row_offsets, a_.values,
                                                                           slots.data(), encode);
        check_launch("fill_slots");
        synchronize(a_.device, stream_);  // what `encode` reads may go now
        return slots;
    }

    /// The bits in the table in their order; all ones come last.
    const std::uint64_t* sorted_bits() {
        const auto count = static_cast<std::int64_t>(found_.different);
        auto* const sorted = workspace_.take<std::uint64_t>(count + 1);
        check(cudaMemsetAsync(sorted + count, 0xFF, sizeof(std::uint64_t), stream_), "cudaMemsetAsync");
        auto* const any_order = workspace_.take<std::uint64_t>(count + 1);
        with_scratch(workspace_, "a dictionary", [&](void* scratch, std::size_t& bytes) {
            auto* const number = any_order + count;  // which is known
            return cub::DeviceSelect::If(scratch, bytes, table_.bits, any_order, number, Table::size, IsThere(), stream_);
        });
        with_scratch(workspace_, "a dictionary", [&](void* scratch, std::size_t& bytes) {
            return cub::DeviceRadixSort::SortKeys(scratch, bytes, any_order, sorted, count, 0, 64, stream_);
        });
        return sorted;
    }

    template <class Code>
    DeviceArray<Code> indices(DeviceArray<T>& dictionary) {
        const std::uint64_t* const sorted = sorted_bits();
        const auto in_table = static_cast<std::int32_t>(found_.different);
        const auto count = static_cast<std::int32_t>(found_.different + found_.has_all_ones);
        auto* const code = workspace_.take<std::uint16_t>(Table::size);
        dictionary = DeviceArray<T>(a_.device, count, "the dictionary of a packed matrix");
        if (count > 0) {
            number_values<<<blocks_for(Table::size), threads, 0, stream_>>>(table_, sorted, in_table, code);
            check_launch("number_values");
            write_dictionary<<<blocks_for(count), threads, 0, stream_>>>(sorted, count, dictionary.data());
            check_launch("write_dictionary");
        }
        return filled<Code>(AsIndex<Code>{table_, code, static_cast<Code>(in_table)});
    }

    const PackedPatternOnDevice& pattern_;
    DeviceCsrView<T> a_;
    Stream stream_;
    Workspace workspace_;
    Table table_{workspace_.take<std::uint64_t>(Table::size)};
    Found found_{};
};

}  // namespace

template <class T>
PackedValuesOnDevice<T> pack_values(const PackedPatternOnDevice& pattern, const DeviceCsrView<T>& a, Stream stream) {
    const CurrentDevice current(a.device);
    return ValuePacker<T>(pattern, a, stream).pack();
}

template <class T>
PackedDescription PackedOnDevice<T>::describe(Stream stream) const {
    const int device = pattern->slices.device();
    const CurrentDevice current(device);
    const DeviceArray<SliceTotals> place(device, 1, "what slices take");
    place.fill_with_zeros(stream);
    const std::int64_t count = pattern->slices.size();
    const unsigned blocks = std::clamp(blocks_for(count), 1U, static_cast<unsigned>(most_blocks));
    add_up_slices<<<blocks, threads, 0, stream>>>(pattern->slices.data(), count, pattern->shape.height, place.data());
    check_launch("add_up_slices");
    SliceTotals totals;
    place.copy_to(std::span(&totals, 1), stream);
    return solver::describe(*pattern, totals, values.encoding, values.dictionary.size(), sizeof(T));
}

template PackedValuesOnDevice<float> pack_values(const PackedPatternOnDevice&, const DeviceCsrView<float>&, Stream);
template PackedValuesOnDevice<double> pack_values(const PackedPatternOnDevice&, const DeviceCsrView<double>&, Stream);
template PackedDescription PackedOnDevice<float>::describe(Stream) const;
template PackedDescription PackedOnDevice<double>::describe(Stream) const;

}  // namespace solver::cuda
