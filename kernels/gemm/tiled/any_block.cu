#include "gemm/tiled/dispatch.cuh"
#include "gemm/tiled/simt.cuh"

namespace solver::cuda::tiled {
namespace {

/// Small: what an element costs are its additions, not the reading of fragments.
using Shape = SimtShape<64, 64, tile_depth, 32, 16, 8, 3, 1>;
constexpr int sums = Shape::rows * Shape::columns;

template <class T, class Sums>
void multiply(const GemmTask<T>& task, std::int64_t block, Stream stream) {
    with_row_major_result(task, block, [&](auto major_a, auto major_b, const auto& operands, const auto& result) {
        launch_simt<T, Shape, Sums, major_a(), major_b(), false>(operands, result, stream);
    });
}

template <class T>
void multiply_any(const GemmTask<T>& task, const GemmOptions& options, Stream stream) {
    if (options.summation == GemmSummation::dot2 && options.block == 1)
        return multiply<T, TwofoldProducts<T, sums>>(task, options.block, stream);
    const auto multiply_with = [&](auto kind) { multiply<T, typename decltype(kind)::type>(task, options.block, stream); };
    with_compensated_sums<T, sums, RegisterStore<T, sums>>(options.summation, multiply_with);
    with_larger_sums<T, sums>(options.summation, multiply_with);
}

}  // namespace

void multiply_any_block(const GemmTask<float>& task, const GemmOptions& options, Stream stream) {
    multiply_any(task, options, stream);
}
void multiply_any_block(const GemmTask<double>& task, const GemmOptions& options, Stream stream) {
    multiply_any(task, options, stream);
}

}  // namespace solver::cuda::tiled
