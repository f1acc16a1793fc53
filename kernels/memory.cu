#include "check.cuh"

namespace solver::cuda {
namespace {

std::string gibibytes(std::size_t bytes) {
    const auto hundredths = static_cast<long long>(static_cast<double>(bytes) / (1 << 30) * 100 + 0.5);
    const std::string digits = std::to_string(hundredths % 100);
    return std::to_string(hundredths / 100) + (digits.size() == 1 ? ".0" : ".") + digits + " GiB";
}

}  // namespace

int device_count() noexcept {
    int count = 0;
    if (cudaGetDeviceCount(&count) == cudaSuccess) return count;
    cudaGetLastError();
    return 0;
}

DeviceDescription describe(int device) {
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
    return {properties.name, properties.multiProcessorCount, 10 * properties.major + properties.minor, properties.l2CacheSize,
            static_cast<std::int64_t>(properties.totalGlobalMem)};
}

void synchronize(int device, Stream stream) {
    const CurrentDevice current(device);
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

namespace detail {

void* allocate(int device, std::int64_t bytes, const char* purpose) {
    if (bytes == 0) return nullptr;
    const CurrentDevice current(device);
    void* memory = nullptr;
    const cudaError_t status = cudaMalloc(&memory, static_cast<std::size_t>(bytes));
    if (status != cudaErrorMemoryAllocation) {
        check(status, "cudaMalloc", purpose);
        return memory;
    }
    cudaGetLastError();
    std::size_t free = 0;
    std::size_t total = 0;
    cudaMemGetInfo(&free, &total);
    throw ResourceLimit("allocating " + gibibytes(static_cast<std::size_t>(bytes)) + " for " + purpose + " on cuda:" +
                        std::to_string(device) + ": " + gibibytes(free) + " of " + gibibytes(total) + " are free");
}

void release(int device, void* memory) noexcept {
    if (memory == nullptr) return;
    int former = device;
    cudaGetDevice(&former);
    if (former != device) cudaSetDevice(device);
    cudaFree(memory);
    if (former != device) cudaSetDevice(former);
}

void copy_to_device(int device, void* to, const void* from, std::int64_t bytes, Stream stream) {
    if (bytes == 0) return;
    const CurrentDevice current(device);
    check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyHostToDevice, stream), "cudaMemcpyAsync",
          "a copy to the device");
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize", "a copy to the device");
}

void copy_to_host(int device, void* to, const void* from, std::int64_t bytes, Stream stream) {
    if (bytes == 0) return;
    const CurrentDevice current(device);
    check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToHost, stream), "cudaMemcpyAsync",
          "a copy to the host");
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize", "a copy to the host");
}

void fill_with_zeros(int device, void* memory, std::int64_t bytes, Stream stream) {
    if (bytes == 0) return;
    const CurrentDevice current(device);
    check(cudaMemsetAsync(memory, 0, static_cast<std::size_t>(bytes), stream), "cudaMemsetAsync");
}

}  // namespace detail
}  // namespace solver::cuda
