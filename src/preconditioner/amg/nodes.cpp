#include "preconditioner/amg/nodes.hpp"

#include "cpu/elementwise.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace solver::amg {
namespace {

/// The nodes at which a row has entries, rising.
template <class T>
class NodesOfRow {
public:
    NodesOfRow(const CsrView<T>& a, std::int64_t row, int unknowns)
        : a_(a), next_(a.row_offsets[row]), end_(a.row_offsets[row + 1]), unknowns_(unknowns) {}

    /// -1 after the last one.
    std::int64_t take() {
        if (next_ == end_) return -1;
        const std::int64_t node = a_.column_indices[next_] / unknowns_;
        while (next_ < end_ && a_.column_indices[next_] / unknowns_ == node) ++next_;
        return node;
    }

private:
    const CsrView<T>& a_;
    std::int64_t next_;
    std::int64_t end_;
    int unknowns_;
};

template <class T>
bool reach_the_same_nodes(const CsrView<T>& a, std::int64_t row, std::int64_t other, int unknowns) {
    NodesOfRow<T> ones(a, row, unknowns), others(a, other, unknowns);
    while (true) {
        const std::int64_t node = ones.take();
        if (node != others.take()) return false;
        if (node < 0) return true;
    }
}

template <class T>
bool is_node(const CsrView<T>& a, std::int64_t node, int unknowns) {
    for (int u = 1; u < unknowns; ++u)
        if (!reach_the_same_nodes(a, node * unknowns, node * unknowns + u, unknowns)) return false;
    return true;
}

template <class T>
bool most_are_nodes(const CsrView<T>& a, std::int64_t nodes, int unknowns, const Device& device) {
    std::atomic<std::int64_t> others{0};
    cpu::for_each_range(nodes, device, [&](std::int64_t begin, std::int64_t end) {
        std::int64_t mine = 0;
        for (std::int64_t node = begin; node < end; ++node) mine += is_node(a, node, unknowns) ? 0 : 1;
        others += mine;
    });
    return 10 * others <= nodes;
}

}  // namespace

template <class T>
int unknowns_per_node(const CsrView<T>& a, const Device& device) {
    constexpr int most_unknowns = 6;
    constexpr std::int64_t first_look = 1000;  // enough to tell most matrices
    for (int unknowns = most_unknowns; unknowns > 1; --unknowns) {
        const std::int64_t nodes = a.rows / unknowns;
        if (a.rows % unknowns != 0 || !most_are_nodes(a, std::min(nodes, first_look), unknowns, device)) continue;
        if (most_are_nodes(a, nodes, unknowns, device)) return unknowns;
    }
    return 1;
}

template int unknowns_per_node(const CsrView<float>&, const Device&);
template int unknowns_per_node(const CsrView<double>&, const Device&);

}  // namespace solver::amg
