#pragma once

/// Levels that each rank's device makes of the whole matrix.

#include "ranks/rank_hierarchy.hpp"
#include "ranks/rank_multigrid.hpp"

#include <optional>

namespace petscsolver {

/// Every rank gathers A and has its device make all levels, of which it keeps its rows. Nothing where there are 8 ranks or
/// more, where vectors of a rank lie on no device, where A or the levels are too large for one rank's memory or a device's, or
/// A's entries too many for one message. Collective.
template <class V>
std::optional<RankHierarchy<V>> make_levels_on_devices(const Ranks& ranks, const RankMatrix<double>& a,
                                                       const RankMultigridOptions& options);

}  // namespace petscsolver
