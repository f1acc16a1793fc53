#pragma once

/// The matrix of the normal equations.

#include "solver/csr_matrix.hpp"
#include "solver/device.hpp"
#include "solver/views.hpp"

#include <cstdint>
#include <optional>

namespace solver {

/// A'A of a sparse A and its transpose, every number of which is multiplied by the power of two `scale` first. Each element is
/// a sum of rounded products in double, in the order of A's rows, so that neither threads nor machines show, and the matrix is
/// symmetric to the bit. Columns are sorted. A row without entries, of an empty column of A, gets a diagonal of 1. Nothing
/// where it would have more than most_entries.
template <class T>
std::optional<CsrMatrix<double>> gram_matrix(const CsrView<T>& a, const CsrView<T>& transposed, double scale,
                                             std::int64_t most_entries, const Device& device);

/// Of a dense A: all elements are stored. A diagonal of 0 becomes 1. Takes 8 (2 rows + columns) columns bytes on the way.
template <class T>
CsrMatrix<double> gram_matrix(const DenseView<T>& a, double scale, const Device& device);

}  // namespace solver
