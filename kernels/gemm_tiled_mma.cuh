#pragma once

/// Products by register tiles on the matrix units for double (mma.sync). Floats are converted on the way from shared memory to
/// the registers: their products are exact in double.

#include "check.cuh"
#include "gemm_tiled_copy.cuh"

#include <type_traits>

namespace solver::cuda::tiled {

/// block_rows x block_columns of C a block, warp_rows x warp_columns a warp.
template <int block_rows_, int block_columns_, int depth_, int warp_rows_, int warp_columns_, int stages_,
          int blocks_per_processor_>
struct MmaShape {
    static constexpr int block_rows = block_rows_;
    static constexpr int block_columns = block_columns_;
    static constexpr int depth = depth_;  ///< of a tile along k
    static constexpr int warp_rows = warp_rows_;
    static constexpr int warp_columns = warp_columns_;
    static constexpr int warps_down = block_rows / warp_rows;
    static constexpr int threads = 32 * warps_down * (block_columns / warp_columns);
    static constexpr int down = warp_rows / 16;  ///< products of 16 x 8 x 8
    static constexpr int across = warp_columns / 8;
    static constexpr int sums = down * across * 4;  ///< a thread
    static constexpr int stages = stages_;
    static constexpr int blocks_per_processor = blocks_per_processor_;
};

template <class S, class Shape, Major major_a, Major major_b>
struct MmaLayout {
    /// So that a warp's reads of 8 lines by 8 elements meet no bank twice.
    static constexpr int pad(Major major) { return major == Major::inner ? 8 : 16 / static_cast<int>(sizeof(S)); }
    using TileA = Tile<S, major_a, Shape::block_rows, Shape::depth, pad(major_a), Shape::threads>;
    using TileB = Tile<S, major_b, Shape::block_columns, Shape::depth, pad(major_b), Shape::threads>;
    using LoaderA = TileLoader<S, major_a, Shape::block_rows, Shape::depth, TileA>;
    using LoaderB = TileLoader<S, major_b, Shape::block_columns, Shape::depth, TileB>;
    static constexpr int stage = TileA::elements + TileB::elements;
    static constexpr int bytes = stage * Shape::stages * static_cast<int>(sizeof(S));
};

/// c += a b of 16 x 8 and 8 x 8. A thread holds, with g = lane / 4 and q = lane % 4: a = A(g, q), A(g + 8, q), A(g, q + 4),
/// A(g + 8, q + 4); b = B(q, g), B(q + 4, g); c = C(g, 2q), C(g, 2q + 1), C(g + 8, 2q), C(g + 8, 2q + 1).
__device__ __forceinline__ void multiply_add_16x8x8(double* c, const double* a, const double* b) {
#if __CUDA_ARCH__ >= 900
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
#else
    for (int half = 0; half < 2; ++half)
        for (int k = 0; k < 2; ++k)
            asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                         : "+d"(c[2 * half]), "+d"(c[2 * half + 1])
                         : "d"(a[half + 2 * k]), "d"(b[k]));
#endif
}

/// The elements at k and k + 1 of one line, which are q and q + 4 to the unit: in a sum, k may be numbered at will.
template <class Tile, Major major, class S>
__device__ __forceinline__ void load_two(double& first, double& second, const S* at) {
    struct alignas(2 * sizeof(S)) Two {
        S element[2];
    };
    if constexpr (major == Major::inner) {
        const auto two = *reinterpret_cast<const Two*>(at);
        first = two.element[0];
        second = two.element[1];
    } else {
        first = at[0];
        second = at[Tile::inner_stride];
    }
}

/// `Sums` are doubles; blocks of products are multiples of the tiles' depth.
template <class S, class Shape, class Sums, Major major_a, Major major_b>
__global__ void __launch_bounds__(Shape::threads, Shape::blocks_per_processor)
    multiply_mma(const __grid_constant__ Problem<S> problem) {
    using Layout = MmaLayout<S, Shape, major_a, major_b>;
    using TileA = typename Layout::TileA;
    using TileB = typename Layout::TileB;
    extern __shared__ __align__(16) unsigned char memory[];
    S* const shared = reinterpret_cast<S*>(memory);

    const TilePosition position = tile_of_block((problem.rows() + Shape::block_rows - 1) / Shape::block_rows,
                                                (problem.columns() + Shape::block_columns - 1) / Shape::block_columns);
    const std::int64_t row = position.row * Shape::block_rows;
    const std::int64_t column = position.column * Shape::block_columns;
    typename Layout::LoaderA loader_a(problem.a, row);
    typename Layout::LoaderB loader_b(problem.b, column);

    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int group = static_cast<int>(threadIdx.x) % 32 / 4;
    const int quarter = static_cast<int>(threadIdx.x) % 4;
    const int warp_row = warp % Shape::warps_down * Shape::warp_rows;
    const int warp_column = warp / Shape::warps_down * Shape::warp_columns;
    const S* const fragments_a = shared + (warp_row + group) * TileA::outer_stride + 2 * quarter * TileA::inner_stride;
    const S* const fragments_b =
        shared + TileA::elements + (warp_column + group) * TileB::outer_stride + 2 * quarter * TileB::inner_stride;

    const auto tiles = static_cast<int>((problem.inner() + Shape::depth - 1) / Shape::depth);
    const auto load = [&](int tile) {
        if (tile < tiles) {
            S* const to = shared + tile % Shape::stages * Layout::stage;
            loader_a.load(to, std::int64_t{tile} * Shape::depth);
            loader_b.load(to + TileA::elements, std::int64_t{tile} * Shape::depth);
        }
        close_group_of_copies();
    };
#pragma unroll
    for (int tile = 0; tile < Shape::stages - 1; ++tile) load(tile);

    Sums sums;
    const std::int64_t block = problem.block / Shape::depth;
    std::int64_t left = block;
    for (int tile = 0; tile < tiles; ++tile) {
        wait_for_copies_but<Shape::stages - 2>();
        __syncthreads();
        load(tile + Shape::stages - 1);
        const int stage = tile % Shape::stages * Layout::stage;
#pragma unroll
        for (int k = 0; k < Shape::depth; k += 8) {
            double a[Shape::down][4];
            double b[Shape::across][2];
#pragma unroll
            for (int i = 0; i < 2 * Shape::down; ++i)
                load_two<TileA, major_a>(a[i / 2][i % 2], a[i / 2][i % 2 + 2],
                                         fragments_a + stage + i * 8 * TileA::outer_stride + k * TileA::inner_stride);
#pragma unroll
            for (int j = 0; j < Shape::across; ++j)
                load_two<TileB, major_b>(b[j][0], b[j][1],
                                         fragments_b + stage + j * 8 * TileB::outer_stride + k * TileB::inner_stride);
#pragma unroll
            for (int i = 0; i < Shape::down; ++i)
#pragma unroll
                for (int step = 0; step < Shape::across; ++step) {
                    const int j = i % 2 == 0 ? step : Shape::across - 1 - step;
                    multiply_add_16x8x8(sums.partial + (i * Shape::across + j) * 4, a[i], b[j]);
                }
        }
        if constexpr (!Sums::is_plain) {
            if (--left == 0) {
                sums.end_block();
                left = block;
            }
        }
    }
    sums.finish();

#pragma unroll
    for (int i = 0; i < Shape::down; ++i)
#pragma unroll
        for (int j = 0; j < Shape::across; ++j)
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                const std::int64_t r = row + warp_row + i * 16 + e / 2 * 8 + group;
                const std::int64_t c = column + warp_column + j * 8 + 2 * quarter + e % 2;
                if (r >= problem.rows() || c >= problem.columns()) continue;
                double sum = sums.partial[(i * Shape::across + j) * 4 + e];
                if (!Sums::is_plain && sum != sum) sum = plain_sum<double, major_a, major_b>(problem, r, c);
                finish_element(problem, problem.c + r * problem.c_stride + c, sum);
            }
}

template <class S, class Shape, class Sums, Major major_a, Major major_b>
void launch_mma(const Problem<S>& problem, Stream stream) {
    constexpr int bytes = MmaLayout<S, Shape, major_a, major_b>::bytes;
    const auto kernel = multiply_mma<S, Shape, Sums, major_a, major_b>;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), "cudaFuncSetAttribute",
          "shared memory of a product");
    kernel<<<tiles_of(problem, Shape::block_rows, Shape::block_columns), Shape::threads, bytes, stream>>>(problem);
    check_launch("multiply_mma");
}

}  // namespace solver::cuda::tiled
