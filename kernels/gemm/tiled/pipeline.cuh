#pragma once

/// Tiles of A and B that arrive in shared memory while those before them are multiplied.

#include "gemm/tiled/copy.cuh"

namespace solver::cuda::tiled {

/// Layout::stages tiles of each operand are on their way or in use, each stage of `Layout::stage` elements: A's, then B's.
template <class S, class Layout, int stages, int depth>
class TilePipeline {
public:
    __device__ __forceinline__ TilePipeline(const Operands<S>& operands, S* shared, std::int64_t row, std::int64_t column)
        : a_(operands.a, row),
          b_(operands.b, column),
          shared_(shared),
          tiles_(static_cast<int>((operands.inner() + depth - 1) / depth)) {}

    __device__ __forceinline__ int tiles() const { return tiles_; }

    /// Starts the copies of the first tiles.
    __device__ __forceinline__ void start() {
#pragma unroll
        for (int tile = 0; tile < stages - 1; ++tile) load(tile);
    }

    /// Starts those of the last tile that has room while `tile` is multiplied.
    __device__ __forceinline__ void load_behind(int tile) { load(tile + stages - 1); }

    __device__ __forceinline__ void wait_for_next() const {
        wait_for_copies_but<stages - 2>();
        __syncthreads();  // nobody reads the tile before any more
    }

    /// Where the stage after this one begins.
    static __device__ __forceinline__ int after(int stage) {
        return stage + Layout::stage == stages * Layout::stage ? 0 : stage + Layout::stage;
    }

private:
    __device__ __forceinline__ void load(int tile) {
        if (tile < tiles_) {
            S* const to = shared_ + tile % stages * Layout::stage;
            a_.load(to, std::int64_t{tile} * depth);
            b_.load(to + Layout::size_a, std::int64_t{tile} * depth);
        }
        close_group_of_copies();
    }

    typename Layout::LoaderA a_;
    typename Layout::LoaderB b_;
    S* shared_;
    int tiles_;
};

/// multiply_tile() for so many tiles, where blocks of products are so many whole tiles.
template <class Sums, class MultiplyTile>
__device__ __forceinline__ void multiply_tiles(Sums& sums, int tiles, int block, const MultiplyTile& multiply_tile) {
    if constexpr (Sums::is_plain) {
        for (int tile = 0; tile < tiles; ++tile) multiply_tile(tile);
    } else {
        for (int tile = 0; tile < tiles;) {
            const int end = min(tile + block, tiles);
#pragma unroll 1
            for (; tile < end; ++tile) multiply_tile(tile);
            sums.end_block();
        }
    }
}

}  // namespace solver::cuda::tiled
