#pragma once

/// BiCGStab as one would write it in an afternoon on cuSPARSE and cuBLAS.

#include "peers.hpp"
#include "replay.hpp"
#include "tools/bench/solves.hpp"

#include <span>
#include <vector>

namespace solver::bench::on_cuda {

/// Van der Vorst's algorithm with Jacobi as right preconditioner, an operation a call of a library, scalars on the host.
template <class T>
class TextbookBicgstab {
public:
    TextbookBicgstab(int device, const CsrView<T>& a, const cuda::DeviceCsrView<T>& on_device, SpmvAlgorithm algorithm);

    /// Solves A x = b from x = 0 until the updated residual is at most tolerance ||b||, or breaks down.
    Solve solve(std::span<const T> b, std::span<T> x, double tolerance, std::int64_t max_iterations);

private:
    T dot(const cuda::DeviceArray<T>& x, const cuda::DeviceArray<T>& y);
    T norm2(const cuda::DeviceArray<T>& x);
    void axpy(T alpha, const cuda::DeviceArray<T>& x, cuda::DeviceArray<T>& y);

    std::int64_t n_;
    OwnStream stream_;
    CuSparseMatrix<T> matrix_;
    CuBlas blas_;
    cuda::DeviceArray<T> inverse_diagonal_;
    cuda::DeviceArray<T> x_, r_, shadow_, p_, p_hat_, v_, s_hat_, t_;
};

}  // namespace solver::bench::on_cuda
