#include "triangular.hpp"

#include "runtime/check.cuh"
#include "runtime/traits.hpp"
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

}  // namespace

template <class T>
struct TriangularSystem<T>::Analysis {
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

    Analysis(int on_device, const TriangleSchedule<T>& schedule, bool of_pairs = false)
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
};

template <class T>
TriangularSystem<T>::TriangularSystem(int device, const CsrView<T>& a, Triangle triangle, Diagonal diagonal) {
    const TriangleScheduleOptions options = options_for<T>(device, a.rows);
    analysis_ = std::make_unique<Analysis>(device, schedule_triangle(a, triangle, diagonal, options));
}

template <class T>
TriangularSystem<T>::TriangularSystem(int device, const PairedTriangle<T>& a) {
    if (a.pivots.empty())
        analysis_ = std::make_unique<Analysis>(
            device, schedule_triangle(a.beside, a.triangle, Diagonal::unit, options_for<T>(device, a.beside.rows)));
    else
        analysis_ = std::make_unique<Analysis>(device, schedule_pairs(a, options_for<T>(device, 2 * a.beside.rows)), true);
}

template <class T>
TriangularSystem<T>::~TriangularSystem() = default;

template <class T>
void TriangularSystem<T>::solve(const T* b, T* x, Accuracy accuracy, Stream stream, Gate gate) const {
    const CurrentDevice current(analysis_->device);
    if (analysis_->view.items == 0) return;
    with_accumulator<T, TrianglesOnGpu>(accuracy, [&](auto accumulator) {
        using A = typename decltype(accumulator)::type;
        const auto kernel = analysis_->is_complex ? solve_triangle<A, true, T> : solve_triangle<A, false, T>;
        kernel<<<analysis_->view.items, analysis_->threads, analysis_->shared_bytes, stream>>>(analysis_->view, b, x, gate);
        check_launch("solve_triangle");
    });
}

template <class T>
std::int64_t TriangularSystem<T>::bytes() const {
    const Analysis& a = *analysis_;
    return a.items.bytes() + a.chunks.bytes() + a.rows.bytes() + a.pivots.bytes() + a.columns.bytes() + a.values.bytes() +
           a.solved.bytes() + a.partial.bytes() + a.arrived.bytes() + a.ticket.bytes();
}

template class TriangularSystem<float>;
template class TriangularSystem<double>;

}  // namespace solver::cuda
