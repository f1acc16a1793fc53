#pragma once

/// The library's FFMA kernel in several shapes, for table 1 of Badin et al. 2011.

#include "solver/cuda.hpp"
#include "solver/gemm.hpp"

#include <cstdint>
#include <span>

namespace solver::bench::on_cuda {

/// C = A B by tiles of rows x columns, so many threads each: sums of `block` products, a multiple of 16, added up by doubly
/// compensated summation.
struct TileShape {
    int threads;
    int rows;
    int columns;
    void (*multiply)(const GemmTask<float>& task, std::int64_t block, cuda::Stream stream);
};

/// For column-major matrices.
std::span<const TileShape> tile_shapes();

}  // namespace solver::bench::on_cuda
