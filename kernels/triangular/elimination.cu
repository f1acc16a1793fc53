#include "elimination.hpp"

#include "reduce/accumulators.cuh"
#include "runtime/check.cuh"
#include "solver/cuda/memory.hpp"
#include "solver/numeric/rounding.hpp"

#include <algorithm>

namespace solver::cuda {
namespace {

constexpr int block_columns = 32;  // eliminated before what stands right of them is updated: one a lane
constexpr int panel_threads = 256;
constexpr int panel_warps = panel_threads / warp_size;
constexpr int rows_of_warp = 4;  // a step: enough blocks to keep a device busy, and few candidates for the last one
constexpr int rows_of_block = panel_warps * rows_of_warp;
static_assert(block_columns == warp_size);

__device__ __forceinline__ double less_product(double c, double l, double u) { return add_rn(c, -mul_rn(l, u)); }

/// A row that may give the pivot. Magnitudes are compared as the bits that they have.
struct Candidate {
    unsigned long long magnitude = 0;
    std::int64_t row = 0;

    __device__ void take(const Candidate& other) {
        if (other.magnitude > magnitude || (other.magnitude == magnitude && other.row < row)) *this = other;
    }
};

struct State {
    std::int64_t pivots;                ///< n until a column has none
    std::int64_t swaps[block_columns];  ///< which row was exchanged with each one of the block
    unsigned arrived;
};

struct FullElimination {
    double* elements;
    std::int64_t n;
    std::int32_t* order;
    State* state;
    Candidate* candidates;  ///< one a thread block

    __device__ double* row(std::int64_t i) const { return elements + i * n; }
    __device__ bool goes_on() const { return state->pivots == n; }
};

__device__ Candidate best_of_warp(Candidate mine) {
    for (int step = warp_size / 2; step > 0; step /= 2) {
        const Candidate other{__shfl_xor_sync(~0u, mine.magnitude, step), __shfl_xor_sync(~0u, mine.row, step)};
        mine.take(other);
    }
    return mine;
}

/// For all threads.
__device__ Candidate best_of_block(Candidate mine) {
    __shared__ Candidate of_warp[panel_warps];
    mine = best_of_warp(mine);
    if (threadIdx.x % warp_size == 0) of_warp[threadIdx.x / warp_size] = mine;
    __syncthreads();
    Candidate best = of_warp[0];
    for (int w = 1; w < panel_warps; ++w) best.take(of_warp[w]);
    __syncthreads();
    return best;
}

/// Exchanges row k and the best candidate within the block of columns that begins at `first`, a lane a column.
__device__ void exchange(const FullElimination& e, std::int64_t k, std::int64_t first, std::int64_t end) {
    Candidate best{0, k};
    for (unsigned b = threadIdx.x; b < gridDim.x; b += panel_threads) best.take(load_fresh(e.candidates + b));
    best = best_of_block(best);
    if (best.magnitude == 0) {
        if (threadIdx.x == 0) e.state->pivots = k;
        return;
    }
    if (threadIdx.x == 0) {
        e.state->swaps[k - first] = best.row;
        const std::int32_t former = e.order[k];
        e.order[k] = e.order[best.row];
        e.order[best.row] = former;
    }
    const std::int64_t j = first + threadIdx.x;
    if (best.row == k || j >= end) return;
    const double former = __ldcg(e.row(k) + j);
    e.row(k)[j] = __ldcg(e.row(best.row) + j);
    e.row(best.row)[j] = former;
}

/// Eliminates column k - 1 below its pivot within the block of columns first..end-1, if it is one of them, and finds the pivot
/// of column k, if that is one of them. A warp takes rows of its own, a lane a column.
__global__ void __launch_bounds__(panel_threads)
    eliminate_column(FullElimination e, std::int64_t k, std::int64_t first, std::int64_t end) {
    if (!e.goes_on()) return;
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    const std::int64_t j = first + lane;
    const std::int64_t pivot = k - 1;
    const bool eliminates = k > first;
    const double of_pivot_row = eliminates && j < end ? e.row(pivot)[j] : 0;
    const double divisor = __shfl_sync(~0u, of_pivot_row, static_cast<int>(pivot - first));
    Candidate best{0, k};
    const std::int64_t first_row = k + static_cast<std::int64_t>(blockIdx.x) * rows_of_block + threadIdx.x / warp_size;
    for (int r = 0; r < rows_of_warp; ++r) {
        const std::int64_t i = first_row + r * panel_warps;
        if (i >= e.n) break;  // by the whole warp
        double element = j < end ? e.row(i)[j] : 0;
        if (eliminates) {
            const double factor = div_rn(__shfl_sync(~0u, element, static_cast<int>(pivot - first)), divisor);
            if (j == pivot) element = factor;
            if (j > pivot) element = less_product(element, factor, of_pivot_row);
            if (j >= pivot && j < end) e.row(i)[j] = element;
        }
        const bool may_be_pivot = i == k || element == element;  // NaN is larger than nothing, and nothing than NaN
        if (j == k && may_be_pivot) best.take({static_cast<unsigned long long>(__double_as_longlong(fabs(element))), i});
    }
    if (k == end) return;
    best = best_of_block(best);
    if (threadIdx.x == 0) e.candidates[blockIdx.x] = best;
    if (block_comes_last(&e.state->arrived, gridDim.x)) exchange(e, k, first, end);
}

/// Exchanges the rows of a block of columns in the other columns, and finishes them where they stand right of it: a thread a
/// column.
__global__ void __launch_bounds__(panel_threads) finish_rows(FullElimination e, std::int64_t first, std::int64_t end) {
    __shared__ double lower[block_columns][block_columns + 1];
    if (!e.goes_on()) return;
    const int depth = static_cast<int>(end - first);
    for (int at = threadIdx.x; at < depth * block_columns; at += panel_threads) {
        const int i = at / block_columns, k = at % block_columns;
        lower[i][k] = k < i ? e.row(first + i)[first + k] : 0;
    }
    __syncthreads();
    const std::int64_t j = static_cast<std::int64_t>(blockIdx.x) * panel_threads + threadIdx.x;
    if (j >= e.n || (j >= first && j < end)) return;
    for (int k = 0; k < depth; ++k) {
        const std::int64_t other = e.state->swaps[k];
        if (other == first + k) continue;
        const double former = e.row(first + k)[j];
        e.row(first + k)[j] = e.row(other)[j];
        e.row(other)[j] = former;
    }
    if (j < first) return;
    double column[block_columns];  // whole blocks alone have something right of them
#pragma unroll
    for (int i = 0; i < block_columns; ++i) column[i] = e.row(first + i)[j];
#pragma unroll
    for (int k = 0; k < block_columns; ++k)
#pragma unroll
        for (int i = k + 1; i < block_columns; ++i) column[i] = less_product(column[i], lower[i][k], column[k]);
#pragma unroll
    for (int i = 1; i < block_columns; ++i) e.row(first + i)[j] = column[i];
}

constexpr int tile_size = 64, tile_side = 16;
constexpr int tile_threads = tile_side * tile_side;
constexpr int of_thread = tile_size / tile_side;  // rows and columns of a tile, `tile_side` apart

/// C -= L U below and right of a whole block of columns, a tile a thread block: products in the order of the pivots.
__global__ void __launch_bounds__(tile_threads) update_rest(FullElimination e, std::int64_t first, std::int64_t end) {
    __shared__ double left[block_columns][tile_size + 1];
    __shared__ double right[block_columns][tile_size];
    if (!e.goes_on()) return;
    const std::int64_t row = end + static_cast<std::int64_t>(blockIdx.y) * tile_size;
    const std::int64_t column = end + static_cast<std::int64_t>(blockIdx.x) * tile_size;
    for (int at = threadIdx.x; at < tile_size * block_columns; at += tile_threads) {
        const int i = at / block_columns, k = at % block_columns;
        left[k][i] = row + i < e.n ? e.row(row + i)[first + k] : 0;
        const int of_block = at / tile_size, j = at % tile_size;
        right[of_block][j] = column + j < e.n ? e.row(first + of_block)[column + j] : 0;
    }
    const int y = threadIdx.x / tile_side, x = threadIdx.x % tile_side;
    double c[of_thread][of_thread];
#pragma unroll
    for (int i = 0; i < of_thread; ++i)
#pragma unroll
        for (int j = 0; j < of_thread; ++j) {
            const std::int64_t at_row = row + y + i * tile_side, at_column = column + x + j * tile_side;
            c[i][j] = at_row < e.n && at_column < e.n ? e.row(at_row)[at_column] : 0;
        }
    __syncthreads();
#pragma unroll 4
    for (int k = 0; k < block_columns; ++k) {
        double l[of_thread], u[of_thread];
#pragma unroll
        for (int i = 0; i < of_thread; ++i) l[i] = left[k][y + i * tile_side];
#pragma unroll
        for (int j = 0; j < of_thread; ++j) u[j] = right[k][x + j * tile_side];
#pragma unroll
        for (int i = 0; i < of_thread; ++i)
#pragma unroll
            for (int j = 0; j < of_thread; ++j) c[i][j] = less_product(c[i][j], l[i], u[j]);
    }
#pragma unroll
    for (int i = 0; i < of_thread; ++i)
#pragma unroll
        for (int j = 0; j < of_thread; ++j) {
            const std::int64_t at_row = row + y + i * tile_side, at_column = column + x + j * tile_side;
            if (at_row < e.n && at_column < e.n) e.row(at_row)[at_column] = c[i][j];
        }
}

unsigned pieces(std::int64_t n, std::int64_t size) { return static_cast<unsigned>((n + size - 1) / size); }

void eliminate_block(const FullElimination& e, std::int64_t first, Stream stream) {
    const std::int64_t end = std::min<std::int64_t>(first + block_columns, e.n);
    for (std::int64_t k = first; k <= end && k < e.n; ++k) {
        eliminate_column<<<pieces(e.n - k, rows_of_block), panel_threads, 0, stream>>>(e, k, first, end);
        check_launch("the elimination of a column");
    }
    finish_rows<<<pieces(e.n, panel_threads), panel_threads, 0, stream>>>(e, first, end);
    check_launch("the rows of a block of columns");
    if (end == e.n) return;
    const unsigned tiles = pieces(e.n - end, tile_size);
    update_rest<<<dim3(tiles, tiles), tile_threads, 0, stream>>>(e, first, end);
    check_launch("the update of what is left");
}

}  // namespace

std::int64_t eliminate(int device, std::span<double> elements, std::span<std::int32_t> order, Stream stream) {
    const CurrentDevice current(device);
    const auto n = static_cast<std::int64_t>(order.size());
    const DeviceArray<double> a(device, elements, "a full matrix to be factored", stream);
    const DeviceArray<std::int32_t> rows(device, order, "the order of its rows", stream);
    const DeviceArray<Candidate> candidates(device, pieces(n, rows_of_block), "candidates for pivots");
    State state{.pivots = n, .swaps = {}, .arrived = 0};
    const DeviceArray<State> on_device(device, std::span<const State>(&state, 1), "the state of an elimination", stream);
    const FullElimination e{a.data(), n, rows.data(), on_device.data(), candidates.data()};
    for (std::int64_t first = 0; first < n; first += block_columns) eliminate_block(e, first, stream);
    on_device.copy_to(std::span(&state, 1), stream);
    if (state.pivots == n) {
        a.copy_to(elements, stream);
        rows.copy_to(order, stream);
    }
    return state.pivots;
}

}  // namespace solver::cuda
