#pragma once

/// What benchmarks compare on a CUDA device: the library beside cuSPARSE, cuBLAS and CUB. In a build without CUDA all this
/// throws NotSupported.

#include "tools/bench/options.hpp"
#include "tools/bench/product_machine.hpp"
#include "tools/bench/reductions.hpp"
#include "tools/bench/solves.hpp"
#include "tools/bench/sparse_product.hpp"
#include "tools/bench/triangles.hpp"

#include <memory>
#include <string>
#include <vector>

namespace solver::bench::on_cuda {

/// The name of the device, its size and its driver.
std::string device_description(int device);

/// The peers and their versions.
std::string description();

template <class T>
std::unique_ptr<ProductMachine<T>> make_product_machine(int device);

template <class T>
std::unique_ptr<Operation> make_reduction(const Options& options, const Factors<T>& data, T exact);

template <class T>
std::unique_ptr<SparseProduct<T>> make_sparse_product(const Options& options, const CsrView<T>& a);

template <class T>
std::unique_ptr<Operation> make_triangular_solve(const Options& options, const TriangularSystem<T>& system);

template <class T>
std::vector<Competitor> make_solve_peers(const Options& options, Solves<T>& solves, const CsrView<T>& a);

}  // namespace solver::bench::on_cuda
