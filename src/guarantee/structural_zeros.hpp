#pragma once

/// Components of a solution that are zero by the pattern of A and b.

#include "solver/spmv.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace solver::guarantee {

/// For each i, 1 where (A^-1 b)_i = 0 for every regular A of this pattern, as far as the graph tells: with a transversal on the
/// diagonal, x_j can be nonzero only where a path leads to it from a nonzero of b (Gilbert, Peierls 1988). Empty where there
/// are none, or where A is structurally singular. Stored zeros count as absent.
template <class T>
std::vector<std::uint8_t> structural_zeros(const SpmvPlan<T>& a, std::span<const T> b);

}  // namespace solver::guarantee
