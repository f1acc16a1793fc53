#pragma once

#include "solver/gemm.hpp"

namespace solver {

/// Throws what solver::gemm says of sizes, layouts, overlaps and options. Reads no element.
template <class T>
void require_valid(const GemmTask<T>& task, const GemmOptions& options);

}  // namespace solver
