#include "tile_shapes.hpp"

#include "kernels/gemm/tiled/dispatch.cuh"
#include "kernels/gemm/tiled/simt.cuh"

#include <array>

namespace solver::bench::on_cuda {
namespace {

namespace tiled = cuda::tiled;

template <class Shape>
void multiply(const GemmTask<float>& task, std::int64_t block, cuda::Stream stream) {
    constexpr int sums = Shape::rows * Shape::columns;
    using Sums = tiled::CompensatedSums<float, sums, tiled::SharedStore<float, sums, Shape::threads>, true>;
    const GemmTask<float> t = tiled::transposed(task);
    const tiled::ScaledResult<float> result{t.alpha, t.beta, t.c.data, t.c.row_stride};
    tiled::launch_simt<float, Shape, Sums, tiled::Major::inner, tiled::Major::outer, true>(tiled::operands_of(t.a, t.b, block),
                                                                                           result, stream);
}

template <class Shape>
constexpr TileShape shape{Shape::threads, Shape::block_rows, Shape::block_columns, multiply<Shape>};

constexpr int depth = tiled::tile_depth, stages = 3;
/// Rows and columns of a block, then of a warp, and of its lanes; as many blocks a multiprocessor as registers allow.
constexpr std::array shapes{shape<tiled::SimtShape<64, 64, depth, 32, 64, 4, stages, 6>>,
                            shape<tiled::SimtShape<64, 64, depth, 32, 32, 4, stages, 4>>,
                            shape<tiled::SimtShape<64, 64, depth, 32, 16, 8, stages, 3>>,
                            shape<tiled::SimtShape<64, 128, depth, 32, 64, 4, stages, 3>>,
                            shape<tiled::SimtShape<64, 128, depth, 32, 32, 4, stages, 2>>,
                            shape<tiled::SimtShape<128, 128, depth, 32, 64, 4, stages, 1>>};

}  // namespace

std::span<const TileShape> tile_shapes() { return shapes; }

}  // namespace solver::bench::on_cuda
