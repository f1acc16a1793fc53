#pragma once

/// Solves A x = b on a CUDA device where A is a function of vectors there: nothing is known of it but its products.

#include "solver/cuda/runtime.hpp"
#include "solver/device.hpp"
#include "solver/krylov.hpp"
#include "solver/preconditioner.hpp"

#include <cstdint>
#include <span>

namespace solver::cuda {

/// A square A by its products on a device. Derive from it to bring your own kernels.
template <class T>
class LinearOperator {
public:
    virtual ~LinearOperator() = default;

    /// As many columns.
    virtual std::int64_t rows() const = 0;

    /// y = A x, vectors of rows() elements in the device's memory that do not overlap, by work on the stream, which need not be
    /// waited for. It may wait and allocate, too: nothing is captured into a graph. What it throws goes through the solve to
    /// whoever called it. Not called where there are no rows.
    virtual void apply(const T* x, T* y, Stream stream) const = 0;
};

/// Solves A x = b by a Krylov method as krylov_solve.hpp says, on a CUDA device, without a preconditioner where m is null. b
/// and x, the initial guess on entry and the solution on return, both lie in the memory of the host or both in the device's.
///
/// All work is put on the caller's stream, one operation after another, that of A and M in between, and x is there on return.
/// What linear_operator.hpp says of residuals holds here: in exact x has the bits that solver::krylov_solve gives on the
/// processor, where the operator's products have the same bits. M is applied by its counterpart on the device
/// (Preconditioner::on_device), which may do what an operator may, or, where it has none, on the host. Throws InvalidArgument
/// where the device is the processor.
template <class T>
SolveResult krylov_solve(KrylovMethod method, const LinearOperator<T>& a, const Preconditioner<T>* m, std::span<const T> b,
                         std::span<T> x, const KrylovOptions& options = {}, const Device& device = Device::cuda(),
                         Stream stream = nullptr);

}  // namespace solver::cuda
