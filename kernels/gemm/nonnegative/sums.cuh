#pragma once

/// The kernels beside the products in Strassen's algorithm: the sums of quarters, results that go to several places, and the
/// search for entries that are negative or not finite.

#include "gemm/tiled/spread.cuh"
#include "solver/numeric/rounding.hpp"
#include "solver/views.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace solver::cuda::nonnegative {

inline constexpr unsigned long long no_offender = ~0ULL;

/// Where the first entry is, by rows, that is negative, infinite or NaN: row * columns + column.
struct Watch {
    unsigned long long* first;
    bool by_rows;
    std::int64_t rows;
    std::int64_t columns;

    template <class T>
    __device__ __forceinline__ void look_at(T x, std::int64_t line, std::int64_t place) const {
        if (x >= 0 && x <= std::numeric_limits<T>::max()) return;
        const std::int64_t row = by_rows ? line : place;
        const std::int64_t column = by_rows ? place : line;
        atomicMin(first, static_cast<unsigned long long>(row * columns + column));
    }
};

/// A matrix cut into four, as lines along the index along which memory is contiguous.
template <class T>
struct Quarters {
    const T* first;       ///< of quarter 11
    std::int64_t across;  ///< from there to quarter 12
    std::int64_t down;    ///< to quarter 21
    std::int64_t stride;  ///< from line to line
    std::int64_t lines;   ///< of a quarter
    std::int64_t length;
    bool by_rows;
};

template <class T>
Quarters<T> quarters(const DenseView<T>& x) {
    const bool by_rows = x.column_stride == 1;
    return {x.data,
            x.columns / 2 * x.column_stride,
            x.rows / 2 * x.row_stride,
            by_rows ? x.row_stride : x.column_stride,
            (by_rows ? x.rows : x.columns) / 2,
            (by_rows ? x.columns : x.rows) / 2,
            by_rows};
}

/// The four sums that Winograd's variant makes of one factor, each a matrix of its own without gaps.
enum class Side { left, right };

template <class T, int vector>
struct alignas(sizeof(T) * vector) Several {
    T element[vector];
};

/// Left: S1 = A21 + A22, S2 = S1 - A11, S3 = A12 - S2, S4 = A11 - A21. Right: T1 = B12 - B11, T2 = B22 - T1, T3 = B21 - T2,
/// T4 = B22 - B12. Every entry is read once, and looked at where that is wanted.
template <class T, int vector, Side side, bool watched>
__global__ void __launch_bounds__(256) form_sums(const Quarters<T> x, T* sums, const Watch watch) {
    using Vector = Several<T, vector>;
    const std::int64_t size = x.lines * x.length;
    const std::int64_t place = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) * vector;
    if (place >= x.length) return;
    for (std::int64_t line = blockIdx.y; line < x.lines; line += gridDim.y) {
        const T* const at = x.first + line * x.stride + place;
        const auto x11 = *reinterpret_cast<const Vector*>(at);
        const auto x12 = *reinterpret_cast<const Vector*>(at + x.across);
        const auto x21 = *reinterpret_cast<const Vector*>(at + x.down);
        const auto x22 = *reinterpret_cast<const Vector*>(at + x.across + x.down);
        Vector s1, s2, s3, s4;
#pragma unroll
        for (int e = 0; e < vector; ++e) {
            const T a11 = x11.element[e], a12 = x12.element[e], a21 = x21.element[e], a22 = x22.element[e];
            if constexpr (watched) {
                const std::int64_t p = place + e;
                watch.look_at(a11, line, p);
                watch.look_at(a12, x.by_rows ? line : line + x.lines, x.by_rows ? p + x.length : p);
                watch.look_at(a21, x.by_rows ? line + x.lines : line, x.by_rows ? p : p + x.length);
                watch.look_at(a22, line + x.lines, p + x.length);
            }
            if constexpr (side == Side::left) {
                s1.element[e] = add_rn(a21, a22);
                s2.element[e] = add_rn(s1.element[e], -a11);
                s3.element[e] = add_rn(a12, -s2.element[e]);
                s4.element[e] = add_rn(a11, -a21);
            } else {
                s1.element[e] = add_rn(a12, -a11);
                s2.element[e] = add_rn(a22, -s1.element[e]);
                s3.element[e] = add_rn(a21, -s2.element[e]);
                s4.element[e] = add_rn(a22, -a12);
            }
        }
        T* const to = sums + line * x.length + place;
        *reinterpret_cast<Vector*>(to) = s1;
        *reinterpret_cast<Vector*>(to + size) = s2;
        *reinterpret_cast<Vector*>(to + 2 * size) = s3;
        *reinterpret_cast<Vector*>(to + 3 * size) = s4;
    }
}

/// Each target = value, or += value.
template <class T>
__global__ void __launch_bounds__(256)
    spread(const T* value, std::int64_t rows, std::int64_t columns, const __grid_constant__ tiled::SpreadResult<T> result) {
    const std::int64_t column = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (column >= columns) return;
    for (std::int64_t row = blockIdx.y; row < rows; row += gridDim.y) result.finish(row, column, value[row * columns + column]);
}

template <class T>
__global__ void __launch_bounds__(256) scale(T* c, std::int64_t stride, std::int64_t rows, std::int64_t columns, T beta) {
    const std::int64_t column = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (column >= columns) return;
    for (std::int64_t row = blockIdx.y; row < rows; row += gridDim.y)
        c[row * stride + column] = mul_rn(beta, c[row * stride + column]);
}

/// Looks at the part of a matrix that begins at (first_row, first_column).
template <class T>
__global__ void __launch_bounds__(256)
    look_at_part(const DenseView<T> x, std::int64_t first_row, std::int64_t first_column, const Watch watch) {
    const bool by_rows = watch.by_rows;
    const std::int64_t place = (by_rows ? first_column : first_row) + std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (place >= (by_rows ? x.columns : x.rows)) return;
    for (std::int64_t line = (by_rows ? first_row : first_column) + blockIdx.y; line < (by_rows ? x.rows : x.columns);
         line += gridDim.y)
        watch.look_at(x.data[line * (by_rows ? x.row_stride : x.column_stride) + place], line, place);
}

inline dim3 grid_for(std::int64_t length, std::int64_t lines) {
    return {static_cast<unsigned>((length + 255) / 256), static_cast<unsigned>(std::min<std::int64_t>(lines, 32768))};
}

}  // namespace solver::cuda::nonnegative
