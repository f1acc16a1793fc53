#include "spmv/packed.cuh"

#include "runtime/check.cuh"
#include "spmv/packed_slices.cuh"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace solver::cuda {
namespace {

/// A slice, as the warp that multiplies it sees it.
template <int components>
struct SliceOfWarp {
    PackedSlice slice;
    std::int64_t place;  ///< of the calling lane's row among all slices' rows
    int lane;

    __device__ __forceinline__ SliceOfWarp(const Slices<components>& slices, std::int32_t index)
        : slice(slices.slices[index]), lane(static_cast<int>(threadIdx.x % warp_size)) {
        place = std::int64_t{index} * slices.height + lane / components;
    }
    __device__ __forceinline__ bool has_row() const { return lane < slice.rows * components; }
    __device__ __forceinline__ int length(const Slices<components>& slices) const {
        return slice.common == slice.steps ? slice.steps : __ldg(slices.length + place);
    }
    /// Of the CSR matrix.
    __device__ __forceinline__ std::int32_t row(const Slices<components>& slices) const {
        if (slice.is_adjacent != 0) return slice.first_row * components + lane;
        return __ldg(slices.row + place) * components + lane % components;
    }
};

/// Blocks to be resident on a multiprocessor, which bounds the registers: what was fastest on an H200. Pairs need some more.
template <class A, class Values, int components>
inline constexpr int slice_blocks = A::wants_exact_products                          ? 9
                                    : sizeof(A) <= sizeof(double) && components == 1 ? 16
                                    : sizeof(A) <= sizeof(double)                    ? 12
                                    : has_table<Values>&& components == 1            ? 12
                                                                                     : 10;

/// The calling warp takes this slice first, then every so many-th.
__device__ __forceinline__ std::int32_t first_slice() {
    return static_cast<std::int32_t>(blockIdx.x * slices_a_block + threadIdx.x / warp_size);
}
__device__ __forceinline__ std::int32_t slices_at_once() { return static_cast<std::int32_t>(gridDim.x) * slices_a_block; }

/// Sums that are not finite may have met Inf where a part is zero, which is no entry: they are summed again by CSR.
template <class A, class T>
__device__ __noinline__ TrackedSum<A> sum_of_row(const CsrRows<T, std::int32_t>& rows, std::int32_t row, const T* x) {
    return sum_entries<A, 4>(rows, rows.begin(row), rows.end(row), 1, Multiplicand<T, false>{x, nullptr});
}

template <class A, class Values, int components, class T>
__global__ void __launch_bounds__(slice_threads, slice_blocks<A, Values, components>)
    multiply_slices(const __grid_constant__ Slices<components> slices, const __grid_constant__ Values values,
                    const __grid_constant__ CsrRows<T, std::int32_t> rows, const __grid_constant__ RowTask<T> task,
                    unsigned* escalated, Gate gate) {
    __shared__ typename Values::Table table;
    if (!is_open(gate)) return;
    let_next_kernel_start();
    values.load(table);
    for (std::int32_t index = first_slice(); index < slices.count; index += slices_at_once()) {
        const SliceOfWarp own(slices, index);
        TrackedSum<A> sum;
        add_lane(sum, slices, own.slice, own.lane, own.slice.common, own.length(slices), values, table, task.x);
        if (!own.has_row()) continue;
        if constexpr (components == 2 && !A::is_filter)
            if (!is_finite(sum.sum.result())) sum = sum_of_row<A>(rows, own.row(slices), task.x);
        finish_row(sum, rows, own.row(slices), task, LaneGroup(1), escalated);
    }
    wait_for_former_kernel();  // which works on the long rows; whoever waits for this kernel has waited for both
}

// Rows in exact, for alpha = 1 or -1, are tried by cheaper sums first, in a kernel of few registers. What that leaves open is
// listed, and summed again by exact's own accumulator in the next kernel.

/// The first try of a row by a filter; with `on_grid` it knows the smallest x that it has met.
template <class F, bool on_grid>
class FirstTryOfRow;

template <bool on_grid>
class FirstTryOfRow<AnchoredPair, on_grid> {
public:
    /// Of so many products; beta y() is added last.
    template <class Y>
    __device__ __forceinline__ FirstTryOfRow(double beta, const Y& y, int terms)
        : word_(AnchoredPair::word_of(mul_rn(beta, y()))), room_(AnchoredPair::room_for(terms)), sum_(word_, room_) {}

    /// The first products, which are not added yet.
    template <int count>
    __device__ __forceinline__ void anchor(const double (&a)[count], const double (&x)[count]) {
#pragma unroll
        for (int i = 0; i < count; ++i) word_ = max(word_, AnchoredPair::word_of(mul_rn(a[i], x[i])));
        sum_ = AnchoredPair(word_, room_);
    }
    __device__ __forceinline__ void add_product(double a, double x) {
        sum_.add_product(a, x);
        if constexpr (on_grid) look_at(x);
    }
    __device__ __forceinline__ void negate() { sum_.negate(); }

    /// All values are multiples of 2^unit, with `on_grid`.
    __device__ __forceinline__ bool try_result(double& result, int terms, int unit) const {
        if (sum_.try_result(result, terms)) return true;
        if constexpr (on_grid) return sum_.try_on_grid(result, terms, grid(unit));
        return false;
    }

private:
    __device__ __forceinline__ void look_at(double x) {
        const auto bits = static_cast<std::uint64_t>(__double_as_longlong(x));
        smallest_ = min(smallest_, static_cast<std::uint32_t>((2 * bits - 1) >> 32));
    }
    /// 2^this divides all products. A power of 2 is taken for one that is smaller.
    __device__ __forceinline__ int grid(int unit) const {
        constexpr int digits = 52;
        if (smallest_ == ~0u) return 20'000;       // all x are 0
        if (smallest_ < 1u << 21) return -20'000;  // subnormal, or nearly so: never mind
        return unit + static_cast<int>(smallest_ >> 21) - 1023 - digits;
    }

    std::uint32_t word_;
    int room_;
    AnchoredPair sum_;
    std::uint32_t smallest_ = ~0u;  ///< upper half of the bits of the smallest |x| but 0, doubled and less 1 (0 is the largest)
};

template <bool on_grid>
class FirstTryOfRow<BoundedFloat, on_grid> {
public:
    template <class Y>
    __device__ __forceinline__ FirstTryOfRow(float, const Y&, int) {}
    __device__ __forceinline__ void add_product(float a, float x) {
        sum_.add_product(a, x);
        if constexpr (on_grid) smallest_ = min(smallest_, 2 * __float_as_uint(x) - 1);
    }
    __device__ __forceinline__ void negate() { sum_.negate(); }
    __device__ __forceinline__ bool try_result(float& result, int terms, int unit) const {
        if (sum_.try_result(result, terms)) return true;
        if constexpr (on_grid) return sum_.try_on_grid(result, grid(unit));
        return false;
    }

private:
    /// 2^this divides all products. A power of 2 is taken for one that is smaller, and subnormal numbers end where 2^-126 does.
    __device__ __forceinline__ int grid(int unit) const {
        constexpr int digits = 23;
        return unit + max(static_cast<int>(smallest_ >> 24), 1) - 127 - digits;
    }

    BoundedFloat sum_;
    std::uint32_t smallest_ = ~0u;  ///< the bits of the smallest |x| but 0, doubled and less 1, which makes 0 the largest
};

/// As slice_blocks.
template <class T, class Values, int components>
inline constexpr int try_blocks = std::is_same_v<T, double>             ? (components == 1 ? 10 : 9)
                                  : is_stored<Values>&& components == 1 ? 16
                                                                        : 12;

/// The first try of a slice. Returns the lanes whose rows are open.
template <class Try, class Values, int components, class T>
__device__ __forceinline__ unsigned try_slice(const Slices<components>& slices, const SliceOfWarp<components>& own,
                                              const Values& values, const typename Values::Table& table, const RowTask<T>& task,
                                              int unit) {
    const bool has_row = own.has_row();
    const int terms = own.slice.steps * components + 1;
    // read twice: registers are scarce
    const auto y = [&] { return has_row && task.beta != 0 ? *static_cast<const volatile T*>(task.y_in + own.row(slices)) : 0; };
    Try sum(task.beta, y, terms);
    add_lane(sum, slices, own.slice, own.lane, own.slice.common, own.length(slices), values, table, task.x);
    if (task.beta != 0) sum.add_product(task.alpha * task.beta, y());
    if (task.alpha < 0) sum.negate();
    T result;
    const bool proven = has_row && sum.try_result(result, terms, unit);
    if (proven) task.y[own.row(slices)] = result;
    return __ballot_sync(~0u, has_row && !proven);
}

template <class Try, class Values, int components, class T>
__global__ void __launch_bounds__(slice_threads, try_blocks<T, Values, components>)
    try_slices(const __grid_constant__ Slices<components> slices, const __grid_constant__ Values values,
               const __grid_constant__ RowTask<T> task, int unit, OpenRows open, Gate gate) {
    __shared__ typename Values::Table table;
    if (!is_open(gate)) return;
    let_next_kernel_start();
    const unsigned without_try = open.state->without_try;
    if (without_try == 0) {
        values.load(table);
        for (std::int32_t index = first_slice(); index < slices.count; index += slices_at_once()) {
            const SliceOfWarp own(slices, index);
            const unsigned left = try_slice<Try>(slices, own, values, table, task, unit);
            if (left != 0 && own.lane == 0) open.slices[atomicAdd(&open.state->count, 1u)] = {index, left};
        }
    }
    wait_for_former_kernel();  // which works on the long rows; whoever waits for this kernel has waited for both
}

/// Rows of these lanes, one after another, each by the whole warp along the row of the CSR matrix.
template <class A, class T>
__device__ __noinline__ void sum_along_rows(const CsrRows<T, std::int32_t>& rows, std::int32_t row_of_lane, unsigned lanes,
                                            const RowTask<T>& task, unsigned* escalated) {
    for (; lanes != 0; lanes &= lanes - 1) {
        const std::int32_t row = __shfl_sync(~0u, row_of_lane, __ffs(static_cast<int>(lanes)) - 1);
        const TrackedSum<A> sum =
            sum_by_warp<A, 2>(rows, rows.begin(row), rows.end(row), Multiplicand<T, false>{task.x, nullptr});
        finish_row(sum, rows, row, task, LaneGroup(warp_size), escalated);
    }
}

/// Whether few open rows are summed sooner along the row, where lanes share the products but have to merge their sums, than
/// side by side, where they wait for all products of a row, one after another.
__device__ __forceinline__ bool are_few(unsigned open, int products) { return 8 * __popc(open) <= products; }

template <class A, class Values, int components, class T>
__global__ void __launch_bounds__(slice_threads, slice_blocks<A, Values, components>)
    multiply_open_rows(const __grid_constant__ Slices<components> slices, const __grid_constant__ Values values,
                       const __grid_constant__ CsrRows<T, std::int32_t> rows, const __grid_constant__ RowTask<T> task,
                       OpenRows open, unsigned* escalated, Gate gate) {
    __shared__ typename Values::Table table;
    if (!is_open(gate)) return;
    wait_for_former_kernel();
    const bool all = open.state->without_try != 0;
    const std::int32_t count = all ? slices.count : static_cast<std::int32_t>(open.state->count);
    if (count == 0) return;
    if (blockIdx.x * slices_a_block < static_cast<unsigned>(count)) values.load(table);
    for (std::int32_t i = first_slice(); i < count; i += slices_at_once()) {
        const OpenRows::Slice listed = all ? OpenRows::Slice{i, ~0u} : open.slices[i];
        const SliceOfWarp own(slices, listed.index);
        if (!all && are_few(listed.lanes, own.slice.steps * components)) {
            sum_along_rows<A>(rows, own.row(slices), listed.lanes, task, escalated);
            continue;
        }
        const bool has_work = own.has_row() && (listed.lanes >> own.lane & 1) != 0;
        TrackedSum<A> sum;
        add_lane(sum, slices, own.slice, own.lane, all ? own.slice.common : 0, has_work ? own.length(slices) : 0, values, table,
                 task.x);
        if (has_work) finish_row(sum, rows, own.row(slices), task, LaneGroup(1), escalated);
    }
    if (!block_comes_last(&open.state->blocks, gridDim.x) || threadIdx.x != 0) return;
    if (all)
        --open.state->without_try;
    else if (constexpr SkipRule skip = Escalation<T, SlicesOnGpu>::skip; skip.applies(count, slices.count))
        open.state->without_try = skip.next;
    open.state->count = 0;
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

template <int components>
Slices<components> slices_of(const PackedPatternOnDevice& packed) {
    return {static_cast<std::int32_t>(packed.slices.size()),
            packed.slices.data(),
            packed.row.data(),
            packed.length.data(),
            packed.base.data(),
            packed.offsets.data()};
}

/// The exponent of the power of 2 that divides all these values, or nothing where more than 30 digits follow it: then sums of
/// products seldom lie on a grid.
template <class T>
std::optional<int> unit_of(const std::vector<T>& values) {
    double unit = std::numeric_limits<double>::infinity();
    double largest = 0;
    for (const T value : values) {
        unit = std::min(unit, last_digit(value));
        if (is_finite(value)) largest = std::max(largest, std::abs(double{value}));
    }
    if (!(largest < 0x1p30 * unit) || !is_finite(unit)) return std::nullopt;
    return std::ilogb(unit);
}

unsigned blocks_for(std::int64_t items, int a_block) { return static_cast<unsigned>((items + a_block - 1) / a_block); }

}  // namespace

template <class T>
PackedProduct<T>::PackedProduct(int device, const Traits& traits, std::shared_ptr<const PackedOnDevice<T>> packed,
                                const CsrRows<T, std::int32_t>& rows, Stream stream)
    : packed_(std::move(packed)), traits_(traits), rows_(rows) {
    split_long_rows(device, stream);
    prepare_first_try(device, stream);
}

template <class T>
void PackedProduct<T>::split_long_rows(int device, Stream stream) {
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
    partial_ = DeviceArray<LargestRowSum>(device, count, "partial sums of long rows");
}

template <class T>
void PackedProduct<T>::prepare_first_try(int device, Stream stream) {
    open_ = DeviceArray<OpenRows::Slice>(device, packed_->pattern->slices.size(), "slices with open rows");
    state_ = DeviceArray<OpenRows::State>(device, 1, "slices with open rows");
    state_.fill_with_zeros(stream);
    std::vector<T> dictionary(static_cast<std::size_t>(packed_->values.dictionary.size()));
    packed_->values.dictionary.copy_to(dictionary, stream);
    if (const std::optional<int> unit = unit_of(dictionary)) unit_ = *unit;
}

template <class T>
template <class A>
void PackedProduct<T>::multiply_long(const RowTask<T>& task, unsigned* escalated, Stream stream, Gate gate) const {
    if (segments_.size() == 0) return;
    const LongRows<std::int32_t> long_rows{segments_.data(), static_cast<std::int32_t>(segments_.size()), arrived_.data(),
                                           partial_.data()};
    multiply_long_rows<A, false><<<blocks_for(segments_.size(), long_row_threads / warp_size), long_row_threads, 0, stream>>>(
        rows_, task, long_rows, Columns{}, escalated, gate);
    check_launch("multiply_long_rows");
}

template <class T>
unsigned PackedProduct<T>::resident_blocks(int of_a_multiprocessor) const {
    return std::min(blocks_for(packed_->pattern->slices.size(), slices_a_block),
                    static_cast<unsigned>(traits_.multiprocessors * of_a_multiprocessor));
}

/// Blocks stay, and take slice after slice; but then they drift apart. Where the values that all of them read for a slice each
/// fill much of the cache, what they share of x would be gone from it: blocks come in the order of the slices instead.
template <class T>
template <class Values>
unsigned PackedProduct<T>::blocks_with(int of_a_multiprocessor) const {
    const PackedPatternOnDevice& pattern = *packed_->pattern;
    const std::int64_t slices = pattern.slices.size();
    const unsigned resident = resident_blocks(of_a_multiprocessor);
    const std::int64_t bytes_a_slice = pattern.codes() / slices * static_cast<std::int64_t>(sizeof(typename Values::Code));
    return resident * slices_a_block * bytes_a_slice <= traits_.level2_bytes / 2 ? resident
                                                                                 : blocks_for(slices, slices_a_block);
}

template <class T>
template <class A, int components, class Values>
void PackedProduct<T>::multiply_all(const Values& values, const RowTask<T>& task, unsigned* escalated, Stream stream,
                                    Gate gate) const {
    const auto slices = slices_of<components>(*packed_->pattern);
    launch_after(overlaps(gate), multiply_slices<A, Values, components, T>,
                 blocks_with<Values>(slice_blocks<A, Values, components>), static_cast<unsigned>(slice_threads), stream,
                 "multiply_slices", slices, values, rows_, task, escalated, gate);
}

template <class T>
template <class A, int components, class Values>
void PackedProduct<T>::try_first(const Values& values, const RowTask<T>& task, unsigned* escalated, Stream stream,
                                 Gate gate) const {
    const auto slices = slices_of<components>(*packed_->pattern);
    const OpenRows open{open_.data(), state_.data()};
    const int unit = unit_ == no_unit ? unit_ : std::min(unit_, std::ilogb(std::min(last_digit(task.beta), 0x1p1000)));
    const auto launch_try = [&]<class Try>(std::type_identity<Try>) {
        launch_after(overlaps(gate), try_slices<Try, Values, components, T>,
                     blocks_with<Values>(try_blocks<T, Values, components>), static_cast<unsigned>(slice_threads), stream,
                     "try_slices", slices, values, task, unit, open, gate);
    };
    using First = typename Escalation<T, SlicesOnGpu>::First;
    if (unit == no_unit)
        launch_try(std::type_identity<FirstTryOfRow<First, false>>());
    else
        launch_try(std::type_identity<FirstTryOfRow<First, true>>());
    try {
        launch_after(traits_.overlapping, multiply_open_rows<A, Values, components, T>,
                     resident_blocks(slice_blocks<A, Values, components>), static_cast<unsigned>(slice_threads), stream,
                     "multiply_open_rows", slices, values, rows_, task, open, escalated, gate);
    } catch (...) {
        state_.fill_with_zeros(stream);  // or the next product's list would begin behind this one's
        throw;
    }
}

template <class T>
template <class A, int components>
void PackedProduct<T>::multiply_slices_with(const RowTask<T>& task, unsigned* escalated, Stream stream, Gate gate) const {
    with_values(packed_->values, [&]<class Values>(const Values& values) {
        if constexpr (A::is_filter)
            if (magnitude(task.alpha) == 1) return try_first<A, components>(values, task, escalated, stream, gate);
        multiply_all<A, components>(values, task, escalated, stream, gate);
    });
}

template <class T>
template <class A>
void PackedProduct<T>::multiply_with(const RowTask<T>& task, unsigned* escalated, Stream stream, Gate gate) const {
    multiply_long<A>(task, escalated, stream, gate);
    if (packed_->pattern->slices.size() == 0) return;
    if (packed_->pattern->components == 1)
        multiply_slices_with<A, 1>(task, escalated, stream, gate);
    else
        multiply_slices_with<A, 2>(task, escalated, stream, gate);
}

template <class T>
void PackedProduct<T>::multiply(const RowTask<T>& task, Accuracy accuracy, unsigned* escalated, Stream stream,
                                Gate gate) const {
    with_accumulator<T, SlicesOnGpu>(accuracy, [&](auto accumulator) {
        multiply_with<typename decltype(accumulator)::type>(task, escalated, stream, gate);
    });
}

template class PackedProduct<float>;
template class PackedProduct<double>;

}  // namespace solver::cuda
