#pragma once

/// Forward and backward substitution on a CUDA device.

#include "solver/accuracy.hpp"
#include "solver/cuda/runtime.hpp"
#include "solver/numeric/complex.hpp"
#include "solver/triangular_solve.hpp"

#include <cstdint>
#include <memory>

namespace solver::cuda {

template <class T>
class TriangularSystem;

/// A sparse triangular matrix made ready for many solves on a device: analysed on the host, copied in the order of the
/// analysis, or, where from 256 rows on no entry is missing, as it is. Does not refer to the matrix afterwards. A plan has
/// working memory of its own: one solve at a time.
///
/// T is float, double or std::complex of one. The matrix has to be as solver::TriangularSolvePlan of T asks for, which checks
/// it; here nothing is checked. Throws InvalidArgument from 2^29 complex rows on.
template <class T>
class TriangularSolvePlan {
public:
    TriangularSolvePlan(int device, const CsrView<T>& a, Triangle triangle, Diagonal diagonal);
    TriangularSolvePlan(TriangularSolvePlan&&) noexcept;
    TriangularSolvePlan& operator=(TriangularSolvePlan&&) noexcept;
    ~TriangularSolvePlan();

    /// Solves A x = b. The promises are those of solver::TriangularSolvePlan<T>::solve, and in exact the bits too; in the other
    /// modes the bits are the same from run to run. b and x are in the device's memory, complex vectors aligned as their parts;
    /// x may be b. One kernel, or two for each 64 rows where no entry is missing; they can be captured in a CUDA graph.
    void solve(const T* b, T* x, Accuracy accuracy, Stream stream = nullptr) const;

    std::int64_t bytes() const;  ///< of the device's memory

private:
    std::unique_ptr<TriangularSystem<RealOf<T>>> system_;
};

}  // namespace solver::cuda
