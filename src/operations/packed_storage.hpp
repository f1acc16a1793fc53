#pragma once

/// A packed copy of a CSR matrix on the processor, beside the matrix itself, from which products are made for which there is no
/// packed kernel.

#include "operations/matrix_storage.hpp"
#include "packed/matrix.hpp"

#include <memory>

namespace solver {

template <class T>
class PackedStorage final : public MatrixStorage<T> {
public:
    PackedStorage(std::shared_ptr<const MatrixStorage<T>> csr, PackedMatrix<T> packed, int threads);

    void multiply(std::span<const SpmvTask<T>> tasks, Accuracy accuracy) const override;
    std::shared_ptr<const MatrixStorage<T>> with_values(std::span<const T> values) const override;
    SpmvDescription describe(const std::string& reason) const override;
    std::int64_t rows() const override { return csr_->rows(); }
    std::int64_t columns() const override { return csr_->columns(); }
    const CsrView<T>& matrix() const override { return csr_->matrix(); }
    std::span<const WorkBoundary> boundaries() const override { return csr_->boundaries(); }

private:
    std::shared_ptr<const MatrixStorage<T>> csr_;
    PackedMatrix<T> packed_;
    int threads_;
};

}  // namespace solver
