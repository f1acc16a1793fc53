#pragma once

/// The CPU's dense products.

#include "solver/gemm.hpp"

namespace solver::cpu {

/// C = alpha A B + beta C, checked, with alpha != 0 and at least one product an element. The bits do not depend on the number
/// of threads in any accuracy.
void multiply(const GemmTask<double>& task, Accuracy accuracy, const GemmOptions& options, int threads);
void multiply(const GemmTask<float>& task, Accuracy accuracy, const GemmOptions& options, int threads);

}  // namespace solver::cpu
