#pragma once

/// Preconditioners in the memory of a CUDA device.

#include "solver/accuracy.hpp"
#include "solver/cuda/runtime.hpp"
#include "solver/views.hpp"

#include <cstdint>
#include <memory>
#include <span>

namespace solver::cuda {

/// What an iterative method on a device needs of a preconditioner. Has working memory of its own: one application at a time.
template <class T>
class DevicePreconditioner {
public:
    virtual ~DevicePreconditioner() = default;

    /// z = M^-1 r in the accuracy asked for. r and z are in the device's memory, have as many elements as A has rows and do not
    /// overlap. Only launches kernels, whose result depends on nothing but r: it can be captured in a CUDA graph, does not
    /// wait, and may be called more often than the method has steps.
    virtual void apply(const T* r, T* z, Accuracy accuracy, Stream stream) = 0;

    /// The diagonal of M in the device's memory where M is nothing else, so that z_i = RN(r_i / d_i); else null.
    virtual const T* diagonal() const { return nullptr; }

    virtual bool is_identity() const { return false; }
};

/// M = I
template <class T>
std::unique_ptr<DevicePreconditioner<T>> make_identity(int device, std::int64_t rows);

/// M = diag(diagonal): a division. The diagonal may lie in the memory of the host or of the device.
template <class T>
std::unique_ptr<DevicePreconditioner<T>> make_jacobi(int device, std::span<const T> diagonal);

/// M = diag(diagonal) of complex numbers whose parts take turns, no number 0: quotients whose parts are rounded once. The
/// diagonal may lie in the memory of the host or of the device.
template <class T>
std::unique_ptr<DevicePreconditioner<T>> make_complex_jacobi(int device, std::span<const T> diagonal);

/// M = L U: two triangular solves (TriangularSolvePlan). L's diagonal is 1 and not stored, U's is stored.
template <class T>
std::unique_ptr<DevicePreconditioner<T>> make_lu(int device, const CsrView<T>& lower, const CsrView<T>& upper);

/// M^-1 = second first: two products
template <class T>
std::unique_ptr<DevicePreconditioner<T>> make_two_products(int device, const CsrView<T>& first, const CsrView<T>& second);

/// Block triangular, M_1 and M_2 on the diagonal, U above: z_2 = M_2^-1 r_2, then z_1 = M_1^-1 (r_1 - U z_2).
template <class T>
std::unique_ptr<DevicePreconditioner<T>> make_block_triangular(int device, std::unique_ptr<DevicePreconditioner<T>> first,
                                                               const CsrView<T>& coupling,
                                                               std::unique_ptr<DevicePreconditioner<T>> second);

/// z_{column_order[k]} = 2^column_exponents[k] (M^-1 s)_k, s_k = 2^row_exponents[k] r_{row_order[k]} with the inner M: what
/// Preparation does to a matrix, undone. Exponents are those of normal doubles.
template <class T>
std::unique_ptr<DevicePreconditioner<T>> make_prepared(int device, std::unique_ptr<DevicePreconditioner<T>> inner,
                                                       std::span<const std::int32_t> row_order,
                                                       std::span<const std::int16_t> row_exponents,
                                                       std::span<const std::int32_t> column_order,
                                                       std::span<const std::int16_t> column_exponents);

}  // namespace solver::cuda
