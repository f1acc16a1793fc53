#pragma once

/// Memory of the host that devices reach.

#include "runtime/check.cuh"
#include "solver/cuda/memory.hpp"

#include <algorithm>
#include <cstddef>

namespace solver::cuda {

/// Throws ResourceLimit where the system does not give so much.
void* allocate_pinned(std::size_t bytes, const char* purpose);

/// Values in pinned memory: copies need no detour, and kernels may write to it.
template <class T>
class Pinned {
public:
    explicit Pinned(const char* purpose, int count = 1)
        : purpose_(purpose),
          count_(static_cast<std::size_t>(count)),
          values_(static_cast<T*>(allocate_pinned(count_ * sizeof(T), purpose))) {
        std::fill_n(values_, count_, T());
    }
    Pinned(const Pinned&) = delete;
    Pinned& operator=(const Pinned&) = delete;
    ~Pinned() { cudaFreeHost(values_); }

    T& operator[](int i) const { return values_[i]; }
    T* operator->() const { return values_; }
    T* get() const { return values_; }

    void upload(const DeviceArray<T>& to, Stream stream) const {
        check(cudaMemcpyAsync(to.data(), values_, bytes(), cudaMemcpyHostToDevice, stream), "cudaMemcpyAsync", purpose_);
    }
    /// Waits.
    void download(const DeviceArray<T>& from, Stream stream) const {
        check(cudaMemcpyAsync(values_, from.data(), bytes(), cudaMemcpyDeviceToHost, stream), "cudaMemcpyAsync", purpose_);
        check(cudaStreamSynchronize(stream), "cudaStreamSynchronize", purpose_);
    }

private:
    std::size_t bytes() const { return count_ * sizeof(T); }

    const char* purpose_;
    std::size_t count_;
    T* values_;
};

}  // namespace solver::cuda
