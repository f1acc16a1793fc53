#pragma once

/// Graphs, and sets of nodes in them, node by node, on host and device.

#include "solver/numeric/rounding.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace solver::amg {

/// An undirected graph without loops, neighbours sorted, in the memory of the host or of a device.
struct GraphView {
    std::int64_t size = 0;
    const std::int64_t* offsets = nullptr;
    const std::int32_t* neighbours = nullptr;

    SOLVER_HD std::int64_t begin(std::int64_t i) const { return offsets[i]; }
    SOLVER_HD std::int64_t end(std::int64_t i) const { return offsets[i + 1]; }
    SOLVER_HD std::int64_t degree(std::int64_t i) const { return end(i) - begin(i); }
};

inline constexpr std::int32_t no_aggregate = -1;

/// One round of the search for a maximal independent set of distance 2. A node's key is its priority until it is decided.
namespace independence {

inline constexpr std::uint64_t member = 0;
inline constexpr std::uint64_t outside = std::numeric_limits<std::uint64_t>::max();

SOLVER_HD bool is_decided(std::uint64_t key) { return key == member || key == outside; }

/// Neither `member` nor `outside`, different for different nodes.
SOLVER_HD std::uint64_t priority(std::uint32_t i, std::uint32_t round) {
    std::uint32_t hash = i * 0x9E3779B9u + round * 0x85EBCA6Bu;  // xorshift-multiply: Steele, Lea, Flood 2014
    hash = (hash ^ (hash >> 16)) * 0x7FEB352Du;
    hash = (hash ^ (hash >> 15)) * 0x846CA68Bu;
    hash ^= hash >> 16;
    return std::uint64_t{hash} << 32 | (i + 1);
}

/// The lowest key within distance 1; `outside` next to a member, where nothing is left to decide.
SOLVER_HD std::uint64_t lowest_key(const GraphView& graph, const std::uint64_t* key, std::int32_t i) {
    std::uint64_t lowest = key[i];
    for (std::int64_t k = graph.begin(i); k < graph.end(i); ++k) lowest = std::min(lowest, key[graph.neighbours[k]]);
    return lowest == member ? outside : lowest;
}

/// The key after this round, from the lowest ones within distance 1.
SOLVER_HD std::uint64_t decided_key(const GraphView& graph, std::uint64_t key, const std::uint64_t* lowest, std::int32_t i) {
    bool is_lowest = lowest[i] == key;
    bool is_outside = lowest[i] == outside;
    for (std::int64_t k = graph.begin(i); k < graph.end(i); ++k) {
        const std::uint64_t other = lowest[graph.neighbours[k]];
        is_lowest = is_lowest && other == key;
        is_outside = is_outside || other == outside;
    }
    return is_outside ? outside : is_lowest ? member : key;
}

}  // namespace independence

/// The number of the member that i is, or beside which it lies: there is only one.
SOLVER_HD std::int32_t aggregate_of_member(const GraphView& graph, const std::uint64_t* key, const std::int32_t* number,
                                           std::int64_t i) {
    if (key[i] == independence::member) return number[i];
    for (std::int64_t k = graph.begin(i); k < graph.end(i); ++k)
        if (key[graph.neighbours[k]] == independence::member) return number[graph.neighbours[k]];
    return no_aggregate;
}

/// The degree of the member of a node's aggregate. So far each aggregate is a member with all of its neighbours, for none of
/// them has another member beside it: this orders them by size.
struct DegreeOfMember {
    GraphView graph;
    const std::int32_t* members;  ///< of each aggregate
    const std::int32_t* of;       ///< each node's aggregate

    SOLVER_HD std::int64_t operator()(std::int64_t node) const { return graph.degree(members[of[node]]); }
};

/// A node without an aggregate takes the smallest of its neighbours' aggregates. size_of(node): DegreeOfMember.
template <class SizeOf>
SOLVER_HD std::int32_t aggregate_beside(const GraphView& graph, const std::int32_t* of, const SizeOf& size_of, std::int64_t i) {
    std::int32_t mine = of[i];
    if (mine != no_aggregate) return mine;
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (std::int64_t k = graph.begin(i); k < graph.end(i); ++k) {
        const std::int32_t other = of[graph.neighbours[k]];
        if (other == no_aggregate) continue;
        const std::int64_t size = size_of(graph.neighbours[k]);
        if (size >= least) continue;
        least = size;
        mine = other;
    }
    return mine;
}

}  // namespace solver::amg
