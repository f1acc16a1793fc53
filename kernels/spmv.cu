#include "check.cuh"
#include "spmv_tiles.cuh"

#include <algorithm>
#include <limits>
#include <variant>

namespace solver::cuda {
namespace {

constexpr int plain_threads = 256;

/// Rows for each warp such that their terms, of the largest kind, fit into its shared memory: 32 for short rows, fewer, with
/// several lanes each, for longer ones.
int rows_for_a_warp(std::int64_t rows, std::int64_t nonzeros) {
    constexpr std::int64_t terms = most_term_bytes / static_cast<int>(sizeof(Split<double>));
    std::int64_t count = warp_size;
    while (count > 1 && count * nonzeros > terms * rows) count /= 2;
    return static_cast<int>(count);
}

/// The work of a tile, rows and entries: a little less than that many rows of mean length have.
int tile_work(std::int64_t rows, std::int64_t nonzeros) {
    const int count = rows_for_a_warp(rows, nonzeros);
    return static_cast<int>(std::min(std::int64_t{1024}, count * (rows + nonzeros) / rows));
}

int rounded_up(std::int64_t n, int to) { return static_cast<int>((n + to - 1) / to * to); }

unsigned blocks_for(std::int64_t items, int threads) { return static_cast<unsigned>((items + threads - 1) / threads); }

__global__ void narrow(const std::int64_t* wide, std::int32_t* offsets, std::int64_t count) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count) offsets[i] = static_cast<std::int32_t>(wide[i]);
}

/// alpha == 0: y = beta y_in
template <class T>
__global__ void scale(std::int64_t n, RowTask<T> task) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) task.y[i] = task.beta == T(0) ? T(0) : canonical(mul_rn(task.beta, task.y_in[i]));
}

struct OpenCounters {
    unsigned count;     ///< of rows left open
    unsigned finished;  ///< blocks that have finished rounding them
    unsigned former;    ///< the count of the product before
};

constexpr int exact_threads = 64;

/// One thread a row, long rows by whole warps: the rows left open, by the superaccumulator. Leaves the counters as they were.
template <class T, class Offset>
__global__ void __launch_bounds__(exact_threads)
    round_open_rows(CsrRows<T, Offset> rows, RowTask<T> task, const Offset* open, OpenCounters* counters) {
    constexpr Offset shared_by_a_warp = 512;
    const unsigned count = *const_cast<volatile unsigned*>(&counters->count);
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    const auto sum_and_store = [&](Offset row, Offset first, Offset step, bool together) {
        Superaccumulator total;
        for (Offset k = rows.offsets[row] + first; k < rows.offsets[row + 1]; k += step) {
            total.add_product(rows.values[k], task.x[rows.columns[k]]);
            if (task.x_low != nullptr) total.add_product(rows.values[k], task.x_low[rows.columns[k]]);
        }
        if (together) total = merge_lanes(total, warp_size);
        if (together && lane != 0) return;
        if (task.alpha != T(1)) total.multiply(task.alpha);
        if (task.beta != T(0)) total.add_product(task.beta, task.y_in[row]);
        task.y[row] = total.result<T>();
    };
    const unsigned step = gridDim.x * exact_threads;
    for (unsigned first = blockIdx.x * exact_threads + threadIdx.x - lane; first < count; first += step) {
        const bool inside = first + lane < count;
        const Offset row = inside ? open[first + lane] : 0;
        const Offset length = inside ? rows.offsets[row + 1] - rows.offsets[row] : 0;
        unsigned long_rows = __ballot_sync(0xFFFFFFFFu, length > shared_by_a_warp);
        if (inside && length <= shared_by_a_warp) sum_and_store(row, 0, 1, false);
        __syncwarp();
        for (; long_rows != 0; long_rows &= long_rows - 1) {
            const Offset shared_row = __shfl_sync(0xFFFFFFFFu, row, __ffs(static_cast<int>(long_rows)) - 1);
            sum_and_store(shared_row, lane, warp_size, true);
            __syncwarp();
        }
    }
    if (block_comes_last(&counters->finished, gridDim.x) && threadIdx.x == 0) {
        counters->former = count;
        counters->count = 0;
    }
}

/// A matrix and its analysis for one width of offsets.
template <class T, class Offset>
struct Prepared {
    CsrRows<T, Offset> rows{};
    DeviceArray<Offset> offsets;  ///< empty where the caller's are used
    DeviceArray<Tile<Offset>> tiles;
    DeviceArray<Segment<Offset>> segments;
    DeviceArray<Offset> open_rows;
    TilingSizes sizes{};
    int rows_a_warp = 0;
    int entries_a_warp = 0;  ///< how many a warp most often has at once

    std::int64_t bytes() const { return offsets.bytes() + tiles.bytes() + segments.bytes() + open_rows.bytes(); }
};

template <class T>
void use_offsets(Prepared<T, std::int64_t>& p, const DeviceCsrView<T>& a, Stream) {
    p.rows = {a.rows, a.row_offsets, a.column_indices, a.values};
}

template <class T>
void use_offsets(Prepared<T, std::int32_t>& p, const DeviceCsrView<T>& a, Stream stream) {
    p.offsets = DeviceArray<std::int32_t>(a.device, a.rows + 1, "32-bit row offsets");
    narrow<<<blocks_for(a.rows + 1, plain_threads), plain_threads, 0, stream>>>(a.row_offsets, p.offsets.data(), a.rows + 1);
    check_launch("narrow");
    p.rows = {a.rows, p.offsets.data(), a.column_indices, a.values};
}

template <class T, class Offset>
void make_tiling(Prepared<T, Offset>& p, const DeviceCsrView<T>& a, Stream stream) {
    const int work = tile_work(a.rows, a.nonzeros);
    const std::int64_t tiles = (a.rows + a.nonzeros - 1) / work + 1;
    p.tiles = DeviceArray<Tile<Offset>>(a.device, tiles, "tiles of a matrix");
    DeviceArray<TilingSizes> sizes(a.device, 1, "sizes of tiles");
    const auto make = [&](Segment<Offset>* segments) {
        sizes.fill_with_zeros(stream);
        make_tiles<<<blocks_for(tiles, 128), 128, 0, stream>>>(p.rows.offsets, static_cast<Offset>(a.rows), work, tiles,
                                                               p.tiles.data(), segments, sizes.data());
        check_launch("make_tiles");
    };
    make(nullptr);
    sizes.copy_to(std::span(&p.sizes, 1), stream);
    p.entries_a_warp = rounded_up(std::max(p.sizes.largest_tile, 1), warp_size);
    if (p.sizes.segments == 0) return;
    p.segments = DeviceArray<Segment<Offset>>(a.device, p.sizes.segments, "segments of long rows");
    make(p.segments.data());
    synchronize(a.device, stream);
}

template <class T, class Offset>
void share_rows(Prepared<T, Offset>& p, const DeviceCsrView<T>& a) {
    p.rows_a_warp = rows_for_a_warp(a.rows, a.nonzeros);
    p.entries_a_warp = rounded_up(p.rows_a_warp * a.nonzeros / a.rows + p.rows_a_warp, warp_size);
}

/// Dynamic shared memory up to what the device has.
template <class Kernel>
void allow_shared_memory(Kernel kernel, std::size_t bytes) {
    constexpr std::size_t always_allowed = 48 << 10;
    if (bytes > always_allowed)
        check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
              "cudaFuncSetAttribute", "shared memory of spmv");
}

}  // namespace

template <class T>
struct SpmvPlan<T>::Analysis {
    DeviceCsrView<T> a;
    SpmvKernel kernel;
    int multiprocessors = 0;
    std::variant<Prepared<T, std::int32_t>, Prepared<T, std::int64_t>> prepared;
    DeviceArray<unsigned> arrived;
    DeviceArray<RowSum<FilteredTriple<double>>> partial;  ///< the largest of its kind
    DeviceArray<OpenCounters> counters;

    template <class Offset>
    void prepare(Stream stream) {
        Prepared<T, Offset> p;
        use_offsets(p, a, stream);
        if (a.rows > 0) kernel == SpmvKernel::adaptive ? make_tiling(p, a, stream) : share_rows(p, a);
        arrived = DeviceArray<unsigned>(a.device, p.sizes.segments, "counters of long rows");
        arrived.fill_with_zeros(stream);
        partial = DeviceArray<RowSum<FilteredTriple<double>>>(a.device, p.sizes.segments, "partial sums of long rows");
        p.open_rows = DeviceArray<Offset>(a.device, a.rows, "rows left open");
        counters = DeviceArray<OpenCounters>(a.device, 1, "counters of open rows");
        counters.fill_with_zeros(stream);
        prepared = std::move(p);
        synchronize(a.device, stream);
    }

    template <class A, bool paired, class Offset>
    void launch(const Prepared<T, Offset>& p, const RowTask<T>& task, Stream stream) const {
        constexpr int threads = warps_a_block * warp_size;
        const OpenRows<Offset> open{p.open_rows.data(), &counters.data()->count};
        const int capacity = std::min(p.entries_a_warp, static_cast<int>(most_term_bytes / sizeof(typename A::Term)));
        const std::size_t shared = warps_a_block * capacity * sizeof(typename A::Term) * (paired ? 2 : 1);
        if (kernel == SpmvKernel::general) {
            const unsigned blocks = blocks_for(a.rows, p.rows_a_warp * warps_a_block);
            allow_shared_memory(multiply_general<A, paired, T, Offset>, shared);
            multiply_general<A, paired><<<blocks, threads, shared, stream>>>(p.rows, task, p.rows_a_warp, capacity, open);
            check_launch("multiply_general");
        } else {
            const Tiling<Offset> tiling{p.tiles.data(),    p.tiles.size(),  p.segments.data(),
                                        p.sizes.segments, arrived.data(), partial.data()};
            const unsigned blocks = blocks_for(tiling.tile_count + tiling.segment_count, warps_a_block);
            allow_shared_memory(multiply_adaptive<A, paired, T, Offset>, shared);
            multiply_adaptive<A, paired><<<blocks, threads, shared, stream>>>(p.rows, tiling, task, capacity, open);
            check_launch("multiply_adaptive");
        }
        if constexpr (is_filter<A>) {
            round_open_rows<<<2 * multiprocessors, exact_threads, 0, stream>>>(p.rows, task, p.open_rows.data(), counters.data());
            check_launch("round_open_rows");
        }
    }
};

template <class T>
SpmvPlan<T>::SpmvPlan(const DeviceCsrView<T>& a, SpmvKernel kernel, Stream stream) : analysis_(std::make_unique<Analysis>()) {
    const CurrentDevice current(a.device);
    analysis_->a = a;
    analysis_->kernel = kernel == SpmvKernel::general ? kernel : SpmvKernel::adaptive;
    analysis_->multiprocessors = describe(a.device).multiprocessors;
    // what kernels add to an offset must not overflow
    constexpr std::int64_t largest_narrow = std::numeric_limits<std::int32_t>::max() - (std::int64_t{1} << 20);
    if (a.nonzeros <= largest_narrow && a.rows <= largest_narrow)
        analysis_->template prepare<std::int32_t>(stream);
    else
        analysis_->template prepare<std::int64_t>(stream);
}

template <class T>
SpmvPlan<T>::SpmvPlan(SpmvPlan&&) noexcept = default;
template <class T>
SpmvPlan<T>& SpmvPlan<T>::operator=(SpmvPlan&&) noexcept = default;
template <class T>
SpmvPlan<T>::~SpmvPlan() = default;

template <class T>
void SpmvPlan<T>::multiply(const RowTask<T>& task, Accuracy accuracy, Stream stream) const {
    const CurrentDevice current(analysis_->a.device);
    if (analysis_->a.rows == 0) return;
    if (task.alpha == T(0)) {
        scale<<<blocks_for(analysis_->a.rows, plain_threads), plain_threads, 0, stream>>>(analysis_->a.rows, task);
        return check_launch("scale");
    }
    std::visit(
        [&](const auto& prepared) {
            with_accumulator<T>(accuracy, [&](auto accumulator) {
                using A = typename decltype(accumulator)::type;
                if (task.x_low == nullptr)
                    analysis_->template launch<A, false>(prepared, task, stream);
                else
                    analysis_->template launch<A, true>(prepared, task, stream);
            });
        },
        analysis_->prepared);
}

template <class T>
SpmvKernel SpmvPlan<T>::kernel() const {
    return analysis_->kernel;
}

template <class T>
std::int64_t SpmvPlan<T>::workspace_bytes() const {
    const std::int64_t prepared = std::visit([](const auto& p) { return p.bytes(); }, analysis_->prepared);
    return prepared + analysis_->arrived.bytes() + analysis_->partial.bytes() + analysis_->counters.bytes();
}

template <class T>
std::int64_t SpmvPlan<T>::rows_not_certified(Stream stream) const {
    OpenCounters counters{};
    analysis_->counters.copy_to(std::span(&counters, 1), stream);
    return counters.former;
}

template class SpmvPlan<float>;
template class SpmvPlan<double>;

}  // namespace solver::cuda
