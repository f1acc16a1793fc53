#include "spmv/packed.cuh"

#include "runtime/check.cuh"

namespace solver::cuda {
namespace {

constexpr int slice_threads = 128;
constexpr int slices_a_block = slice_threads / warp_size;

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

/// Adds `count` steps, whose loads overlap. With `checked`, those from `end` on are left out.
template <int count, bool checked, class A, class Values, class Columns, class T>
__device__ __forceinline__ void add_steps(RowSum<A>& sum, int k, int end, std::int64_t slot, const Values& values,
                                          const typename Values::Table& table, const Columns& columns, const T* x) {
    T a[count];
    T element[count];
    const auto inside = [&](int i) { return !checked || k + i < end; };
#pragma unroll
    for (int i = 0; i < count; ++i) {
        a[i] = inside(i) ? values.at(slot + (k + i) * warp_size, table) : T(0);
        element[i] = inside(i) ? __ldg(x + columns.at(k + i)) : T(0);
    }
#pragma unroll
    for (int i = 0; i < count; ++i)
        if (inside(i)) sum.add_product(a[i], element[i]);
}

/// The sum of the calling lane's row, of `length` entries; `common` are in every row of the slice.
template <class A, class Values, class Columns, class T>
__device__ __forceinline__ RowSum<A> sum_row(int common, int length, std::int64_t slot, const Values& values,
                                             const typename Values::Table& table, const Columns& columns, const T* x) {
    constexpr int unroll = 4;
    RowSum<A> sum;
    int k = 0;
    for (; k + unroll <= common; k += unroll) add_steps<unroll, false>(sum, k, length, slot, values, table, columns, x);
    for (; k < length; k += unroll) add_steps<unroll, true>(sum, k, length, slot, values, table, columns, x);
    return sum;
}

template <class A, class Values, class T>
__device__ __forceinline__ RowSum<A> sum_lane(const Slices& slices, const PackedSlice& slice, int lane, int length,
                                              const Values& values, const typename Values::Table& table, const T* x) {
    const std::int64_t slot = slice.first_step * warp_size + lane;
    const std::int32_t* const base = slices.base + slice.first_step;
    const std::uint8_t* const offsets = slices.offsets + slice.first_offset;
    const auto sum = [&](const auto& columns) { return sum_row<A>(slice.common, length, slot, values, table, columns, x); };
    switch (slice.offsets) {
        case ColumnOffsets::none:
            return sum(RunColumns{base, lane});
        case ColumnOffsets::bits8:
            return sum(OffsetColumns<std::uint8_t>{base, offsets + lane});
        case ColumnOffsets::bits16:
            return sum(OffsetColumns<std::uint16_t>{base, reinterpret_cast<const std::uint16_t*>(offsets) + lane});
        default:
            return sum(OffsetColumns<std::uint32_t>{base, reinterpret_cast<const std::uint32_t*>(offsets) + lane});
    }
}

/// What bounds the registers: blocks to be resident on a multiprocessor.
template <class A>
inline constexpr int slice_blocks = wants_exact_products<A> ? 9 : 14;

template <class A, class Values, class T>
__global__ void __launch_bounds__(slice_threads, slice_blocks<A>)
    multiply_slices(const __grid_constant__ Slices slices, const __grid_constant__ Values values,
                    const __grid_constant__ CsrRows<T, std::int32_t> rows, const __grid_constant__ RowTask<T> task,
                    unsigned* escalated, Gate gate) {
    __shared__ typename Values::Table table;
    if (!is_open(gate)) return;
    let_next_kernel_start();
    values.load(table);
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    const auto index = static_cast<std::int32_t>(blockIdx.x * slices_a_block + threadIdx.x / warp_size);
    if (index < slices.count) {
        const PackedSlice slice = slices.slices[index];
        const std::int64_t place = std::int64_t{index} * warp_size + lane;
        const int length = slice.common == slice.steps ? slice.steps : __ldg(slices.length + place);
        const RowSum<A> sum = sum_lane<A>(slices, slice, lane, length, values, table, task.x);
        const std::int32_t row = slice.is_adjacent != 0 ? slice.first_row + lane : __ldg(slices.row + place);
        if (lane < slice.rows) finish_row(sum, rows, row, task, LaneGroup(1), escalated);
    }
    wait_for_former_kernel();  // which works on the long rows; whoever waits for this kernel has waited for both
}

/// Calls work(values) with the reader of the encoding.
template <class T, class Work>
void with_values(const PackedValuesOnDevice<T>& packed, const Work& work) {
    switch (packed.encoding) {
        case ValueEncoding::plain:
            return work(StoredSlots<T, T>{packed.plain.data()});
        case ValueEncoding::floats:
            if constexpr (std::is_same_v<T, double>) work(StoredSlots<float, T>{packed.floats.data()});
            return;
        case ValueEncoding::dictionary8:
            return work(SmallDictionarySlots<T>{packed.index8.data(), packed.dictionary.data(),
                                                static_cast<int>(packed.dictionary.size())});
        case ValueEncoding::dictionary16:
            return work(LargeDictionarySlots<T>{packed.index16.data(), packed.dictionary.data()});
    }
}

}  // namespace

template <class T>
PackedProduct<T>::PackedProduct(int device, std::shared_ptr<const PackedOnDevice<T>> packed,
                                const CsrRows<T, std::int32_t>& rows, Stream stream)
    : packed_(std::move(packed)), rows_(rows) {
    std::vector<Segment<std::int32_t>> segments;
    for (const PackedShare& share : packed_->pattern->shares) {
        const auto first = static_cast<std::int32_t>(segments.size()) - share.part;
        segments.push_back({static_cast<std::int32_t>(share.row), static_cast<std::int32_t>(share.start + share.begin),
                            static_cast<std::int32_t>(share.start + share.end), first, share.parts});
    }
    const auto count = static_cast<std::int64_t>(segments.size());
    segments_ = DeviceArray<Segment<std::int32_t>>(device, segments, "segments of long rows", stream);
    arrived_ = DeviceArray<unsigned>(device, count, "counters of long rows");
    arrived_.fill_with_zeros(stream);
    partial_ = DeviceArray<RowSum<FilteredTriple<double>>>(device, count, "partial sums of long rows");
}

template <class T>
template <class A>
void PackedProduct<T>::multiply_with(const RowTask<T>& task, bool overlapping, unsigned* escalated, Stream stream,
                                     Gate gate) const {
    const auto blocks = [](std::int64_t items, int a_block) { return static_cast<unsigned>((items + a_block - 1) / a_block); };
    if (segments_.size() > 0) {
        const LongRows<std::int32_t> long_rows{segments_.data(), static_cast<std::int32_t>(segments_.size()), arrived_.data(),
                                               partial_.data()};
        multiply_long_rows<A, false><<<blocks(segments_.size(), long_row_threads / warp_size), long_row_threads, 0, stream>>>(
            rows_, task, long_rows, Columns{}, escalated, gate);
        check_launch("multiply_long_rows");
    }
    const PackedPatternOnDevice& packed = *packed_->pattern;
    const Slices slices{static_cast<std::int32_t>(packed.slices.size()),
                        packed.slices.data(),
                        packed.row.data(),
                        packed.length.data(),
                        packed.base.data(),
                        packed.offsets.data()};
    if (slices.count == 0) return;
    with_values(packed_->values, [&]<class Values>(const Values& values) {
        launch_after(overlapping && (segments_.size() > 0 || gate.stage != nullptr), multiply_slices<A, Values, T>,
                     blocks(slices.count, slices_a_block), static_cast<unsigned>(slice_threads), stream, "multiply_slices",
                     slices, values, rows_, task, escalated, gate);
    });
}

template <class T>
void PackedProduct<T>::multiply(const RowTask<T>& task, Accuracy accuracy, bool overlapping, unsigned* escalated, Stream stream,
                                Gate gate) const {
    with_accumulator<T>(accuracy, [&](auto accumulator) {
        multiply_with<typename decltype(accumulator)::type>(task, overlapping, escalated, stream, gate);
    });
}

template class PackedProduct<float>;
template class PackedProduct<double>;

}  // namespace solver::cuda
