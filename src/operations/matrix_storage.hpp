#pragma once

/// What SpmvPlan asks of a matrix, whatever it is stored as. Another storage is another class, made where plans are (spmv.cpp).

#include "solver/accuracy.hpp"
#include "solver/spmv.hpp"
#include "solver/views.hpp"

#include <memory>
#include <span>
#include <string>

namespace solver {

template <class T>
class MatrixStorage {
public:
    virtual ~MatrixStorage() = default;

    /// Tasks, checked and with alpha other than 0. By several threads at once.
    virtual void multiply(std::span<const SpmvTask<T>> tasks, Accuracy accuracy) const = 0;

    /// With other values, as many, in the same pattern: another, or this one where copies of a plan share them.
    virtual std::shared_ptr<const MatrixStorage> with_values(std::span<const T> values) const = 0;

    /// `reason`: why it was chosen.
    virtual SpmvDescription describe(const std::string& reason) const = 0;

    virtual std::int64_t rows() const = 0;
    virtual std::int64_t columns() const = 0;

    /// As CSR; of a dense matrix the nonzero elements, put together when first asked for.
    virtual const CsrView<T>& matrix() const = 0;

    /// The matrix as a dense one, or null.
    virtual const DenseView<T>* dense() const { return nullptr; }

    /// Who works on which entries, or nothing.
    virtual std::span<const WorkBoundary> boundaries() const { return {}; }

    /// What lies on a CUDA device, or null.
    virtual std::shared_ptr<cuda::SpmvOnDevice<T>> on_device() const { return nullptr; }
};

}  // namespace solver
