#pragma once

/// Unknowns that belong together.

#include "solver/device.hpp"
#include "solver/views.hpp"

namespace solver::amg {

/// The largest b from 2 to 6 such that the rows are nodes of b successive unknowns each: in nine of ten nodes all rows have
/// entries at the same nodes. Discretised systems of b equations have that pattern, point by point. 1 where there is no such
/// b. Rows of A are sorted.
template <class T>
int unknowns_per_node(const CsrView<T>& a, const Device& device);

}  // namespace solver::amg
