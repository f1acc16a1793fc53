#pragma once

/// Products with an operator on a CUDA device: what those of a plan are for a matrix.

#include "kernels/products.hpp"
#include "kernels/vectors.hpp"
#include "solver/cuda/linear_operator.hpp"

#include <cstdint>

namespace solver {

/// One vector at a time, which is not a pair, and behind no gate.
template <class T>
class OperatorOnDevice final : public cuda::MatrixProducts<T> {
public:
    OperatorOnDevice(const cuda::LinearOperator<T>& a, int device) : a_(a), device_(device) {}

    void multiply(const cuda::RowTask<T>& task, const cuda::Columns&, Accuracy, cuda::Stream stream,
                  cuda::Gate) const override {
        if (a_.rows() == 0) return;
        a_.apply(task.x, task.y, stream);
        if (task.beta != 0) cuda::finish_product(task, a_.rows(), device_, stream);
    }

    std::int64_t workspace_bytes() const override { return 0; }
    std::int64_t rows_not_certified(cuda::Stream) const override { return 0; }

private:
    const cuda::LinearOperator<T>& a_;
    int device_;
};

}  // namespace solver
