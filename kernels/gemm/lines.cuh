#pragma once

/// Rows of A and columns of B as kernels see them, and what the host keeps of them.

#include "gemm/residue/residue.hpp"
#include "gemm/residue/scaling.cuh"
#include "reduce/accumulators.cuh"

#include <type_traits>

namespace solver::cuda {

/// Of the kernels that read lines.
inline constexpr int line_threads = 256;
inline constexpr int line_warps = line_threads / warp_size;

inline std::int64_t padded(std::int64_t size, std::int64_t to) { return (size + to - 1) / to * to; }
inline unsigned blocks_for(std::int64_t size, std::int64_t each) { return static_cast<unsigned>((size + each - 1) / each); }

/// What all lines of A or of B have in common.
struct LinesSummary {
    int bits;        ///< of the largest line that is an integer: ceil(log2 ||x||) minus the exponent of its last bit
    int not_finite;  ///< how many lines have an Inf or a NaN
};

struct Summaries {
    LinesSummary a;
    LinesSummary b;
};

/// All lanes' values combined, in each of them.
template <class V, class Combine>
__device__ V combine_warp(V value, const Combine& combine) {
    for (int mask = warp_size / 2; mask > 0; mask /= 2) value = combine(value, __shfl_xor_sync(~0u, value, mask));
    return value;
}
template <class V>
__device__ V sum_warp(V value) {
    return combine_warp(value, [](V a, V b) { return a + b; });
}

__device__ inline double largest_of(const LineRange& range) {
    return __longlong_as_double(static_cast<long long>(range.largest));
}
/// floor(log2 |x|); 0 for 0.
__device__ inline int exponent_of(double x) {
    const Decomposed parts(x);
    return parts.significand == 0 ? 0 : parts.exponent + 63 - __clzll(static_cast<long long>(parts.significand));
}
__device__ inline int exponent_of(const LineRange& range) { return exponent_of(largest_of(range)); }

/// ||x|| 2^-E, at least.
__device__ inline double relative_norm(const LineSums& sums) {
    return mul_rn(sqrt_rn(mul_rn(static_cast<double>(sums.squares), 0x1p-38)), 1 + 0x1p-50);
}

__device__ inline bool is_finite_line(const LineRange& range) { return range.largest < 0x7FFull << 52; }

/// The largest scale with ||x 2^s|| <= 2^target.
__device__ inline int scale_for(double log2_target, double log2_norm) {
    return static_cast<int>(floor(add_rn(log2_target, -log2_norm)));
}

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

/// The columns of B; of Gaussian integers those of real parts alone, since the others have the same numbers but for signs and
/// order.
template <class T>
Lines<T> columns_of(const DenseView<T>& b, Ring ring) {
    const std::int64_t step = products_of(ring);
    return {b.data, b.columns / step, b.rows, step * b.column_stride, b.row_stride};
}

/// Finds what scaling needs to know of all rows of A and columns of B.
template <class T>
void look_at(const Lines<T>& a, LineMemory& memory_a, const Lines<T>& b, LineMemory& memory_b, Summaries* summaries, int device,
             Stream stream);

}  // namespace solver::cuda
