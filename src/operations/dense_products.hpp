#pragma once

/// Products with a dense matrix, which stays dense wherever it is.

#include "operations/matrix_storage.hpp"
#include "solver/csr_matrix.hpp"

#include <mutex>
#include <span>

namespace solver {

template <class T>
class DenseProducts final : public MatrixStorage<T> {
public:
    /// Throws InvalidArgument where gemm would refuse the layout of A.
    DenseProducts(const DenseView<T>& a, const Device& device);

    /// Tasks with equal alpha and beta by one gemm, unless they are few and rows of A contiguous; one with x as a pair, which a
    /// gemm cannot round once, by sums of rows.
    void multiply(std::span<const SpmvTask<T>> tasks, Accuracy accuracy) const override;

    /// Throws InvalidArgument.
    std::shared_ptr<const MatrixStorage<T>> with_values(std::span<const T> values) const override;
    SpmvDescription describe(const std::string&) const override { return {SpmvStorage::csr, sizeof(T), "dense, as it is"}; }
    std::int64_t rows() const override { return a_.rows; }
    std::int64_t columns() const override { return a_.columns; }
    const CsrView<T>& matrix() const override;
    const DenseView<T>* dense() const override { return &a_; }
    std::shared_ptr<cuda::SpmvOnDevice<T>> on_device() const override { return on_device_; }

private:
    void multiply_together(std::span<const SpmvTask<T>> tasks, Accuracy accuracy) const;
    void multiply_rows(const SpmvTask<T>& task, Accuracy accuracy) const;

    DenseView<T> a_;
    Device device_;
    std::shared_ptr<cuda::SpmvOnDevice<T>> on_device_;  ///< null on the processor
    mutable std::once_flag sparse_is_made_;
    mutable CsrMatrix<T> sparse_;
    mutable CsrView<T> sparse_view_;
};

}  // namespace solver
