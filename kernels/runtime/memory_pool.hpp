#pragma once

/// Where pieces of a device's memory come from and go back to.

#include "solver/cuda/runtime.hpp"

#include <cuda_runtime.h>

#include <cstddef>
#include <mutex>

namespace solver::cuda {

/// The driver's pool of a device, kept by this library. cudaMalloc and cudaFree take ten to some hundred microseconds each, and
/// the levels of multigrid are made with hundreds of pieces; from a pool a piece takes three. Up to a sixteenth of the device's
/// memory stays with the pool when it is given back; more goes back to the driver. Where a device has no pools, pieces come
/// from cudaMalloc.
class MemoryPool {
public:
    struct Room {
        std::size_t free = 0;  ///< what this library may have: what is nobody's, and what the pool holds and nobody uses
        std::size_t total = 0;
    };

    /// Of the process. Lives until it ends, for static objects may outlive the driver. Throws CudaError.
    static MemoryPool& of(int device);

    /// Ready for any stream; nullptr where there is too little memory. The device is current. Throws CudaError.
    void* allocate(std::size_t bytes, const char* purpose);

    /// Waits for the device, so that no kernel reads the piece any more, and disturbs no graph that another thread captures.
    /// The device is current.
    void release(void* memory) noexcept;

    /// The device is current. Throws CudaError.
    Room room() const;

private:
    explicit MemoryPool(int device);

    bool wait_for_device() noexcept;

    cudaMemPool_t pool_ = nullptr;
    Stream stream_ = nullptr;  ///< on which nothing else happens, so that pieces are there at once
    std::mutex mutex_;         ///< of what follows
    void* token_ = nullptr;    ///< a piece of one byte from cudaMalloc, to be freed
    void* anchor_ = nullptr;   ///< another one, which keeps the memory around it mapped
};

}  // namespace solver::cuda
