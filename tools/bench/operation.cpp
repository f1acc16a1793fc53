#include "operation.hpp"

#include <algorithm>
#include <iterator>

namespace solver::bench {

void enter(Contest& contest, Operation& operation) {
    const auto add = [&](std::vector<Competitor> some) {
        std::ranges::move(some, std::back_inserter(contest.competitors));
        return contest.competitors.size();
    };
    const std::size_t first_peer = add(operation.ours());
    const std::size_t end = add(operation.peers());
    for (std::size_t i = first_peer; i < end; ++i) contest.peers.push_back(i);
    add(operation.others());
}

}  // namespace solver::bench
