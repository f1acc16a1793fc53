#include "multigrid/place.hpp"
#include "multigrid/steps.cuh"

namespace solver::cuda {
namespace {

/// A list that kernels go through.
struct List {
    DeviceArray<std::int32_t> items;
    std::int64_t count;

    explicit List(DeviceArray<std::int32_t> of) : items(std::move(of)), count(items.size()) {}

    template <class F>
    void for_each(const char* name, Stream stream, const F& f) const {
        const std::int32_t* const item = items.data();
        for_all(name, count, stream, [=] __device__(std::int64_t k) { f(item[k]); });
    }
    template <class Keep>
    void keep_if(Stream stream, const Keep& keep) {
        cuda::keep_if(items, count, stream, keep);
    }
};

struct Priority {
    std::uint64_t* key;
    std::uint32_t round;
    __device__ void operator()(std::int32_t i) const {
        key[i] = amg::independence::priority(static_cast<std::uint32_t>(i), round);
    }
};
struct FindLowest {
    amg::GraphView graph;
    const std::uint64_t* key;
    std::uint64_t* lowest;
    __device__ void operator()(std::int32_t i) const { lowest[i] = amg::independence::lowest_key(graph, key, i); }
};
struct Decide {
    amg::GraphView graph;
    std::uint64_t* key;
    const std::uint64_t* lowest;
    __device__ void operator()(std::int32_t i) const { key[i] = amg::independence::decided_key(graph, key[i], lowest, i); }
};
struct IsUndecided {
    const std::uint64_t* key;
    __device__ bool operator()(std::int32_t i) const { return !amg::independence::is_decided(key[i]); }
};
struct IsWithinReach {
    const std::uint64_t* lowest;
    __device__ bool operator()(std::int32_t i) const { return lowest[i] != amg::independence::outside; }
};
struct IsMember {
    const std::uint64_t* key;
    __device__ bool operator()(std::int32_t i) const { return key[i] == amg::independence::member; }
};
struct HasNeighbours {
    amg::GraphView graph;
    __device__ bool operator()(std::int32_t i) const { return graph.degree(i) > 0; }
};

/// The rounds that find a maximal independent set of distance 2; the key of each node afterwards.
DeviceArray<std::uint64_t> independent_set(int device, const amg::GraphView& graph, Stream stream) {
    DeviceArray<std::uint64_t> keys(device, graph.size, "keys of nodes"), lowest(device, graph.size, "lowest keys");
    constexpr int all_outside = 0xFF;
    check(cudaMemsetAsync(keys.data(), all_outside, static_cast<std::size_t>(keys.bytes()), stream), "cudaMemsetAsync");
    check(cudaMemsetAsync(lowest.data(), all_outside, static_cast<std::size_t>(lowest.bytes()), stream), "cudaMemsetAsync");
    List undecided(numbers_with(device, graph.size, stream, HasNeighbours{graph}));
    List within_reach(numbers_with(device, graph.size, stream, HasNeighbours{graph}));
    for (std::uint32_t round = 0; undecided.count > 0; ++round) {
        undecided.for_each("priorities", stream, Priority{keys.data(), round});
        within_reach.for_each("lowest keys", stream, FindLowest{graph, keys.data(), lowest.data()});
        undecided.for_each("decisions", stream, Decide{graph, keys.data(), lowest.data()});
        undecided.keep_if(stream, IsUndecided{keys.data()});
        within_reach.keep_if(stream, IsWithinReach{lowest.data()});
    }
    return keys;
}

}  // namespace

DeviceAggregates CudaPlace::aggregate(const Graph& of_nodes) const {
    const CurrentDevice current(device_);
    const amg::GraphView graph = of_nodes.view();
    const DeviceArray<std::uint64_t> keys = independent_set(device_, graph, stream_);
    const DeviceArray<std::int32_t> members = numbers_with(device_, graph.size, stream_, IsMember{keys.data()});
    const DeviceArray<std::int32_t> numbers(device_, graph.size, "numbers of members");
    const DeviceArray<std::int32_t> beside(device_, graph.size, "aggregates of members");
    DeviceAggregates result{{device_, graph.size, "aggregates"}, static_cast<std::int32_t>(members.size())};
    const std::uint64_t* const key = keys.data();
    const std::int32_t* const member = members.data();
    std::int32_t *const number = numbers.data(), *const of_member = beside.data(), *const of = result.of.data();
    for_all("numbers of members", members.size(), stream_,
            [=] __device__(std::int64_t k) { number[member[k]] = static_cast<std::int32_t>(k); });
    for_all("aggregates of members", graph.size, stream_,
            [=] __device__(std::int64_t i) { of_member[i] = amg::aggregate_of_member(graph, key, number, i); });
    const amg::DegreeOfMember size_of{graph, member, of_member};
    for_all("aggregates", graph.size, stream_,
            [=] __device__(std::int64_t i) { of[i] = amg::aggregate_beside(graph, of_member, size_of, i); });
    synchronize(device_, stream_);
    return result;
}

}  // namespace solver::cuda
