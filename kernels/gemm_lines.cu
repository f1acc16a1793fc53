#include "gemm_lines.cuh"

#include "check.cuh"

#include <algorithm>

namespace solver::cuda {
namespace {

constexpr int stretch = 512;  ///< numbers of a line that one thread or one warp takes

/// Calls accumulate(line, first, end, step) for the calling thread's numbers of a stretch: consecutive threads read consecutive
/// memory.

template <class T, bool along_inner, class Accumulate>
__device__ void for_each_stretch(const Lines<T>& lines, const Accumulate& accumulate) {
    if constexpr (along_inner) {
        const std::int64_t line = std::int64_t{blockIdx.x} * line_warps + threadIdx.x / warp_size;
        if (line >= lines.count) return;
        const std::int64_t begin = std::int64_t{blockIdx.y} * stretch;
        const std::int64_t end = min(begin + stretch, lines.inner);
        accumulate(line, begin + threadIdx.x % warp_size, end, warp_size);
    } else {
        const std::int64_t line = std::int64_t{blockIdx.x} * line_threads + threadIdx.x;
        if (line >= lines.count) return;
        const std::int64_t begin = std::int64_t{blockIdx.y} * stretch;
        accumulate(line, begin, min(begin + stretch, lines.inner), 1);
    }
}

template <class T, bool along_inner>
__global__ void find_ranges(Lines<T> lines, LineRange* ranges) {
    for_each_stretch<T, along_inner>(lines, [&](std::int64_t line, std::int64_t k, std::int64_t end, int step) {
        unsigned long long largest = 0;
        int lowest_bit = no_lowest_bit;
#pragma unroll 4
        for (; k < end; k += step) {
            const double x = lines(line, k);
            const auto bits = static_cast<unsigned long long>(__double_as_longlong(x)) & ~(1ull << 63);
            largest = max(largest, bits);
            if (bits != 0) lowest_bit = min(lowest_bit, exponent_of_last_bit(x));
        }
        if constexpr (along_inner) {
            largest = combine_warp(largest, [](auto a, auto b) { return max(a, b); });
            lowest_bit = combine_warp(lowest_bit, [](auto a, auto b) { return min(a, b); });
            if (threadIdx.x % warp_size != 0) return;
        }
        atomicMax(&ranges[line].largest, largest);
        atomicMin(&ranges[line].lowest_bit, lowest_bit);
    });
}

template <class T, bool along_inner>
__global__ void add_squares(Lines<T> lines, const LineRange* ranges, LineSums* sums) {
    for_each_stretch<T, along_inner>(lines, [&](std::int64_t line, std::int64_t k, std::int64_t end, int step) {
        const int exponent = exponent_of(ranges[line]);
        const double first = power_of_two(-exponent / 2);
        const double second = power_of_two(-exponent - -exponent / 2);
        unsigned long long squares = 0;
#pragma unroll 4
        for (; k < end; k += step) {
            const double x = lines(line, k);
            const double v = mul_rn(mul_rn(x, first), second);
            if (x != 0) squares += static_cast<unsigned long long>(mul_rn(mul_rn(v, v), 0x1p38)) + 1;
        }
        if constexpr (along_inner) {
            squares = sum_warp(squares);
            if (threadIdx.x % warp_size != 0) return;
        }
        atomicAdd(&sums[line].squares, squares);
    });
}

/// Of all lines together.
__global__ void summarize(std::int64_t count, const LineRange* ranges, const LineSums* sums, LinesSummary* summary) {
    int bits = 0;
    int not_finite = 0;
    for (std::int64_t line = std::int64_t{blockIdx.x} * line_threads + threadIdx.x; line < count;
         line += std::int64_t{gridDim.x} * line_threads) {
        const LineRange range = ranges[line];
        if (!is_finite_line(range)) {
            ++not_finite;
        } else if (range.largest != 0) {
            bits = max(bits, static_cast<int>(ceil(log2_norm(range, sums[line]))) - range.lowest_bit);
        }
    }
    for (int mask = warp_size / 2; mask > 0; mask /= 2) {
        bits = max(bits, __shfl_xor_sync(~0u, bits, mask));
        not_finite += __shfl_xor_sync(~0u, not_finite, mask);
    }
    if (threadIdx.x % warp_size != 0) return;
    atomicMax(&summary->bits, bits);
    atomicAdd(&summary->not_finite, not_finite);
}

template <class T>
__global__ void begin_lines(std::int64_t count, LineRange* ranges, LineSums* sums, LinesSummary* summary) {
    const std::int64_t line = std::int64_t{blockIdx.x} * line_threads + threadIdx.x;
    if (line == 0) *summary = {0, 0};
    if (line >= count) return;
    ranges[line] = {0, no_lowest_bit};
    sums[line] = {0, 0, 0};
}

}  // namespace

template <class T>
void look_at(const Lines<T>& lines, LineMemory& memory, LinesSummary* summary, int device, Stream stream) {
    LineRange* ranges = memory.ranges.at_least(device, lines.count, "the ranges of lines");
    LineSums* sums = memory.sums.at_least(device, lines.count, "the norms of lines");
    begin_lines<T><<<blocks_for(lines.count, line_threads), line_threads, 0, stream>>>(lines.count, ranges, sums, summary);
    check_launch("begin_lines");
    with_direction(lines, [&](auto along) {
        const dim3 grid(blocks_for(lines.count, along ? line_warps : line_threads), blocks_for(lines.inner, stretch));
        find_ranges<T, along><<<grid, line_threads, 0, stream>>>(lines, ranges);
        check_launch("find_ranges");
        add_squares<T, along><<<grid, line_threads, 0, stream>>>(lines, ranges, sums);
        check_launch("add_squares");
    });
    summarize<<<std::min(blocks_for(lines.count, line_threads), 32u), line_threads, 0, stream>>>(lines.count, ranges, sums,
                                                                                                 summary);
    check_launch("summarize");
}

template void look_at(const Lines<float>&, LineMemory&, LinesSummary*, int, Stream);
template void look_at(const Lines<double>&, LineMemory&, LinesSummary*, int, Stream);

}  // namespace solver::cuda
