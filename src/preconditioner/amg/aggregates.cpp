#include "preconditioner/amg/aggregates.hpp"

#include "core/huge_pages.hpp"
#include "cpu/elementwise.hpp"
#include "cpu/keep_if.hpp"

#include <algorithm>
#include <limits>
#include <span>

namespace solver::amg {
namespace {

/// The rounds that find the set. A node's key is its priority until it is decided.
class IndependentSet {
public:
    IndependentSet(const Graph& graph, const Device& device)
        : graph_(graph),
          device_(device),
          key_(zeros<std::uint64_t>(graph.size(), device.threads())),
          lowest_(zeros<std::uint64_t>(graph.size(), device.threads())) {
        const auto all_outside = [](std::uint64_t, std::int64_t) { return outside; };
        cpu::update(std::span(key_), device, all_outside);
        cpu::update(std::span(lowest_), device, all_outside);
        undecided_ = cpu::numbers_with(graph.size(), device, [&](std::int32_t i) { return !graph.of(i).empty(); });
        within_reach_ = undecided_;
    }

    void find() {
        for (std::uint32_t round = 0; !undecided_.empty(); ++round) {
            for_each(undecided_, [&](std::int32_t i) { key_[i] = priority(static_cast<std::uint32_t>(i), round); });
            for_each(within_reach_, [&](std::int32_t i) { lowest_[i] = lowest_key(i); });
            for_each(undecided_, [&](std::int32_t i) { decide(i); });
            cpu::keep_if(undecided_, device_, [&](std::int32_t i) { return key_[i] != member && key_[i] != outside; });
            cpu::keep_if(within_reach_, device_, [&](std::int32_t i) { return lowest_[i] != outside; });
        }
    }

    bool is_member(std::int64_t i) const { return key_[i] == member; }

    /// Rising.
    std::vector<std::int32_t> members() const {
        return cpu::numbers_with(graph_.size(), device_, [&](std::int32_t i) { return is_member(i); });
    }

private:
    static constexpr std::uint64_t member = 0;
    static constexpr std::uint64_t outside = std::numeric_limits<std::uint64_t>::max();

    /// Neither `member` nor `outside`, different for different nodes.
    static std::uint64_t priority(std::uint32_t i, std::uint32_t round) {
        std::uint32_t hash = i * 0x9E3779B9u + round * 0x85EBCA6Bu;  // xorshift-multiply: Steele, Lea, Flood 2014
        hash = (hash ^ (hash >> 16)) * 0x7FEB352Du;
        hash = (hash ^ (hash >> 15)) * 0x846CA68Bu;
        hash ^= hash >> 16;
        return std::uint64_t{hash} << 32 | (i + 1);
    }

    template <class F>
    void for_each(const std::vector<std::int32_t>& nodes, const F& f) const {
        cpu::for_each_range(std::ssize(nodes), device_, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t k = begin; k < end; ++k) f(nodes[k]);
        });
    }

    /// The lowest key within distance 1; `outside` next to a member, where nothing is left to decide.
    std::uint64_t lowest_key(std::int32_t i) const {
        std::uint64_t lowest = key_[i];
        for (const std::int32_t j : graph_.of(i)) lowest = std::min(lowest, key_[j]);
        return lowest == member ? outside : lowest;
    }

    void decide(std::int32_t i) {
        bool is_lowest = lowest_[i] == key_[i];
        bool is_outside = lowest_[i] == outside;
        for (const std::int32_t j : graph_.of(i)) {
            is_lowest = is_lowest && lowest_[j] == key_[i];
            is_outside = is_outside || lowest_[j] == outside;
        }
        if (is_outside)
            key_[i] = outside;
        else if (is_lowest)
            key_[i] = member;
    }

    const Graph& graph_;
    Device device_;
    std::vector<std::uint64_t> key_;
    std::vector<std::uint64_t> lowest_;       // key within distance 1
    std::vector<std::int32_t> undecided_;     // rising
    std::vector<std::int32_t> within_reach_;  // nodes that have, or are, a node not decided
};

/// Gives each node at distance 1 of a member that member's aggregate; there is only one such member.
void take_neighbours(const Graph& graph, const IndependentSet& set, std::span<const std::int32_t> members,
                     std::vector<std::int32_t>& of, const Device& device) {
    std::vector<std::int32_t> number = zeros<std::int32_t>(graph.size(), device.threads());  // of members
    cpu::for_each_range(std::ssize(members), device, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t k = begin; k < end; ++k) number[members[k]] = static_cast<std::int32_t>(k);
    });
    cpu::update(std::span(of), device, [&](std::int32_t, std::int64_t i) {
        if (set.is_member(i)) return number[i];
        for (const std::int32_t j : graph.of(i))
            if (set.is_member(j)) return number[j];
        return Aggregates::none;
    });
}

/// A node without an aggregate takes the smallest of its neighbours' aggregates. So far each is a member with all of its
/// neighbours, for none of them has another member beside it: the member's degree orders them by size.
std::vector<std::int32_t> take_the_rest(const Graph& graph, std::span<const std::int32_t> members,
                                        std::span<const std::int32_t> of, const Device& device) {
    std::vector<std::int32_t> all = zeros<std::int32_t>(graph.size(), device.threads());
    cpu::update(std::span(all), device, [&](std::int32_t, std::int64_t i) {
        std::int32_t mine = of[i];
        if (mine != Aggregates::none) return mine;
        std::size_t least = std::numeric_limits<std::size_t>::max();
        for (const std::int32_t j : graph.of(i)) {
            if (of[j] == Aggregates::none) continue;
            const std::size_t size = graph.of(members[of[j]]).size();
            if (size >= least) continue;
            least = size;
            mine = of[j];
        }
        return mine;
    });
    return all;
}

}  // namespace

std::vector<bool> independent_set(const Graph& graph, const Device& device) {
    IndependentSet set(graph, device);
    set.find();
    std::vector<bool> members;
    members.reserve(static_cast<std::size_t>(graph.size()));
    for (std::int64_t i = 0; i < graph.size(); ++i) members.push_back(set.is_member(i));
    return members;
}

Aggregates aggregate(const Graph& graph, const Device& device) {
    IndependentSet set(graph, device);
    set.find();
    const std::vector<std::int32_t> members = set.members();
    std::vector<std::int32_t> of = zeros<std::int32_t>(graph.size(), device.threads());
    take_neighbours(graph, set, members, of, device);
    return {take_the_rest(graph, members, of, device), static_cast<std::int32_t>(members.size())};
}

}  // namespace solver::amg
