/// What src/packed/pattern.cpp does on the processor: the same order of rows, the same rows apart, the same bytes.

#include "packed.hpp"
#include "runtime/for_each.cuh"
#include "runtime/workspace.cuh"
#include "spmv/rows.cuh"

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <cub/block/block_scan.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include <bit>
#include <limits>

namespace solver::cuda {
namespace {

constexpr int window_threads = 512;
constexpr int slice_threads = 256;

/// A matrix without its values.
struct Entries {
    std::int64_t rows;
    std::int64_t columns;
    RowOffsetPointer offsets;
    const std::int32_t* column;

    __device__ std::int64_t length(std::int64_t row) const { return offsets[row + 1] - offsets[row]; }
};

/// How many rows of a window go to slices.
struct WindowCounts {
    std::int32_t kept;
    std::int32_t apart;
};

/// Where a window's lanes and long rows begin.
struct WindowStart {
    std::int64_t lane;
    std::int64_t apart;
};

struct LongRow {
    std::int64_t row;
    std::int64_t start;
    std::int64_t length;
};

/// Steps and bytes of column offsets, of a slice or of all before it.
struct Extent {
    std::int64_t steps = 0;
    std::int64_t bytes = 0;
};
struct AddExtents {
    __host__ __device__ Extent operator()(const Extent& a, const Extent& b) const {
        return {a.steps + b.steps, a.bytes + b.bytes};
    }
};
struct ExtentOf {
    const PackedSlice* slices;
    std::int64_t count;
    int height;

    __host__ __device__ Extent operator()(std::int64_t s) const {
        if (s == count) return {};  // so that all extents together come last
        const std::int64_t bytes =
            slices[s].offsets == ColumnOffsets::none ? 0 : 1 << (static_cast<int>(slices[s].offsets) - 1);
        return {slices[s].steps, slices[s].steps * height * bytes};
    }
};

/// What rows are sorted by: their window, then falling length, those above `longest` last.
struct RowKeys {
    Entries a;
    std::int64_t window;
    std::int64_t longest;
    std::uint32_t* key;
    std::int32_t* row;

    __device__ void operator()(std::int64_t i) const {
        const std::int64_t length = a.length(i);
        const std::int64_t in_window = length > longest ? longest + 1 : longest - length;
        key[i] = static_cast<std::uint32_t>(i / window * keys_a_window() + in_window);
        row[i] = static_cast<std::int32_t>(i);
    }
    __host__ __device__ std::int64_t keys_a_window() const { return longest + 2; }
};

/// By a block: place(i, rank) for every i in first..last-1 with keep(i), by its rank among them. Returns how many there are.
template <class Keep, class Place>
__device__ std::int32_t compact(std::int64_t first, std::int64_t last, const Keep& keep, const Place& place) {
    using Scan = cub::BlockScan<std::int32_t, window_threads>;
    __shared__ typename Scan::TempStorage scratch;
    std::int32_t found = 0;
    for (std::int64_t start = first; start < last; start += window_threads) {
        const std::int64_t i = start + threadIdx.x;
        const std::int32_t kept = i < last && keep(i) ? 1 : 0;
        std::int32_t rank = 0;
        std::int32_t total = 0;
        Scan(scratch).ExclusiveSum(kept, rank, total);
        if (kept != 0) place(i, found + rank);
        found += total;
        __syncthreads();
    }
    return found;
}

/// The lanes that have the rows of a slice: a warp, or half of one.
template <int height>
struct SliceLanes : LaneGroup {
    static_assert(height == warp_size || 2 * height == warp_size);

    __device__ SliceLanes() : LaneGroup(height) {}

    __device__ int total(int value) const {
        for (int step = height / 2; step > 0; step /= 2) value += __shfl_xor_sync(mask, value, step);
        return value;
    }
    __device__ int from(int value, int source) const { return __shfl_sync(mask, value, source, height); }
    /// A bit for each lane, the first one's lowest.
    __device__ unsigned ballot(bool value) const {
        return __ballot_sync(mask, value) >> (static_cast<int>(threadIdx.x) % warp_size - lane);
    }
    __device__ bool all(bool value) const { return __all_sync(mask, value) != 0; }
};

/// By the lanes of a slice: of `count` rows of falling length, marks those that would leave more than half of their slice's
/// slots idle. Returns how many there are.
template <int height>
__device__ std::int32_t mark_lonely_rows(const Entries& a, const std::int32_t* rows, std::int32_t count,
                                         std::uint8_t* is_apart) {
    const SliceLanes<height> lanes;
    std::int32_t marked = 0;
    for (std::int32_t first = 0; first < count;) {
        const int length = first + lanes.lane < count ? static_cast<int>(a.length(rows[first + lanes.lane])) : 0;
        const int longest = lanes.from(length, 0);
        if (longest <= short_row) break;  // and none behind it is longer
        const bool lonely = longest * height > 2 * lanes.total(length);
        if (lonely && lanes.lane == 0) is_apart[rows[first]] = 1;
        marked += lonely ? 1 : 0;
        first += lonely ? 1 : height;
    }
    return marked;
}

/// Slots that the rows of a window take, and entries.
struct Need {
    unsigned in_own_order;
    unsigned sorted;
    unsigned entries;
};

/// By a block.
template <int height>
__device__ Need need_of(const Entries& a, const std::int32_t* own_order, const std::int32_t* sorted, std::int32_t count) {
    __shared__ Need total;
    if (threadIdx.x == 0) total = {};
    __syncthreads();
    const SliceLanes<height> lanes;
    for (std::int32_t i = static_cast<std::int32_t>(threadIdx.x); i - lanes.lane < count; i += window_threads) {
        const int length = i < count ? static_cast<int>(a.length(own_order[i])) : 0;
        const int longest = lanes.largest(length);
        const int entries = lanes.total(length);
        if (lanes.lane != 0) continue;
        atomicAdd(&total.in_own_order, static_cast<unsigned>(longest * height));
        atomicAdd(&total.sorted, static_cast<unsigned>(a.length(sorted[i]) * height));
        atomicAdd(&total.entries, static_cast<unsigned>(entries));
    }
    __syncthreads();
    return total;
}

/// A window a block: marks rows that stay apart, and leaves the others in `sorted` in the order in which slices take them.
template <int height>
__global__ void __launch_bounds__(window_threads)
    order_windows(Entries a, PackedShape shape, std::int32_t* all_own, std::int32_t* all_sorted, std::uint8_t* is_apart,
                  WindowCounts* windows) {
    const std::int64_t first = blockIdx.x * shape.window;
    const std::int64_t last = min(a.rows, first + shape.window);
    std::int32_t* const own_order = all_own + first;
    std::int32_t* const sorted = all_sorted + first;
    const auto is_short = [&](std::int64_t row) {
        const bool fits = a.length(row) <= shape.longest_row;
        is_apart[row] = fits ? 0 : 1;
        return fits;
    };
    const std::int32_t count = compact(
        first, last, is_short, [&](std::int64_t row, std::int32_t rank) { own_order[rank] = static_cast<std::int32_t>(row); });
    const Need need = need_of<height>(a, own_order, sorted, count);
    const bool keeps_order = static_cast<double>(need.in_own_order) <= worth_of_order * static_cast<double>(need.sorted) &&
                             need.in_own_order <= 2 * need.entries;
    if (keeps_order)
        for (std::int32_t i = static_cast<std::int32_t>(threadIdx.x); i < count; i += window_threads) sorted[i] = own_order[i];
    if (threadIdx.x >= height) return;
    const std::int32_t kept = count - (keeps_order ? 0 : mark_lonely_rows<height>(a, sorted, count, is_apart));
    if (threadIdx.x == 0) windows[blockIdx.x] = {kept, static_cast<std::int32_t>(last - first) - kept};
}

/// A window a block: writes its lanes, -1 for idle ones, and its long rows.
__global__ void __launch_bounds__(window_threads)
    place_rows(Entries a, std::int64_t window, const std::int32_t* order, const std::uint8_t* is_apart,
               const WindowStart* starts, std::int32_t* row, LongRow* long_rows) {
    const std::int64_t first = blockIdx.x * window;
    const std::int64_t last = min(a.rows, first + window);
    const WindowStart start = starts[blockIdx.x];
    const std::int32_t kept = compact(
        first, last, [&](std::int64_t i) { return is_apart[order[i]] == 0; },
        [&](std::int64_t i, std::int32_t rank) { row[start.lane + rank] = order[i]; });
    const std::int64_t idle = start.lane + kept + threadIdx.x;
    if (idle < starts[blockIdx.x + 1].lane) row[idle] = -1;
    compact(
        first, last, [&](std::int64_t i) { return is_apart[i] != 0; },
        [&](std::int64_t i, std::int32_t rank) {
            long_rows[start.apart + rank] = {i, a.offsets[i], a.length(i)};
        });
}

/// The columns that a lane meets, and what they are for the whole slice.
template <int height>
struct LaneColumns {
    const std::int32_t* first;
    int length;
    SliceLanes<height> lanes;

    __device__ LaneColumns(const std::int32_t* columns, int count) : first(columns), length(count) {}

    /// Behind the end of a row its last column, -1 without entries.
    __device__ std::int32_t at(int k) const { return length == 0 ? -1 : __ldg(first + min(k, length - 1)); }
    __device__ std::int32_t least(std::int32_t column) const {
        return lanes.smallest(column < 0 ? std::numeric_limits<std::int32_t>::max() : column);
    }

    /// The base if the columns of the step are base, base + 1, ... in all lanes that have work, and exist in all; else -1.
    __device__ std::int32_t run(int k, std::int32_t column, std::int64_t matrix_columns) const {
        const unsigned working = lanes.ballot(k < length);
        const std::int32_t base = lanes.from(column - lanes.lane, __ffs(static_cast<int>(working)) - 1);
        const bool follows = k >= length || column - lanes.lane == base;
        const bool runs = lanes.all(follows) && base >= 0 && std::int64_t{base} + height <= matrix_columns;
        return runs ? base : -1;
    }

    __device__ ColumnOffsets narrowest(int steps, std::int64_t matrix_columns) const {
        bool runs = true;
        std::int32_t width = 0;
        for (int k = 0; k < steps; ++k) {
            const std::int32_t column = at(k);
            runs = runs && run(k, column, matrix_columns) >= 0;
            width = max(width, lanes.largest(max(column, 0)) - least(column));
        }
        if (runs) return ColumnOffsets::none;
        if (width <= std::numeric_limits<std::uint8_t>::max()) return ColumnOffsets::bits8;
        return width <= std::numeric_limits<std::uint16_t>::max() ? ColumnOffsets::bits16 : ColumnOffsets::bits32;
    }
};

/// The calling thread's among all slices' rows; a slice has as many lanes as rows.
__device__ std::int64_t place_of_thread() { return blockIdx.x * std::int64_t{slice_threads} + threadIdx.x; }

/// All of a slice but where it begins. Idle lanes get the slice's first row.
template <int height>
__global__ void __launch_bounds__(slice_threads)
    describe_slices(Entries a, std::int64_t count, PackedSlice* slices, std::int32_t* row, std::uint16_t* lengths) {
    const std::int64_t place = place_of_thread();
    if (place >= count * height) return;
    const SliceLanes<height> lanes;
    const std::int32_t mine = row[place];
    const std::int32_t first_row = lanes.from(mine, 0);
    const int length = mine < 0 ? 0 : static_cast<int>(a.length(mine));
    const LaneColumns<height> columns(a.column + a.offsets[mine < 0 ? first_row : mine], length);
    PackedSlice slice;
    slice.first_row = first_row;
    slice.steps = static_cast<std::uint16_t>(lanes.largest(length));
    slice.common = static_cast<std::uint16_t>(lanes.smallest(length));
    slice.rows = static_cast<std::uint8_t>(__popc(lanes.ballot(mine >= 0)));
    slice.is_adjacent = lanes.all(mine >= 0 && mine == first_row + lanes.lane) ? 1 : 0;
    slice.offsets = columns.narrowest(slice.steps, a.columns);
    lengths[place] = static_cast<std::uint16_t>(length);
    if (mine < 0) row[place] = first_row;
    if (lanes.lane == 0) slices[place / height] = slice;
}

/// Where a slice begins, and its columns.
template <int height>
__global__ void __launch_bounds__(slice_threads)
    fill_slices(Entries a, std::int64_t count, const Extent* before, PackedSlice* slices, const std::int32_t* row,
                const std::uint16_t* lengths, std::int32_t* bases, std::uint8_t* all_offsets) {
    const std::int64_t place = place_of_thread();
    if (place >= count * height) return;
    const std::int64_t s = place / height;
    const LaneColumns<height> columns(a.column + a.offsets[row[place]], lengths[place]);
    const int lane = columns.lanes.lane;
    PackedSlice slice = slices[s];
    slice.first_step = before[s].steps;
    slice.first_offset = before[s].bytes;
    if (lane == 0) slices[s] = slice;
    std::uint8_t* const offsets = all_offsets + slice.first_offset;
    for (int k = 0; k < slice.steps; ++k) {
        const std::int32_t column = columns.at(k);
        const bool runs = slice.offsets == ColumnOffsets::none;
        const std::int32_t base = runs ? columns.run(k, column, a.columns) : columns.least(column);
        if (lane == 0) bases[slice.first_step + k] = base;
        const std::uint32_t offset = column < 0 ? 0 : static_cast<std::uint32_t>(column - base);
        const int slot = k * height + lane;
        if (slice.offsets == ColumnOffsets::bits8)
            offsets[slot] = static_cast<std::uint8_t>(offset);
        else if (slice.offsets == ColumnOffsets::bits16)
            reinterpret_cast<std::uint16_t*>(offsets)[slot] = static_cast<std::uint16_t>(offset);
        else if (slice.offsets == ColumnOffsets::bits32)
            reinterpret_cast<std::uint32_t*>(offsets)[slot] = offset;
    }
}

template <int height>
class PatternPacker {
public:
    PatternPacker(int device, const Entries& a, PackedPatternOnDevice& pattern, Stream stream)
        : device_(device),
          a_(a),
          pattern_(pattern),
          stream_(stream),
          windows_((a.rows + pattern.shape.window - 1) / pattern.shape.window),
          workspace_(device, bytes_a_row * a.rows + bytes_beside, "packing a matrix"),
          order_(workspace_.take<std::int32_t>(a.rows)),
          is_apart_(workspace_.take<std::uint8_t>(a.rows)) {}

    void make() {
        sort_rows();
        collect_rows(order_rows());
        describe();
        fill(place_slices());
    }

private:
    static constexpr std::int64_t bytes_a_row = 32;  // three orders, keys twice, marks; what CUB sorts with
    static constexpr std::int64_t bytes_beside = std::int64_t{4} << 20;

    /// Into order_; rows with one key stay in their own order.
    void sort_rows() {
        auto* const keys = workspace_.take<std::uint32_t>(2 * a_.rows);
        auto* const rows = workspace_.take<std::int32_t>(a_.rows);
        const RowKeys of{a_, pattern_.shape.window, pattern_.shape.longest_row, keys, rows};
        launch_for_each("keys of rows", a_.rows, stream_, {}, of);
        const int bits = std::bit_width(static_cast<std::uint64_t>(windows_ * of.keys_a_window()));
        with_scratch(workspace_, "sorting rows", [&](void* scratch, std::size_t& bytes) {
            return cub::DeviceRadixSort::SortPairs(scratch, bytes, keys, keys + a_.rows, rows, order_, a_.rows, 0, bits,
                                                   stream_);
        });
    }

    std::vector<WindowCounts> order_rows() {
        auto* const own_order = workspace_.take<std::int32_t>(a_.rows);
        auto* const counts = workspace_.take<WindowCounts>(windows_);
        order_windows<height><<<static_cast<unsigned>(windows_), window_threads, 0, stream_>>>(a_, pattern_.shape, own_order,
                                                                                               order_, is_apart_, counts);
        check_launch("order_windows");
        return copy_to_host(device_, counts, windows_, stream_);
    }

    void collect_rows(const std::vector<WindowCounts>& counts) {
        std::vector<WindowStart> starts{{0, 0}};
        for (const WindowCounts& window : counts) {
            const std::int64_t lanes = (window.kept + height - 1) / height * height;
            starts.push_back({starts.back().lane + lanes, starts.back().apart + window.apart});
        }
        auto* const starts_on_device = workspace_.take<WindowStart>(windows_ + 1);
        detail::copy_to_device(device_, starts_on_device, starts.data(),
                               static_cast<std::int64_t>(starts.size() * sizeof(WindowStart)), stream_);
        pattern_.row = DeviceArray<std::int32_t>(device_, starts.back().lane, "the rows of a packed matrix");
        pattern_.long_rows = starts.back().apart;
        auto* const long_rows = workspace_.take<LongRow>(pattern_.long_rows);
        place_rows<<<static_cast<unsigned>(windows_), window_threads, 0, stream_>>>(
            a_, pattern_.shape.window, order_, is_apart_, starts_on_device, pattern_.row.data(), long_rows);
        check_launch("place_rows");
        pattern_.entries_in_slices = pattern_.nonzeros;
        for (const LongRow& row : copy_to_host(device_, long_rows, pattern_.long_rows, stream_)) {
            share_row(row.row, row.start, row.length, pattern_.shape, pattern_.shares);
            pattern_.entries_in_slices -= row.length;
        }
    }

    void describe() {
        slices_ = pattern_.row.size() / height;
        pattern_.slices = DeviceArray<PackedSlice>(device_, slices_, "the slices of a packed matrix");
        pattern_.length = DeviceArray<std::uint16_t>(device_, pattern_.row.size(), "the row lengths of a packed matrix");
        if (slices_ == 0) return;
        describe_slices<height><<<slice_blocks(), slice_threads, 0, stream_>>>(a_, slices_, pattern_.slices.data(),
                                                                               pattern_.row.data(), pattern_.length.data());
        check_launch("describe_slices");
    }

    /// Of each slice, what comes before it; then of all.
    const Extent* place_slices() {
        auto* const before = workspace_.take<Extent>(slices_ + 1);
        const auto extents = thrust::make_transform_iterator(thrust::counting_iterator<std::int64_t>(0),
                                                             ExtentOf{pattern_.slices.data(), slices_, height});
        with_scratch(workspace_, "placing slices", [&](void* scratch, std::size_t& bytes) {
            return cub::DeviceScan::ExclusiveScan(scratch, bytes, extents, before, AddExtents(), Extent(), slices_ + 1,
                                                  stream_);
        });
        return before;
    }

    void fill(const Extent* before) {
        const Extent all = copy_to_host(device_, before + slices_, 1, stream_).front();
        pattern_.base = DeviceArray<std::int32_t>(device_, all.steps, "the columns of a packed matrix");
        pattern_.offsets = DeviceArray<std::uint8_t>(device_, all.bytes, "the column offsets of a packed matrix");
        if (slices_ == 0) return;
        fill_slices<height><<<slice_blocks(), slice_threads, 0, stream_>>>(a_, slices_, before, pattern_.slices.data(),
                                                                           pattern_.row.data(), pattern_.length.data(),
                                                                           pattern_.base.data(), pattern_.offsets.data());
        check_launch("fill_slices");
    }

    unsigned slice_blocks() const {
        constexpr int slices_a_block = slice_threads / height;
        return static_cast<unsigned>((slices_ + slices_a_block - 1) / slices_a_block);
    }

    int device_;
    Entries a_;
    PackedPatternOnDevice& pattern_;
    Stream stream_;
    std::int64_t windows_;
    std::int64_t slices_ = 0;
    Workspace workspace_;
    std::int32_t* order_;
    std::uint8_t* is_apart_;
};

}  // namespace

template <class T>
std::shared_ptr<PackedPatternOnDevice> pack_pattern(const DeviceCsrView<T>& a, const PackedShape& shape, int components,
                                                    Stream stream) {
    const CurrentDevice current(a.device);
    auto pattern = std::make_shared<PackedPatternOnDevice>();
    static_cast<PackedSizes&>(*pattern) = {.shape = shape,
                                           .rows = a.rows,
                                           .columns = a.columns,
                                           .nonzeros = a.nonzeros,
                                           .entries_in_slices = 0,
                                           .long_rows = 0,
                                           .components = components};
    const Entries entries{a.rows, a.columns, a.row_offsets, a.column_indices};
    if (a.rows > 0 && components == 1) PatternPacker<warp_size>(a.device, entries, *pattern, stream).make();
    if (a.rows > 0 && components == 2) PatternPacker<warp_size / 2>(a.device, entries, *pattern, stream).make();
    synchronize(a.device, stream);
    return pattern;
}

template std::shared_ptr<PackedPatternOnDevice> pack_pattern(const DeviceCsrView<float>&, const PackedShape&, int, Stream);
template std::shared_ptr<PackedPatternOnDevice> pack_pattern(const DeviceCsrView<double>&, const PackedShape&, int, Stream);

}  // namespace solver::cuda
