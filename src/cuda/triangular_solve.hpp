#pragma once

/// What solver::TriangularSolvePlan keeps on a CUDA device.

#include "solver/cuda/memory.hpp"
#include "solver/cuda/triangular_solve.hpp"

#include <mutex>
#include <span>

namespace solver::cuda {

/// The device's plan, and room for a vector that comes from the host.
template <class T>
class TriangleOnDevice {
public:
    TriangleOnDevice(int device, const CsrView<T>& a, Triangle triangle, Diagonal diagonal);

    /// Copies b to the device and the solution back; calls from several threads take turns.
    void solve(std::span<const T> b, std::span<T> x, Accuracy accuracy);

private:
    OwnedStream stream_;
    TriangularSolvePlan<T> plan_;
    std::mutex mutex_;
    DeviceArray<T> x_;
};

}  // namespace solver::cuda
