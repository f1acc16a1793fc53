#pragma once

/// The peer: Eigen as a user would have it, compiled for the processor at hand, sparse products by OpenMP with the same number
/// of threads, 32-bit indices.

#include "solver/csr_matrix.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace solver::bench::eigen {

/// "Eigen 3.4.0 (AVX512, FMA, ...)"
std::string description();

/// The number of threads that Eigen's parallel loops use when asked for this many; 1 where it was built without OpenMP.
int usable_threads(int threads);

/// Ends OpenMP's sleeping threads. After a parallel loop they wait awake for milliseconds, on processors that the next
/// competitor needs.
void end_threads();

/// A row-major sparse matrix with 32-bit indices; copies share it.
template <class T>
class SparseMatrix {
public:
    SparseMatrix();
    explicit SparseMatrix(const CsrView<T>& a);

    /// y = A x
    void multiply(int threads, std::span<const T> x, std::span<T> y) const;

    /// Eigen::loadMarket: general files only, symmetric ones are left as stored. False where it cannot read the file.
    bool load(const std::filesystem::path& path);

    CsrMatrix<T> csr() const;

private:
    struct Storage;
    std::shared_ptr<Storage> storage_;
};

/// Whether 32-bit indices count its entries.
template <class T>
bool fits(const CsrView<T>& a);

/// The sum of parts that are summed one on each thread; one part is what Eigen does by itself.
template <class T>
T sum(std::span<const T> x, int parts);

template <class T>
T dot(std::span<const T> x, std::span<const T> y, int parts);

template <class T>
T norm2(std::span<const T> x, int parts);

/// C = A B, n x n, column by column.
template <class T>
void multiply(int threads, std::int64_t n, std::span<const T> a, std::span<const T> b, std::span<T> c);

}  // namespace solver::bench::eigen
