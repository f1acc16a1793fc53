#pragma once

/// What the steps of making levels are written with.

#include "runtime/check.cuh"
#include "runtime/for_each.cuh"
#include "runtime/traits.hpp"
#include "solver/cuda/csr.hpp"
#include "solver/cuda/memory.hpp"
#include "solver/numeric/rounding.hpp"

#include <thrust/iterator/counting_iterator.h>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace solver::cuda {

using Count = unsigned long long;  // what atomics take

/// call(scratch, bytes) as CUB's device-wide functions want it: first for the size, then for the work.
template <class Call>
void with_cub(int device, const char* purpose, const Call& call) {
    std::size_t bytes = 0;
    check(call(nullptr, bytes), "CUB", purpose);
    const DeviceArray<std::byte> scratch(device, static_cast<std::int64_t>(bytes) + 1, purpose);
    check(call(scratch.data(), bytes), "CUB", purpose);
}

/// A number that kernels change and the host reads.
class Counter {
public:
    Counter(int device, Count initial, Stream stream) : stream_(stream), place_(device, 1, "a counter") {
        place_.copy_from(std::span(&initial, 1), stream);
    }
    Count* get() const { return place_.data(); }
    Count read() const {
        Count value = 0;
        place_.copy_to(std::span(&value, 1), stream_);
        return value;
    }

private:
    Stream stream_;
    DeviceArray<Count> place_;
};

/// f(i) for all i < n.
template <class F>
void for_all(const char* name, std::int64_t n, Stream stream, const F& f) {
    launch_for_each(name, n, stream, Gate{}, f);
}

inline constexpr int threads_for_rows = 128;

/// f(i) for all i < n, one after another by each thread.
template <class F>
__global__ void __launch_bounds__(threads_for_rows) for_each_in_turn(std::int64_t n, F f) {
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * threads_for_rows;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads_for_rows + threadIdx.x; i < n; i += step) f(i);
}

/// f(i) for all i < n, where a thread goes through so many bytes that lie together: by as many threads at once as the nearest
/// cache has room for. By more, what a thread has not read yet of a line would be gone when it comes to it.
template <class F>
void for_all_long(const char* name, std::int64_t n, std::int64_t bytes_each, int device, Stream stream, const F& f) {
    if (n == 0) return;
    constexpr std::int64_t cached_bytes = 256 << 10, most_blocks = 2048 / threads_for_rows;
    const std::int64_t blocks_there =
        std::clamp<std::int64_t>(cached_bytes / (threads_for_rows * std::max<std::int64_t>(bytes_each, 1)), 1, most_blocks);
    const std::int64_t blocks =
        std::min((n + threads_for_rows - 1) / threads_for_rows, blocks_there * traits_of(device).multiprocessors);
    for_each_in_turn<<<static_cast<unsigned>(blocks), threads_for_rows, 0, stream>>>(n, f);
    check_launch(name);
}

/// Of its entries, in the mean.
template <class T>
std::int64_t bytes_of_a_row(const DeviceCsrView<T>& a) {
    constexpr auto entry_bytes = static_cast<std::int64_t>(sizeof(std::int32_t) + sizeof(T));
    return entry_bytes * a.nonzeros / std::max<std::int64_t>(a.rows, 1);
}

inline constexpr int lanes_a_row = 8;

/// f(row, whether there is one, lane) for so many lanes a row, all lanes of a warp together.
template <class F>
void for_all_rows(const char* name, std::int64_t rows, Stream stream, const F& f) {
    constexpr int rows_a_warp = 32 / lanes_a_row;
    const std::int64_t whole_warps = (rows + rows_a_warp - 1) / rows_a_warp * rows_a_warp;
    for_all(name, whole_warps * lanes_a_row, stream,
            [=] __device__(std::int64_t t) { f(t / lanes_a_row, t / lanes_a_row < rows, static_cast<int>(t % lanes_a_row)); });
}

/// The sum of term(k) from begin to end in their order, in every lane of a row: lanes make terms side by side, each adds all.
template <class Term>
__device__ double sum_in_order(std::int64_t begin, std::int64_t end, int lane, const Term& term) {
    double sum = 0;
    for (std::int64_t k = begin; __any_sync(~0u, k < end); k += lanes_a_row) {
        const double mine = k + lane < end ? term(k + lane) : 0;
        for (int other = 0; other < lanes_a_row; ++other) {
            const double next = __shfl_sync(~0u, mine, other, lanes_a_row);
            if (k + other < end) sum = add_rn(sum, next);
        }
    }
    return sum;
}

template <class T>
T read(const T* from, int device, Stream stream) {
    T value{};
    detail::copy_to_host(device, &value, from, sizeof(T), stream);
    return value;
}

/// Turns the lengths of rows, which stand at places 1 to rows, into offsets; how many entries there are.
inline std::int64_t sum_up(const DeviceArray<std::int64_t>& lengths, Stream stream) {
    const int device = lengths.device();
    const std::int64_t rows = lengths.size() - 1;
    std::int64_t* const offsets = lengths.data();
    check(cudaMemsetAsync(offsets, 0, sizeof *offsets, stream), "cudaMemsetAsync");
    if (rows == 0) return 0;
    with_cub(device, "row offsets", [&](void* scratch, std::size_t& bytes) {
        return cub::DeviceScan::InclusiveSum(scratch, bytes, offsets + 1, offsets + 1, rows, stream);
    });
    return read(offsets + rows, device, stream);
}

/// The numbers below n for which keep(number), rising.
template <class Keep>
DeviceArray<std::int32_t> numbers_with(int device, std::int64_t n, Stream stream, const Keep& keep) {
    if (n == 0) return {};
    DeviceArray<std::int32_t> numbers(device, n, "a list of rows");
    const DeviceArray<std::int64_t> found(device, 1, "the length of a list");
    with_cub(device, "a list of rows", [&](void* scratch, std::size_t& bytes) {
        return cub::DeviceSelect::If(scratch, bytes, thrust::counting_iterator<std::int32_t>(0), numbers.data(), found.data(),
                                     n, keep, stream);
    });
    const std::int64_t count = read(found.data(), device, stream);
    DeviceArray<std::int32_t> result(device, count, "a list of rows");
    check(cudaMemcpyAsync(result.data(), numbers.data(), static_cast<std::size_t>(result.bytes()), cudaMemcpyDeviceToDevice,
                          stream),
          "cudaMemcpyAsync");
    return result;
}

/// Those items of a list for which keep(item), in their order.
template <class Keep>
void keep_if(DeviceArray<std::int32_t>& items, std::int64_t& count, Stream stream, const Keep& keep) {
    const int device = items.device();
    DeviceArray<std::int32_t> kept(device, count, "a list of rows");
    const DeviceArray<std::int64_t> found(device, 1, "the length of a list");
    with_cub(device, "a list of rows", [&](void* scratch, std::size_t& bytes) {
        return cub::DeviceSelect::If(scratch, bytes, items.data(), kept.data(), found.data(), count, keep, stream);
    });
    count = read(found.data(), device, stream);
    items = std::move(kept);
}

/// The first place below n for which is_before(place) does not hold, n if there is none; it holds for all before that place.
template <class IsBefore>
__device__ std::int64_t partition_point(std::int64_t n, const IsBefore& is_before) {
    std::int64_t low = 0, high = n;
    while (low < high) {
        const std::int64_t middle = low + (high - low) / 2;
        if (is_before(middle))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/// The last place in offsets[0..n] that is at most k; offsets[0] is.
__device__ inline std::int64_t last_at_most(const std::int64_t* offsets, std::int64_t n, std::int64_t k) {
    return partition_point(n + 1, [=](std::int64_t place) { return offsets[place] <= k; }) - 1;
}

/// How many bits the numbers below n have.
inline int bits_below(std::int64_t n) { return std::bit_width(static_cast<std::uint64_t>(n > 1 ? n - 1 : 1)); }

}  // namespace solver::cuda
