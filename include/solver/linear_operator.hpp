#pragma once

/// Solves A x = b where A is a function: nothing is known of it but its products.

#include "solver/device.hpp"
#include "solver/krylov.hpp"
#include "solver/preconditioner.hpp"

#include <concepts>
#include <cstdint>
#include <span>

namespace solver {

/// A square A by its products. Derive from it to bring your own.
template <class T>
class LinearOperator {
    static_assert(
        std::floating_point<T>,
        "numbers are real: for complex ones write the operator that maps real_view(x) to real_view(A x) (complex.hpp), "
        "and set KrylovOptions::complex_scalars");

public:
    virtual ~LinearOperator() = default;

    /// As many columns.
    virtual std::int64_t rows() const = 0;

    /// y = A x, vectors of rows() elements that do not overlap. What it throws goes through the solve to whoever called it.
    virtual void apply(std::span<const T> x, std::span<T> y) const = 0;
};

/// Solves A x = b by a Krylov method as krylov_solve.hpp says, on the processor, without a preconditioner where m is null. x
/// holds the initial guess on entry and the solution on return.
///
/// What depends on entries of A is different: a true residual is b minus the operator's product, one rounding after another, so
/// that it is as good as these products are; and as nothing is known of the columns of A, the drift of the updated residual is
/// estimated from the steps alone. In exact all but the products is as exact as ever: where the operator gives the same bits on
/// every machine, and for every thread count, so does the solve.
template <class T>
SolveResult krylov_solve(KrylovMethod method, const LinearOperator<T>& a, const Preconditioner<T>* m, std::span<const T> b,
                         std::span<T> x, const KrylovOptions& options = {}, const Device& processor = Device::cpu());

}  // namespace solver
