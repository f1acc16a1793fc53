#include "triangular.hpp"

#include "runtime/check.cuh"
#include "runtime/traits.hpp"
#include "triangular/full.cuh"
#include "triangular/solve.cuh"

#include <algorithm>

namespace solver::cuda {
namespace {

constexpr std::int64_t largest_partial = 64;  // bytes of a TrackedSum

int shared_memory_of_a_block(int device) {
    int bytes = 0;
    check(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), "cudaDeviceGetAttribute");
    return bytes;
}

/// Once for all plans, since it is a property of the kernel and not of a launch.
template <class Kernel>
void allow_all_shared_memory(Kernel kernel, int device) {
    cudaFuncAttributes attributes{};
    check(cudaFuncGetAttributes(&attributes, kernel), "cudaFuncGetAttributes", "a triangular solve");
    const int bytes = shared_memory_of_a_block(device) - static_cast<int>(attributes.sharedSizeBytes);
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), "cudaFuncSetAttribute",
          "a triangular solve");
}

/// An item for each multiprocessor, as long as its elements fit into shared memory: few long items wait for one another less
/// than many short ones, and share the work well enough.
template <class T>
TriangleScheduleOptions options_for(int device, std::int64_t rows) {
    constexpr std::int64_t fewest = 256, most = 8192;
    constexpr int other_shared_memory = 2048;
    const std::int64_t room = (shared_memory_of_a_block(device) - other_shared_memory) / static_cast<int>(sizeof(T));
    TriangleScheduleOptions o;
    o.rows_an_item = std::clamp(rows / traits_of(device).multiprocessors + 1, fewest, std::min(most, room));
    return o;
}

/// Whether all entries of a triangle, whose rows are sorted, are there, and so many that their rows are better solved by
/// blocks.
template <class T>
bool is_full(const CsrView<T>& a, Triangle triangle, Diagonal diagonal) {
    constexpr std::int64_t fewest = 4 * full_steps;
    const std::int64_t pivots = diagonal == Diagonal::stored ? 1 : 0;
    if (a.rows < fewest) return false;
    for (std::int64_t i = 0; i < a.rows; ++i)
        if (a.row_length(i) != pivots + (triangle == Triangle::lower ? i : a.rows - 1 - i)) return false;
    return true;
}

}  // namespace

template <class T>
struct TriangularSystem<T>::Analysis {
    virtual ~Analysis() = default;
    virtual void solve(const T* b, T* x, Accuracy accuracy, Stream stream, Gate gate) const = 0;
    virtual std::int64_t bytes() const = 0;
};

/// Of any triangle.
template <class T>
struct TriangularSystem<T>::Scheduled final : Analysis {
    int device = 0;
    DeviceArray<TriangleItem> items;
    DeviceArray<TriangleChunk> chunks;
    DeviceArray<std::int32_t> rows;
    DeviceArray<T> pivots;
    DeviceArray<std::int32_t> columns;
    DeviceArray<T> values;
    DeviceArray<T> solved;
    DeviceArray<unsigned char> partial;
    DeviceArray<unsigned> arrived;
    DeviceArray<unsigned> ticket;
    TriangleView<T> view{};
    unsigned threads = 0;
    std::size_t shared_bytes = 0;
    bool is_complex = false;

    Scheduled(int on_device, const TriangleSchedule<T>& schedule, bool of_pairs = false)
        : device(on_device),
          items(device, schedule.items, "a triangular solve's items"),
          chunks(device, schedule.chunks, "a triangular solve's chunks"),
          rows(device, schedule.rows, "a triangular solve's order"),
          pivots(device, schedule.pivots, "a triangular solve's pivots"),
          columns(device, schedule.columns, "a triangular matrix's columns"),
          values(device, schedule.values, "a triangular matrix's values"),
          solved(device, 2 * rows.size(), "a triangular solve's elements"),
          partial(device, largest_partial * schedule.segments, "a triangular solve's long rows"),
          arrived(device, schedule.segments, "a triangular solve's long rows"),
          ticket(device, 1, "a triangular solve's ticket"),
          view{static_cast<std::int32_t>(rows.size()),
               static_cast<std::uint32_t>(items.size()),
               items.data(),
               chunks.data(),
               rows.data(),
               pivots.data(),
               columns.data(),
               values.data(),
               solved.data(),
               partial.data(),
               arrived.data(),
               ticket.data()},
          threads(triangular_threads),
          shared_bytes((static_cast<std::size_t>(schedule.largest_item) + 1) * sizeof(T)),
          is_complex(of_pairs) {
        const CurrentDevice current(device);
        arrived.fill_with_zeros();
        ticket.fill_with_zeros();
        if (solved.size() > 0)  // unsolved
            check(cudaMemsetAsync(solved.data(), 0xFF, static_cast<std::size_t>(solved.bytes()), nullptr), "cudaMemsetAsync");
        for (const Accuracy accuracy : all_accuracies)
            with_accumulator<T, TrianglesOnGpu>(accuracy, [&](auto accumulator) {
                using A = typename decltype(accumulator)::type;
                static_assert(sizeof(TrackedSum<A>) <= largest_partial);
                allow_all_shared_memory(is_complex ? solve_triangle<A, true, T> : solve_triangle<A, false, T>, device);
            });
        synchronize(device, nullptr);
    }

    void solve(const T* b, T* x, Accuracy accuracy, Stream stream, Gate gate) const override {
        const CurrentDevice current(device);
        if (view.items == 0) return;
        with_accumulator<T, TrianglesOnGpu>(accuracy, [&](auto accumulator) {
            using A = typename decltype(accumulator)::type;
            const auto kernel = is_complex ? solve_triangle<A, true, T> : solve_triangle<A, false, T>;
            kernel<<<view.items, threads, shared_bytes, stream>>>(view, b, x, gate);
            check_launch("solve_triangle");
        });
    }

    std::int64_t bytes() const override {
        return items.bytes() + chunks.bytes() + rows.bytes() + pivots.bytes() + columns.bytes() + values.bytes() +
               solved.bytes() + partial.bytes() + arrived.bytes() + ticket.bytes();
    }
};

/// Of one that has every entry.
template <class T>
struct TriangularSystem<T>::Full final : Analysis {
    int device;
    DeviceArray<T> values;
    DeviceArray<unsigned char> partial;
    FullTriangle<T> view;

    Full(int on_device, const CsrView<T>& a, Triangle triangle, Diagonal diagonal)
        : device(on_device),
          values(device, a.values, "a triangular matrix's values"),
          partial(device, 2 * largest_partial * a.rows, "a triangular solve's sums"),
          view{static_cast<std::int32_t>(a.rows), triangle == Triangle::lower, diagonal == Diagonal::stored, values.data()} {}

    void solve(const T* b, T* x, Accuracy accuracy, Stream stream, Gate gate) const override {
        const CurrentDevice current(device);
        with_accumulator<T, TrianglesOnGpu>(accuracy, [&](auto accumulator) {
            using A = typename decltype(accumulator)::type;
            static_assert(sizeof(TrackedSum<A>) <= largest_partial);
            auto* const sums = reinterpret_cast<PartialSums<A>*>(partial.data());
            for (std::int32_t first = 0; first < view.rows; first += full_steps) {
                solve_full_block<A><<<1, full_steps, 0, stream>>>(view, first, b, x, sums, gate);
                check_launch("solve_full_block");
                const std::int32_t later = view.rows - first - full_steps;
                if (later <= 0) continue;
                const unsigned blocks = static_cast<unsigned>((later + rows_subtracted - 1) / rows_subtracted);
                subtract_full_block<A><<<blocks, rows_subtracted * warp_size, 0, stream>>>(view, first, b, x, sums, gate);
                check_launch("subtract_full_block");
            }
        });
    }

    std::int64_t bytes() const override { return values.bytes() + partial.bytes(); }
};

template <class T>
TriangularSystem<T>::TriangularSystem(int device, const CsrView<T>& a, Triangle triangle, Diagonal diagonal) {
    if (is_full(a, triangle, diagonal))
        analysis_ = std::make_unique<Full>(device, a, triangle, diagonal);
    else
        analysis_ =
            std::make_unique<Scheduled>(device, schedule_triangle(a, triangle, diagonal, options_for<T>(device, a.rows)));
}

template <class T>
TriangularSystem<T>::TriangularSystem(int device, const PairedTriangle<T>& a) {
    if (a.pivots.empty())
        analysis_ = std::make_unique<Scheduled>(
            device, schedule_triangle(a.beside, a.triangle, Diagonal::unit, options_for<T>(device, a.beside.rows)));
    else
        analysis_ = std::make_unique<Scheduled>(device, schedule_pairs(a, options_for<T>(device, 2 * a.beside.rows)), true);
}

template <class T>
TriangularSystem<T>::~TriangularSystem() = default;

template <class T>
void TriangularSystem<T>::solve(const T* b, T* x, Accuracy accuracy, Stream stream, Gate gate) const {
    analysis_->solve(b, x, accuracy, stream, gate);
}

template <class T>
std::int64_t TriangularSystem<T>::bytes() const {
    return analysis_->bytes();
}

template class TriangularSystem<float>;
template class TriangularSystem<double>;

}  // namespace solver::cuda
