#pragma once

/// A CSR matrix on the processor, as it is: its rows and entries shared out to threads.

#include "operations/matrix_storage.hpp"

#include <vector>

namespace solver {

/// What one product reads of the matrix.
template <class T>
double csr_bytes_a_nonzero(const CsrView<T>& a);

template <class T>
SpmvDescription describe_csr(const CsrView<T>& a, const std::string& reason);

template <class T>
class CsrStorage final : public MatrixStorage<T> {
public:
    CsrStorage(const CsrView<T>& a, SpmvKernel kernel, int threads);

    SpmvKernel kernel() const { return kernel_; }  ///< general or adaptive

    void multiply(std::span<const SpmvTask<T>> tasks, Accuracy accuracy) const override;
    std::shared_ptr<const MatrixStorage<T>> with_values(std::span<const T> values) const override;
    SpmvDescription describe(const std::string& reason) const override { return describe_csr(a_, reason); }
    std::int64_t rows() const override { return a_.rows; }
    std::int64_t columns() const override { return a_.columns; }
    const CsrView<T>& matrix() const override { return a_; }
    std::span<const WorkBoundary> boundaries() const override { return boundaries_; }

private:
    CsrView<T> a_;
    SpmvKernel kernel_;
    std::vector<WorkBoundary> boundaries_;
};

}  // namespace solver
