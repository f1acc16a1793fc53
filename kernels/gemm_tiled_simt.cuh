#pragma once

/// Products by register tiles on the ordinary arithmetic units: every thread makes a small tile of C from fragments that it
/// reads from shared memory, 16 bytes at a time, while the next tiles of A and B arrive there.

#include "check.cuh"
#include "gemm_tiled_copy.cuh"

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

/// The outer indices of a thread's fragment of an operand. Lanes side by side read vectors side by side: along the outer index
/// where that is contiguous, else from consecutive lines.
template <class T, Major major, int warp_extent, int lanes, int count, class Tile>
struct Fragment {
    static constexpr int vector = 16 / sizeof(T);

    static __device__ __forceinline__ int index(int warp, int lane, int i) {
        return warp * warp_extent +
               (major == Major::outer ? (i / vector * lanes + lane) * vector + i % vector : i * lanes + lane);
    }
    /// to[q][i] = element (index(i), k + q)
    static __device__ __forceinline__ void load(T (&to)[vector][count], const T* tile, int k) {
        struct alignas(16) Vector {
            T element[vector];
        };
        if constexpr (major == Major::outer) {
#pragma unroll
            for (int q = 0; q < vector; ++q)
#pragma unroll
                for (int i = 0; i < count; i += vector) {
                    const auto v = *reinterpret_cast<const Vector*>(tile + (k + q) * Tile::pitch + i * lanes);
#pragma unroll
                    for (int e = 0; e < vector; ++e) to[q][i + e] = v.element[e];
                }
        } else {
#pragma unroll
            for (int i = 0; i < count; ++i) {
                const auto v = *reinterpret_cast<const Vector*>(tile + i * lanes * Tile::pitch + k);
#pragma unroll
                for (int q = 0; q < vector; ++q) to[q][i] = v.element[q];
            }
        }
    }
};

template <class T, class Shape, Major major_a, Major major_b>
struct SimtLayout {
    static constexpr int vector = 16 / sizeof(T);
    template <Major major, int outer>
    using TileOf = Tile<T, major, outer, Shape::depth, major == Major::inner ? vector : 0, Shape::threads>;
    using TileA = TileOf<major_a, Shape::block_rows>;
    using TileB = TileOf<major_b, Shape::block_columns>;
    using LoaderA = TileLoader<T, major_a, Shape::block_rows, Shape::depth, TileA>;
    using LoaderB = TileLoader<T, major_b, Shape::block_columns, Shape::depth, TileB>;
    using FragmentA = Fragment<T, major_a, Shape::rows * Shape::lane_rows, Shape::lane_rows, Shape::rows, TileA>;
    using FragmentB = Fragment<T, major_b, Shape::columns * Shape::lane_columns, Shape::lane_columns, Shape::columns, TileB>;
    static constexpr int stage = TileA::elements + TileB::elements;
    static constexpr int bytes = stage * Shape::stages * static_cast<int>(sizeof(T));
};

/// Adds the products with a_iq b_jq of one q to the sums.
template <class Shape, class Sums, class T>
__device__ __forceinline__ void add_products(Sums& sums, const T (&a)[Shape::rows], const T (&b)[Shape::columns]) {
#pragma unroll
    for (int i = 0; i < Shape::rows; ++i)
#pragma unroll
        for (int step = 0; step < Shape::columns; ++step) {
            const int j = i % 2 == 0 ? step : Shape::columns - 1 - step;  // there and back: b_j stays in the operand cache
            const int at = i * Shape::columns + j;
            if constexpr (requires { sums.add(at, a[i], b[j]); })
                sums.add(at, a[i], b[j]);
            else
                sums.partial[at] = fma_rn(a[i], b[j], sums.partial[at]);
        }
}

/// `whole_tiles`: blocks of products are multiples of the tiles' depth; else they end anywhere.
template <class T, class Shape, class Sums, Major major_a, Major major_b, bool whole_tiles>
__global__ void __launch_bounds__(Shape::threads, Shape::blocks_per_processor)
    multiply_simt(const __grid_constant__ Problem<T> problem) {
    using Layout = SimtLayout<T, Shape, major_a, major_b>;
    extern __shared__ __align__(16) unsigned char memory[];
    T* const shared = reinterpret_cast<T*>(memory);

    const TilePosition position = tile_of_block((problem.rows() + Shape::block_rows - 1) / Shape::block_rows,
                                                (problem.columns() + Shape::block_columns - 1) / Shape::block_columns);
    const std::int64_t row = position.row * Shape::block_rows;
    const std::int64_t column = position.column * Shape::block_columns;
    typename Layout::LoaderA loader_a(problem.a, row);
    typename Layout::LoaderB loader_b(problem.b, column);

    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const auto index_a = [&](int i) {
        return Layout::FragmentA::index(warp % Shape::warps_down, lane / Shape::lane_columns, i);
    };
    const auto index_b = [&](int j) {
        return Layout::FragmentB::index(warp / Shape::warps_down, lane % Shape::lane_columns, j);
    };
    const T* const fragments_a = shared + index_a(0) * Layout::TileA::outer_stride;
    const T* const fragments_b = shared + Layout::TileA::elements + index_b(0) * Layout::TileB::outer_stride;

    const auto tiles = static_cast<int>((problem.inner() + Shape::depth - 1) / Shape::depth);
    const auto load = [&](int tile) {
        if (tile < tiles) {
            T* const to = shared + tile % Shape::stages * Layout::stage;
            loader_a.load(to, std::int64_t{tile} * Shape::depth);
            loader_b.load(to + Layout::TileA::elements, std::int64_t{tile} * Shape::depth);
        }
        close_group_of_copies();
    };
#pragma unroll
    for (int tile = 0; tile < Shape::stages - 1; ++tile) load(tile);

    Sums sums;
    const std::int64_t block = whole_tiles ? problem.block / Shape::depth : problem.block;
    std::int64_t left = block;
    const auto count_down = [&] {
        if (--left == 0) {
            sums.end_block();
            left = block;
        }
    };
    for (int tile = 0; tile < tiles; ++tile) {
        wait_for_copies_but<Shape::stages - 2>();
        __syncthreads();
        load(tile + Shape::stages - 1);
        const int stage = tile % Shape::stages * Layout::stage;
        constexpr int vector = Layout::vector;
#pragma unroll(whole_tiles ? Shape::depth / vector : 1)
        for (int k = 0; k < Shape::depth; k += vector) {
            T a[vector][Shape::rows];
            T b[vector][Shape::columns];
            Layout::FragmentA::load(a, fragments_a + stage, k);
            Layout::FragmentB::load(b, fragments_b + stage, k);
#pragma unroll
            for (int q = 0; q < vector; ++q) {
                add_products<Shape>(sums, a[q], b[q]);
                if constexpr (!whole_tiles) count_down();
            }
        }
        if constexpr (whole_tiles && !Sums::is_plain) count_down();
    }
    sums.finish();

#pragma unroll
    for (int i = 0; i < Shape::rows; ++i)
#pragma unroll
        for (int j = 0; j < Shape::columns; ++j) {
            const std::int64_t r = row + index_a(i);
            const std::int64_t c = column + index_b(j);
            if (r >= problem.rows() || c >= problem.columns()) continue;
            T sum = sums.partial[i * Shape::columns + j];
            if (!Sums::is_plain && sum != sum) sum = plain_sum<T, major_a, major_b>(problem, r, c);
            finish_element(problem, problem.c + r * problem.c_stride + c, sum);
        }
}

template <class T, class Shape, class Sums, Major major_a, Major major_b, bool whole_tiles>
void launch_simt(const Problem<T>& problem, Stream stream) {
    constexpr int bytes = SimtLayout<T, Shape, major_a, major_b>::bytes;
    const auto kernel = multiply_simt<T, Shape, Sums, major_a, major_b, whole_tiles>;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), "cudaFuncSetAttribute",
          "shared memory of a product");
    kernel<<<tiles_of(problem, Shape::block_rows, Shape::block_columns), Shape::threads, bytes, stream>>>(problem);
    check_launch("multiply_simt");
}

}  // namespace solver::cuda::tiled
