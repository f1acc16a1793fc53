#include "core/multigrid/graph.hpp"
#include "ranks/rank_place.hpp"

#include <algorithm>
#include <numeric>

namespace petscsolver {
namespace {

namespace amg = solver::amg;

/// The rounds of amg::independent_set. Before each step the halo has what the last one found.
class IndependentSet {
public:
    IndependentSet(const Ranks& ranks, const RankGraph& graph)
        : ranks_(ranks),
          nodes_(*graph.nodes),
          view_(graph.graph.view()),
          key_(static_cast<std::size_t>(nodes_.size()), amg::independence::outside),
          lowest_(key_) {
        for (std::int64_t i = nodes_.first_own(); i < nodes_.first_own() + nodes_.own(); ++i)
            if (view_.degree(i) > 0) undecided_.push_back(static_cast<std::int32_t>(i));
        within_reach_ = undecided_;
    }

    void find() {
        using namespace amg::independence;
        for (std::uint32_t round = 0; !ranks_.all(undecided_.empty()); ++round) {
            for (const std::int32_t i : undecided_) key_[i] = priority(static_cast<std::uint32_t>(nodes_.global(i)), round);
            nodes_.fill(key_);
            for (const std::int32_t i : within_reach_) lowest_[i] = lowest_key(view_, key_.data(), i);
            nodes_.fill(lowest_);
            for (const std::int32_t i : undecided_) key_[i] = decided_key(view_, key_[i], lowest_.data(), i);
            std::erase_if(undecided_, [&](std::int32_t i) { return is_decided(key_[i]); });
            std::erase_if(within_reach_, [&](std::int32_t i) { return lowest_[i] == outside; });
        }
        nodes_.fill(key_);
    }

    const std::uint64_t* keys() const { return key_.data(); }
    bool is_member(std::int64_t i) const { return key_[i] == amg::independence::member; }

private:
    const Ranks& ranks_;
    const Halo& nodes_;
    amg::GraphView view_;
    std::vector<std::uint64_t> key_;
    std::vector<std::uint64_t> lowest_;       // key within distance 1
    std::vector<std::int32_t> undecided_;     // of this rank
    std::vector<std::int32_t> within_reach_;  // of this rank: nodes that have, or are, a node not decided
};

/// x_i = f(i) for this rank's nodes, and their neighbours' values.
template <class T, class F>
std::vector<T> for_nodes(const Halo& nodes, T elsewhere, const F& f) {
    std::vector<T> x(static_cast<std::size_t>(nodes.size()), elsewhere);
    for (std::int64_t i = nodes.first_own(); i < nodes.first_own() + nodes.own(); ++i) x[i] = f(i);
    nodes.fill(x);
    return x;
}

/// Nodes as an aggregate's owner gets them: first whose, then the rows of the vectors.
struct NodeOfAggregate {
    std::int32_t aggregate;
    std::int32_t node;
};

}  // namespace

RankAggregates RankPlace::aggregate(const RankGraph& graph) const {
    const Halo& nodes = *graph.nodes;
    const amg::GraphView view = graph.graph.view();
    IndependentSet set(ranks_, graph);
    set.find();
    std::int64_t members = 0;
    for (std::int64_t i = nodes.first_own(); i < nodes.first_own() + nodes.own(); ++i) members += set.is_member(i) ? 1 : 0;
    const Layout layout(ranks_, members);
    auto next = static_cast<std::int32_t>(layout.begin());
    const auto none = amg::no_aggregate;
    const auto number = for_nodes(nodes, none, [&](std::int64_t i) { return set.is_member(i) ? next++ : none; });
    const auto degree = for_nodes(nodes, none, [&](std::int64_t i) { return static_cast<std::int32_t>(view.degree(i)); });
    const auto of_member = [&](const std::vector<std::int32_t>& what) {
        return for_nodes(nodes, none,
                         [&](std::int64_t i) { return amg::aggregate_of_member(view, set.keys(), what.data(), i); });
    };
    const auto beside = of_member(number), degrees = of_member(degree);
    const auto size_of = [&](std::int64_t i) { return std::int64_t{degrees[i]}; };
    return {graph.nodes,
            for_nodes(nodes, none, [&](std::int64_t i) { return amg::aggregate_beside(view, beside.data(), size_of, i); }),
            layout, static_cast<std::int32_t>(layout.all())};
}

namespace {

std::shared_ptr<const Halo> of_each(const Ranks& ranks, const Halo& nodes, int unknowns) {
    std::vector<std::int32_t> others;
    for (const std::int32_t node : nodes.others())
        for (int u = 0; u < unknowns; ++u) others.push_back(node * unknowns + u);
    return std::make_shared<const Halo>(ranks, nodes.layout().times(unknowns), std::move(others));
}

/// This rank's aggregates and those that its nodes and their neighbours lie in.
Halo halo_of(const Ranks& ranks, const RankAggregates& aggregates) {
    std::vector<std::int32_t> others;
    for (const std::int32_t aggregate : aggregates.of)
        if (aggregate != amg::no_aggregate && !aggregates.layout.owns(aggregate)) others.push_back(aggregate);
    std::sort(others.begin(), others.end());
    others.erase(std::unique(others.begin(), others.end()), others.end());
    return {ranks, aggregates.layout, std::move(others)};
}

/// The nodes of each of this rank's aggregates, as places in a list of nodes.
class Members {
public:
    Members(const std::vector<NodeOfAggregate>& nodes, const Layout& layout)
        : offsets_(static_cast<std::size_t>(layout.own()) + 1), places_(nodes.size()) {
        for (const NodeOfAggregate& node : nodes) ++offsets_[node.aggregate - layout.begin() + 1];
        std::inclusive_scan(offsets_.begin(), offsets_.end(), offsets_.begin());
        std::vector<std::int64_t> next(offsets_.begin(), offsets_.end() - 1);
        for (std::size_t place = 0; place < nodes.size(); ++place)
            places_[next[nodes[place].aggregate - layout.begin()]++] = static_cast<std::int32_t>(place);
    }

    std::span<const std::int32_t> of(std::int64_t aggregate) const {
        return std::span(places_).subspan(offsets_[aggregate], offsets_[aggregate + 1] - offsets_[aggregate]);
    }

private:
    std::vector<std::int64_t> offsets_;
    std::vector<std::int32_t> places_;
};

template <class T>
std::vector<T> joined(const std::vector<std::vector<T>>& parts) {
    std::vector<T> all;
    for (const std::vector<T>& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
}

}  // namespace

RankTentative::RankTentative(const Ranks& ranks, RankAggregates aggregates, const amg::NearNullSpace& space)
    : unknowns_(space.unknowns_per_node),
      columns_per_aggregate_(space.dimension > 0 ? space.dimension : space.unknowns_per_node),
      rows_(of_each(ranks, *aggregates.nodes, unknowns_)),
      coarse_space_{columns_per_aggregate_, space.dimension, {}} {
    const Halo halo = halo_of(ranks, aggregates);
    columns_ = of_each(ranks, halo, columns_per_aggregate_);
    for (const std::int32_t aggregate : aggregates.of)
        aggregate_of_.push_back(aggregate == amg::no_aggregate ? aggregate : halo.local(aggregate));
    if (space.dimension > 0) factor(ranks, aggregates, space);
}

/// Every aggregate is factored by its owner, which gets its rows of the vectors and sends back those of Q. Ranks have rising
/// nodes, so that what comes from them, in their order, rises.
void RankTentative::factor(const Ranks& ranks, const RankAggregates& aggregates, const amg::NearNullSpace& space) {
    const int k = columns_per_aggregate_;
    const Halo& nodes = *aggregates.nodes;
    auto sent_nodes = ranks.lists<NodeOfAggregate>();
    auto sent_rows = ranks.lists<double>();
    for (std::int64_t node = 0; node < nodes.own(); ++node) {
        const std::int32_t aggregate = aggregates.of[nodes.first_own() + node];
        if (aggregate == amg::no_aggregate) continue;
        const int owner = aggregates.layout.owner(aggregate);
        sent_nodes[owner].push_back({aggregate, static_cast<std::int32_t>(node)});
        for (std::int64_t row = node * unknowns_; row < (node + 1) * unknowns_; ++row)
            for (int c = 0; c < k; ++c) sent_rows[owner].push_back(space.vectors[c * rows_->own() + row]);
    }
    const auto received = ranks.exchanged(sent_nodes);
    auto received_rows = ranks.exchanged(sent_rows);
    std::vector<double> q = joined(received_rows);
    const Members members(joined(received), aggregates.layout);
    const std::int64_t own_columns = columns_->own();
    coarse_space_.vectors.resize(static_cast<std::size_t>(own_columns * k));
    for (std::int64_t aggregate = 0; aggregate < aggregates.layout.own(); ++aggregate) {
        const std::span<const std::int32_t> places = members.of(aggregate);
        amg::LocalBasis{places.data(), std::ssize(places), unknowns_, k, q.data(), coarse_space_.vectors.data() + aggregate * k,
                        own_columns}
            .orthonormalize();
    }
    auto factored = q.begin();
    for (std::vector<double>& rows : received_rows) {
        std::copy_n(factored, rows.size(), rows.begin());
        factored += std::ssize(rows);
    }
    const auto returned = ranks.exchanged(received_rows);
    q_.assign(static_cast<std::size_t>(rows_->size() * k), 0);
    for (std::size_t r = 0; r < returned.size(); ++r)
        for (std::size_t n = 0; n < sent_nodes[r].size(); ++n)
            std::copy_n(returned[r].begin() + static_cast<std::ptrdiff_t>(n) * unknowns_ * k, unknowns_ * k,
                        q_.begin() + (rows_->first_own() + std::int64_t{sent_nodes[r][n].node} * unknowns_) * k);
    rows_->fill(q_, k);
}

}  // namespace petscsolver
