#include "core/readable_bytes.hpp"
#include "runtime/check.cuh"
#include "runtime/memory_pool.hpp"
#include "runtime/pinned.cuh"
#include "runtime/staged_copy.hpp"
#include "runtime/traits.hpp"

#include <cstdlib>
#include <string_view>

namespace solver::cuda {
namespace {

__global__ void do_nothing() {}

int attribute(cudaDeviceAttr which, int device) {
    int value = 0;
    check(cudaDeviceGetAttribute(&value, which, device), "cudaDeviceGetAttribute");
    return value;
}

int floats_per_double(int device) { return attribute(cudaDevAttrSingleToDoublePrecisionPerfRatio, device); }

/// A sum of three floats takes three times the operations of one of two doubles.
FloatSums float_sums(int device) {
    constexpr int slow_doubles = 8;
    const char* const wanted = std::getenv("SOLVER_FLOAT_SUMS");
    if (wanted != nullptr && std::string_view(wanted) == "double") return FloatSums::in_double;
    if (wanted != nullptr && std::string_view(wanted) == "float") return FloatSums::in_float;
    return floats_per_double(device) >= slow_doubles ? FloatSums::in_float : FloatSums::in_double;
}

}  // namespace

Platform platform() {
    Platform found{.built_in = true, .runtime_version = CUDART_VERSION, .problem = {}};
    if (cudaDriverGetVersion(&found.driver_version) != cudaSuccess) found.driver_version = 0;
    const cudaError_t status = cudaGetDeviceCount(&found.devices);
    if (status == cudaSuccess && found.devices > 0) return found;
    cudaGetLastError();
    found.devices = 0;
    found.problem = cudaGetErrorString(status == cudaSuccess ? cudaErrorNoDevice : status);
    return found;
}

int device_count() noexcept {
    int count = 0;
    if (cudaGetDeviceCount(&count) == cudaSuccess) return count;
    cudaGetLastError();
    return 0;
}

DeviceDescription describe(int device) {
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
    return {.name = properties.name,
            .multiprocessors = properties.multiProcessorCount,
            .compute_capability = 10 * properties.major + properties.minor,
            .level2_bytes = properties.l2CacheSize,
            .memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem),
            .floats_per_double = floats_per_double(device),
            .float_sums = float_sums(device)};
}

Traits traits_of(int device) {
    return {.multiprocessors = attribute(cudaDevAttrMultiProcessorCount, device),
            .level2_bytes = attribute(cudaDevAttrL2CacheSize, device),
            .overlapping = attribute(cudaDevAttrComputeCapabilityMajor, device) >= 9,
            .float_sums = float_sums(device)};
}

bool has_code_for(int device) {
    const CurrentDevice current(device);
    cudaFuncAttributes attributes{};
    const cudaError_t status = cudaFuncGetAttributes(&attributes, do_nothing);
    if (status == cudaErrorNoKernelImageForDevice || status == cudaErrorInvalidDeviceFunction) {
        cudaGetLastError();
        return false;
    }
    check(status, "cudaFuncGetAttributes");
    return true;
}

void synchronize(int device, Stream stream) {
    const CurrentDevice current(device);
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

void* allocate_pinned(std::size_t bytes, const char* purpose) {
    void* memory = nullptr;
    const cudaError_t status = cudaMallocHost(&memory, bytes);
    if (status != cudaErrorMemoryAllocation) {
        check(status, "cudaMallocHost", purpose);
        return memory;
    }
    cudaGetLastError();
    int device = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    throw ResourceLimit("the host has too little memory that cuda:" + std::to_string(device) + " can reach for " + purpose +
                        ": " + readable_bytes(bytes) + " needed, which the system must lock; what may help: the processor, " +
                        "fewer processes that use a GPU");
}

std::int64_t free_bytes(int device) {
    const CurrentDevice current(device);
    return static_cast<std::int64_t>(MemoryPool::of(device).room().free);
}

namespace detail {

Stream create_stream(int device) {
    const CurrentDevice current(device);
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    return stream;
}

void destroy_stream(int device, Stream stream) noexcept {
    int former = device;
    cudaGetDevice(&former);
    if (former != device) cudaSetDevice(device);
    cudaStreamDestroy(stream);
    if (former != device) cudaSetDevice(former);
}

void* allocate(int device, std::int64_t bytes, const char* purpose) {
    if (bytes == 0) return nullptr;
    const CurrentDevice current(device);
    if (void* const memory = MemoryPool::of(device).allocate(static_cast<std::size_t>(bytes), purpose)) return memory;
    const MemoryPool::Room room = MemoryPool::of(device).room();
    throw ResourceLimit("cuda:" + std::to_string(device) + " has too little memory for " + purpose + ": " +
                        readable_bytes(static_cast<std::size_t>(bytes)) + " needed, " + readable_bytes(room.free) + " of " +
                        readable_bytes(room.total) + " free; what may help: the processor, another device, single precision");
}

void release(int device, void* memory) noexcept {
    if (memory == nullptr) return;
    int former = device;
    cudaGetDevice(&former);
    if (former != device) cudaSetDevice(device);
    MemoryPool::of(device).release(memory);
    if (former != device) cudaSetDevice(former);
}

// What is called the host's memory may be a device's as well, where data of a caller already lie there: the driver finds out.

void copy_to_device(int device, void* to, const void* from, std::int64_t bytes, Stream stream) {
    if (bytes == 0) return;
    const CurrentDevice current(device);
    if (copy_staged(device, to, from, bytes, Direction::to_device, stream)) return;
    check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDefault, stream), "cudaMemcpyAsync",
          "a copy to the device");
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize", "a copy to the device");
}

void copy_to_host(int device, void* to, const void* from, std::int64_t bytes, Stream stream) {
    if (bytes == 0) return;
    const CurrentDevice current(device);
    if (copy_staged(device, to, from, bytes, Direction::to_host, stream)) return;
    check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDefault, stream), "cudaMemcpyAsync",
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
