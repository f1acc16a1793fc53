#pragma once

/// Which unknowns of a matrix hang together.

#include "core/multigrid/graph.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/device.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace solver::amg {

/// An undirected graph: every neighbour of i has i as a neighbour. No loops; neighbours are sorted.
struct Graph {
    std::vector<std::int64_t> offsets{0};
    std::vector<std::int32_t> neighbours;

    std::int64_t size() const { return std::ssize(offsets) - 1; }
    std::span<const std::int32_t> of(std::int64_t i) const {
        return std::span(neighbours).subspan(offsets[i], offsets[i + 1] - offsets[i]);
    }
    GraphView view() const { return {size(), offsets.data(), neighbours.data()}; }
};

/// Row i is connected strongly to row j where s_ij > 0 and
///     s_ij >= theta min(max_{k != i} s_ik, max_{k != j} s_jk),  s_ij = |a_ij| / sqrt(|a_ii a_jj|).
/// So theta compares with the largest connections there are and not with the diagonal, which long stencils make large (27
/// points: s_ij = 1/26 all over). `magnitudes` has rows sorted, a symmetric pattern and magnitudes that are symmetric to the
/// bit, and no zero on its diagonal.
template <class T>
Graph strong_connections(const CsrView<T>& magnitudes, double theta, const Device& device);

/// |A| + |A^T|, for an unsymmetric A: rows sorted, symmetric to the bit.
template <class T>
CsrMatrix<T> symmetric_magnitudes(const CsrView<T>& a, const CsrView<T>& transposed, const Device& device);

/// Between nodes of `unknowns` successive rows each: the largest magnitude of each block of that size. A's rows are a multiple
/// of it.
template <class T>
CsrMatrix<T> magnitudes_of_nodes(const CsrView<T>& a, int unknowns, const Device& device);

}  // namespace solver::amg
