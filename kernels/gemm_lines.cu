#include "gemm_lines.cuh"

#include "check.cuh"

namespace solver::cuda {
namespace {

constexpr std::int64_t many_lines = 512;  ///< enough for a block for every few of them to keep the device busy

/// Ranges and norms of `width` lines a block, which are neighbours in memory unless that is 1: thread t has numbers t / width,
/// t / width + line_threads / width, ... of line t % width.
template <class T, int width>
__global__ void __launch_bounds__(line_threads)
    look_at_lines(Lines<T> lines, LineRange* ranges, LineSums* sums, LinesSummary* summary) {
    constexpr int step = line_threads / width;
    __shared__ LineRange range[width];
    __shared__ unsigned long long all_squares[width];
    const int own = static_cast<int>(threadIdx.x) % width;
    const std::int64_t line = std::int64_t{blockIdx.x} * width + own;
    const std::int64_t end = line < lines.count ? lines.inner : 0;
    const std::int64_t begin = threadIdx.x / width;
    const bool contributes = width > 1 || threadIdx.x % warp_size == 0;
    if (threadIdx.x < width) {
        range[own] = {0, no_lowest_bit};
        all_squares[own] = 0;
    }
    __syncthreads();

    unsigned long long largest = 0;
    int lowest_bit = no_lowest_bit;
#pragma unroll 8
    for (std::int64_t k = begin; k < end; k += step) {
        const double x = lines(line, k);
        const auto bits = static_cast<unsigned long long>(__double_as_longlong(x)) & ~(1ull << 63);
        largest = max(largest, bits);
        if (bits != 0) lowest_bit = min(lowest_bit, exponent_of_last_bit(x));
    }
    if constexpr (width == 1) {
        largest = combine_warp(largest, [](auto a, auto b) { return max(a, b); });
        lowest_bit = combine_warp(lowest_bit, [](auto a, auto b) { return min(a, b); });
    }
    if (contributes) {
        atomicMax(&range[own].largest, largest);
        atomicMin(&range[own].lowest_bit, lowest_bit);
    }
    __syncthreads();

    const int exponent = exponent_of(range[own]);
    const double first = power_of_two(-exponent / 2);
    const double second = power_of_two(-exponent - -exponent / 2);
    unsigned long long squares = 0;
#pragma unroll 8
    for (std::int64_t k = begin; k < end; k += step) {
        const double x = lines(line, k);
        const double v = mul_rn(mul_rn(x, first), second);
        if (x != 0) squares += static_cast<unsigned long long>(mul_rn(mul_rn(v, v), 0x1p38)) + 1;
    }
    if constexpr (width == 1) squares = sum_warp(squares);
    if (contributes) atomicAdd(&all_squares[own], squares);
    __syncthreads();

    if (threadIdx.x >= width || line >= lines.count) return;
    const LineSums sum{all_squares[own], 0, 0};
    ranges[line] = range[own];
    sums[line] = sum;
    if (!is_finite_line(range[own])) {
        atomicAdd(&summary->not_finite, 1);
    } else if (range[own].largest != 0) {
        atomicMax(&summary->bits, static_cast<int>(ceil(log2_norm(range[own], sum))) - range[own].lowest_bit);
    }
}

}  // namespace

template <class T>
void look_at(const Lines<T>& lines, LineMemory& memory, LinesSummary* summary, int device, Stream stream) {
    LineRange* ranges = memory.ranges.at_least(device, lines.count, "the ranges of lines");
    LineSums* sums = memory.sums.at_least(device, lines.count, "the norms of lines");
    const auto look = [&](auto kernel, int width) {
        kernel<<<blocks_for(lines.count, width), line_threads, 0, stream>>>(lines, ranges, sums, summary);
        check_launch("look_at_lines");
    };
    // A few long lines that are side by side: better many sectors of memory half used than few blocks.
    constexpr int neighbours = 64 / sizeof(T);
    if (lines.inner_stride == 1 || lines.count < many_lines)
        look(look_at_lines<T, 1>, 1);
    else
        look(look_at_lines<T, neighbours>, neighbours);
}

template void look_at(const Lines<float>&, LineMemory&, LinesSummary*, int, Stream);
template void look_at(const Lines<double>&, LineMemory&, LinesSummary*, int, Stream);

}  // namespace solver::cuda
