#pragma once

/// From the values of aggregates to values of unknowns.

#include "core/multigrid/tentative.hpp"
#include "preconditioner/amg/strength.hpp"
#include "preconditioner/amg/tentative.hpp"
#include "solver/csr_matrix.hpp"

namespace solver::amg {

/// The smoothed prolongator of smoothed aggregation (Vanek, Mandel, Brezina, Computing 56, 1996):
///     P = (I - W F) T,
/// where T is the tentative one; f_ij = a_ij for strong connections and f_ii = a_ii + the sum of the other a_ij, so that F and
/// A have the same row sums, which matter for constants; with vectors given, F is A; and W is diagonal,
///     w_i = 4/3 sign(a_ii) / sum_j |f_ij|,
/// which is the damping 4/3 / lambda_max(D^-1 F) with each row's own bound of lambda_max by Gershgorin's theorem. Where a row
/// of A maps constants (the vectors) to zero, its row of P does what T's does: they are kept. A row of P that would reach more
/// than 32 aggregates, that of a hub, stays T's: else all of a hub's neighbours would be coupled to one another on the next
/// level. Nodes without an aggregate have empty rows. Summed in double in the order of a row's entries and rounded to V. Rows
/// of A are sorted; its pattern contains the graph's but where A is unsymmetric.
template <class V, class T>
CsrMatrix<V> smoothed_prolongator(const CsrView<T>& a, const Graph& strong, const TentativeProlongator& tentative,
                                  const Device& device);

/// Rows begin to end - 1 of the smoothed prolongator, of so many columns, from what they depend on.
template <class V, class T>
CsrMatrix<V> smoothed_rows(const SmoothedRow<CsrView<T>>& smoothed, std::int64_t columns, std::int64_t begin, std::int64_t end,
                           const Device& device);

}  // namespace solver::amg
