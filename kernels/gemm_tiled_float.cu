#include "gemm_tiled_dispatch.cuh"
#include "gemm_tiled_simt.cuh"

namespace solver::cuda::tiled {
namespace {

/// Compensated sums take two or three registers an element: one block a processor, with 255 registers a thread.
template <bool plain>
using Shape = SimtShape<128, 128, tile_depth, 32, 64, 4, 3, plain ? 2 : 1>;

template <class Sums>
void multiply(const GemmTask<float>& task, std::int64_t block, Stream stream) {
    with_majors(task, block, [&](auto major_a, auto major_b, const Problem<float>& problem) {
        launch_simt<float, Shape<Sums::is_plain>, Sums, major_a(), major_b(), true>(problem, stream);
    });
}

}  // namespace

void multiply_whole_tiles(const GemmTask<float>& task, const GemmOptions& options, Stream stream) {
    if (options.summation == GemmSummation::plain) return multiply<PlainSums<float, 64>>(task, options.block, stream);
    with_compensated_sums<float, 64>(options.summation,
                                     [&](auto sums) { multiply<typename decltype(sums)::type>(task, options.block, stream); });
}

}  // namespace solver::cuda::tiled
