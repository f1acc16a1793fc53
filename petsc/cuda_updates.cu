#include "apply.hpp"
#include "core/multigrid/level.hpp"
#include "place.hpp"
#include "solver/error.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>

namespace petscsolver {
namespace {

constexpr int block_threads = 256;
constexpr std::int64_t most_blocks = 1 << 16;

template <class Update>
__global__ void update_elements(std::int64_t n, Update update) {
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x; i < n;
         i += static_cast<std::int64_t>(gridDim.x) * block_threads)
        update(i);
}

void check(cudaError_t status) {
    if (status != cudaSuccess)
        throw solver::cuda::CudaError(std::string("an update of a vector on its device: ") + cudaGetErrorString(status));
}

}  // namespace

std::shared_ptr<void> shared_device_memory(int device, std::size_t bytes, const char* purpose) {
    check(cudaSetDevice(device));
    void* memory = nullptr;
    if (cudaMalloc(&memory, bytes) != cudaSuccess) {
        cudaGetLastError();
        throw solver::ResourceLimit("cuda:" + std::to_string(device) + " has too little memory for " + purpose + ": " +
                                    std::to_string(bytes) + " bytes needed");
    }
    return {memory, [](void* made) { cudaFree(made); }};
}

template <class Update>
void apply_on_device(const Place& place, std::int64_t n, const Update& update) {
    if (n == 0) return;
    check(cudaSetDevice(place.device));
    const auto blocks = static_cast<unsigned>(std::min((n + block_threads - 1) / block_threads, most_blocks));
    update_elements<<<blocks, block_threads, 0, place.stream>>>(n, update);
    check(cudaGetLastError());
}

template void apply_on_device(const Place&, std::int64_t, const Scale&);
template void apply_on_device(const Place&, std::int64_t, const Axpy&);
template void apply_on_device(const Place&, std::int64_t, const Aypx&);
template void apply_on_device(const Place&, std::int64_t, const Axpby&);
template void apply_on_device(const Place&, std::int64_t, const Waxpy&);
template void apply_on_device(const Place&, std::int64_t, const Axpbypcz&);
template void apply_on_device(const Place&, std::int64_t, const Maxpy&);
template void apply_on_device(const Place&, std::int64_t, const Copy<float>&);
template void apply_on_device(const Place&, std::int64_t, const Copy<double>&);
template void apply_on_device(const Place&, std::int64_t, const Gather<float>&);
template void apply_on_device(const Place&, std::int64_t, const Gather<double>&);
template void apply_on_device(const Place&, std::int64_t, const Scatter<double>&);
template void apply_on_device(const Place&, std::int64_t, const ScaleInto<double, float>&);
template void apply_on_device(const Place&, std::int64_t, const ScaleInto<float, double>&);
template void apply_on_device(const Place&, std::int64_t, const solver::amg::BeginAtZero<float>&);
template void apply_on_device(const Place&, std::int64_t, const solver::amg::BeginAtZero<double>&);
template void apply_on_device(const Place&, std::int64_t, const solver::amg::Smooth<float>&);
template void apply_on_device(const Place&, std::int64_t, const solver::amg::Smooth<double>&);

}  // namespace petscsolver
