#pragma once

/// What the kernels of residue products share: residues to bytes, the order of tiles.

#include "gemm/residue/integer.hpp"
#include "runtime/remainder.hpp"

#include <cstdint>

namespace solver::cuda {

/// Four residues in a word, the first in the lowest byte.
__device__ inline std::uint32_t pack_bytes(std::uint32_t r0, std::uint32_t r1, std::uint32_t r2, std::uint32_t r3) {
    return __byte_perm(__byte_perm(r0, r1, 0x0040), __byte_perm(r2, r3, 0x0040), 0x5410);
}

/// Products after which sums are replaced by their residues: a residue and so many products stay below 2^30.
inline constexpr int products_at_once = (1 << 16) - 128;

struct TilePlace {
    int row;     ///< of tiles
    int column;  ///< of tiles
};

/// The tile with this number: bands of `band` rows of tiles, within them column after column, so that tiles worked on at a time
/// share what they read.
__device__ inline TilePlace tile_place(int number, int tile_rows, int tile_columns, int band) {
    const int first = number / (band * tile_columns) * band;
    const int height = min(band, tile_rows - first);
    const int within = number - first * tile_columns;
    return {first + within % height, within / height};
}

}  // namespace solver::cuda
