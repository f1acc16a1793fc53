#include "gemm/tiled/dispatch.cuh"
#include "gemm/tiled/simt.cuh"

namespace solver::cuda::tiled {
namespace {

/// Totals of compensated sums lie in shared memory: the registers that they would take cost more.
using Shape = SimtShape<64, 128, tile_depth, 32, 64, 4, 3, 3>;
using Totals = SharedStore<float, 64, Shape::threads>;
/// For sums that need three times the registers.
using LargeShape = SimtShape<64, 128, tile_depth, 32, 64, 4, 3, 2>;

template <class Shape, class Sums>
void multiply(const GemmTask<float>& task, std::int64_t block, Stream stream) {
    with_row_major_result(task, block, [&](auto major_a, auto major_b, const auto& operands, const auto& result) {
        launch_simt<float, Shape, Sums, major_a(), major_b(), true>(operands, result, stream);
    });
}

}  // namespace

void multiply_whole_tiles(const GemmTask<float>& task, const GemmOptions& options, Stream stream) {
    if (options.summation == GemmSummation::plain) return multiply<Shape, PlainSums<float, 64>>(task, options.block, stream);
    with_compensated_sums<float, 64, Totals>(
        options.summation, [&](auto sums) { multiply<Shape, typename decltype(sums)::type>(task, options.block, stream); });
    with_larger_sums<float, 64>(options.summation, [&](auto sums) {
        multiply<LargeShape, typename decltype(sums)::type>(task, options.block, stream);
    });
}

}  // namespace solver::cuda::tiled
