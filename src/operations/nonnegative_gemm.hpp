#pragma once

#include "solver/gemm.hpp"

namespace solver {

/// Throws DimensionMismatch or InvalidArgument unless the sizes agree, every matrix has a stride of 1 and C overlaps no other.
template <class T>
void check_nonnegative_task(const GemmTask<T>& task);

}  // namespace solver
