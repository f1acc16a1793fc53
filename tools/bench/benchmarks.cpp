#include "benchmarks.hpp"

namespace solver::bench {

void run_benchmark(const Options& options, Report& report) {
    switch (options.subject) {
        case Subject::spmv:
            return bench_spmv(options, report);
        case Subject::dot:
        case Subject::sum:
        case Subject::norm2:
            return bench_reduce(options, report);
        case Subject::gemm:
            return bench_gemm(options, report);
        case Subject::triangular:
            return bench_triangular(options, report);
        case Subject::solve:
            return bench_solve(options, report);
        case Subject::read:
            return bench_read(options, report);
        case Subject::bits:
        case Subject::robustness:
        case Subject::scaling:
            break;
    }
}

}  // namespace solver::bench
