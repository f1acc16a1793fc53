#pragma once

/// Products with a dense matrix, as SpmvPlan makes them on the processor.

#include "solver/accuracy.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/spmv.hpp"
#include "solver/views.hpp"

#include <mutex>
#include <span>

namespace solver {

template <class T>
class DenseProducts {
public:
    /// Throws InvalidArgument where gemm would refuse the layout of A.
    DenseProducts(const DenseView<T>& a, const Device& device);

    /// Tasks, checked and with alpha other than 0. Those with equal alpha and beta by one gemm, unless they are few and rows of
    /// A contiguous; one with x as a pair, which a gemm cannot round once, by sums of rows.
    void multiply(std::span<const SpmvTask<T>> tasks, Accuracy accuracy) const;

    const DenseView<T>& matrix() const { return a_; }

    /// Its nonzero elements, put together when first asked for.
    const CsrView<T>& sparse() const;

private:
    void multiply_together(std::span<const SpmvTask<T>> tasks, Accuracy accuracy) const;
    void multiply_rows(const SpmvTask<T>& task, Accuracy accuracy) const;

    DenseView<T> a_;
    Device device_;
    mutable std::once_flag sparse_is_made_;
    mutable CsrMatrix<T> sparse_;
    mutable CsrView<T> sparse_view_;
};

}  // namespace solver
