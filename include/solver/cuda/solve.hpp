#pragma once

/// Linear systems whose right-hand sides and solutions lie in the memory of a CUDA device, for which the plan of the matrix
/// was made.

#include "solver/cuda/runtime.hpp"
#include "solver/preconditioner.hpp"
#include "solver/solve.hpp"
#include "solver/spmv.hpp"

#include <complex>
#include <cstdint>
#include <vector>

namespace solver::cuda {

/// The columns of B and X, one after another in the memory of the plan's device: each vector has rows * columns elements.
template <class T>
struct SolveTask {
    const T* b = nullptr;
    T* x = nullptr;      ///< the initial guess on entry, the best iterate found on return
    T* x_low = nullptr;  ///< or none; as for bicgstab
    std::int64_t columns = 1;
};

/// Wait until what is on the stream is done, so that b and x may still be on their way there; x is there when they return,
/// though the iteration runs on streams of its own. What is promised, the bits and the errors are those of solver::solve and
/// krylov_solve for vectors of the host. Throw InvalidArgument where the plan was not made for a CUDA device, or a pointer is
/// null. Callbacks and preconditioners of your own see the host's memory, as ever.

template <class T>
SolveReport solve(const solver::SpmvPlan<T>& a, const SolveTask<T>& task, const SolveOptions& options = {},
                  Stream stream = nullptr);

/// Of complex numbers: what solver::solve of complex.hpp says holds, with its bits.
template <>
SolveReport solve(const solver::SpmvPlan<std::complex<double>>& a, const SolveTask<std::complex<double>>& task,
                  const SolveOptions& options, Stream stream);
template <>
SolveReport solve(const solver::SpmvPlan<std::complex<float>>& a, const SolveTask<std::complex<float>>& task,
                  const SolveOptions& options, Stream stream);

template <class T>
std::vector<SolveResult> krylov_solve(KrylovMethod method, const solver::SpmvPlan<T>& a, const Preconditioner<T>& m,
                                      const SolveTask<T>& task, const KrylovOptions& options = {}, Stream stream = nullptr);

template <class T>
std::vector<SolveResult> bicgstab(const solver::SpmvPlan<T>& a, const Preconditioner<T>& m, const SolveTask<T>& task,
                                  const KrylovOptions& options = {}, Stream stream = nullptr) {
    return krylov_solve(KrylovMethod::bicgstab, a, m, task, options, stream);
}

template <class T>
std::vector<SolveResult> cg(const solver::SpmvPlan<T>& a, const Preconditioner<T>& m, const SolveTask<T>& task,
                            const KrylovOptions& options = {}, Stream stream = nullptr) {
    return krylov_solve(KrylovMethod::cg, a, m, task, options, stream);
}

}  // namespace solver::cuda
