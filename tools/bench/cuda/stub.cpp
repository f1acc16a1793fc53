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

template <class T>
std::unique_ptr<ProductMachine<T>> make_product_machine(int) {
    refuse();
}
template std::unique_ptr<ProductMachine<float>> make_product_machine(int);
template std::unique_ptr<ProductMachine<double>> make_product_machine(int);

template <class T>
std::unique_ptr<Operation> make_reduction(const Options&, const Factors<T>&, T) {
    refuse();
}
template std::unique_ptr<Operation> make_reduction(const Options&, const Factors<float>&, float);
template std::unique_ptr<Operation> make_reduction(const Options&, const Factors<double>&, double);

template <class T>
std::unique_ptr<SparseProduct<T>> make_sparse_product(const Options&, const CsrView<T>&) {
    refuse();
}
template std::unique_ptr<SparseProduct<float>> make_sparse_product(const Options&, const CsrView<float>&);
template std::unique_ptr<SparseProduct<double>> make_sparse_product(const Options&, const CsrView<double>&);

template <class T>
std::unique_ptr<Operation> make_triangular_solve(const Options&, const TriangularSystem<T>&) {
    refuse();
}
template std::unique_ptr<Operation> make_triangular_solve(const Options&, const TriangularSystem<float>&);
template std::unique_ptr<Operation> make_triangular_solve(const Options&, const TriangularSystem<double>&);

template <class T>
std::vector<Competitor> make_solve_peers(const Options&, Solves<T>&, const CsrView<T>&) {
    refuse();
}
template std::vector<Competitor> make_solve_peers(const Options&, Solves<float>&, const CsrView<float>&);
template std::vector<Competitor> make_solve_peers(const Options&, Solves<double>&, const CsrView<double>&);

}  // namespace solver::bench::on_cuda
