#pragma once

/// Products by register tiles on the matrix units for double (mma.sync). Floats are converted on the way from shared memory to
/// the registers: their products are exact in double.

#include "gemm/tiled/pipeline.cuh"
#include "runtime/check.cuh"

namespace solver::cuda::tiled {

/// block_rows x block_columns of C a block, warp_rows x warp_columns a warp.
template <int block_rows_, int block_columns_, int depth_, int warp_rows_, int warp_columns_, int stages_,
          int blocks_per_processor_>
struct MmaShape {
    static constexpr int block_rows = block_rows_;
    static constexpr int block_columns = block_columns_;
    static constexpr int depth = depth_;  ///< of a tile along k
    static constexpr int step_depth = 4;  ///< of the instruction
    static constexpr int warp_rows = warp_rows_;
    static constexpr int warp_columns = warp_columns_;
    static constexpr int warps_down = block_rows / warp_rows;
    static constexpr int threads = 32 * warps_down * (block_columns / warp_columns);
    static constexpr int down = warp_rows / 16;  ///< instructions
    static constexpr int across = warp_columns / 8;
    static constexpr int sums = down * across * 4;  ///< a thread
    static constexpr int stages = stages_;
    static constexpr int blocks_per_processor = blocks_per_processor_;
};

template <class S, class Shape, Major major_a, Major major_b, class Sums>
struct MmaLayout {
    /// So that a warp's reads of 8 by 4 elements meet no bank twice.
    static constexpr int pad(Major major) { return major == Major::inner || sizeof(S) == 8 ? 4 : 8; }
    using LoaderA = StraightLoader<S, major_a, Shape::block_rows, Shape::depth, pad(major_a), Shape::threads>;
    using LoaderB = StraightLoader<S, major_b, Shape::block_columns, Shape::depth, pad(major_b), Shape::threads>;
    static constexpr int size_a = LoaderA::Tile::elements;
    static constexpr int stage = size_a + LoaderB::Tile::elements;
    static constexpr int tiles_bytes = stage * Shape::stages * static_cast<int>(sizeof(S));
    static constexpr int bytes = tiles_bytes + Sums::shared_size * Shape::threads * static_cast<int>(sizeof(double));
};

/// c += a b of 16 x 4 and 4 x 8. A thread holds, with g = lane / 4 and q = lane % 4: a = A(g, q), A(g + 8, q); b = B(q, g);
/// c = C(g, 2q), C(g, 2q + 1), C(g + 8, 2q), C(g + 8, 2q + 1).
__device__ __forceinline__ void multiply_add(double* c, const double (&a)[2], double b) {
#if __CUDA_ARCH__ >= 900
    asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(a[0]), "d"(a[1]), "d"(b));
#else
    for (int half = 0; half < 2; ++half)
        asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
            : "+d"(c[2 * half]), "+d"(c[2 * half + 1])
            : "d"(a[half]), "d"(b));
#endif
}

/// The operands of a warp's instructions at one step along k, and of the next: a and b of multiply_add, for every 16 rows
/// and 8 columns.
template <class S, class Shape, class Layout>
struct MmaFragments {
    using LoaderA = typename Layout::LoaderA;
    using LoaderB = typename Layout::LoaderB;

    const S* from_a;  ///< the thread's first elements in a stage
    const S* from_b;
    S a[2][Shape::down][2];
    S b[2][Shape::across];

    __device__ __forceinline__ void fetch(int to, int stage, int k) {
#pragma unroll
        for (int i = 0; i < Shape::down; ++i)
#pragma unroll
            for (int e = 0; e < 2; ++e)
                a[to][i][e] = from_a[stage + (i * 16 + e * 8) * LoaderA::outer_stride + k * LoaderA::inner_stride];
#pragma unroll
        for (int j = 0; j < Shape::across; ++j)
            b[to][j] = from_b[stage + j * 8 * LoaderB::outer_stride + k * LoaderB::inner_stride];
    }

    __device__ __forceinline__ void multiply(int now, double* sums) const {
#pragma unroll
        for (int i = 0; i < Shape::down; ++i) {
            const double row[] = {static_cast<double>(a[now][i][0]), static_cast<double>(a[now][i][1])};
#pragma unroll
            for (int step = 0; step < Shape::across; ++step) {
                const int j = i % 2 == 0 ? step : Shape::across - 1 - step;
                multiply_add(sums + (i * Shape::across + j) * 4, row, static_cast<double>(b[now][j]));
            }
        }
    }
};

/// `Sums` are doubles; blocks of products are multiples of the tiles' depth.
template <class S, class Shape, class Sums, Major major_a, Major major_b, class Result>
__global__ void __launch_bounds__(Shape::threads, Shape::blocks_per_processor)
    multiply_mma(const __grid_constant__ Operands<S> operands, const __grid_constant__ Result result) {
    using Layout = MmaLayout<S, Shape, major_a, major_b, Sums>;
    using LoaderA = typename Layout::LoaderA;
    using LoaderB = typename Layout::LoaderB;
    constexpr int step_depth = Shape::step_depth;
    extern __shared__ __align__(16) unsigned char memory[];
    S* const shared = reinterpret_cast<S*>(memory);

    const TilePosition position = tile_of_block((operands.rows() + Shape::block_rows - 1) / Shape::block_rows,
                                                (operands.columns() + Shape::block_columns - 1) / Shape::block_columns);
    const std::int64_t row = position.row * Shape::block_rows;
    const std::int64_t column = position.column * Shape::block_columns;
    TilePipeline<S, Layout, Shape::stages, Shape::depth> pipeline(operands, shared, row, column);

    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int group = static_cast<int>(threadIdx.x) % 32 / 4;
    const int quarter = static_cast<int>(threadIdx.x) % 4;
    const int warp_row = warp % Shape::warps_down * Shape::warp_rows;
    const int warp_column = warp / Shape::warps_down * Shape::warp_columns;
    MmaFragments<S, Shape, Layout> fragments;
    fragments.from_a = shared + (warp_row + group) * LoaderA::outer_stride + quarter * LoaderA::inner_stride;
    fragments.from_b =
        shared + Layout::size_a + (warp_column + group) * LoaderB::outer_stride + quarter * LoaderB::inner_stride;

    pipeline.start();
    Sums sums(reinterpret_cast<double*>(memory + Layout::tiles_bytes));
    int stage = 0;
    pipeline.wait_for_next();
    fragments.fetch(0, stage, 0);
    // Fragments are read one step ahead, across tiles, too.
    static_assert(Shape::depth / step_depth % 2 == 0);
    multiply_tiles(sums, pipeline.tiles(), static_cast<int>(operands.block / Shape::depth), [&](int tile) {
        const int next = pipeline.after(stage);
        pipeline.load_behind(tile);
#pragma unroll
        for (int k = 0; k < Shape::depth; k += step_depth) {
            const int now = k / step_depth % 2;
            if (k + step_depth == Shape::depth) {
                pipeline.wait_for_next();
                fragments.fetch(0, next, 0);
            } else {
                fragments.fetch(1 - now, stage, k + step_depth);
            }
            fragments.multiply(now, sums.partial);
        }
        stage = next;
    });
    sums.finish();

    finish_elements<major_a, major_b, Sums::is_plain>(operands, result, sums.partial, [&](int i) {
        const int tile = i / 4;
        return TilePosition{row + warp_row + tile / Shape::across * 16 + i % 4 / 2 * 8 + group,
                            column + warp_column + tile % Shape::across * 8 + 2 * quarter + i % 2};
    });
}

template <class S, class Shape, class Sums, Major major_a, Major major_b, class Result>
void launch_mma(const Operands<S>& operands, const Result& result, Stream stream) {
    constexpr int bytes = MmaLayout<S, Shape, major_a, major_b, Sums>::bytes;
    const auto kernel = multiply_mma<S, Shape, Sums, major_a, major_b, Result>;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), "cudaFuncSetAttribute",
          "shared memory of a product");
    kernel<<<tiles_of(operands, Shape::block_rows, Shape::block_columns), Shape::threads, bytes, stream>>>(operands, result);
    check_launch("multiply_mma");
}

}  // namespace solver::cuda::tiled
