#pragma once

/// Every call of the CUDA runtime is checked, and every call happens on the right device.

#include "solver/cuda/runtime.hpp"

#include <cuda_runtime.h>

namespace solver::cuda {

/// Throws CudaError: "cudaMemcpyAsync for row offsets on cuda:0: invalid argument (cudaErrorInvalidValue)".
inline void check(cudaError_t status, const char* call, const char* purpose = "") {
    if (status == cudaSuccess) return;
    cudaGetLastError();  // so that the next call does not report it again, where it can be recovered from
    int device = 0;
    const std::string place = cudaGetDevice(&device) == cudaSuccess ? " on cuda:" + std::to_string(device) : "";
    const char* hint = status == cudaErrorInsufficientDriver ? "; there is no NVIDIA driver, or one that is too old" : "";
    throw CudaError(std::string(call) + (*purpose != 0 ? " for " : "") + purpose + place + ": " + cudaGetErrorString(status) +
                    " (" + cudaGetErrorName(status) + ")" + hint);
}

/// Whether the kernel launched just before could be launched.
inline void check_launch(const char* kernel) { check(cudaGetLastError(), "launch", kernel); }

struct Grid {
    unsigned blocks;
    unsigned threads;
    std::size_t shared = 0;  ///< bytes of dynamic shared memory a block
    unsigned rows = 1;       ///< of so many blocks
};

/// Launches a kernel that begins with wait_for_former_kernel(), so that its launch can overlap the kernel before it.
template <class... Parameters, class... Arguments>
void launch_after(bool overlapping, void (*kernel)(Parameters...), const Grid& grid, Stream stream, const char* name,
                  Arguments&&... arguments) {
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(grid.blocks, grid.rows);
    config.blockDim = dim3(grid.threads);
    config.dynamicSmemBytes = grid.shared;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = overlapping ? 1 : 0;
    check(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(std::forward<Arguments>(arguments))...), "launch", name);
}

template <class... Parameters, class... Arguments>
void launch_after(bool overlapping, void (*kernel)(Parameters...), unsigned blocks, unsigned threads, Stream stream,
                  const char* name, Arguments&&... arguments) {
    launch_after(overlapping, kernel, Grid{blocks, threads}, stream, name, std::forward<Arguments>(arguments)...);
}

/// Makes a device current, and the former one again at the end.
class CurrentDevice {
public:
    explicit CurrentDevice(int device) {
        check(cudaGetDevice(&former_), "cudaGetDevice");
        if (former_ != device) check(cudaSetDevice(device), "cudaSetDevice");
    }
    CurrentDevice(const CurrentDevice&) = delete;
    CurrentDevice& operator=(const CurrentDevice&) = delete;
    ~CurrentDevice() {
        int now = former_;
        if (cudaGetDevice(&now) == cudaSuccess && now != former_) cudaSetDevice(former_);
    }

private:
    int former_ = 0;
};

}  // namespace solver::cuda
