#pragma once

#include "solver/csr_matrix.hpp"

#include <cstdint>

namespace solver::matrices {

/// The Laplacian, degrees less adjacency, of a graph of n vertices with power-law degrees (few friends, some hubs): vertex
/// k = 1, 2, ... joins min(k, 3) of its predecessors, drawn with probabilities proportional to their degrees (Barabasi,
/// Albert, Science 286, 1999): about n / d^2 vertices have a degree above 3 d. The first vertex is grounded by a resistor of
/// one, +1 on its diagonal: nonsingular. Symmetric to the bit, positive definite; all entries integers. All rows sum to zero
/// but the first, which sums to one.
CsrMatrix<double> graph_laplacian(std::int64_t n);

/// How many entries graph_laplacian(n) has at most.
constexpr std::int64_t graph_laplacian_entries(std::int64_t n) { return 7 * n; }

}  // namespace solver::matrices
