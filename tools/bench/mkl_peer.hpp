#pragma once

/// Intel MKL's sparse products by inspector and executor, where its library can be loaded: libmkl_rt.so.3 (or .2) in the
/// loader's path, or the file that SOLVER_BENCH_MKL names. Bound at run time, so that nothing here depends on it.

#include "solver/views.hpp"

#include <memory>
#include <span>
#include <string>

namespace solver::bench::mkl {

bool is_there();
/// "MKL 2025.0, AVX-512"; what is missing where it is not there.
std::string description();
/// Lets its threads sleep.
void rest();

/// A with 32-bit indices, inspected and optimized for a great number of products; copies share it.
template <class T>
class SparseMatrix {
public:
    /// Throws std::runtime_error where MKL refuses.
    SparseMatrix(const CsrView<T>& a, int threads);

    /// y = A x
    void multiply(std::span<const T> x, std::span<T> y) const;

private:
    struct Storage;
    std::shared_ptr<Storage> storage_;
};

}  // namespace solver::bench::mkl
