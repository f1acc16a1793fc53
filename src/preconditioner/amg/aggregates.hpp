#pragma once

/// Groups of unknowns that become one unknown each.

#include "preconditioner/amg/strength.hpp"
#include "solver/device.hpp"

#include <cstdint>
#include <vector>

namespace solver::amg {

/// A maximal independent set of distance 2: no two members are joined by a path of one or two edges, and every node that has
/// neighbours is within such a path of a member. Nodes without neighbours are not members.
///
/// In rounds, a node is taken whose priority is the lowest within distance 2 of those not yet decided (Bell, Dalton, Olson,
/// SIAM J. Sci. Comput. 34(4), 2012; new priorities in each round and lists of what is not decided: Kelley, Rajamanickam,
/// IPDPS 2022). Priorities are hashes of the round and the index, with the index for ties: the same set on every machine and
/// for every number of threads.
std::vector<bool> independent_set(const Graph& graph, const Device& device);

struct Aggregates {
    static constexpr std::int32_t none = no_aggregate;
    std::vector<std::int32_t> of;  ///< each node's; none for a node without neighbours
    std::int32_t count = 0;
};

/// Each member of the independent set with its neighbours, numbered as the members are; a node at distance 2 goes to that of
/// its neighbours' aggregates that is smallest so far, of equal ones to that of the first neighbour.
Aggregates aggregate(const Graph& graph, const Device& device);

}  // namespace solver::amg
