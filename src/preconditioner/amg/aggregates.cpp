#include "preconditioner/amg/aggregates.hpp"

#include "core/huge_pages.hpp"
#include "core/multigrid/graph.hpp"
#include "cpu/elementwise.hpp"
#include "cpu/keep_if.hpp"

#include <span>
#include <utility>

namespace solver::amg {
namespace {

/// The rounds that find the set. A node's key is its priority until it is decided.
class IndependentSet {
public:
    IndependentSet(const Graph& graph, const Device& device)
        : view_(graph.view()),
          device_(device),
          key_(zeros<std::uint64_t>(graph.size(), device.threads())),
          lowest_(zeros<std::uint64_t>(graph.size(), device.threads())) {
        const auto all_outside = [](std::uint64_t, std::int64_t) { return independence::outside; };
        cpu::update(std::span(key_), device, all_outside);
        cpu::update(std::span(lowest_), device, all_outside);
        undecided_ = cpu::numbers_with(graph.size(), device, [&](std::int32_t i) { return !graph.of(i).empty(); });
        within_reach_ = undecided_;
    }

    void find() {
        using namespace independence;
        for (std::uint32_t round = 0; !undecided_.empty(); ++round) {
            for_each(undecided_, [&](std::int32_t i) { key_[i] = priority(static_cast<std::uint32_t>(i), round); });
            for_each(within_reach_, [&](std::int32_t i) { lowest_[i] = lowest_key(view_, key_.data(), i); });
            for_each(undecided_, [&](std::int32_t i) { key_[i] = decided_key(view_, key_[i], lowest_.data(), i); });
            cpu::keep_if(undecided_, device_, [&](std::int32_t i) { return !is_decided(key_[i]); });
            cpu::keep_if(within_reach_, device_, [&](std::int32_t i) { return lowest_[i] != outside; });
        }
    }

    bool is_member(std::int64_t i) const { return key_[i] == independence::member; }
    const std::uint64_t* keys() const { return key_.data(); }

    /// Their numbers, rising.
    std::vector<std::int32_t> members() const {
        return cpu::numbers_with(view_.size, device_, [&](std::int32_t i) { return is_member(i); });
    }

private:
    template <class F>
    void for_each(const std::vector<std::int32_t>& nodes, const F& f) const {
        cpu::for_each_range(std::ssize(nodes), device_, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t k = begin; k < end; ++k) f(nodes[k]);
        });
    }

    GraphView view_;
    Device device_;
    std::vector<std::uint64_t> key_;
    std::vector<std::uint64_t> lowest_;       // key within distance 1
    std::vector<std::int32_t> undecided_;     // rising
    std::vector<std::int32_t> within_reach_;  // nodes that have, or are, a node not decided
};

std::vector<std::int32_t> numbers_of(std::span<const std::int32_t> members, std::int64_t nodes, const Device& device) {
    std::vector<std::int32_t> number = zeros<std::int32_t>(nodes, device.threads());
    cpu::for_each_range(std::ssize(members), device, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t k = begin; k < end; ++k) number[members[k]] = static_cast<std::int32_t>(k);
    });
    return number;
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
    const std::vector<std::int32_t> number = numbers_of(members, graph.size(), device);
    const GraphView view = graph.view();
    std::vector<std::int32_t> beside = zeros<std::int32_t>(graph.size(), device.threads()), all = beside;
    cpu::update(std::span(beside), device,
                [&](std::int32_t, std::int64_t i) { return aggregate_of_member(view, set.keys(), number.data(), i); });
    const DegreeOfMember size_of{view, members.data(), beside.data()};
    cpu::update(std::span(all), device,
                [&](std::int32_t, std::int64_t i) { return aggregate_beside(view, beside.data(), size_of, i); });
    return {std::move(all), static_cast<std::int32_t>(members.size())};
}

}  // namespace solver::amg
