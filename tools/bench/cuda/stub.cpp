/// For a build without CUDA, or without the libraries to compare with.

#include "benchmarks.hpp"
#include "solver/error.hpp"

namespace solver::bench::on_cuda {
namespace {

[[noreturn]] void refuse() {
    throw NotSupported(
        "solver-bench was built without CUDA, or its toolkit had no cuSPARSE or no cuBLAS to compare with; install these, "
        "configure with -DSOLVER_CUDA=ON, or measure the processor: --device cpu");
}

}  // namespace

std::string device_description(int) { refuse(); }
std::string description() { refuse(); }
void bench_spmv(const Options&, Report&) { refuse(); }
void bench_reduce(const Options&, Report&) { refuse(); }
void bench_gemm(const Options&, Report&) { refuse(); }
void bench_triangular(const Options&, Report&) { refuse(); }
void bench_solve(const Options&, Report&) { refuse(); }

template <class T>
std::unique_ptr<ProductMachine<T>> make_product_machine(int) {
    refuse();
}
template std::unique_ptr<ProductMachine<float>> make_product_machine(int);
template std::unique_ptr<ProductMachine<double>> make_product_machine(int);

}  // namespace solver::bench::on_cuda
