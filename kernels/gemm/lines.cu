#include "gemm/lines.cuh"

#include "runtime/check.cuh"

#include <algorithm>

namespace solver::cuda {
namespace {

constexpr std::int64_t many_lines = 512;  ///< enough for a block for every few of them to keep the device busy

/// Rows of A or columns of B, and where to what is found.
template <class T>
struct LinesToLookAt {
    Lines<T> lines;
    int width;  ///< lines a block: 1, or as many as are `neighbours` in memory
    LineRange* ranges;
    LineSums* sums;
    LinesSummary* summary;
};
template <class T>
struct BothToLookAt {
    LinesToLookAt<T> of[2];
};

template <class T>
constexpr int neighbours = 64 / sizeof(T);

__device__ double log2_norm(const LineRange& range, const LineSums& sums) {
    if (sums.squares == 0) return 0;
    return add_rn(add_rn(log2(relative_norm(sums)), static_cast<double>(exponent_of(range))), 1e-9);
}

/// The sum of squares of numbers times 2^-exponent.
class Squares {
public:
    __device__ void begin(int exponent) {
        exponent_ = exponent;
        first_ = power_of_two(-exponent / 2);
        second_ = power_of_two(-exponent - -exponent / 2);
        sum_ = 0;
    }
    __device__ bool is_zero() const { return sum_ == 0; }
    __device__ bool is_finite() const { return sum_ <= 0x1.fffffffffffffp1023; }
    __device__ void add(double x) {
        const double v = mul_rn(mul_rn(x, first_), second_);
        sum_ = fma_rn(v, v, sum_);
    }
    /// At least sum 2^(2 exponent - 2 other) in units of 2^-38, for an `other` that is not below. Up to 2^18 roundings lose
    /// less than 2^-34 of the sum, what underflowed is less than a unit, and so is what converting it cuts off.
    __device__ unsigned long long relative_to(int other) const {
        const double sum = scaled(mul_rn(sum_, 1 + 0x1p-34), max(2 * (exponent_ - other) + 38, -2000));
        return is_zero() ? 0 : static_cast<unsigned long long>(sum) + 2;
    }

private:
    int exponent_ = 0;
    double first_ = 1, second_ = 1;
    double sum_ = 0;
};

/// What a thread knows of its numbers.
struct NumbersOfThread {
    unsigned long long largest = 0;
    int lowest_bit = no_lowest_bit;
    Squares squares;
};

/// Of the numbers begin, begin + step, ... before `end`.
template <int step, class T>
__device__ __forceinline__ NumbersOfThread look_at_numbers(const Lines<T>& lines, std::int64_t line, std::int64_t begin,
                                                           std::int64_t end) {
    constexpr int at_once = 8;
    NumbersOfThread seen;
    for (std::int64_t k = begin; k < end; k += at_once * step) {
        T numbers[at_once];  // all loads first: zeros change nothing
#pragma unroll
        for (int i = 0; i < at_once; ++i) numbers[i] = k + i * step < end ? lines(line, k + i * step) : T(0);
#pragma unroll
        for (int i = 0; i < at_once; ++i) {
            const double x = numbers[i];
            const auto bits = static_cast<unsigned long long>(__double_as_longlong(x)) & ~(1ull << 63);
            seen.largest = max(seen.largest, bits);
            if (bits == 0) continue;
            seen.lowest_bit = min(seen.lowest_bit, exponent_of_last_bit(x));
            if (seen.squares.is_zero()) seen.squares.begin(exponent_of(x));
            seen.squares.add(x);
        }
    }
    return seen;
}

/// Thread t has numbers t / width, t / width + line_threads / width, ... of line t % width of its block. Squares are relative
/// to the thread's first number that is not 0 until the largest is known; where they overflow, they are added up again.
template <int width, class T>
__device__ void look_at_lines(const LinesToLookAt<T>& task) {
    constexpr int step = line_threads / width;
    __shared__ LineRange range[width];
    __shared__ unsigned long long all_squares[width];
    const int own = static_cast<int>(threadIdx.x) % width;
    const Lines<T> lines = task.lines;
    const std::int64_t line = std::int64_t{blockIdx.x} * width + own;
    const std::int64_t end = line < lines.count ? lines.inner : 0;
    const std::int64_t begin = threadIdx.x / width;
    const bool contributes = width > 1 || threadIdx.x % warp_size == 0;
    if (threadIdx.x < width) {
        range[own] = {0, no_lowest_bit};
        all_squares[own] = 0;
    }
    __syncthreads();

    auto [largest, lowest_bit, squares] = look_at_numbers<step>(lines, line, begin, end);
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
    if (!squares.is_finite()) {
        squares.begin(exponent);
        for (std::int64_t k = begin; k < end; k += step) squares.add(lines(line, k));
    }
    unsigned long long own_squares = squares.relative_to(exponent);
    if constexpr (width == 1) own_squares = sum_warp(own_squares);
    if (contributes) atomicAdd(&all_squares[own], own_squares);
    __syncthreads();

    if (threadIdx.x >= width || line >= lines.count) return;
    LineSums sum{all_squares[own], 0, 0, 0};
    sum.log2_norm = log2_norm(range[own], sum);
    task.ranges[line] = range[own];
    task.sums[line] = sum;
    if (!is_finite_line(range[own])) {
        atomicAdd(&task.summary->not_finite, 1);
    } else if (range[own].largest != 0) {
        atomicMax(&task.summary->bits, static_cast<int>(ceil(sum.log2_norm)) - range[own].lowest_bit);
    }
}

template <class T>
__global__ void __launch_bounds__(line_threads) look_at_both(const __grid_constant__ BothToLookAt<T> both) {
    const LinesToLookAt<T>& task = both.of[blockIdx.y];
    if (std::int64_t{blockIdx.x} * task.width >= task.lines.count) return;
    if (task.width == 1)
        look_at_lines<1>(task);
    else
        look_at_lines<neighbours<T>>(task);
}

}  // namespace

template <class T>
void look_at(const Lines<T>& a, LineMemory& memory_a, const Lines<T>& b, LineMemory& memory_b, Summaries* summaries, int device,
             Stream stream) {
    const auto task_of = [&](const Lines<T>& lines, LineMemory& memory, LinesSummary* summary) {
        // Of a few long lines side by side: better many sectors of memory half used than few blocks.
        const int width = lines.inner_stride == 1 || lines.count < many_lines ? 1 : neighbours<T>;
        return LinesToLookAt<T>{lines, width, memory.ranges.at_least(device, lines.count, "the ranges of lines"),
                                memory.sums.at_least(device, lines.count, "the norms of lines"), summary};
    };
    check(cudaMemsetAsync(summaries, 0, sizeof(Summaries), stream), "cudaMemsetAsync", "summaries of A and B");
    const BothToLookAt<T> both{{task_of(a, memory_a, &summaries->a), task_of(b, memory_b, &summaries->b)}};
    const auto blocks = [](const LinesToLookAt<T>& task) { return blocks_for(task.lines.count, task.width); };
    look_at_both<T><<<dim3(std::max(blocks(both.of[0]), blocks(both.of[1])), 2), line_threads, 0, stream>>>(both);
    check_launch("look_at_both");
}

template void look_at(const Lines<float>&, LineMemory&, const Lines<float>&, LineMemory&, Summaries*, int, Stream);
template void look_at(const Lines<double>&, LineMemory&, const Lines<double>&, LineMemory&, Summaries*, int, Stream);

}  // namespace solver::cuda
