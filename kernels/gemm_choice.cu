#include "gemm_memory.cuh"

#include "check.cuh"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

namespace solver::cuda {
namespace {

/// What a line of the sample loses where it is scaled to the target of each number of moduli: a block for each of both.
template <class T>
__global__ void __launch_bounds__(line_threads)
    sample_losses(Lines<T> lines, const LineRange* ranges, const LineSums* sums, const __grid_constant__ ScaleTargets targets,
                  SampledLine* sampled) {
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
        for (std::int64_t k = threadIdx.x; k < lines.inner; k += line_threads) {
            const ScaledInteger<most_words> x(lines(line, k), scale);
            own += x.lost;
            own_squares += lost_square(x.lost);
        }
        own = sum_warp(own);
        own_squares = sum_warp(own_squares);
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
__global__ void __launch_bounds__(line_threads) sample_products(Lines<T> a, Lines<T> b, Sample* sample) {
    const int i = static_cast<int>(blockIdx.x);
    const int j = static_cast<int>(blockIdx.y) * line_warps + static_cast<int>(threadIdx.x) / warp_size;
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

/// Seconds, as an H200 has them, for n moduli: matrix units, memory, launches and waiting. They decide how long a product takes
/// and nothing else.
double residue_seconds(double m, double n, double inner, int moduli) {
    return 3.5e-4 + moduli * (m * n * inner / 6.8e14 + (m * inner + n * inner + m * n) * 0.85e-12);
}

/// For an element that is computed again.
double element_seconds(double inner, std::size_t bytes_a_number) {
    return 2 * inner * static_cast<double>(bytes_a_number) / 5e11;
}

}  // namespace

template <class T>
ResidueChoice ResidueRoute::choose(const GemmTask<T>& task, Accuracy accuracy, double seconds_elsewhere, Stream stream) {
    const std::int64_t m = task.c.rows, n = task.c.columns, inner = task.inner();
    const auto rows = static_cast<double>(m), columns = static_cast<double>(n), k = static_cast<double>(inner);
    constexpr int fewest = std::is_same_v<T, float> ? 6 : 12;  // but for matrices of small integers
    if (inner > most_residue_products || residue_seconds(rows, columns, k, fewest) > seconds_elsewhere) return {};
    const Lines<T> a = rows_of(task.a), b = rows_of(task.b.transposed());
    Summaries* summaries = memory_->summaries.at_least(device_, 1, "summaries of A and B");
    look_at(a, memory_->a, &summaries->a, device_, stream);
    look_at(b, memory_->b, &summaries->b, device_, stream);
    const Summaries summary = fetch(summaries, device_, stream);
    if (16 * summary.a.not_finite > m || 16 * summary.b.not_finite > n) return {};

    const Targets targets = scale_targets(summary.a, summary.b, inner);
    Sample* on_device = memory_->sample.at_least(device_, 1, "a sample of A, B and C");
    check(cudaMemsetAsync(on_device, 0, sizeof(Sample), stream), "cudaMemsetAsync", "a sample");
    const auto sample_lines = [&](const Lines<T>& lines, LineMemory& memory, const ScaleTargets& scales, SampledLine* to) {
        constexpr unsigned candidates = most_moduli - least_moduli + 1;
        sample_losses<T><<<dim3(samples, candidates), line_threads, 0, stream>>>(
            lines, memory.ranges.at_least(device_, lines.count, ""), memory.sums.at_least(device_, lines.count, ""), scales,
            to);
        check_launch("sample_losses");
    };
    sample_lines(a, memory_->a, targets.a, on_device->a);
    sample_lines(b, memory_->b, targets.b, on_device->b);
    sample_products<T><<<dim3(samples, samples / line_warps), line_threads, 0, stream>>>(a, b, on_device);
    check_launch("sample_products");
    const auto sample = std::make_unique<Sample>(fetch(on_device, device_, stream));

    const double elements = rows * columns;
    ResidueChoice best;
    double best_seconds = seconds_elsewhere;
    // With fewer moduli more elements are open, until those alone take longer.
    for (int count = is_plain(task) ? most_moduli : most_affine_moduli; count >= least_moduli; --count) {
        if (targets.a.log2_norm[count] <= 0) break;
        const double open = open_share<T>(*sample, count, targets, inner, accuracy);
        const double open_seconds = open * elements * element_seconds(k, sizeof(T));
        if (open_seconds > best_seconds) break;
        const double seconds = residue_seconds(rows, columns, k, count) + open_seconds;
        if (seconds >= best_seconds) continue;
        best_seconds = seconds;
        best = {count, targets.a.log2_norm[count], targets.b.log2_norm[count], 0};
    }
    if (best.moduli == 0) return {};
    const std::int64_t lines_a = padded(m, 128), lines_b = padded(n, 256), numbers = padded(inner, 128);
    best.bytes = best.moduli * (lines_a * numbers + lines_b * numbers + lines_a * lines_b) + lines_a * lines_b / 8;
    return best;
}

template ResidueChoice ResidueRoute::choose(const GemmTask<float>&, Accuracy, double, Stream);
template ResidueChoice ResidueRoute::choose(const GemmTask<double>&, Accuracy, double, Stream);

}  // namespace solver::cuda
