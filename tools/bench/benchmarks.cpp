#include "benchmarks.hpp"

#include "cuda/benchmarks.hpp"

namespace solver::bench {

void run_benchmark(const Options& options, Report& report) {
    const bool on_gpu = options.cuda_device.has_value();
    switch (options.subject) {
        case Subject::spmv:
            return on_gpu ? on_cuda::bench_spmv(options, report) : bench_spmv(options, report);
        case Subject::dot:
        case Subject::sum:
        case Subject::norm2:
            return on_gpu ? on_cuda::bench_reduce(options, report) : bench_reduce(options, report);
        case Subject::gemm:
            return on_gpu ? on_cuda::bench_gemm(options, report) : bench_gemm(options, report);
        case Subject::triangular:
            return on_gpu ? on_cuda::bench_triangular(options, report) : bench_triangular(options, report);
        case Subject::solve:
            return on_gpu ? on_cuda::bench_solve(options, report) : bench_solve(options, report);
        case Subject::read:
            return bench_read(options, report);
        case Subject::bits:
        case Subject::robustness:
        case Subject::scaling:
        case Subject::report:
            break;
    }
}

}  // namespace solver::bench
