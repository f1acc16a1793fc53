#pragma once

/// What levels are made of in the memory of a CUDA device.

#include "core/multigrid/graph.hpp"
#include "core/multigrid/level.hpp"
#include "core/multigrid/tentative.hpp"
#include "made_matrix.hpp"
#include "solver/cuda/memory.hpp"

#include <cstdint>

namespace solver::cuda {

struct DeviceGraph {
    DeviceArray<std::int64_t> offsets;
    DeviceArray<std::int32_t> neighbours;

    std::int64_t size() const { return offsets.size() - 1; }
    amg::GraphView view() const { return {size(), offsets.data(), neighbours.data()}; }
};

struct DeviceAggregates {
    DeviceArray<std::int32_t> of;  ///< each node's
    std::int32_t count = 0;

    std::int64_t nodes() const { return of.size(); }
};

/// amg::NearNullSpace on a device.
struct DeviceNearNullSpace {
    int unknowns_per_node = 1;
    int dimension = 0;
    DeviceArray<double> vectors;
};

/// amg::TentativeProlongator on a device.
struct DeviceTentative {
    DeviceAggregates aggregates;
    int unknowns = 1;
    int columns_per_aggregate = 1;
    DeviceArray<double> q;
    DeviceNearNullSpace space;  ///< of the next level

    std::int64_t rows() const { return aggregates.nodes() * unknowns; }
    std::int64_t columns() const { return std::int64_t{aggregates.count} * columns_per_aggregate; }
    amg::TentativeView view() const { return {aggregates.of.data(), unknowns, columns_per_aggregate, q.data()}; }
    DeviceNearNullSpace take_coarse_space() { return std::move(space); }
};

class CudaPlace;

/// Where amg::OnHost has the host.
struct OnDevice {
    template <class V>
    using Matrix = DeviceMatrix<V>;
    template <class V>
    using Vector = DeviceArray<V>;
    using Place = CudaPlace;
};

template <class V>
using DeviceLevels = amg::Levels<V, OnDevice>;

}  // namespace solver::cuda
