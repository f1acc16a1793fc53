#include "reduce/dots.cuh"
#include "runtime/check.cuh"
#include "runtime/traits.hpp"
#include "solver/cuda/memory.hpp"
#include "solver/cuda/partial.hpp"

namespace solver::cuda {
namespace {

/// This device's share of exact products that others complete.
template <int count>
__global__ void __launch_bounds__(reduce_threads, 2)
    partial_dots(SeveralDots<double, count> in, SeveralParts<AnchoredTriple, count>* parts, Counters* counters,
                 PartialSum<double>* results) {
    using Parts = SeveralParts<AnchoredTriple, count>;
    __shared__ Shared<Parts, reduce_threads / warp_size> warp_parts;
    Parts part = sums_of_thread<AnchoredTriple>(in, static_cast<std::int64_t>(blockIdx.x) * reduce_threads + threadIdx.x,
                                                static_cast<std::int64_t>(gridDim.x) * reduce_threads);
    part = merge_threads(part, warp_parts.data(), in.n);
    if (!merge_blocks(part, parts, counters->arrived, warp_parts.data(), in.n) || threadIdx.x != 0) return;
#pragma unroll
    for (int q = 0; q < count; ++q) results[q] = partial_sum_of(part.part[q], in.n);
}

}  // namespace

struct PartialReducer::Workspace {
    int device;
    Traits traits;
    DeviceArray<SeveralParts<AnchoredTriple, PartialReducer::most_dots>> parts;  ///< the largest of their kind
    DeviceArray<Counters> counters;

    explicit Workspace(int on_device)
        : device(on_device),
          traits(traits_of(on_device)),
          parts(on_device, most_blocks, "partial sums"),
          counters(on_device, 1, "counters of a reduction") {
        counters.fill_with_zeros();
        synchronize(device, nullptr);
    }

    template <int count>
    void dots(std::int64_t n, std::span<const Factors<double>> of, PartialSum<double>* results, Stream stream) {
        SeveralDots<double, count> in{n, {}, {}};
        for (int q = 0; q < count; ++q) {
            in.x[q] = of[static_cast<std::size_t>(q)].x;
            in.y[q] = of[static_cast<std::size_t>(q)].y;
        }
        const auto kernel = partial_dots<count>;
        auto* const its_parts = reinterpret_cast<SeveralParts<AnchoredTriple, count>*>(parts.data());
        kernel<<<blocks_of_pass(kernel, n, Pack<double>::size, traits), reduce_threads, 0, stream>>>(in, its_parts,
                                                                                                     counters.data(), results);
        check_launch("partial_dots");
    }
};

PartialReducer::PartialReducer(int device) : workspace_(std::make_unique<Workspace>(device)) {}
PartialReducer::PartialReducer(PartialReducer&&) noexcept = default;
PartialReducer& PartialReducer::operator=(PartialReducer&&) noexcept = default;
PartialReducer::~PartialReducer() = default;

void PartialReducer::dots(std::int64_t n, std::span<const Factors<double>> of, PartialSum<double>* results, Stream stream) {
    const CurrentDevice current(workspace_->device);
    switch (of.size()) {
        case 0:
            return;
        case 1:
            return workspace_->dots<1>(n, of, results, stream);
        case 2:
            return workspace_->dots<2>(n, of, results, stream);
        case 3:
            return workspace_->dots<3>(n, of, results, stream);
        case 4:
            return workspace_->dots<4>(n, of, results, stream);
        default:
            throw InvalidArgument("shares of dot products in one pass: " + std::to_string(of.size()) + " asked for, at most " +
                                  std::to_string(most_dots) + " are possible");
    }
}

}  // namespace solver::cuda
