#pragma once

/// The inverse of a small matrix.

#include "solver/csr_matrix.hpp"

#include <optional>

namespace solver::amg {

/// A^-1 by Gauss-Jordan elimination with partial pivoting (Higham, Accuracy and Stability, sec. 14.4), all elements stored; in
/// double with a fixed order of operations: the same bits on every machine, which no library's factors promise, by any number
/// of threads. Nothing where a pivot is not above n 2^-40 times A's largest element, or something is not finite: A is singular,
/// or close to it.
std::optional<CsrMatrix<double>> dense_inverse(const CsrView<double>& a, int threads);

/// A^-1 by that elimination, with a_ii (1 + 2^-16) on the diagonal where A is singular: of a Laplacian without boundary, say,
/// whose constants are then only damped. Where A is symmetric, so is the result, to the bit. Nothing where that is singular as
/// well.
std::optional<CsrMatrix<double>> regularized_inverse(const CsrView<double>& a, bool is_symmetric, int threads);

}  // namespace solver::amg
