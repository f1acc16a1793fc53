#pragma once

/// The levels of smoothed aggregation.

#include "core/hash.hpp"
#include "core/multigrid/level.hpp"
#include "multigrid/place.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/device.hpp"
#include "solver/preconditioner.hpp"

#include <cstdint>
#include <vector>

namespace solver::amg {

/// Made in double whatever V is, every operation rounded as written and in a fixed order: the same bits on every machine, for
/// every number of threads and in every accuracy.
template <class V, class Memory = OnHost>
struct Hierarchy : Levels<V, Memory> {
    std::vector<LevelSummary> summary;
    bool is_symmetric = false;  ///< A is, but for rounding, so the cycle is a symmetric operator

    std::int64_t entries() const;                                   ///< of all matrices but A
    std::uint64_t hash(const typename Memory::Place& place) const;  ///< of all bits; the same in all places
};

template <class V>
using DeviceHierarchy = Hierarchy<V, cuda::OnDevice>;

/// Adds the bits of all levels, blocks of rows as one number each: these are found side by side.
template <class V, class Memory>
void add_levels(Hash& hash, const Hierarchy<V, Memory>& hierarchy, const typename Memory::Place& place) {
    constexpr std::int64_t rows_a_block = 256;  // on a device one warp takes them one after another
    using View = typename Memory::Place::template View<V>;
    std::vector<View> matrices;
    for (const Level<V, Memory>& level : hierarchy.levels) {
        matrices.push_back(level.a.view());
        matrices.push_back(level.prolongation.view());
        if (!hierarchy.is_symmetric) matrices.push_back(level.restriction.view());
    }
    const std::vector<std::uint64_t> blocks = place.template hashes_of_blocks<V>(matrices, rows_a_block);
    auto next = blocks.begin();
    for (const View& matrix : matrices) {
        hash.add(static_cast<std::uint64_t>(matrix.rows));
        for (std::int64_t row = 0; row < matrix.rows; row += rows_a_block) hash.add(*next++);
    }
}

/// Throws InvalidArgument that names the row where a diagonal entry is missing or zero or an entry not finite, and
/// ResourceLimit where the hierarchy would take more than options.memory_limit.
template <class V, class T>
Hierarchy<V> make_hierarchy(const CsrView<T>& a, const PreconditionerOptions& options, const Device& device);

/// By a CUDA device, of a matrix that lies there with rows sorted: the bits of the one made on the host.
template <class V, class T>
DeviceHierarchy<V> make_hierarchy(const cuda::DeviceCsrView<T>& a, const PreconditionerOptions& options);

template <class V>
Hierarchy<V> copy_to_host(const DeviceHierarchy<V>& hierarchy, const cuda::CudaPlace& place);

}  // namespace solver::amg
