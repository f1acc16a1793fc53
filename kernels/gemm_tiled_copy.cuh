#pragma once

/// Tiles of the operands of a product on their way into shared memory, by asynchronous copies. Both operands look alike:
/// `outer` is m of A or n of B, `inner` is k, and memory is contiguous along one of the two.

#include "gemm_tiled.cuh"

#include <cstdint>

namespace solver::cuda::tiled {

/// Copies `bytes` bytes, of which the last are zeros from `valid` on.
template <int bytes>
__device__ __forceinline__ void copy_async(void* to, const void* from, int valid = bytes) {
    const auto address = static_cast<unsigned>(__cvta_generic_to_shared(to));
    if constexpr (bytes == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(valid) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(address), "l"(from), "n"(bytes), "r"(valid)
                     : "memory");
}
__device__ __forceinline__ void close_group_of_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int groups>
__device__ __forceinline__ void wait_for_copies_but() {
    asm volatile("cp.async.wait_group %0;" ::"n"(groups) : "memory");
}

/// How a tile lies in shared memory: as it lies in global memory, lines of `run` elements, each followed by `pad`.
template <class S, Major major, int outer, int inner, int pad, int threads>
struct Tile {
    static constexpr int vector = 16 / sizeof(S);
    static constexpr int run = major == Major::outer ? outer : inner;
    static constexpr int lines = major == Major::outer ? inner : outer;
    static constexpr int pitch = run + pad;
    static constexpr int elements = lines * pitch;
    static constexpr int outer_stride = major == Major::outer ? 1 : pitch;
    static constexpr int inner_stride = major == Major::outer ? pitch : 1;
    static constexpr int vectors_per_line = run / vector;
    static constexpr int copies = lines * vectors_per_line / threads;  ///< a thread
    static constexpr int line_step = threads / vectors_per_line;
    static_assert(lines * vectors_per_line % threads == 0 && threads % vectors_per_line == 0 && pitch % vector == 0);
};

/// Loads the tiles of one strip of an operand (its outer index in [first, first + outer)), one after another. What lies
/// outside the matrix becomes 0 in both operands, so that padding is never multiplied by an element.
template <class S, Major major, int outer, int inner, class Tile>
class TileLoader {
public:
    __device__ TileLoader(const Operand<S>& operand, std::int64_t first)
        : operand_(operand),
          first_(first),
          line_(static_cast<int>(threadIdx.x) / Tile::vectors_per_line),
          place_(static_cast<int>(threadIdx.x) % Tile::vectors_per_line * Tile::vector),
          whole_(operand.aligned && first + outer <= operand.outer),
          from_(operand.data +
                (major == Major::outer ? line_ * operand.stride + first + place_ : (first + line_) * operand.stride + place_)),
          tile_step_(major == Major::outer ? inner * operand.stride : inner),
          copy_step_(Tile::line_step * operand.stride) {}

    /// Starts the copies of the next tile, whose inner index begins at k.
    __device__ __forceinline__ void load(S* tile, std::int64_t k) {
        S* to = tile + line_ * Tile::pitch + place_;
        if (whole_ && k + inner <= operand_.inner) {
#pragma unroll
            for (int i = 0; i < Tile::copies; ++i)
                copy_async<16>(to + i * Tile::line_step * Tile::pitch, from_ + i * copy_step_);
        } else {
#pragma unroll 1
            for (int i = 0; i < Tile::copies; ++i) load_at_edge(to + i * Tile::line_step * Tile::pitch, i, k);
        }
        from_ += tile_step_;
    }

private:
    __device__ __forceinline__ void load_at_edge(S* to, int i, std::int64_t k) {
        const int line = line_ + i * Tile::line_step;
        const std::int64_t left_outer = operand_.outer - first_ - (major == Major::outer ? place_ : line);
        const std::int64_t left_inner = operand_.inner - k - (major == Major::outer ? line : place_);
        const std::int64_t left = major == Major::outer ? (left_inner > 0 ? left_outer : 0) : (left_outer > 0 ? left_inner : 0);
        const int valid = static_cast<int>(left < 0 ? 0 : left < Tile::vector ? left : Tile::vector);
        const S* from = valid > 0 ? from_ + i * copy_step_ : operand_.data;
        if (operand_.aligned) {
            copy_async<16>(to, from, valid * static_cast<int>(sizeof(S)));
            return;
        }
#pragma unroll
        for (int e = 0; e < Tile::vector; ++e)
            copy_async<sizeof(S)>(to + e, from + (e < valid ? e : 0), e < valid ? static_cast<int>(sizeof(S)) : 0);
    }

    const Operand<S>& operand_;
    std::int64_t first_;
    int line_;
    int place_;
    bool whole_;
    const S* from_;
    std::int64_t tile_step_;
    std::int64_t copy_step_;
};

}  // namespace solver::cuda::tiled
