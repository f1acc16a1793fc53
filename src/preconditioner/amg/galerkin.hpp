#pragma once

/// The matrix of the next level.

#include "solver/csr_matrix.hpp"
#include "solver/device.hpp"

#include <cstdint>
#include <limits>
#include <optional>

namespace solver::amg {

/// R A P, row by row in two steps, (r_I A) P, without an intermediate matrix: every element is a sum in double whose order is
/// that of the entries of R, A and P, so that neither threads nor machines show. Columns are sorted. A row without entries, of
/// a column that P leaves empty, gets a diagonal of 1: an unknown by itself. Nothing where it would have more than
/// most_entries.
template <class V, class T>
std::optional<CsrMatrix<double>> galerkin_product(const CsrView<V>& r, const CsrView<T>& a, const CsrView<V>& p,
                                                  const Device& device,
                                                  std::int64_t most_entries = std::numeric_limits<std::int64_t>::max());

/// Replaces a_ji by a_ij for i < j. The pattern is symmetric and rows are sorted.
void mirror_upper_triangle(CsrMatrix<double>& a, const Device& device);

}  // namespace solver::amg
