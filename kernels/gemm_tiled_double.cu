#include "gemm_tiled_dispatch.cuh"
#include "gemm_tiled_mma.cuh"

namespace solver::cuda::tiled {
namespace {

using PlainShape = MmaShape<128, 64, tile_depth, 64, 32, 4, 2>;
/// Compensated sums take twice or three times the registers: a warp's tile is half as large.
using CompensatedShape = MmaShape<64, 64, tile_depth, 32, 32, 4, 2>;

template <class S, class Shape, class Sums>
void multiply(const GemmTask<S>& task, std::int64_t block, Stream stream) {
    with_majors(task, block, [&](auto major_a, auto major_b, const Problem<S>& problem) {
        launch_mma<S, Shape, Sums, major_a(), major_b()>(problem, stream);
    });
}

template <class S>
void multiply_plainly(const GemmTask<S>& task, Stream stream) {
    multiply<S, PlainShape, PlainSums<double, PlainShape::sums>>(task, tile_depth, stream);
}

}  // namespace

void multiply_whole_tiles(const GemmTask<double>& task, const GemmOptions& options, Stream stream) {
    if (options.summation == GemmSummation::plain) return multiply_plainly(task, stream);
    with_compensated_sums<double, CompensatedShape::sums>(options.summation, [&](auto sums) {
        multiply<double, CompensatedShape, typename decltype(sums)::type>(task, options.block, stream);
    });
}

void multiply_whole_tiles_in_double(const GemmTask<float>& task, Stream stream) { multiply_plainly(task, stream); }

}  // namespace solver::cuda::tiled
