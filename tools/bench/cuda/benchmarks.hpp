#pragma once

/// The benchmarks on a CUDA device, beside cuSPARSE, cuBLAS and CUB. In a build without CUDA they throw NotSupported.

#include "tools/bench/options.hpp"
#include "tools/bench/product_machine.hpp"
#include "tools/bench/report.hpp"

#include <memory>
#include <string>

namespace solver::bench::on_cuda {

/// The name of the device, its size and its driver.
std::string device_description(int device);

/// The peers and their versions.
std::string description();

void bench_spmv(const Options& options, Report& report);
void bench_reduce(const Options& options, Report& report);  ///< sum, dot and norm2
void bench_gemm(const Options& options, Report& report);
void bench_triangular(const Options& options, Report& report);
void bench_solve(const Options& options, Report& report);

template <class T>
std::unique_ptr<ProductMachine<T>> make_product_machine(int device);

}  // namespace solver::bench::on_cuda
