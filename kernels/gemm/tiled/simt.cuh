#pragma once

/// Products by register tiles on the ordinary arithmetic units: every thread makes a small tile of C from fragments that it
/// reads from shared memory, 16 bytes at a time, while the next tiles of A and B arrive there.

#include "gemm/tiled/pipeline.cuh"
#include "runtime/check.cuh"

namespace solver::cuda::tiled {

/// block_rows x block_columns of C a block, warp_rows x warp_columns a warp, whose lanes stand in lane_rows rows.
template <int block_rows_, int block_columns_, int depth_, int warp_rows, int warp_columns, int lane_rows_, int stages_,
          int blocks_per_processor_>
struct SimtShape {
    static constexpr int block_rows = block_rows_;
    static constexpr int block_columns = block_columns_;
    static constexpr int depth = depth_;  ///< of a tile along k
    static constexpr int lane_rows = lane_rows_;
    static constexpr int lane_columns = 32 / lane_rows;
    static constexpr int warps_down = block_rows / warp_rows;
    static constexpr int threads = 32 * warps_down * (block_columns / warp_columns);
    static constexpr int rows = warp_rows / lane_rows;  ///< of a thread
    static constexpr int columns = warp_columns / lane_columns;
    static constexpr int stages = stages_;
    static constexpr int blocks_per_processor = blocks_per_processor_;
};

template <class T, class Shape, Major major_a, Major major_b, class Sums>
struct SimtLayout {
    template <Major major, int outer>
    using Loader =
        std::conditional_t<major == Major::outer, StraightLoader<T, Major::outer, outer, Shape::depth, 0, Shape::threads>,
                           TransposingLoader<T, outer, Shape::depth, Shape::threads>>;
    using LoaderA = Loader<major_a, Shape::block_rows>;
    using LoaderB = Loader<major_b, Shape::block_columns>;
    using TileA = typename LoaderA::Tile;
    using TileB = typename LoaderB::Tile;
    static constexpr int size_a = TileA::elements;
    static constexpr int stage = size_a + TileB::elements;
    static constexpr int tiles_size = stage * Shape::stages;
    static constexpr int bytes = (tiles_size + Sums::shared_size * Shape::threads) * static_cast<int>(sizeof(T));
};

/// The indices of a thread's rows or columns in a tile of the block: vectors, side by side with those of the next lane.
template <class T, int lanes, int count>
struct Fragment {
    static constexpr int vector = 16 / sizeof(T);

    static __device__ __forceinline__ int index(int warp, int lane, int i) {
        return warp * lanes * count + (i / vector * lanes + lane) * vector + i % vector;
    }
    /// to[i] = line[index(i) - index(0)]
    static __device__ __forceinline__ void load(T (&to)[count], const T* line) {
        struct alignas(16) Vector {
            T element[vector];
        };
#pragma unroll
        for (int i = 0; i < count; i += vector) {
            const auto v = *reinterpret_cast<const Vector*>(line + i * lanes);
#pragma unroll
            for (int e = 0; e < vector; ++e) to[i + e] = v.element[e];
        }
    }
};

/// Adds the products a_i b_j to the sums, in an order in which one operand stays in the operand cache: an FMA whose operands
/// come from one bank of registers takes a cycle more. Which order leaves fewest of them depends on the compiler's choice of
/// registers (count them in the machine code; one in six is good, half costs a third of the speed).
template <class Shape, class Sums, class T>
__device__ __forceinline__ void add_products(Sums& sums, const T (&a)[Shape::rows], const T (&b)[Shape::columns]) {
    const auto add = [&](int i, int j) {
        const int at = i * Shape::columns + j;
        if constexpr (requires { sums.add(at, a[i], b[j]); })
            sums.add(at, a[i], b[j]);
        else
            sums.partial[at] = fma_rn(a[i], b[j], sums.partial[at]);
    };
    if constexpr (Sums::is_plain) {
#pragma unroll
        for (int j = 0; j < Shape::columns; ++j)
#pragma unroll
            for (int step = 0; step < Shape::rows; ++step) add(j % 2 == 0 ? step : Shape::rows - 1 - step, j);
    } else {
#pragma unroll
        for (int i = 0; i < Shape::rows; ++i)
#pragma unroll
            for (int step = 0; step < Shape::columns; ++step) add(i, i % 2 == 0 ? step : Shape::columns - 1 - step);
    }
}

/// What a thread multiplies at one step along k, and at the next.
template <class T, class Shape, class Layout>
struct SimtFragments {
    using FragmentA = Fragment<T, Shape::lane_rows, Shape::rows>;
    using FragmentB = Fragment<T, Shape::lane_columns, Shape::columns>;

    const T* from_a;  ///< the thread's first elements in a stage
    const T* from_b;
    T a[2][Shape::rows];
    T b[2][Shape::columns];

    __device__ __forceinline__ void fetch(int to, int stage, int k) {
        FragmentA::load(a[to], from_a + stage + k * Layout::TileA::pitch);
        FragmentB::load(b[to], from_b + stage + k * Layout::TileB::pitch);
    }
};

/// All products where blocks are whole tiles: fragments are read one step ahead, across tiles, too.
template <class Shape, class Pipeline, class Fragments, class Sums>
__device__ __forceinline__ void multiply_whole_tiles(Pipeline& pipeline, Fragments& fragments, Sums& sums, std::int64_t block) {
    constexpr int depth = Shape::depth;
    int stage = 0;
    fragments.fetch(0, stage, 0);
    multiply_tiles(sums, pipeline.tiles(), static_cast<int>(block / depth), [&](int tile) {
        const int next = pipeline.after(stage);
        pipeline.load_behind(tile);
#pragma unroll
        for (int k = 0; k < depth; ++k) {
            if (k == depth - 1) {
                pipeline.wait_for_next();
                fragments.fetch(0, next, 0);
            } else {
                fragments.fetch((k + 1) % 2, stage, k + 1);
            }
            add_products<Shape>(sums, fragments.a[k % 2], fragments.b[k % 2]);
        }
        stage = next;
    });
}

/// All products where blocks end anywhere.
template <class Shape, class Pipeline, class Fragments, class Sums>
__device__ __forceinline__ void multiply_any_blocks(Pipeline& pipeline, Fragments& fragments, Sums& sums, std::int64_t block) {
    std::int64_t left = block;
    int stage = 0;
    for (int tile = 0; tile < pipeline.tiles(); ++tile) {
        pipeline.load_behind(tile);
#pragma unroll 1
        for (int k = 0; k < Shape::depth; ++k) {
            fragments.fetch(0, stage, k);
            add_products<Shape>(sums, fragments.a[0], fragments.b[0]);
            if (--left == 0) {
                sums.end_block();
                left = block;
            }
        }
        stage = pipeline.after(stage);
        pipeline.wait_for_next();
    }
}

/// `whole_tiles`: blocks of products are multiples of the tiles' depth; else they end anywhere.
template <class T, class Shape, class Sums, Major major_a, Major major_b, bool whole_tiles, class Result>
__global__ void __launch_bounds__(Shape::threads, Shape::blocks_per_processor)
    multiply_simt(const __grid_constant__ Operands<T> operands, const __grid_constant__ Result result) {
    using Layout = SimtLayout<T, Shape, major_a, major_b, Sums>;
    using Fragments = SimtFragments<T, Shape, Layout>;
    extern __shared__ __align__(16) unsigned char memory[];
    T* const shared = reinterpret_cast<T*>(memory);

    const TilePosition position = tile_of_block((operands.rows() + Shape::block_rows - 1) / Shape::block_rows,
                                                (operands.columns() + Shape::block_columns - 1) / Shape::block_columns);
    const std::int64_t row = position.row * Shape::block_rows;
    const std::int64_t column = position.column * Shape::block_columns;
    TilePipeline<T, Layout, Shape::stages, Shape::depth> pipeline(operands, shared, row, column);

    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const auto index_a = [&](int i) {
        return Fragments::FragmentA::index(warp % Shape::warps_down, lane / Shape::lane_columns, i);
    };
    const auto index_b = [&](int j) {
        return Fragments::FragmentB::index(warp / Shape::warps_down, lane % Shape::lane_columns, j);
    };
    Fragments fragments;
    fragments.from_a = shared + index_a(0);
    fragments.from_b = shared + Layout::size_a + index_b(0);

    pipeline.start();
    Sums sums(shared + Layout::tiles_size);
    pipeline.wait_for_next();
    if constexpr (whole_tiles)
        multiply_whole_tiles<Shape>(pipeline, fragments, sums, operands.block);
    else
        multiply_any_blocks<Shape>(pipeline, fragments, sums, operands.block);
    sums.finish();

    finish_elements<major_a, major_b, Sums::is_plain>(operands, result, sums.partial, [&](int i) {
        return TilePosition{row + index_a(i / Shape::columns), column + index_b(i % Shape::columns)};
    });
}

template <class T, class Shape, class Sums, Major major_a, Major major_b, bool whole_tiles, class Result>
void launch_simt(const Operands<T>& operands, const Result& result, Stream stream) {
    constexpr int bytes = SimtLayout<T, Shape, major_a, major_b, Sums>::bytes;
    const auto kernel = multiply_simt<T, Shape, Sums, major_a, major_b, whole_tiles, Result>;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), "cudaFuncSetAttribute",
          "shared memory of a product");
    kernel<<<tiles_of(operands, Shape::block_rows, Shape::block_columns), Shape::threads, bytes, stream>>>(operands, result);
    check_launch("multiply_simt");
}

}  // namespace solver::cuda::tiled
