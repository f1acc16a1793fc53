#pragma once

/// Products of a CSR matrix on a device: the analysis of its rows and the choice of kernels. Compiled once for each type of its
/// values.

#include "products.hpp"
#include "runtime/check.cuh"
#include "runtime/traits.hpp"
#include "spmv/adaptive.cuh"
#include "spmv/general.cuh"
#include "spmv/long_rows.cuh"
#include "spmv/packed.cuh"
#include "spmv/scale.cuh"

#include <algorithm>
#include <limits>
#include <optional>
#include <variant>

namespace solver::cuda {

/// How rows are shared out.
struct Shape {
    int log2_width;  ///< of the lanes a row
    int unroll;      ///< entries a lane loads at once: 2, 4 or 8
};

/// What was fastest on an H200. Few lanes a row, since merging them costs, but enough to keep a large device busy.
inline Shape shape_for(std::int64_t rows, std::int64_t nonzeros, Accuracy accuracy, bool is_double) {
    constexpr std::int64_t busy = 1 << 18;  // threads
    const bool costly = accuracy == Accuracy::exact && is_double;
    const double mean = static_cast<double>(nonzeros) / static_cast<double>(rows);
    int log2_width = 0;
    while (log2_width < 5 && mean > (costly ? 18 : 9) << log2_width) ++log2_width;
    while (log2_width < 5 && rows << (log2_width + 1) <= busy && mean > 2 << log2_width) ++log2_width;
    const double per_lane = mean / (1 << log2_width);
    const bool waiting = costly && per_lane > 2.5 && rows << log2_width <= busy;
    return {log2_width, per_lane > 12 ? 8 : per_lane > 5.5 || waiting || accuracy == Accuracy::fast ? 4 : 2};
}

template <class Offset>
static __global__ void convert_offsets(RowOffsetPointer from, Offset* to, std::int64_t count) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count) to[i] = static_cast<Offset>(from[i]);
}

/// A matrix and its analysis for one width of offsets.
template <class T, class Offset>
struct Prepared {
    CsrRows<T, Offset> rows{};
    DeviceArray<Offset> offsets;  ///< empty where the caller's are used
    DeviceArray<Segment<Offset>> segments;
    DeviceArray<Tile<Offset>> tiles;
    DeviceArray<Segment<Offset>> block_segments;  ///< of adaptive tiles

    int largest_tile = 0;

    std::int64_t bytes() const { return offsets.bytes() + segments.bytes() + tiles.bytes() + block_segments.bytes(); }
    std::int64_t parts() const { return segments.size() + block_segments.size(); }
    std::int64_t adaptive_blocks() const { return block_segments.size() + tiles.size(); }
};

template <class T, class Offset>
void use_offsets(Prepared<T, Offset>& p, const DeviceCsrView<T>& a, Stream stream) {
    const Offset* offsets = a.row_offsets.template as<Offset>();
    if (offsets == nullptr && a.rows > 0) {
        p.offsets = DeviceArray<Offset>(a.device, a.rows + 1, "row offsets of another width");
        convert_offsets<<<blocks_for(a.rows + 1, plain_threads), plain_threads, 0, stream>>>(a.row_offsets, p.offsets.data(),
                                                                                             a.rows + 1);
        check_launch("convert_offsets");
        offsets = p.offsets.data();
    }
    p.rows = {a.rows, offsets, a.column_indices, a.values};
}

/// A general row is one chain a lane; longer ones go to a warp each.
constexpr int longest_general_row(int log2_width) { return (chain_length / 2) << log2_width; }

/// `count` = rows longer than `longest`.
template <class Offset>
__global__ void count_longer_rows(const Offset* offsets, std::int64_t rows, double longest, unsigned* count) {
    const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (row<rows&& static_cast<double>(offsets[row + 1] - offsets[row])> longest) atomicAdd(count, 1u);
}

/// What kernels count.
struct Counts {
    unsigned longer_rows;  ///< than rows of `general` should be
    std::int32_t segments;
    TilingSizes tiling;
    unsigned not_certified;  ///< rows that exact left to round_digitwise
};

template <Accumulator A, bool paired>
std::size_t tile_bytes(int entries) {
    return static_cast<std::size_t>(entries) * sizeof(typename A::Term) * (paired ? 2 : 1);
}

/// Matrices with 64-bit offsets are rare: they have no kernels of their own for devices whose doubles are slow.
template <class T, class Offset, class Work>
void with_row_accumulator(Accuracy accuracy, FloatSums float_sums, const Work& work) {
    if constexpr (std::is_same_v<Offset, std::int32_t>)
        with_accumulator<T, RowsOnGpu>(accuracy, float_sums, work);
    else
        with_accumulator<T, RowsOnGpu>(accuracy, work);
}

/// Nor has a matrix with 64-bit offsets kernels for several columns at once.
template <class Offset>
inline constexpr bool has_kernels_for_columns = std::is_same_v<Offset, std::int32_t>;

/// Dynamic shared memory for any tile. None has more than tile_entries, so that plans of one device agree.
template <class T, class Offset>
void allow_shared_memory() {
    constexpr std::size_t always_allowed = 48 << 10;
    const auto allow = [](auto kernel, std::size_t bytes) {
        if (bytes > always_allowed)
            check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
                  "cudaFuncSetAttribute", "shared memory of spmv");
    };
    for (const FloatSums float_sums : {FloatSums::in_double, FloatSums::in_float})
        for (const Accuracy accuracy : all_accuracies)
            with_row_accumulator<T, Offset>(accuracy, float_sums, [&](auto accumulator) {
                using A = typename decltype(accumulator)::type;
                allow(multiply_adaptive<A, false, false, T, Offset>, tile_bytes<A, false>(tile_entries));
                if constexpr (has_kernels_for_columns<Offset>)
                    allow(multiply_adaptive<A, false, true, T, Offset>, tile_bytes<A, false>(tile_entries));
                allow(multiply_adaptive<A, true, false, T, Offset>, tile_bytes<A, true>(tile_entries));
            });
}

template <class T>
class AnalysedCsr final : public CsrProducts<T> {
public:
    AnalysedCsr(const DeviceCsrView<T>& matrix, SpmvKernel asked_for, Stream stream, std::int64_t columns_at_once,
                OffsetWidth width)
        : a(matrix), kernel_(asked_for), most_columns(columns_at_once), traits(traits_of(matrix.device)) {
        if (width == OffsetWidth::automatic && a.nonzeros <= largest_narrow && a.rows <= largest_narrow)
            prepare<std::int32_t>(stream);
        else
            prepare<std::int64_t>(stream);
    }

    using MatrixProducts<T>::multiply;

    void multiply(const RowTask<T>& task, const Columns& columns, Accuracy accuracy, Stream stream, Gate gate) const override {
        require_columns(columns, most_columns);
        const CurrentDevice current(a.device);
        multiply_columns(task, columns, accuracy, stream, gate);
    }

    void use(std::shared_ptr<const PackedOnDevice<T>> copy, Stream stream) override {
        const CurrentDevice current(a.device);
        if (copy == nullptr) return packed.reset();
        const auto* narrow = std::get_if<Prepared<T, std::int32_t>>(&prepared);
        if (narrow == nullptr) throw InvalidArgument("cuda: a plan with 64-bit offsets cannot use a packed matrix");
        PackedProduct<T> prepared_product(a.device, traits, std::move(copy), narrow->rows, stream);
        synchronize(a.device, stream);
        packed = std::move(prepared_product);
    }

    SpmvKernel kernel() const override { return kernel_; }

    std::int64_t workspace_bytes() const override {
        const std::int64_t rows = std::visit([](const auto& p) { return p.bytes(); }, prepared);
        return rows + arrived.bytes() + partial.bytes() + counts.bytes();
    }

    std::int64_t rows_not_certified(Stream stream) const override { return counted(stream).not_certified; }

private:
    DeviceCsrView<T> a;
    SpmvKernel kernel_;
    std::int64_t most_columns = 1;

    Traits traits{};
    Shape shapes[all_accuracies.size()]{};
    int longest_short = 0;  ///< of general rows
    std::variant<Prepared<T, std::int32_t>, Prepared<T, std::int64_t>> prepared;
    DeviceArray<unsigned> arrived;  ///< and, behind it, Tiling::without_try
    DeviceArray<LargestRowSum> partial;
    DeviceArray<Counts> counts;              ///< of a first pass, and of the second one
    std::optional<PackedProduct<T>> packed;  ///< for single products with x alone

    // An analysis allocates little and waits once or twice: on small matrices either takes longer than a product.

    Counts counted(Stream stream) const {
        Counts found{};
        counts.copy_to(std::span(&found, 1), stream);
        return found;
    }

    template <class Offset>
    void count_longer_rows(const Prepared<T, Offset>& p, Stream stream) const {
        const double longest = 16 + 4 * static_cast<double>(a.nonzeros) / static_cast<double>(a.rows);
        cuda::count_longer_rows<<<blocks_for(a.rows, plain_threads), plain_threads, 0, stream>>>(
            p.rows.offsets, a.rows, longest, &counts.data()->longer_rows);
        check_launch("count_longer_rows");
    }

    /// Counts segments where there is no room for them yet.
    template <class Offset>
    void split_long_rows(const Prepared<T, Offset>& p, Stream stream) const {
        constexpr int least_segment = 1024;
        Counts* const place = counts.data() + (p.segments.size() > 0 ? 1 : 0);
        find_long_rows<<<blocks_for(a.rows, plain_threads), plain_threads, 0, stream>>>(
            p.rows.offsets, static_cast<Offset>(a.rows), longest_short, least_segment, p.segments.data(), &place->segments);
        check_launch("find_long_rows");
    }

    /// Cuts rows into tiles of about equal work, on the device.
    template <class Offset>
    void make_tiles(const Prepared<T, Offset>& p, Stream stream) const {
        constexpr int threads = 128;
        Counts* const place = counts.data() + (p.block_segments.size() > 0 ? 1 : 0);
        cuda::make_tiles<<<blocks_for(p.tiles.size(), threads), threads, 0, stream>>>(
            p.rows.offsets, static_cast<Offset>(a.rows), p.tiles.size(), p.tiles.data(), p.block_segments.data(),
            &place->tiling);
        check_launch("make_tiles");
    }

    template <class Offset>
    void prepare_general(Prepared<T, Offset>& p, std::int32_t segments, Stream stream) const {
        if (segments == 0) return;
        p.segments = DeviceArray<Segment<Offset>>(a.device, segments, "segments of long rows");
        split_long_rows(p, stream);
    }

    template <class Offset>
    void prepare_adaptive(Prepared<T, Offset>& p, Stream stream) const {
        allow_shared_memory<T, Offset>();
        p.tiles = DeviceArray<Tile<Offset>>(a.device, tile_count(a.rows, a.nonzeros), "tiles of a matrix");
        make_tiles(p, stream);
        const TilingSizes sizes = counted(stream).tiling;
        p.largest_tile = sizes.largest_tile;
        if (sizes.segments == 0) return;
        p.block_segments = DeviceArray<Segment<Offset>>(a.device, sizes.segments, "parts of long rows");
        make_tiles(p, stream);
    }

    /// `automatic` is general where no row is much longer than the mean.
    template <class Offset>
    void prepare_rows(Prepared<T, Offset>& p, Stream stream) {
        int least = 5;
        for (const Accuracy accuracy : all_accuracies) {
            Shape& shape = shapes[static_cast<int>(accuracy)];
            shape = shape_for(a.rows, a.nonzeros, accuracy, std::is_same_v<T, double>);
            least = std::min(least, shape.log2_width);
        }
        longest_short = longest_general_row(least);
        std::int32_t segments = 0;
        if (kernel_ != SpmvKernel::adaptive) {
            count_longer_rows(p, stream);
            split_long_rows(p, stream);
            const Counts found = counted(stream);
            segments = found.segments;
            if (kernel_ == SpmvKernel::automatic) kernel_ = found.longer_rows == 0 ? SpmvKernel::general : SpmvKernel::adaptive;
        }
        if (kernel_ == SpmvKernel::general)
            prepare_general(p, segments, stream);
        else
            prepare_adaptive(p, stream);
    }

    template <class Offset>
    void prepare_counters(const Prepared<T, Offset>& p, Stream stream) {
        const std::int64_t parts = most_columns * p.parts();
        const std::int64_t tries = most_columns * p.adaptive_blocks();  // a byte each
        if (parts + tries == 0) return;
        arrived = DeviceArray<unsigned>(a.device, parts + (tries + 3) / 4, "counters of long rows and of first tries");
        arrived.fill_with_zeros(stream);
        if (parts > 0) partial = DeviceArray<LargestRowSum>(a.device, parts, "partial sums of long rows");
    }

    template <class Offset>
    void prepare(Stream stream) {
        Prepared<T, Offset> p;
        counts = DeviceArray<Counts>(a.device, 2, "what an analysis counts");
        counts.fill_with_zeros(stream);
        use_offsets(p, a, stream);
        if (a.rows > 0)
            prepare_rows(p, stream);
        else if (kernel_ == SpmvKernel::automatic)
            kernel_ = SpmvKernel::general;
        prepare_counters(p, stream);
        prepared = std::move(p);
        synchronize(a.device, stream);
    }

    unsigned* escalated() const { return &counts.data()->not_certified; }

    template <Accumulator A, bool paired, class Offset>
    void launch_long_rows(const Prepared<T, Offset>& p, const RowTask<T>& task, const Columns& columns, Stream stream,
                          Gate gate) const {
        const LongRows<Offset> long_rows{p.segments.data(), static_cast<std::int32_t>(p.segments.size()), arrived.data(),
                                         partial.data()};
        if (long_rows.count == 0) return;
        const unsigned blocks = blocks_for(long_rows.count * std::int64_t{warp_size}, long_row_threads);
        multiply_long_rows<A, paired><<<static_cast<unsigned>(columns.count) * blocks, long_row_threads, 0, stream>>>(
            p.rows, task, long_rows, columns, escalated(), gate);
        check_launch("multiply_long_rows");
    }

    template <Accumulator A, int unroll, bool paired, bool several, class Offset>
    void launch_general(const Prepared<T, Offset>& p, const RowTask<T>& task, const Columns& columns, int log2_width,
                        Stream stream, Gate gate) const {
        launch_long_rows<A, paired>(p, task, columns, stream, gate);
        const auto blocks = static_cast<unsigned>(columns.count * blocks_for(a.rows << log2_width, general_threads));
        launch_after(traits.overlapping && (p.segments.size() > 0 || gate.stage != nullptr),
                     multiply_general<A, unroll, paired, several, T, Offset>, blocks, general_threads, stream,
                     "multiply_general", p.rows, task, columns, log2_width, longest_short, escalated(), gate);
    }

    template <Accumulator A, class Offset>
    void launch_general(const Prepared<T, Offset>& p, const RowTask<T>& task, Shape shape, Stream stream, Gate gate) const {
        if (task.x_low != nullptr) return launch_general<A, 4, true, false>(p, task, {}, shape.log2_width, stream, gate);
        if (std::is_same_v<Offset, std::int64_t> || shape.unroll == 4)
            return launch_general<A, 4, false, false>(p, task, {}, shape.log2_width, stream, gate);
        if constexpr (std::is_same_v<Offset, std::int32_t>) {
            if (shape.unroll == 2) return launch_general<A, 2, false, false>(p, task, {}, shape.log2_width, stream, gate);
            return launch_general<A, 8, false, false>(p, task, {}, shape.log2_width, stream, gate);
        }
    }

    template <Accumulator A, bool paired, bool several, class Offset>
    void launch_adaptive(const Prepared<T, Offset>& p, const RowTask<T>& task, const Columns& columns, Stream stream,
                         Gate gate) const {
        auto* const without_try = reinterpret_cast<std::uint8_t*>(arrived.data() + most_columns * p.parts());
        const Tiling<Offset> tiling{p.tiles.data(),
                                    p.block_segments.data(),
                                    static_cast<std::int32_t>(p.block_segments.size()),
                                    arrived.data(),
                                    partial.data(),
                                    without_try,
                                    static_cast<std::int32_t>(p.adaptive_blocks())};
        const std::size_t shared = tile_bytes<A, paired>(p.largest_tile);
        const auto blocks = static_cast<unsigned>(columns.count * p.adaptive_blocks());
        launch_after(traits.overlapping && gate.stage != nullptr, multiply_adaptive<A, paired, several, T, Offset>,
                     Grid{blocks, adaptive_threads, shared}, stream, "multiply_adaptive", p.rows, tiling, task, columns,
                     escalated(), gate);
    }

    template <Accumulator A, class Offset>
    void launch(const Prepared<T, Offset>& p, const RowTask<T>& task, Shape shape, Stream stream, Gate gate) const {
        if (kernel_ == SpmvKernel::general)
            launch_general<A>(p, task, shape, stream, gate);
        else if (task.x_low == nullptr)
            launch_adaptive<A, false, false>(p, task, {}, stream, gate);
        else
            launch_adaptive<A, true, false>(p, task, {}, stream, gate);
    }

    /// Together where there are kernels for it, else one by one.
    void multiply_columns(const RowTask<T>& task, const Columns& columns, Accuracy accuracy, Stream stream, Gate gate) const {
        const auto* narrow = std::get_if<Prepared<T, std::int32_t>>(&prepared);
        if (columns.count > 1 && narrow != nullptr && a.rows > 0 && task.x_low == nullptr && task.alpha != T(0))
            return with_accumulator<T, RowsOnGpu>(accuracy, traits.float_sums, [&](auto accumulator) {
                using A = typename decltype(accumulator)::type;
                const int log2_width = shapes[static_cast<int>(accuracy)].log2_width;
                if (kernel_ == SpmvKernel::general)
                    launch_general<A, 4, false, true>(*narrow, task, columns, log2_width, stream, gate);
                else
                    launch_adaptive<A, false, true>(*narrow, task, columns, stream, gate);
            });
        for (std::int64_t j = 0; j < columns.count; ++j)
            multiply_one(column_of(task, j * columns.stride), accuracy, stream, gate_of(gate, columns, j));
    }

    void multiply_one(const RowTask<T>& task, Accuracy accuracy, Stream stream, Gate gate) const {
        if (a.rows == 0) return;
        if (task.alpha == T(0)) {
            scale<<<blocks_for(a.rows, plain_threads), plain_threads, 0, stream>>>(a.rows, task, gate);
            return check_launch("scale");
        }
        if (packed && task.x_low == nullptr) return packed->multiply(task, accuracy, escalated(), stream, gate);
        const auto launch_with = [&]<class Offset>(const Prepared<T, Offset>& p) {
            with_row_accumulator<T, Offset>(accuracy, traits.float_sums, [&](auto accumulator) {
                launch<typename decltype(accumulator)::type>(p, task, shapes[static_cast<int>(accuracy)], stream, gate);
            });
        };
        std::visit(launch_with, prepared);
    }
};

template <class T>
std::unique_ptr<CsrProducts<T>> make_products(const DeviceCsrView<T>& a, SpmvKernel kernel, Stream stream,
                                              std::int64_t most_columns, OffsetWidth width) {
    const CurrentDevice current(a.device);
    return std::make_unique<AnalysedCsr<T>>(a, kernel, stream, most_columns, width);
}

template <class T>
const char* why_not_packed(int device, std::int64_t rows, std::int64_t nonzeros) {
    if (rows > largest_narrow || nonzeros > largest_narrow) return "its row offsets need 64 bits";
    if (std::is_same_v<T, float> && traits_of(device).float_sums == FloatSums::in_float)
        return "sums of floats are made in floats on this device";
    return nullptr;
}

}  // namespace solver::cuda
