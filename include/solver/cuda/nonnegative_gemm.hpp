#pragma once

/// sngemm and dngemm for matrices that lie on a CUDA device.

#include "solver/cuda/runtime.hpp"
#include "solver/nonnegative_gemm.hpp"

#include <memory>

namespace solver::cuda {

/// Owns working memory that grows with the largest product so far. One product at a time.
class NonnegativeMultiplier {
public:
    explicit NonnegativeMultiplier(int device);
    NonnegativeMultiplier(NonnegativeMultiplier&&) noexcept;
    NonnegativeMultiplier& operator=(NonnegativeMultiplier&&) noexcept;
    ~NonnegativeMultiplier();

    /// Views hold pointers to the device's memory. Waits until the inputs have been looked at, not for the product. Throws what
    /// solver::dngemm throws, and ResourceLimit.
    NonnegativeReport gemm(const GemmTask<double>& task, const NonnegativeOptions& options = {}, Stream stream = nullptr);
    NonnegativeReport gemm(const GemmTask<float>& task, const NonnegativeOptions& options = {}, Stream stream = nullptr);

private:
    struct Workspace;
    std::unique_ptr<Workspace> workspace_;
};

}  // namespace solver::cuda
