#pragma once

/// Whether successive rows are the unknowns of a node, on host and device.

#include "solver/numeric/rounding.hpp"

#include <algorithm>
#include <cstdint>

namespace solver::amg {

/// The nodes at which a row has entries, rising. Rows are sorted.
template <class Matrix>
class NodesOfRow {
public:
    SOLVER_HD NodesOfRow(const Matrix& a, std::int64_t row, int unknowns)
        : a_(a), next_(a.row_offsets[row]), end_(a.row_offsets[row + 1]), unknowns_(unknowns) {}

    /// -1 after the last one.
    SOLVER_HD std::int64_t take() {
        if (next_ == end_) return -1;
        const std::int64_t node = a_.column_indices[next_] / unknowns_;
        while (next_ < end_ && a_.column_indices[next_] / unknowns_ == node) ++next_;
        return node;
    }

private:
    const Matrix& a_;
    std::int64_t next_;
    std::int64_t end_;
    int unknowns_;
};

template <class Matrix>
SOLVER_HD bool reach_the_same_nodes(const Matrix& a, std::int64_t row, std::int64_t other, int unknowns) {
    NodesOfRow<Matrix> ones(a, row, unknowns), others(a, other, unknowns);
    while (true) {
        const std::int64_t node = ones.take();
        if (node != others.take()) return false;
        if (node < 0) return true;
    }
}

/// Whether all rows of the node have entries at the same nodes.
template <class Matrix>
SOLVER_HD bool is_node(const Matrix& a, std::int64_t node, int unknowns) {
    for (int u = 1; u < unknowns; ++u)
        if (!reach_the_same_nodes(a, node * unknowns, node * unknowns + u, unknowns)) return false;
    return true;
}

/// The largest b from 2 to 6 such that in nine of ten groups of b successive rows all have entries at the same groups of
/// columns; 1 where there is no such b. others(nodes, b): how many of the first groups are not so.
template <class CountOthers>
int most_unknowns_per_node(std::int64_t rows, const CountOthers& others) {
    constexpr int most_unknowns = 6;
    constexpr std::int64_t first_look = 1000;  // enough to tell most matrices
    const auto most_are_nodes = [&](std::int64_t nodes, int unknowns) { return 10 * others(nodes, unknowns) <= nodes; };
    for (int unknowns = most_unknowns; unknowns > 1; --unknowns) {
        const std::int64_t nodes = rows / unknowns;
        if (rows % unknowns != 0 || !most_are_nodes(std::min(nodes, first_look), unknowns)) continue;
        if (most_are_nodes(nodes, unknowns)) return unknowns;
    }
    return 1;
}

}  // namespace solver::amg
