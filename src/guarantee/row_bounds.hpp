#pragma once

/// Sharper bounds of the errors of single components, by the rows of A.

#include "solver/views.hpp"

#include <span>

namespace solver::guarantee {

inline constexpr int most_sweeps = 20;

/// Lowers bounds of |e_i| for A e = r, |r_i| <= sizes_i. From row i with a_ii other than 0 follows |e_i| <= (|r_i| + sum over j
/// other than i of |a_ij| |e_j|) / |a_ii|. Where the components of a solution differ by many orders of magnitude, a bound of
/// the whole vector says little of the small ones, and their rows much. Sweeps over all rows, each with the bounds of the one
/// before, go on as long as some bound falls below 3/4 of what it was, but not more than most_sweeps of them. All roundings are
/// counted; the bounds do not depend on the number of threads. Those of rows whose diagonal is 0 stay.
template <class T>
void sharpen_by_rows(const CsrView<T>& a, std::span<const double> sizes, std::span<double> bounds);

}  // namespace solver::guarantee
