#pragma once

/// What the kernels of residue products share: accumulators to residues, residues to bytes, the order of tiles.

#include "gemm.hpp"

#include <cstdint>

namespace solver::cuda {

/// x mod p in 0..p-1 for |x| <= 2^30 and 129 <= p <= 256: a multiplication, a shift and a multiplication.
///
/// M = 2^38 / p rounded to nearest, so M p = 2^38 + e with |e| <= p / 2, and e = 0 for p = 256. Then
/// (x M + 2^29) / 2^38 = x / p + f with f = (x e / p + 2^29) / 2^38, and 0 <= x e / p + 2^29 <= 2^30, which is below 2^38 / p
/// for p < 256; for p = 256 it is 2^29. So 0 <= f < 1 / p: too little to lift x / p to the next integer, and the shift gives
/// floor(x / p) exactly, for negative x, too.
class Remainder {
public:
    __device__ explicit Remainder(std::int32_t p)
        : p_(p), scaled_reciprocal_(static_cast<std::int32_t>(((1ll << 38) + p / 2) / p)) {}

    __device__ std::uint32_t operator()(std::int32_t x) const {
        const std::int64_t product = static_cast<std::int64_t>(x) * scaled_reciprocal_ + (1ll << 29);
        return static_cast<std::uint32_t>(x - (static_cast<std::int32_t>(product >> 32) >> 6) * p_);
    }

private:
    std::int32_t p_;
    std::int32_t scaled_reciprocal_;
};

/// Four residues in a word, the first in the lowest byte.
__device__ inline std::uint32_t pack_bytes(std::uint32_t r0, std::uint32_t r1, std::uint32_t r2, std::uint32_t r3) {
    return __byte_perm(__byte_perm(r0, r1, 0x0040), __byte_perm(r2, r3, 0x0040), 0x5410);
}

struct TilePlace {
    std::int64_t row;     ///< of tiles
    std::int64_t column;  ///< of tiles
};

/// The tile with this number: bands of `band` rows of tiles, within them column after column, so that tiles worked on at a time
/// share what they read.
__device__ inline TilePlace tile_place(std::int64_t number, std::int64_t tile_rows, std::int64_t tile_columns,
                                       std::int64_t band) {
    const std::int64_t first = number / (band * tile_columns) * band;
    const std::int64_t height = min(band, tile_rows - first);
    const std::int64_t within = number - first * tile_columns;
    return {first + within % height, within / height};
}

}  // namespace solver::cuda
