#include "gemm/tiled/dispatch.cuh"
#include "gemm/tiled/mma.cuh"
#include "gemm/tiled/spread.cuh"
#include "runtime/check.cuh"
#include "runtime/traits.hpp"

namespace solver::cuda::tiled {
namespace {

template <class S>
struct PlainShapeOf : std::type_identity<MmaShape<128, 128, tile_depth, 64, 32, 4, 1>> {};
template <>
struct PlainShapeOf<float> : std::type_identity<MmaShape<64, 128, tile_depth, 32, 64, 4, 2>> {};
template <class S>
using PlainShape = typename PlainShapeOf<S>::type;

/// Totals lie in shared memory, which leaves less of it to tiles.
using CompensatedShape = MmaShape<128, 128, 8, 64, 32, 4, 1>;
using Totals = SharedStore<double, CompensatedShape::sums, CompensatedShape::threads>;
/// For sums that take three times the registers, a warp's tile being half as large, and for small products.
using SmallShape = MmaShape<64, 64, tile_depth, 32, 32, 4, 2>;

template <class S, class Shape, class Sums>
void multiply(const GemmTask<S>& task, std::int64_t block, Stream stream) {
    with_row_major_result(task, block, [&](auto major_a, auto major_b, const auto& operands, const auto& result) {
        launch_mma<S, Shape, Sums, major_a(), major_b()>(operands, result, stream);
    });
}

template <class S, class Result>
void multiply_views(const DenseView<S>& a, const DenseView<S>& b, const Result& result, Stream stream) {
    with_majors(a, b, [&](auto major_a, auto major_b) {
        launch_mma<S, PlainShape<S>, PlainSums<double, PlainShape<S>::sums>, major_a(), major_b()>(
            operands_of(a, b, tile_depth), result, stream);
    });
}

/// Whether every multiprocessor has as many blocks as it can run at once.
template <class Shape, class S>
bool fills_device(const GemmTask<S>& task) {
    int device = 0;
    check(cudaGetDevice(&device), "cudaGetDevice", "the device of a product");
    const std::int64_t down = (task.c.rows + Shape::block_rows - 1) / Shape::block_rows;
    const std::int64_t across = (task.c.columns + Shape::block_columns - 1) / Shape::block_columns;
    return down * across >= std::int64_t{Shape::blocks_per_processor} * traits_of(device).multiprocessors;
}

template <class S>
void multiply_plainly(const GemmTask<S>& task, Stream stream) {
    if (fills_device<PlainShape<S>>(task))
        multiply<S, PlainShape<S>, PlainSums<double, PlainShape<S>::sums>>(task, tile_depth, stream);
    else
        multiply<S, SmallShape, PlainSums<double, SmallShape::sums>>(task, tile_depth, stream);
}

}  // namespace

void multiply_whole_tiles(const GemmTask<double>& task, const GemmOptions& options, Stream stream) {
    if (options.summation == GemmSummation::plain) return multiply_plainly(task, stream);
    with_compensated_sums<double, CompensatedShape::sums, Totals>(options.summation, [&](auto sums) {
        multiply<double, CompensatedShape, typename decltype(sums)::type>(task, options.block, stream);
    });
    with_larger_sums<double, SmallShape::sums>(options.summation, [&](auto sums) {
        multiply<double, SmallShape, typename decltype(sums)::type>(task, options.block, stream);
    });
}

void multiply_whole_tiles_in_double(const GemmTask<float>& task, Stream stream) { multiply_plainly(task, stream); }

void multiply_and_spread(const DenseView<float>& a, const DenseView<float>& b, const SpreadResult<float>& result,
                         Stream stream) {
    multiply_views(a, b, result, stream);
}
void multiply_and_spread(const DenseView<double>& a, const DenseView<double>& b, const SpreadResult<double>& result,
                         Stream stream) {
    multiply_views(a, b, result, stream);
}

}  // namespace solver::cuda::tiled
