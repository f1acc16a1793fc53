#pragma once

/// Memory of the host that devices reach.

#include "runtime/check.cuh"

namespace solver::cuda {

/// One value in pinned memory: copies need no detour, and kernels may write to it.
template <class T>
class Pinned {
public:
    explicit Pinned(const char* purpose) {
        check(cudaMallocHost(reinterpret_cast<void**>(&value_), sizeof(T)), "cudaMallocHost", purpose);
    }
    Pinned(const Pinned&) = delete;
    Pinned& operator=(const Pinned&) = delete;
    ~Pinned() { cudaFreeHost(value_); }
    T* operator->() const { return value_; }
    T* get() const { return value_; }

private:
    T* value_ = nullptr;
};

}  // namespace solver::cuda
