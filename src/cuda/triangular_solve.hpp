#pragma once

/// What solver::TriangularSolvePlan keeps on a CUDA device, of real matrices and of complex ones.

#include "core/paired_triangle.hpp"
#include "kernels/triangular.hpp"
#include "solver/cuda/memory.hpp"

#include <mutex>
#include <span>

namespace solver::cuda {

/// The analysed system, and room for a vector that comes from the host.
template <class T>
class TriangleOnDevice {
public:
    TriangleOnDevice(int device, const CsrView<T>& a, Triangle triangle, Diagonal diagonal);
    TriangleOnDevice(int device, const PairedTriangle<T>& a);

    /// Copies b to the device and the solution back; calls from several threads take turns.
    void solve(std::span<const T> b, std::span<T> x, Accuracy accuracy);

private:
    OwnedStream stream_;
    TriangularSystem<T> system_;
    std::mutex mutex_;
    DeviceArray<T> x_;
};

}  // namespace solver::cuda
