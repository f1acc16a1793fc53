#include "gemm/memory.cuh"

#include "runtime/check.cuh"

#include <algorithm>
#include <cmath>

namespace solver::cuda {
namespace {

/// What the sample is taken from.
template <class T>
struct SampledLines {
    Lines<T> lines;
    const LineRange* ranges;
    const LineSums* sums;

    __device__ std::int64_t line(int sample) const { return std::int64_t{sample} * lines.count / samples; }
};

/// log2 of the product of so many moduli, not above it.
struct SystemSizes {
    double log2_product[most_moduli + 1];
};

constexpr int candidates = most_moduli - least_moduli + 1;
constexpr int group_size = 7;  ///< candidates that a block looks at
constexpr int groups = candidates / group_size;
static_assert(groups * group_size == candidates);
constexpr int no_scale = 1 << 20;

/// log2(2^target - sqrt(inner) / 2): rounding to integers adds at most 1/2 to each number.
__device__ double before_rounding(double log2_target, std::int64_t inner) {
    const double room = exp2(log2_target) - sqrt_rn(static_cast<double>(inner)) / 2;
    return room > exp2(log2_target - 1) ? log2(room) : 0;
}

/// Norms such that twice the product of any two is below P: then twice the product of any row and column is.
__device__ ScaleTarget target_of(double log2_product, const Summaries& lines, std::int64_t inner) {
    constexpr double most = most_bits<most_words>;
    const double a = lines.a.bits, b = lines.b.bits;
    const double total = log2_product - 1 - 1e-4;
    const double half = total / 2;
    double log2_a = a, log2_b = b;
    if (a + b > total) {
        log2_a = a < half ? a : before_rounding(b < half ? total - b : half, inner);
        log2_b = b < half ? b : before_rounding(a < half ? total - a : half, inner);
    }
    if (log2_a <= 0 || log2_b <= 0) return {0, 0};
    return {min(log2_a + 1e-6, most), min(log2_b + 1e-6, most)};
}

/// What a line loses where it is scaled to the targets of some numbers of moduli, `first` and those after it: as scaling has
/// it, but for roundings.
template <class T>
__device__ void sample_line(const SampledLines<T>& from, const SystemSizes& sizes, double ScaleTarget::*of_these, int first,
                            const Summaries& summaries, SampledLine& result) {
    __shared__ int scales[group_size];
    __shared__ double sums[2 * group_size][line_warps];
    const std::int64_t line = from.line(static_cast<int>(blockIdx.x));
    const LineRange range = from.ranges[line];
    const LineSums known = from.sums[line];
    const bool usable = is_finite_line(range) && range.largest != 0;
    const int exponent = exponent_of(range);
    if (threadIdx.x < group_size) {
        const double target =
            target_of(sizes.log2_product[first + static_cast<int>(threadIdx.x)], summaries, from.lines.inner).*of_these;
        scales[threadIdx.x] = usable && target > 0 ? scale_for(target, known.log2_norm) : no_scale;
    }
    __syncthreads();
    double factor[group_size], lost[group_size] = {}, squares[group_size] = {};
#pragma unroll
    for (int c = 0; c < group_size; ++c) factor[c] = scales[c] == no_scale ? 0 : power_of_two(scales[c] + exponent);
    if (usable) {
#pragma unroll 4
        for (std::int64_t k = threadIdx.x; k < from.lines.inner; k += line_threads) {
            const double x = scaled(from.lines(line, k), -exponent);
#pragma unroll
            for (int c = 0; c < group_size; ++c) {
                const double integer = mul_rn(x, factor[c]);
                const double cut_off = fabs(add_rn(integer, -rint(integer)));
                lost[c] += cut_off;
                squares[c] += cut_off * cut_off;
            }
        }
    }
#pragma unroll
    for (int c = 0; c < group_size; ++c) {
        lost[c] = sum_warp(lost[c]);
        squares[c] = sum_warp(squares[c]);
        if (threadIdx.x % warp_size == 0) {
            sums[c][threadIdx.x / warp_size] = lost[c];
            sums[c + group_size][threadIdx.x / warp_size] = squares[c];
        }
    }
    __syncthreads();
    if (threadIdx.x < 2 * group_size) {
        const int n = first + static_cast<int>(threadIdx.x) % group_size;
        double sum = 0;
        for (int warp = 0; warp < line_warps; ++warp) sum += sums[threadIdx.x][warp];
        if (threadIdx.x < group_size)
            result.lost[n] = sum;
        else
            result.lost_norm[n] = sqrt_rn(sum);
    }
    if (threadIdx.x != 0 || first != least_moduli) return;
    result.usable = usable ? 1 : 0;
    result.exponent = exponent;
    result.relative_norm = usable ? relative_norm(known) : 0;
    result.relative_largest = usable ? scaled(largest_of(range), -exponent) : 0;
    result.log2_norm = usable ? known.log2_norm : 0;
}

/// A warp: sum x_k y_k 2^-E-F of lines x, y whose largest numbers have the exponents E, F.
template <class T>
__device__ double sample_product(const SampledLines<T>& a, int i, const SampledLines<T>& b, int j) {
    const std::int64_t line_a = a.line(i), line_b = b.line(j);
    const int exponent_a = exponent_of(a.ranges[line_a]), exponent_b = exponent_of(b.ranges[line_b]);
    double sum = 0;
#pragma unroll 8
    for (std::int64_t k = threadIdx.x % warp_size; k < a.lines.inner; k += warp_size)
        sum = fma_rn(scaled(a.lines(line_a, k), -exponent_a), scaled(b.lines(line_b, k), -exponent_b), sum);
    for (int mask = warp_size / 2; mask > 0; mask /= 2) sum = add_rn(sum, __shfl_xor_sync(~0u, sum, mask));
    return sum;
}

/// Blocks of row x of the grid: line x of A, line x of B, for some numbers of moduli each; then line x of A times all of B.
template <class T>
__global__ void __launch_bounds__(line_threads) take_sample(SampledLines<T> a, SampledLines<T> b, const Summaries* summaries,
                                                            const __grid_constant__ SystemSizes sizes, Sample* sample) {
    const int x = static_cast<int>(blockIdx.x), part = static_cast<int>(blockIdx.y);
    const int first = part % groups * group_size + least_moduli;
    if (part < groups) {
        sample_line(a, sizes, &ScaleTarget::log2_a, first, *summaries, sample->a[x]);
    } else if (part < 2 * groups) {
        sample_line(b, sizes, &ScaleTarget::log2_b, first, *summaries, sample->b[x]);
    } else {
        const int j = (part - 2 * groups) * line_warps + static_cast<int>(threadIdx.x) / warp_size;
        const double sum = sample_product(a, x, b, j);
        if (threadIdx.x % warp_size == 0) sample->products[x * samples + j] = sum;
    }
}

/// 2^floor(log2 x), for x > 0; 2^-1022 below.
__device__ double binade(double x) { return __longlong_as_double(max(__double_as_longlong(x) & 0x7FFll << 52, 1ll << 52)); }

/// A sampled line, scaled to the target of n moduli.
struct ScaledLine {
    double factor;  ///< from numbers relative to the exponent of the largest
    double lost, lost_norm, norm, largest;

    __device__ ScaledLine(const SampledLine& line, int n, double log2_target)
        : factor(power_of_two(static_cast<int>(floor(log2_target - line.log2_norm)) + line.exponent)),
          lost(line.lost[n]),
          lost_norm(line.lost_norm[n]),
          norm(line.relative_norm * factor),
          largest(line.relative_largest * factor) {}
};

/// The probability that an element stays open which is that far from the sum of the scaled lines' products.
template <class T>
__device__ double open_probability(double bound, double size, std::int64_t inner, Accuracy accuracy) {
    constexpr double u = unit_roundoff<T>;
    if (bound == 0) return 0;
    if (size == 0) return 1;
    const double ulp = binade(size) * 2 * u;
    switch (accuracy) {
        case Accuracy::fast:  // sqrt(inner) u is what roundings make of a plain sum if they go either way
            return bound <= sqrt_rn(static_cast<double>(inner)) * u * size ? 0 : 1;
        case Accuracy::compensated:  // the rounding takes up to half an ulp, and u |c| is not much more beside a power of two
            return min(max(1 - size * u / (ulp / 2) + 4 * bound / ulp, 0.0), 1.0);
        case Accuracy::exact:
            break;
    }
    return min(2 * bound / ulp, 1.0);
}

/// The mean over sums of the sizes that the lanes have, each as far from its value as the lane's own bound; sizes below 0 do
/// not count. Where elements are open because they are small, which one in a thousand is, no sample of a thousand would show it
/// by sizes and bounds that belong together. Scaled lines are alike, so that any size may go with any bound. By a warp.
template <class T>
__device__ double open_share(double bound, double size, std::int64_t inner, Accuracy accuracy) {
    double sum = 0;
    int count = 0;
    for (int lane = 0; lane < warp_size; ++lane) {
        const double other = __shfl_sync(~0u, size, lane);
        if (other < 0) continue;
        sum += open_probability<T>(bound, other, inner, accuracy);
        ++count;
    }
    return count == 0 ? 0 : sum / count;
}

/// A block for each number of moduli, a thread for each product of the sample: the share of the elements that stay open.
template <class T>
__global__ void __launch_bounds__(samples* samples)
    estimate_open(const Sample* sample, const Summaries* summaries, const __grid_constant__ SystemSizes sizes,
                  std::int64_t inner, Accuracy accuracy, Findings* findings) {
    static_assert(samples == warp_size);
    __shared__ double of_warp[samples];
    const int n = static_cast<int>(blockIdx.x) + least_moduli;
    const int i = static_cast<int>(threadIdx.x) / samples, j = static_cast<int>(threadIdx.x) % samples;
    const ScaleTarget target = target_of(sizes.log2_product[n], *summaries, inner);
    double bound = 0, size = -1;
    if (target.log2_a > 0 && sample->a[i].usable != 0 && sample->b[j].usable != 0) {
        const ScaledLine a(sample->a[i], n, target.log2_a), b(sample->b[j], n, target.log2_b);
        bound = min(a.lost * b.largest, a.lost_norm * b.norm) + min(b.lost * a.largest, b.lost_norm * a.norm);
        size = fabs(sample->products[threadIdx.x]) * a.factor * b.factor;
    }
    double open = open_share<T>(bound, size, inner, accuracy);
    const auto sum = [](double x) { return combine_warp(x, [](double a, double b) { return a + b; }); };
    open = sum(open);
    if (j == 0) of_warp[i] = open;
    __syncthreads();
    if (i != 0) return;
    open = sum(of_warp[j]);
    if (j != 0) return;
    findings->open[n] = open / (samples * samples);
    findings->targets[n] = target;
    if (n == least_moduli) findings->summaries = *summaries;
}

/// Seconds, as an H200 has them, for n moduli: matrix units, memory, launches and waiting. They decide how long a product takes
/// and nothing else.
double residue_seconds(double m, double n, double inner, int moduli) {
    return 1e-4 + moduli * (m * n * inner / 6.8e14 + (m * inner + n * inner + m * n) * 0.85e-12);
}

/// For an element that is computed again.
double element_seconds(double inner, std::size_t bytes_a_number) {
    return 2 * inner * static_cast<double>(bytes_a_number) / 5e11;
}

}  // namespace

template <class T>
const Findings& ResidueRoute::find_out(const GemmTask<T>& task, Ring ring, Accuracy accuracy, Stream stream) {
    Summaries* const summaries = memory_->summaries.data();
    const Lines<T> rows = rows_of(task.a), columns = columns_of(task.b, ring);
    look_at(rows, memory_->a, columns, memory_->b, summaries, device_, stream);
    const SampledLines<T> a{rows, memory_->a.ranges.data(), memory_->a.sums.data()};
    const SampledLines<T> b{columns, memory_->b.ranges.data(), memory_->b.sums.data()};

    SystemSizes sizes{};
    for (int n = least_moduli; n <= most_moduli_of(ring); ++n) sizes.log2_product[n] = residue_system(n, ring).log2_product;
    Sample* const sample = memory_->sample.data();
    take_sample<T>
        <<<dim3(samples, 2 * groups + samples / line_warps), line_threads, 0, stream>>>(a, b, summaries, sizes, sample);
    check_launch("take_sample");
    estimate_open<T><<<candidates, samples * samples, 0, stream>>>(sample, summaries, sizes, task.inner(), accuracy,
                                                                   memory_->findings.get());
    check_launch("estimate_open");
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize", "a look at A and B");
    return *memory_->findings.get();
}

template <class T>
ResidueChoice ResidueRoute::choose(const GemmTask<T>& task, Ring ring, Accuracy accuracy, double seconds_elsewhere,
                                   Stream stream) {
    const int products = products_of(ring);
    const std::int64_t m = task.c.rows, n = task.c.columns / products, inner = task.inner() / products;
    const auto rows = static_cast<double>(m), columns = static_cast<double>(n), k = static_cast<double>(inner);
    constexpr int usual = std::is_same_v<T, float> ? 10 : 17;  // looking in vain takes as long as several moduli
    if (task.inner() > most_residue_products || residue_seconds(rows, columns, k, products * usual) > seconds_elsewhere)
        return {};
    const Findings& found = find_out(task, ring, accuracy, stream);
    if (16 * found.summaries.a.not_finite > m || 16 * found.summaries.b.not_finite > n) return {};

    const double elements = products * rows * columns;
    ResidueChoice best;
    double best_seconds = seconds_elsewhere;
    // With fewer moduli more elements are open, until those alone take longer.
    for (int count = is_plain(task) ? most_moduli_of(ring) : most_affine_moduli_of(ring); count >= least_moduli; --count) {
        if (found.targets[count].log2_a <= 0) break;
        const double open_seconds = found.open[count] * elements * element_seconds(products * k, sizeof(T));
        if (open_seconds > best_seconds) break;
        const double seconds = residue_seconds(rows, columns, k, products * count) + open_seconds;
        if (seconds >= best_seconds) continue;
        best_seconds = seconds;
        best = {count, found.targets[count].log2_a, found.targets[count].log2_b, 0};
    }
    if (best.moduli == 0) return {};
    const std::int64_t lines_a = padded(m, 128), lines_b = padded(n, 256), numbers = padded(inner, 128);
    best.bytes = products * (best.moduli * (lines_a * numbers + lines_b * numbers + lines_a * lines_b) + lines_a * lines_b / 8);
    return best;
}

template ResidueChoice ResidueRoute::choose(const GemmTask<float>&, Ring, Accuracy, double, Stream);
template ResidueChoice ResidueRoute::choose(const GemmTask<double>&, Ring, Accuracy, double, Stream);

}  // namespace solver::cuda
