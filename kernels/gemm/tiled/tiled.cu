#include "gemm/tiled/dispatch.cuh"
#include "runtime/check.cuh"

namespace solver::cuda {
namespace {

using tiled::tile_depth;

/// Blocks beyond the inner size are one block, whatever adds it to nothing.
GemmOptions effective(GemmOptions options, std::int64_t inner) {
    if (options.summation == GemmSummation::automatic || options.block >= inner) options.summation = GemmSummation::plain;
    return options;
}

template <class S>
bool is_empty(const GemmTask<S>& task) {
    return task.c.rows == 0 || task.c.columns == 0;
}

}  // namespace

template <class T>
void multiply_tiled(const GemmTask<T>& task, const GemmOptions& asked, int device, Stream stream) {
    if (is_empty(task)) return;
    const CurrentDevice current(device);
    const GemmOptions options = effective(asked, task.inner());
    if (options.summation == GemmSummation::plain || options.block % tile_depth == 0)
        tiled::multiply_whole_tiles(task, options, stream);
    else
        tiled::multiply_any_block(task, options, stream);
}
template void multiply_tiled(const GemmTask<float>&, const GemmOptions&, int, Stream);
template void multiply_tiled(const GemmTask<double>&, const GemmOptions&, int, Stream);

void multiply_tiled_in_double(const GemmTask<float>& task, int device, Stream stream) {
    if (is_empty(task)) return;
    const CurrentDevice current(device);
    tiled::multiply_whole_tiles_in_double(task, stream);
}

}  // namespace solver::cuda
