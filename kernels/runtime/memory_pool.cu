#include "runtime/memory_pool.hpp"

#include "runtime/check.cuh"

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

namespace solver::cuda {
namespace {

constexpr int most_devices = 64;
constexpr std::size_t share_kept = 16;

bool has_pools(int device) {
    int supported = 0;
    check(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, device), "cudaDeviceGetAttribute");
    return supported != 0;
}

MemoryPool::Room driver_memory() {
    MemoryPool::Room room;
    check(cudaMemGetInfo(&room.free, &room.total), "cudaMemGetInfo");
    return room;
}

cudaMemPool_t make_pool(int device) {
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    properties.location.id = device;
    cudaMemPool_t pool = nullptr;
    check(cudaMemPoolCreate(&pool, &properties), "cudaMemPoolCreate");
    std::uint64_t kept = driver_memory().total / share_kept;
    check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept), "cudaMemPoolSetAttribute");
    return pool;
}

struct Pools {
    std::mutex mutex;
    std::array<std::unique_ptr<MemoryPool>, most_devices> of_device;
};

Pools& pools() {
    static auto* const all = new Pools;
    return *all;
}

std::uint64_t attribute(cudaMemPool_t pool, cudaMemPoolAttr which) {
    std::uint64_t bytes = 0;
    check(cudaMemPoolGetAttribute(pool, which, &bytes), "cudaMemPoolGetAttribute");
    return bytes;
}

}  // namespace

MemoryPool& MemoryPool::of(int device) {
    Pools& all = pools();
    const std::lock_guard turn(all.mutex);
    std::unique_ptr<MemoryPool>& pool = all.of_device.at(static_cast<std::size_t>(device));
    if (pool == nullptr) pool.reset(new MemoryPool(device));
    return *pool;
}

MemoryPool::MemoryPool(int device) {
    if (!has_pools(device)) return;
    stream_ = detail::create_stream(device);
    if (cudaMalloc(&anchor_, 1) != cudaSuccess) cudaGetLastError();
    pool_ = make_pool(device);
}

void* MemoryPool::allocate(std::size_t bytes, const char* purpose) {
    void* memory = nullptr;
    const cudaError_t status =
        pool_ != nullptr ? cudaMallocFromPoolAsync(&memory, bytes, pool_, stream_) : cudaMalloc(&memory, bytes);
    if (status == cudaErrorMemoryAllocation) {
        cudaGetLastError();
        return nullptr;
    }
    check(status, pool_ != nullptr ? "cudaMallocFromPoolAsync" : "cudaMalloc", purpose);
    if (pool_ != nullptr) check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize", purpose);
    return memory;
}

void MemoryPool::release(void* memory) noexcept {
    if (pool_ == nullptr) {
        cudaFree(memory);
        return;
    }
    if (wait_for_device()) cudaFreeAsync(memory, stream_);  // else there is not a byte left, and it is lost rather than in use
}

/// cudaFree waits for all work on the device, whatever it frees. cudaDeviceSynchronize would break the graph that any thread
/// captures at the time; cudaFree does not.
bool MemoryPool::wait_for_device() noexcept {
    const auto take_token = [&] {
        if (cudaMalloc(&token_, 1) == cudaSuccess) return true;
        cudaGetLastError();
        return false;
    };
    const std::lock_guard turn(mutex_);
    if (token_ == nullptr && !take_token()) return false;
    cudaFree(std::exchange(token_, nullptr));
    take_token();
    return true;
}

MemoryPool::Room MemoryPool::room() const {
    Room room = driver_memory();
    if (pool_ != nullptr)
        room.free += attribute(pool_, cudaMemPoolAttrReservedMemCurrent) - attribute(pool_, cudaMemPoolAttrUsedMemCurrent);
    return room;
}

}  // namespace solver::cuda
