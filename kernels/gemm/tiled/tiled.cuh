#pragma once

/// What the kernels of tiled products share: the task as they see it, which tile a block makes, and how an element of C ends.

#include "gemm.hpp"
#include "solver/error.hpp"
#include "solver/numeric/rounding.hpp"

#include <cstdint>
#include <limits>
#include <string>

namespace solver::cuda::tiled {

/// Along which index an operand is contiguous: along k, or along m (A) or n (B).
enum class Major { inner, outer };

/// A or B: element (o, k) is data[o * stride + k] or data[k * stride + o].
template <class S>
struct Operand {
    const S* data;
    std::int64_t stride;
    std::int64_t outer;
    std::int64_t inner;
    bool aligned;  ///< every line begins at a multiple of 16 bytes

    template <Major major>
    __device__ S at(std::int64_t o, std::int64_t k) const {
        return major == Major::inner ? data[o * stride + k] : data[k * stride + o];
    }
};

/// The factors of a product.
template <class S>
struct Operands {
    Operand<S> a;
    Operand<S> b;
    std::int64_t block;  ///< products summed plainly

    __host__ __device__ std::int64_t rows() const { return a.outer; }
    __host__ __device__ std::int64_t columns() const { return b.outer; }
    __host__ __device__ std::int64_t inner() const { return a.inner; }
};

/// Where C = alpha A B + beta C goes: row-major, as any is after transposing the product.
template <class S>
struct ScaledResult {
    S alpha;
    S beta;
    S* c;
    std::int64_t stride;

    /// In type T, rounded to S once.
    template <class T>
    __device__ __forceinline__ void finish(std::int64_t row, std::int64_t column, T sum) const {
        S* const at = c + row * stride + column;
        T value = mul_rn(static_cast<T>(alpha), sum);
        if (beta != 0) value = fma_rn(static_cast<T>(beta), static_cast<T>(*at), value);
        *at = canonical(static_cast<S>(value));
    }
};

template <class S>
Operand<S> operand(const DenseView<S>& view) {  // outer index first
    const bool by_rows = view.column_stride == 1;
    Operand<S> result{view.data, by_rows ? view.row_stride : view.column_stride, view.rows, view.columns, false};
    const std::int64_t lines = by_rows ? view.rows : view.columns;
    result.aligned = reinterpret_cast<std::uintptr_t>(view.data) % 16 == 0 &&
                     (lines <= 1 || result.stride * static_cast<std::int64_t>(sizeof(S)) % 16 == 0);
    return result;
}

/// (A B)^T = B^T A^T
template <class S>
GemmTask<S> transposed(const GemmTask<S>& task) {
    return {task.alpha, task.b.transposed(), task.a.transposed(), task.beta, task.c.transposed()};
}

/// The number of blocks. Throws NotSupported where a grid cannot have so many.
template <class S>
unsigned tiles_of(const Operands<S>& operands, int rows, int columns) {
    const std::int64_t down = (operands.rows() + rows - 1) / rows;
    const std::int64_t across = (operands.columns() + columns - 1) / columns;
    constexpr std::int64_t most = std::numeric_limits<int>::max();
    if (down > most / across)
        throw NotSupported("product of a " + std::to_string(operands.rows()) + " x " + std::to_string(operands.inner()) +
                           " by a " + std::to_string(operands.inner()) + " x " + std::to_string(operands.columns()) +
                           " matrix: the result has more than 2^31 - 1 tiles; multiply parts of it");
    return static_cast<unsigned>(down * across);
}

struct TilePosition {
    std::int64_t row;
    std::int64_t column;
};

/// Tiles in bands of 16 rows, column by column, so that blocks that run together share strips of A and B in L2.
__device__ __forceinline__ TilePosition tile_of_block(std::int64_t rows, std::int64_t columns) {
    constexpr std::int64_t band = 16;
    const std::int64_t per_band = band * columns;
    const std::int64_t first = blockIdx.x / per_band * band;
    const std::int64_t place = blockIdx.x % per_band;
    const std::int64_t height = min(band, rows - first);
    return {first + place % height, place / height};
}

/// Finishes `count` elements, element i at place(i). The errors that compensated sums carry along are NaN once a sum has left
/// the finite numbers; a sum that ends as NaN is hence done again, plainly, which tells whether it is one.
template <Major major_a, Major major_b, bool is_plain, class T, int count, class S, class Result, class Place>
__device__ __forceinline__ void finish_elements(const Operands<S>& operands, const Result& result, const T (&sums)[count],
                                                Place&& place) {
    static_assert(count <= 64);
    std::uint64_t again = 0;
#pragma unroll
    for (int i = 0; i < count; ++i) {
        const auto [row, column] = place(i);
        if (row >= operands.rows() || column >= operands.columns()) continue;
        if (is_plain || sums[i] == sums[i])
            result.finish(row, column, sums[i]);
        else
            again |= std::uint64_t{1} << i;
    }
    if constexpr (!is_plain) {
#pragma unroll 1
        for (int i = 0; i < count; ++i) {
            if ((again >> i) % 2 == 0) continue;
            const auto [row, column] = place(i);
            T sum = 0;
#pragma unroll 1
            for (std::int64_t k = 0; k < operands.inner(); ++k)
                sum = fma_rn(static_cast<T>(operands.a.template at<major_a>(row, k)),
                             static_cast<T>(operands.b.template at<major_b>(column, k)), sum);
            result.finish(row, column, sum);
        }
    }
}

}  // namespace solver::cuda::tiled
