#pragma once

/// Checked calls of the CUDA runtime, cuSPARSE and cuBLAS.

#include "solver/cuda.hpp"

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cusparse.h>

#include <string>

namespace solver::bench::on_cuda {

inline void check(cudaError_t status, const char* call) {
    if (status != cudaSuccess) throw cuda::CudaError(std::string(call) + ": " + cudaGetErrorString(status));
}
inline void check(cusparseStatus_t status, const char* call) {
    if (status != CUSPARSE_STATUS_SUCCESS) throw cuda::CudaError(std::string(call) + ": " + cusparseGetErrorString(status));
}
inline void check(cublasStatus_t status, const char* call) {
    if (status != CUBLAS_STATUS_SUCCESS) throw cuda::CudaError(std::string(call) + ": " + cublasGetStatusString(status));
}

}  // namespace solver::bench::on_cuda

#define BENCH_CHECK(call) ::solver::bench::on_cuda::check((call), #call)
