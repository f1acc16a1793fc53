#include "preconditioner/amg/nodes.hpp"

#include "core/multigrid/node_pattern.hpp"
#include "cpu/elementwise.hpp"

#include <atomic>
#include <cstdint>

namespace solver::amg {
namespace {

template <class T>
std::int64_t count_others(const CsrView<T>& a, std::int64_t nodes, int unknowns, const Device& device) {
    std::atomic<std::int64_t> others{0};
    cpu::for_each_range(nodes, device, [&](std::int64_t begin, std::int64_t end) {
        std::int64_t mine = 0;
        for (std::int64_t node = begin; node < end; ++node) mine += is_node(a, node, unknowns) ? 0 : 1;
        others += mine;
    });
    return others;
}

}  // namespace

template <class T>
int unknowns_per_node(const CsrView<T>& a, const Device& device) {
    return most_unknowns_per_node(a.rows,
                                  [&](std::int64_t nodes, int unknowns) { return count_others(a, nodes, unknowns, device); });
}

template int unknowns_per_node(const CsrView<float>&, const Device&);
template int unknowns_per_node(const CsrView<double>&, const Device&);

}  // namespace solver::amg
