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

/// A product with C row-major, as any product is after transposing at most.
template <class S>
struct Problem {
    Operand<S> a;
    Operand<S> b;
    S alpha;
    S beta;
    S* c;
    std::int64_t c_stride;
    std::int64_t block;  ///< products summed plainly

    __host__ __device__ std::int64_t rows() const { return a.outer; }
    __host__ __device__ std::int64_t columns() const { return b.outer; }
    __host__ __device__ std::int64_t inner() const { return a.inner; }
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

template <class S>
Major major(const DenseView<S>& view) {
    return view.column_stride == 1 ? Major::inner : Major::outer;
}

/// (A B)^T = B^T A^T
template <class S>
GemmTask<S> transposed(const GemmTask<S>& task) {
    return {task.alpha, task.b.transposed(), task.a.transposed(), task.beta, task.c.transposed()};
}

/// The number of blocks. Throws NotSupported where a grid cannot have so many.
template <class S>
unsigned tiles_of(const Problem<S>& problem, int rows, int columns) {
    const std::int64_t down = (problem.rows() + rows - 1) / rows;
    const std::int64_t across = (problem.columns() + columns - 1) / columns;
    constexpr std::int64_t most = std::numeric_limits<int>::max();
    if (down > most / across)
        throw NotSupported("product of a " + std::to_string(problem.rows()) + " x " + std::to_string(problem.inner()) +
                           " by a " + std::to_string(problem.inner()) + " x " + std::to_string(problem.columns()) +
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

/// The sum of the products of one element, plainly: for the few sums that left the finite numbers on the way, where the errors
/// that compensated sums carry along are NaN and only this says whether the result is.
template <class T, Major major_a, Major major_b, class S>
__device__ __noinline__ T plain_sum(const Problem<S>& problem, std::int64_t row, std::int64_t column) {
    T sum = 0;
    for (std::int64_t k = 0; k < problem.inner(); ++k)
        sum = fma_rn(static_cast<T>(problem.a.template at<major_a>(row, k)),
                     static_cast<T>(problem.b.template at<major_b>(column, k)), sum);
    return sum;
}

/// C_ij = alpha sum + beta C_ij in type T, rounded to S.
template <class T, class S>
__device__ __forceinline__ void finish_element(const Problem<S>& problem, S* c, T sum) {
    T value = mul_rn(static_cast<T>(problem.alpha), sum);
    if (problem.beta != 0) value = fma_rn(static_cast<T>(problem.beta), static_cast<T>(*c), value);
    *c = canonical(static_cast<S>(value));
}

}  // namespace solver::cuda::tiled
