/// For a build without CUDA.

#include "benchmarks.hpp"
#include "solver/error.hpp"

namespace solver::bench::on_cuda {
namespace {

[[noreturn]] void refuse() { throw NotSupported("solver-bench was built without CUDA; configure with -DSOLVER_CUDA=ON"); }

}  // namespace

std::string device_description(int) { refuse(); }
std::string description() { refuse(); }
void bench_spmv(const Options&, Report&) { refuse(); }
void bench_reduce(const Options&, Report&) { refuse(); }
void bench_triangular(const Options&, Report&) { refuse(); }
void bench_solve(const Options&, Report&) { refuse(); }

}  // namespace solver::bench::on_cuda
