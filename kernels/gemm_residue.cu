#include "gemm_residue.hpp"

#include "accumulators.cuh"
#include "check.cuh"
#include "gemm_rounding.cuh"
#include "gemm_scaling.cuh"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

namespace solver::cuda {
namespace {

constexpr int threads = 256;
constexpr int warps = threads / warp_size;
constexpr int samples = 32;  ///< rows of A and columns of B that are looked at

/// What all lines of A or of B have in common.
struct LinesSummary {
    int bits;        ///< of the largest line that is an integer: ceil(log2 ||x||) minus the exponent of its last bit
    unsigned signs;  ///< 1: there are positive numbers, 2: negative ones
    int not_finite;  ///< how many lines have an Inf or a NaN
};

/// log2 of the norm that lines are scaled to, for each number of moduli; 0 where it does not do.
struct ScaleTargets {
    double log2_norm[most_moduli + 1];
};

/// A line of the sample; lost and lost_norm as in LineBounds, for each number of moduli.
struct SampledLine {
    double lost[most_moduli + 1];
    double lost_norm[most_moduli + 1];
    double relative_norm;     ///< ||x|| 2^-exponent
    double relative_largest;  ///< max |x_k| 2^-exponent
    double log2_norm;
    int exponent;  ///< of the largest number
    int usable;    ///< finite and not zero
};

/// What the choice of the moduli rests on.
struct Sample {
    SampledLine a[samples];
    SampledLine b[samples];
    double products[samples * samples];
};
struct Summaries {
    LinesSummary a;
    LinesSummary b;
};

// ------------------------------------------------------------------------------------------------- what the lines look like

/// Calls visit(line, x) for all numbers of some lines, and finish(line, ...) at the end; consecutive threads read consecutive
/// memory.
constexpr int stretch = 512;  ///< numbers of a line that one thread or one warp takes

template <class T, bool along_inner, class Accumulate>
__device__ void for_each_stretch(const Lines<T>& lines, const Accumulate& accumulate) {
    if constexpr (along_inner) {
        const std::int64_t line = std::int64_t{blockIdx.x} * warps + threadIdx.x / warp_size;
        if (line >= lines.count) return;
        const std::int64_t begin = std::int64_t{blockIdx.y} * stretch;
        const std::int64_t end = min(begin + stretch, lines.inner);
        accumulate(line, begin + threadIdx.x % warp_size, end, warp_size);
    } else {
        const std::int64_t line = std::int64_t{blockIdx.x} * threads + threadIdx.x;
        if (line >= lines.count) return;
        const std::int64_t begin = std::int64_t{blockIdx.y} * stretch;
        accumulate(line, begin, min(begin + stretch, lines.inner), 1);
    }
}

template <bool along_inner, class V, class Combine>
__device__ V combine_warp(V value, const Combine& combine) {
    if constexpr (along_inner)
        for (int mask = warp_size / 2; mask > 0; mask /= 2) value = combine(value, __shfl_xor_sync(~0u, value, mask));
    return value;
}

template <class T, bool along_inner>
__global__ void find_ranges(Lines<T> lines, LineRange* ranges) {
    for_each_stretch<T, along_inner>(lines, [&](std::int64_t line, std::int64_t k, std::int64_t end, int step) {
        unsigned long long largest = 0;
        int lowest_bit = no_lowest_bit;
        unsigned signs = 0;
#pragma unroll 4
        for (; k < end; k += step) {
            const double x = lines(line, k);
            const auto bits = static_cast<unsigned long long>(__double_as_longlong(x)) & ~(1ull << 63);
            largest = max(largest, bits);
            if (bits != 0) {
                lowest_bit = min(lowest_bit, exponent_of_last_bit(x));
                signs |= x < 0 ? 2 : 1;
            }
        }
        largest = combine_warp<along_inner>(largest, [](auto a, auto b) { return max(a, b); });
        lowest_bit = combine_warp<along_inner>(lowest_bit, [](auto a, auto b) { return min(a, b); });
        signs = combine_warp<along_inner>(signs, [](auto a, auto b) { return a | b; });
        if (along_inner && threadIdx.x % warp_size != 0) return;
        atomicMax(&ranges[line].largest, largest);
        atomicMin(&ranges[line].lowest_bit, lowest_bit);
        atomicOr(&ranges[line].signs, signs);
    });
}

__device__ double largest_of(const LineRange& range) { return __longlong_as_double(static_cast<long long>(range.largest)); }
__device__ int exponent_of(const LineRange& range) {
    const Decomposed parts(largest_of(range));
    return parts.significand == 0 ? 0 : parts.exponent + 63 - __clzll(static_cast<long long>(parts.significand));
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
        squares = combine_warp<along_inner>(squares, [](auto a, auto b) { return a + b; });
        if (along_inner && threadIdx.x % warp_size != 0) return;
        atomicAdd(&sums[line].squares, squares);
    });
}

/// ||x|| 2^-E, at least.
__device__ double relative_norm(const LineSums& sums) {
    return mul_rn(sqrt_rn(mul_rn(static_cast<double>(sums.squares), 0x1p-38)), 1 + 0x1p-50);
}

/// log2 ||x||, up to 1e-9 above it; 0 for zeros.
__device__ double log2_norm(const LineRange& range, const LineSums& sums) {
    if (sums.squares == 0) return 0;
    return add_rn(add_rn(log2(relative_norm(sums)), static_cast<double>(exponent_of(range))), 1e-9);
}

__device__ bool is_finite_line(const LineRange& range) { return range.largest < 0x7FFull << 52; }

/// Of all lines together.
__global__ void summarize(std::int64_t count, const LineRange* ranges, const LineSums* sums, LinesSummary* summary) {
    int bits = 0;
    unsigned signs = 0;
    int not_finite = 0;
    for (std::int64_t line = std::int64_t{blockIdx.x} * threads + threadIdx.x; line < count;
         line += std::int64_t{gridDim.x} * threads) {
        const LineRange range = ranges[line];
        signs |= range.signs;
        if (!is_finite_line(range)) {
            ++not_finite;
        } else if (range.largest != 0) {
            bits = max(bits, static_cast<int>(ceil(log2_norm(range, sums[line]))) - range.lowest_bit);
        }
    }
    for (int mask = warp_size / 2; mask > 0; mask /= 2) {
        bits = max(bits, __shfl_xor_sync(~0u, bits, mask));
        signs |= __shfl_xor_sync(~0u, signs, mask);
        not_finite += __shfl_xor_sync(~0u, not_finite, mask);
    }
    if (threadIdx.x % warp_size != 0) return;
    atomicMax(&summary->bits, bits);
    atomicOr(&summary->signs, signs);
    atomicAdd(&summary->not_finite, not_finite);
}

/// The largest scale with ||x 2^s|| <= 2^target.
__device__ int scale_for(double log2_target, const LineRange& range, const LineSums& sums) {
    return static_cast<int>(floor(add_rn(log2_target, -log2_norm(range, sums))));
}

// ------------------------------------------------------------------------------------------------- a sample

/// What a line of the sample loses where it is scaled to the target of each number of moduli: a block for each of both.
template <class T>
__global__ void __launch_bounds__(threads) sample_losses(Lines<T> lines, const LineRange* ranges, const LineSums* sums,
                                                         const __grid_constant__ ScaleTargets targets, SampledLine* sampled) {
    __shared__ unsigned long long lost, squares;
    const std::int64_t line = std::int64_t{blockIdx.x} * lines.count / samples;
    const int n = static_cast<int>(blockIdx.y) + least_moduli;
    const LineRange range = ranges[line];
    const bool usable = is_finite_line(range) && range.largest != 0;
    SampledLine& result = sampled[blockIdx.x];
    if (threadIdx.x == 0) lost = squares = 0;
    __syncthreads();
    if (usable && targets.log2_norm[n] > 0) {
        const int scale = scale_for(targets.log2_norm[n], range, sums[line]);
        unsigned long long own = 0, own_squares = 0;
#pragma unroll 4
        for (std::int64_t k = threadIdx.x; k < lines.inner; k += threads) {
            const ScaledInteger<most_words> x(lines(line, k), scale);
            own += x.lost;
            own_squares += lost_square(x.lost);
        }
        own = combine_warp<true>(own, [](auto a, auto b) { return a + b; });
        own_squares = combine_warp<true>(own_squares, [](auto a, auto b) { return a + b; });
        if (threadIdx.x % warp_size == 0) {
            atomicAdd(&lost, own);
            atomicAdd(&squares, own_squares);
        }
    }
    __syncthreads();
    if (threadIdx.x != 0) return;
    result.lost[n] = mul_rn(static_cast<double>(lost), 0x1p-31);
    result.lost_norm[n] = sqrt_rn(mul_rn(static_cast<double>(squares), 0x1p-38));
    if (blockIdx.y != 0) return;
    result.usable = usable ? 1 : 0;
    result.exponent = exponent_of(range);
    result.relative_norm = usable ? relative_norm(sums[line]) : 0;
    result.relative_largest = usable ? scaled(largest_of(range), -exponent_of(range)) : 0;
    result.log2_norm = usable ? log2_norm(range, sums[line]) : 0;
}

/// One warp an element: sum x_k y_k 2^-E-F of sampled lines x, y with the exponents E, F.
template <class T>
__global__ void __launch_bounds__(threads) sample_products(Lines<T> a, Lines<T> b, Sample* sample) {
    const int i = static_cast<int>(blockIdx.x);
    const int j = static_cast<int>(blockIdx.y) * warps + static_cast<int>(threadIdx.x) / warp_size;
    const std::int64_t line_a = std::int64_t{i} * a.count / samples;
    const std::int64_t line_b = std::int64_t{j} * b.count / samples;
    const int exponent_a = sample->a[i].exponent, exponent_b = sample->b[j].exponent;
    double sum = 0;
#pragma unroll 8
    for (std::int64_t k = threadIdx.x % warp_size; k < a.inner; k += warp_size)
        sum = fma_rn(scaled(a(line_a, k), -exponent_a), scaled(b(line_b, k), -exponent_b), sum);
    for (int mask = warp_size / 2; mask > 0; mask /= 2) sum = add_rn(sum, __shfl_xor_sync(~0u, sum, mask));
    if (threadIdx.x % warp_size == 0) sample->products[i * samples + j] = sum;
}

// ------------------------------------------------------------------------------------------------- residues

struct WeightTable {
    int count;
    std::int32_t modulus[most_moduli];
    float reciprocal[most_moduli];
    ByteWeights weights[most_moduli];
};

/// residues[l][line][k], zeros beyond the lines and their numbers; `padded_inner` is a multiple of tile_inner, the grid covers
/// all.
constexpr int tile_lines = 32;
constexpr int tile_inner = 128;

template <class T, int words, bool along_inner>
__global__ void __launch_bounds__(threads)
    make_residues(Lines<T> lines, const LineRange* ranges, LineSums* sums, double log2_target,
                  const __grid_constant__ WeightTable table, std::int64_t padded_lines, std::int64_t padded_inner,
                  std::int8_t* residues) {
    __shared__ T tile[tile_lines][tile_inner + 1];
    const std::int64_t first_line = std::int64_t{blockIdx.x} * tile_lines;
    const std::int64_t first_k = std::int64_t{blockIdx.y} * tile_inner;
    const int warp = static_cast<int>(threadIdx.x) / warp_size;
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    const auto load = [&](int row, int column) {
        const std::int64_t line = first_line + row, k = first_k + column;
        tile[row][column] = line < lines.count && k < lines.inner ? lines(line, k) : T(0);
    };
    if constexpr (along_inner) {
        for (int row = warp; row < tile_lines; row += warps)
#pragma unroll
            for (int i = 0; i < tile_inner / warp_size; ++i) load(row, lane + i * warp_size);
    } else {
#pragma unroll 4
        for (int column = warp; column < tile_inner; column += warps) load(lane, column);
    }
    __syncthreads();
    // Two lines at a time share what is loaded for a modulus.
    for (int row = warp; row < tile_lines / 2; row += warps) {
        std::uint32_t word[2][4][words];
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int in_tile = row + half * (tile_lines / 2);
            const std::int64_t line = first_line + in_tile;
            const bool usable = line < lines.count && is_finite_line(ranges[line]);
            const int scale = usable ? scale_for(log2_target, ranges[line], sums[line]) : 0;
            unsigned long long lost = 0, lost_squares = 0;
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const ScaledInteger<words> x(usable ? double{tile[in_tile][4 * lane + i]} : 0.0, scale);
#pragma unroll
                for (int w = 0; w < words; ++w) word[half][i][w] = x.word[w];
                lost += x.lost;
                lost_squares += lost_square(x.lost);
            }
            if (__any_sync(~0u, lost != 0)) {
                lost = combine_warp<true>(lost, [](auto a, auto b) { return a + b; });
                lost_squares = combine_warp<true>(lost_squares, [](auto a, auto b) { return a + b; });
                if (lane == 0) {
                    atomicAdd(&sums[line].lost, lost);
                    atomicAdd(&sums[line].lost_squares, lost_squares);
                }
            }
        }
        const std::int64_t step = padded_lines * padded_inner;
        std::int8_t* out = residues + (first_line + row) * padded_inner + first_k + 4 * lane;
#pragma unroll 2
        for (int l = 0; l < table.count; ++l) {
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                std::uint32_t byte[4];
#pragma unroll
                for (int i = 0; i < 4; ++i)
                    byte[i] = residue_byte(word[half][i], table.weights[l], table.modulus[l], table.reciprocal[l]);
                const std::uint32_t low = __byte_perm(byte[0], byte[1], 0x0040), high = __byte_perm(byte[2], byte[3], 0x0040);
                *reinterpret_cast<std::uint32_t*>(out + half * (tile_lines / 2) * padded_inner) =
                    __byte_perm(low, high, 0x5410);
            }
            out += step;
        }
    }
}

/// All numbers are rounded up by more than their own errors.
__global__ void make_bounds(std::int64_t count, const LineRange* ranges, const LineSums* sums, double log2_target,
                            LineBounds* bounds, std::int32_t* scales) {
    const std::int64_t line = std::int64_t{blockIdx.x} * threads + threadIdx.x;
    if (line >= count) return;
    const LineRange range = ranges[line];
    if (!is_finite_line(range)) {
        constexpr float infinity = std::numeric_limits<float>::infinity();
        bounds[line] = {infinity, infinity, infinity, infinity};
        scales[line] = 0;
        return;
    }
    const LineSums sum = sums[line];
    const int scale = scale_for(log2_target, range, sum);
    const double lost = mul_rn(static_cast<double>(sum.lost), (1 + 0x1p-50) * 0x1p-31);
    const double lost_norm = mul_rn(sqrt_rn(mul_rn(static_cast<double>(sum.lost_squares), 0x1p-38)), 1 + 0x1p-50);
    const double norm = mul_rn(add_rn(scaled(relative_norm(sum), exponent_of(range) + scale), lost_norm), 1 + 0x1p-50);
    const double largest = add_rn(scaled(largest_of(range), scale), lost != 0 ? 0.5 : 0.0);
    bounds[line] = {__double2float_ru(lost), __double2float_ru(lost_norm), __double2float_ru(norm), __double2float_ru(largest)};
    scales[line] = scale;
}

// ------------------------------------------------------------------------------------------------- the way back

__device__ __forceinline__ void store_four(double* to, const double (&x)[4]) {
    *reinterpret_cast<double2*>(to) = {x[0], x[1]};
    *reinterpret_cast<double2*>(to + 2) = {x[2], x[3]};
}
__device__ __forceinline__ void store_four(float* to, const float (&x)[4]) {
    *reinterpret_cast<float4*>(to) = {x[0], x[1], x[2], x[3]};
}

/// What reconstruct needs of rows of A or columns of B.
struct KnownLines {
    const LineBounds* bounds;
    const std::int32_t* scales;
};

/// Bytes y[l][i][j] to C. One warp takes 128 columns of a row, 4 a thread; it leaves out what it cannot prove and marks it in
/// `open`: word 4 (i columns_of_words + j / 128) + j % 4, bit j / 4 % 32.
template <class T, int limbs, bool plain, Accuracy accuracy>
__global__ void __launch_bounds__(threads)
    reconstruct(const std::uint8_t* y, std::int64_t padded_rows, std::int64_t padded_columns,
                const __grid_constant__ ReconstructionTable table, KnownLines rows, KnownLines columns, std::int64_t inner,
                OutputTask<T> task, std::uint32_t* open) {
    const std::int64_t i = blockIdx.x;
    const std::int64_t first = (std::int64_t{blockIdx.y} * threads + threadIdx.x) * 4;
    if (first >= padded_columns) return;
    std::uint64_t sum[4][limbs] = {};
    const std::uint8_t* from = y + i * padded_columns + first;
    const std::int64_t step = padded_rows * padded_columns;
#pragma unroll 3
    for (int t = 0; t < table.triples; ++t) {
        std::uint32_t four[triple];
#pragma unroll
        for (int l = 0; l < triple; ++l) {
            four[l] = triple * t + l < table.count ? __ldcs(reinterpret_cast<const std::uint32_t*>(from)) : 0;
            from += step;
        }
#pragma unroll
        for (int c = 0; c < 4; ++c) {
            std::uint32_t together = 0;  // below 3 2^24
#pragma unroll
            for (int l = 0; l < triple; ++l) together += __byte_perm(four[l], 0, 0x4440 + c) * table.triple_of[t].within[l];
#pragma unroll
            for (int j = 0; j < limbs; ++j) sum[c][j] += std::uint64_t{together} * table.triple_of[t].cofactor[j];
        }
    }
    const LineBounds row = rows.bounds[i];
    const int row_scale = rows.scales[i];
    T result[4];
    unsigned closed = 0;
#pragma unroll
    for (int c = 0; c < 4; ++c) {
        const std::int64_t j = first + c;
        if (j >= task.columns) continue;
        const SignedLimbs<limbs> integer(sum[c], table);
        const double bound = element_bound(row, columns.bounds[j]);
        const int scale = row_scale + columns.scales[j];
        if (try_element<T, limbs, plain, accuracy>(integer, bound, scale, inner, task, i, j, result[c])) closed |= 1u << c;
    }
    T* to = task.c + i * task.row_stride + first;
    if (closed == 15 && reinterpret_cast<std::uintptr_t>(to) % 16 == 0) {
        store_four(to, result);
    } else {
#pragma unroll
        for (int c = 0; c < 4; ++c)
            if ((closed >> c & 1) != 0) to[c] = result[c];
    }
    std::uint32_t* words = open + ((i * (padded_columns / 128)) + first / 128) * 4;
#pragma unroll
    for (int c = 0; c < 4; ++c) {
        const std::uint32_t marks = __ballot_sync(~0u, (closed >> c & 1) == 0 && first + c < task.columns);
        if (threadIdx.x % warp_size == 0) words[c] = marks;
    }
}

unsigned blocks_for(std::int64_t size, std::int64_t each) { return static_cast<unsigned>((size + each - 1) / each); }
std::int64_t padded(std::int64_t size, std::int64_t to) { return (size + to - 1) / to * to; }

/// What is kept of the lines of A or of B.
struct LineMemory {
    Grown<LineRange> ranges;
    Grown<LineSums> sums;
    Grown<LineBounds> bounds;
    Grown<std::int32_t> scales;
    Grown<std::int8_t> residues;

    std::int64_t bytes() const { return ranges.bytes() + sums.bytes() + bounds.bytes() + scales.bytes() + residues.bytes(); }
};

template <class T>
Lines<T> rows_of(const DenseView<T>& a) {
    return {a.data, a.rows, a.columns, a.row_stride, a.column_stride};
}

/// Calls work(std::bool_constant<whether consecutive numbers of a line are consecutive in memory>()).
template <class T, class Work>
void with_direction(const Lines<T>& lines, const Work& work) {
    if (lines.inner_stride == 1)
        work(std::true_type());
    else
        work(std::false_type());
}

template <class T>
__global__ void begin_lines(std::int64_t count, LineRange* ranges, LineSums* sums, LinesSummary* summary) {
    const std::int64_t line = std::int64_t{blockIdx.x} * threads + threadIdx.x;
    if (line == 0) *summary = {0, 0, 0};
    if (line >= count) return;
    ranges[line] = {0, no_lowest_bit, 0};
    sums[line] = {0, 0, 0};
}

template <class T>
void look_at(const Lines<T>& lines, LineMemory& memory, LinesSummary* summary, int device, Stream stream) {
    LineRange* ranges = memory.ranges.at_least(device, lines.count, "the ranges of lines");
    LineSums* sums = memory.sums.at_least(device, lines.count, "the norms of lines");
    begin_lines<T><<<blocks_for(lines.count, threads), threads, 0, stream>>>(lines.count, ranges, sums, summary);
    check_launch("begin_lines");
    with_direction(lines, [&](auto along) {
        const dim3 grid(blocks_for(lines.count, along ? warps : threads), blocks_for(lines.inner, stretch));
        find_ranges<T, along><<<grid, threads, 0, stream>>>(lines, ranges);
        check_launch("find_ranges");
        add_squares<T, along><<<grid, threads, 0, stream>>>(lines, ranges, sums);
        check_launch("add_squares");
    });
    summarize<<<std::min(blocks_for(lines.count, threads), 32u), threads, 0, stream>>>(lines.count, ranges, sums, summary);
    check_launch("summarize");
}

template <class V>
V fetch(const V* from, int device, Stream stream) {
    V value;
    detail::copy_to_host(device, &value, from, sizeof(V), stream);
    return value;
}

/// log2(2^target - sqrt(inner) / 2): rounding to integers adds at most 1/2 to each number.
double before_rounding(double log2_target, std::int64_t inner) {
    const double room = std::exp2(log2_target) - std::sqrt(static_cast<double>(inner)) / 2;
    return room > std::exp2(log2_target - 1) ? std::log2(room) : 0;
}

/// Norms such that twice the product of any two is below P: then twice the product of any row and column is.
struct Targets {
    ScaleTargets a;
    ScaleTargets b;
};
Targets scale_targets(const LinesSummary& a, const LinesSummary& b, std::int64_t inner) {
    constexpr double most = most_bits<most_words>;
    Targets targets{};
    for (int n = least_moduli; n <= most_moduli; ++n) {
        const double total = residue_system(n).log2_product - 1 - 1e-4;
        const double half = total / 2;
        double log2_a = a.bits, log2_b = b.bits;
        if (a.bits + b.bits > total) {
            log2_a = a.bits < half ? a.bits : before_rounding(b.bits < half ? total - b.bits : half, inner);
            log2_b = b.bits < half ? b.bits : before_rounding(a.bits < half ? total - a.bits : half, inner);
        }
        if (log2_a <= 0 || log2_b <= 0) continue;
        targets.a.log2_norm[n] = std::min(log2_a + 1e-6, most);
        targets.b.log2_norm[n] = std::min(log2_b + 1e-6, most);
    }
    return targets;
}

/// 2^floor(log2 x), for x > 0.
double binade(double x) { return std::ldexp(1.0, std::ilogb(x)); }

/// A sampled line, scaled to the target of n moduli.
struct ScaledLine {
    double factor;  ///< from numbers relative to the exponent of the largest
    double lost, lost_norm, norm, largest;

    ScaledLine(const SampledLine& line, int n, const ScaleTargets& targets)
        : factor(std::exp2(std::floor(targets.log2_norm[n] - line.log2_norm) + line.exponent)),
          lost(line.lost[n]),
          lost_norm(line.lost_norm[n]),
          norm(line.relative_norm * factor),
          largest(line.relative_largest * factor) {}
};

/// The probability that an element stays open which is that far from the sum of the scaled lines' products.
template <class T>
double open_probability(double bound, double size, std::int64_t inner, Accuracy accuracy) {
    constexpr double u = unit_roundoff<T>;
    if (bound == 0) return 0;
    if (size == 0) return 1;
    const double ulp = binade(size) * 2 * u;
    switch (accuracy) {
        case Accuracy::fast:  // sqrt(inner) u is what roundings make of a plain sum if they go either way
            return bound <= std::sqrt(static_cast<double>(inner)) * u * size ? 0 : 1;
        case Accuracy::compensated:  // the rounding takes up to half an ulp, and u |c| is not much more beside a power of two
            return std::clamp(1 - size * u / (ulp / 2) + 4 * bound / ulp, 0.0, 1.0);
        case Accuracy::exact:
            break;
    }
    return std::min(2 * bound / ulp, 1.0);
}

/// The share of the elements that stay open with n moduli.
template <class T>
double open_share(const Sample& sample, int n, const Targets& targets, std::int64_t inner, Accuracy accuracy) {
    double open = 0;
    std::vector<ScaledLine> columns;
    for (const SampledLine& line : sample.b) columns.emplace_back(line, n, targets.b);
    for (std::size_t i = 0; i < samples; ++i) {
        if (sample.a[i].usable == 0) continue;
        const ScaledLine a(sample.a[i], n, targets.a);
        for (std::size_t j = 0; j < samples; ++j) {
            if (sample.b[j].usable == 0) continue;
            const ScaledLine& b = columns[j];
            const double bound =
                std::min(a.lost * b.largest, a.lost_norm * b.norm) + std::min(b.lost * a.largest, b.lost_norm * a.norm);
            open +=
                open_probability<T>(bound, std::abs(sample.products[i * samples + j]) * a.factor * b.factor, inner, accuracy);
        }
    }
    return open / (samples * samples);
}

/// Rough rates of a large GPU of 2022; they decide how long a product takes and nothing else.
constexpr double products_a_second = 6e14;           ///< of residues
constexpr double element_bytes_a_second = 5e11;      ///< read for elements that are computed again
constexpr double filtered_products_a_second = 1e12;  ///< where each element is computed by itself

}  // namespace

struct ResidueRoute::Memory {
    LineMemory a, b;
    Grown<Summaries> summaries;
    Grown<Sample> sample;
    Grown<std::uint8_t> y;
    Grown<ResidueModulus> moduli;
    Grown<std::uint32_t> open;
};

ResidueRoute::ResidueRoute(int device) : device_(device), memory_(std::make_unique<Memory>()) {}
ResidueRoute::ResidueRoute(ResidueRoute&&) noexcept = default;
ResidueRoute::~ResidueRoute() = default;

std::int64_t ResidueRoute::workspace_bytes() const {
    return memory_->a.bytes() + memory_->b.bytes() + memory_->summaries.bytes() + memory_->sample.bytes() + memory_->y.bytes() +
           memory_->moduli.bytes() + memory_->open.bytes();
}

template <class T>
ResidueChoice ResidueRoute::choose(const GemmTask<T>& task, Accuracy accuracy, Stream stream) {
    const std::int64_t m = task.c.rows, n = task.c.columns, inner = task.inner();
    if (inner > most_residue_products) return {};
    const Lines<T> a = rows_of(task.a), b = rows_of(task.b.transposed());
    Summaries* summaries = memory_->summaries.at_least(device_, 1, "summaries of A and B");
    look_at(a, memory_->a, &summaries->a, device_, stream);
    look_at(b, memory_->b, &summaries->b, device_, stream);
    const Summaries summary = fetch(summaries, device_, stream);
    if (accuracy == Accuracy::fast && (summary.a.signs == 3 || summary.b.signs == 3)) return {};
    if (16 * summary.a.not_finite > m || 16 * summary.b.not_finite > n) return {};

    const Targets targets = scale_targets(summary.a, summary.b, inner);
    Sample* on_device = memory_->sample.at_least(device_, 1, "a sample of A, B and C");
    const auto sample_lines = [&](const Lines<T>& lines, LineMemory& memory, const ScaleTargets& scales, SampledLine* to) {
        constexpr unsigned candidates = most_moduli - least_moduli + 1;
        sample_losses<T>
            <<<dim3(samples, candidates), threads, 0, stream>>>(lines, memory.ranges.at_least(device_, lines.count, ""),
                                                                memory.sums.at_least(device_, lines.count, ""), scales, to);
        check_launch("sample_losses");
    };
    sample_lines(a, memory_->a, targets.a, on_device->a);
    sample_lines(b, memory_->b, targets.b, on_device->b);
    sample_products<T><<<dim3(samples, samples / warps), threads, 0, stream>>>(a, b, on_device);
    check_launch("sample_products");
    const auto sample = std::make_unique<Sample>(fetch(on_device, device_, stream));

    const double elements = static_cast<double>(m) * static_cast<double>(n);
    const auto k = static_cast<double>(inner);
    ResidueChoice best;
    double best_seconds = std::numeric_limits<double>::infinity();
    // With fewer moduli more elements are open, until those alone take longer.
    for (int count = most_moduli; count >= least_moduli; --count) {
        if (targets.a.log2_norm[count] <= 0) break;
        const double open = open_share<T>(*sample, count, targets, inner, accuracy);
        const double open_seconds = open * elements * 2 * sizeof(T) * k / element_bytes_a_second;
        const double seconds = count * elements * k / products_a_second + open_seconds;
        if (open_seconds > best_seconds) break;
        if (seconds >= best_seconds) continue;
        best_seconds = seconds;
        best = {count, targets.a.log2_norm[count], targets.b.log2_norm[count], open, 0};
    }
    if (accuracy == Accuracy::fast ? best.open_share > 0.01 : best_seconds > elements * k / filtered_products_a_second)
        return {};
    const std::int64_t lines_a = padded(m, 128), lines_b = padded(n, 256), numbers = padded(inner, 128);
    best.bytes = best.moduli * (lines_a * numbers + lines_b * numbers + lines_a * lines_b) + lines_a * lines_b / 8;
    return best;
}

namespace {

int words_for(double log2_norm) { return log2_norm <= most_bits<1> ? 1 : log2_norm <= most_bits<2> ? 2 : 3; }

/// Calls work(std::integral_constant<int, words>()).
template <class Work>
void with_words(int words, const Work& work) {
    switch (words) {
        case 1:
            return work(std::integral_constant<int, 1>());
        case 2:
            return work(std::integral_constant<int, 2>());
        default:
            return work(std::integral_constant<int, 3>());
    }
}

/// Residues of x W_l^-1 where `inverted`, else of x.
template <class T>
const std::int8_t* residues_of(const Lines<T>& lines, LineMemory& memory, const ResidueSystem& system, bool inverted,
                               double log2_target, std::int64_t padded_lines, std::int64_t padded_inner, int device,
                               Stream stream) {
    const int words = words_for(log2_target);
    WeightTable table{};
    table.count = system.count;
    for (std::size_t l = 0; l < static_cast<std::size_t>(system.count); ++l) {
        table.modulus[l] = system.modulus[l];
        table.reciprocal[l] = system.reciprocal[l];
        table.weights[l] = byte_weights(inverted ? system.inverse[l] : 1, system.modulus[l], words);
    }
    std::int8_t* residues = memory.residues.at_least(device, system.count * padded_lines * padded_inner, "residues");
    LineRange* ranges = memory.ranges.at_least(device, lines.count, "");
    LineSums* sums = memory.sums.at_least(device, lines.count, "");
    const dim3 grid(blocks_for(padded_lines, tile_lines), blocks_for(padded_inner, tile_inner));
    with_direction(lines, [&](auto along) {
        with_words(words, [&](auto count) {
            make_residues<T, count, along>
                <<<grid, threads, 0, stream>>>(lines, ranges, sums, log2_target, table, padded_lines, padded_inner, residues);
        });
    });
    check_launch("make_residues");
    make_bounds<<<blocks_for(lines.count, threads), threads, 0, stream>>>(
        lines.count, ranges, sums, log2_target, memory.bounds.at_least(device, padded_lines, "the bounds of lines"),
        memory.scales.at_least(device, padded_lines, "the scales of lines"));
    check_launch("make_bounds");
    return residues;
}

/// Calls work(std::integral_constant<int, limbs>()).
template <class Work>
void with_limbs(int limbs, const Work& work) {
    switch (limbs) {
        case 2:
            return work(std::integral_constant<int, 2>());
        case 3:
            return work(std::integral_constant<int, 3>());
        case 4:
            return work(std::integral_constant<int, 4>());
        case 5:
            return work(std::integral_constant<int, 5>());
        default:
            return work(std::integral_constant<int, 6>());
    }
}

template <class Work>
void with_mode(Accuracy accuracy, const Work& work) {
    switch (accuracy) {
        case Accuracy::fast:
            return work(std::integral_constant<Accuracy, Accuracy::fast>());
        case Accuracy::compensated:
            return work(std::integral_constant<Accuracy, Accuracy::compensated>());
        case Accuracy::exact:
            return work(std::integral_constant<Accuracy, Accuracy::exact>());
    }
}

}  // namespace

template <class T>
OpenElements ResidueRoute::multiply(const GemmTask<T>& task, Accuracy accuracy, const ResidueChoice& choice, Stream stream) {
    const std::int64_t m = task.c.rows, n = task.c.columns, inner = task.inner();
    const std::int64_t rows = padded(m, 128), columns = padded(n, 256), numbers = padded(inner, 128);
    const ResidueSystem& system = residue_system(choice.moduli);
    ResidueModulus* moduli = memory_->moduli.at_least(device_, most_moduli, "moduli");
    std::array<ResidueModulus, most_moduli> host_moduli{};
    for (std::size_t l = 0; l < static_cast<std::size_t>(system.count); ++l) {
        const auto p = static_cast<std::uint32_t>(system.modulus[l]);
        host_moduli[l] = {system.modulus[l], p == 256 ? 0 : static_cast<std::uint32_t>((std::uint64_t{1} << 32) / p + 1)};
    }
    detail::copy_to_device(device_, moduli, host_moduli.data(), sizeof(host_moduli), stream);

    const std::int8_t* a =
        residues_of(rows_of(task.a), memory_->a, system, true, choice.log2_a, rows, numbers, device_, stream);
    const std::int8_t* b =
        residues_of(rows_of(task.b.transposed()), memory_->b, system, false, choice.log2_b, columns, numbers, device_, stream);
    std::uint8_t* y = memory_->y.at_least(device_, system.count * rows * columns, "the residues of C");
    multiply_residues({rows, columns, numbers, system.count, a, b, y, moduli}, device_, stream);

    const OpenElements open{memory_->open.at_least(device_, rows * columns / 32, "marks of elements"), m, columns / 128};
    const OutputTask<T> output{task.alpha, task.beta, m, n, task.c.row_stride, task.c.data};
    const KnownLines of_rows{memory_->a.bounds.at_least(device_, m, ""), memory_->a.scales.at_least(device_, m, "")};
    const KnownLines of_columns{memory_->b.bounds.at_least(device_, n, ""), memory_->b.scales.at_least(device_, n, "")};
    const dim3 grid(static_cast<unsigned>(m), blocks_for(columns, 4 * threads));
    const bool plain = task.alpha == T(1) && task.beta == T(0);
    with_limbs(system.table.limbs, [&](auto limbs) {
        with_mode(accuracy, [&](auto mode) {
            const auto launch = [&](auto kernel) {
                kernel<<<grid, threads, 0, stream>>>(y, rows, columns, system.table, of_rows, of_columns, inner, output,
                                                     open.words);
            };
            if (plain)
                launch(reconstruct<T, limbs, true, mode>);
            else
                launch(reconstruct<T, limbs, false, mode>);
        });
    });
    check_launch("reconstruct");
    return open;
}

template ResidueChoice ResidueRoute::choose(const GemmTask<float>&, Accuracy, Stream);
template ResidueChoice ResidueRoute::choose(const GemmTask<double>&, Accuracy, Stream);
template OpenElements ResidueRoute::multiply(const GemmTask<float>&, Accuracy, const ResidueChoice&, Stream);
template OpenElements ResidueRoute::multiply(const GemmTask<double>&, Accuracy, const ResidueChoice&, Stream);

}  // namespace solver::cuda
