#pragma once

/// Tiles of the operands of a product on their way into shared memory, by asynchronous copies. Both operands look alike:
/// `outer` is m of A or n of B, `inner` is k, and memory is contiguous along one of the two.

#include "gemm/tiled/tiled.cuh"

#include <cstdint>
#include <type_traits>

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

/// A tile in shared memory: lines of `run` elements, each followed by `pad`.
template <int lines_, int run_, int pad>
struct TileShape {
    static constexpr int lines = lines_;
    static constexpr int run = run_;
    static constexpr int pitch = run + pad;
    static constexpr int elements = lines * pitch;
};

/// Loads the tiles of one strip of an operand (its outer index in [first, first + outer)), one after another along k, `inner`
/// long, as they lie in memory: lines along the index along which the operand is contiguous, 16 bytes at once. What lies
/// outside the matrix becomes 0 in both operands, so that padding is never multiplied by an element.
template <class S, Major major, int outer, int inner, int pad, int threads>
class StraightLoader {
public:
    using Tile = std::conditional_t<major == Major::outer, TileShape<inner, outer, pad>, TileShape<outer, inner, pad>>;
    static constexpr int outer_stride = major == Major::outer ? 1 : Tile::pitch;
    static constexpr int inner_stride = major == Major::outer ? Tile::pitch : 1;

    __device__ StraightLoader(const Operand<S>& operand, std::int64_t first)
        : operand_(operand),
          first_(first),
          line_(static_cast<int>(threadIdx.x) / vectors_per_line),
          place_(static_cast<int>(threadIdx.x) % vectors_per_line * vector),
          whole_(operand.aligned && first + outer <= operand.outer),
          from_(operand.data +
                (major == Major::outer ? line_ * operand.stride + first + place_ : (first + line_) * operand.stride + place_)),
          tile_step_(major == Major::outer ? inner * operand.stride : inner),
          copy_step_(line_step * operand.stride) {}

    /// Starts the copies of the next tile, whose inner index begins at k.
    __device__ __forceinline__ void load(S* tile, std::int64_t k) {
        S* to = tile + line_ * Tile::pitch + place_;
        if (whole_ && k + inner <= operand_.inner) {
#pragma unroll
            for (int i = 0; i < copies; ++i) copy_async<16>(to + i * line_step * Tile::pitch, from_ + i * copy_step_);
        } else {
#pragma unroll 1
            for (int i = 0; i < copies; ++i) load_at_edge(to + i * line_step * Tile::pitch, i, k);
        }
        from_ += tile_step_;
    }

private:
    static constexpr int vector = 16 / sizeof(S);
    static constexpr int vectors_per_line = Tile::run / vector;
    static constexpr int copies = Tile::lines * vectors_per_line / threads;  // a thread
    static constexpr int line_step = threads / vectors_per_line;
    static_assert(copies * threads == Tile::lines * vectors_per_line && line_step * vectors_per_line == threads);
    static_assert(Tile::pitch % vector == 0);

    __device__ __forceinline__ void load_at_edge(S* to, int i, std::int64_t k) {
        const int line = line_ + i * line_step;
        const std::int64_t left_outer = operand_.outer - first_ - (major == Major::outer ? place_ : line);
        const std::int64_t left_inner = operand_.inner - k - (major == Major::outer ? line : place_);
        const std::int64_t left = major == Major::outer ? (left_inner > 0 ? left_outer : 0) : (left_outer > 0 ? left_inner : 0);
        const int valid = static_cast<int>(left < 0 ? 0 : left < vector ? left : vector);
        const S* from = valid > 0 ? from_ + i * copy_step_ : operand_.data;
        if (operand_.aligned) {
            copy_async<16>(to, from, valid * static_cast<int>(sizeof(S)));
            return;
        }
#pragma unroll
        for (int e = 0; e < vector; ++e)
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

/// Copies a tile of an operand that is contiguous along k, transposed on the way: lines along the outer index, element by
/// element. A warp copies 8 x 4 elements, and the pad sends them to 32 banks.
template <class S, int outer, int inner, int threads>
class TransposingLoader {
public:
    using Tile = TileShape<inner, outer, 16 / static_cast<int>(sizeof(S))>;

    __device__ TransposingLoader(const Operand<S>& operand, std::int64_t first)
        : operand_(operand),
          first_(first + static_cast<int>(threadIdx.x) / width),
          whole_(first + outer <= operand.outer),
          from_(operand.data + first_ * operand.stride + threadIdx.x % width),
          copy_step_(outer_step * operand.stride) {}

    __device__ __forceinline__ void load(S* tile, std::int64_t k) {
        S* to = tile + static_cast<int>(threadIdx.x) % width * Tile::pitch + static_cast<int>(threadIdx.x) / width;
        if (whole_ && k + inner <= operand_.inner) {
#pragma unroll
            for (int o = 0; o < outer / outer_step; ++o)
#pragma unroll
                for (int i = 0; i < inner; i += width)
                    copy_async<sizeof(S)>(to + i * Tile::pitch + o * outer_step, from_ + o * copy_step_ + i);
        } else {
#pragma unroll 1
            for (int o = 0; o < outer / outer_step; ++o)
                for (int i = 0; i < inner; i += width) {
                    const bool valid = first_ + o * outer_step < operand_.outer &&
                                       k + i + static_cast<int>(threadIdx.x) % width < operand_.inner;
                    copy_async<sizeof(S)>(to + i * Tile::pitch + o * outer_step,
                                          valid ? from_ + o * copy_step_ + i : operand_.data,
                                          valid ? static_cast<int>(sizeof(S)) : 0);
                }
        }
        from_ += inner;
    }

private:
    static constexpr int width = 8;  // elements side by side in memory
    static constexpr int outer_step = threads / width;
    static_assert(inner % width == 0 && outer % outer_step == 0);

    const Operand<S>& operand_;
    std::int64_t first_;
    bool whole_;
    const S* from_;
    std::int64_t copy_step_;
};

}  // namespace solver::cuda::tiled
