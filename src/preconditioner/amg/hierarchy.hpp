#pragma once

/// The levels of smoothed aggregation.

#include "core/multigrid/level.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/device.hpp"
#include "solver/preconditioner.hpp"

#include <cstdint>
#include <vector>

namespace solver::amg {

/// Made in double whatever V is, every operation rounded as written and in a fixed order: the same bits on every machine, for
/// every number of threads and in every accuracy.
template <class V>
struct Hierarchy : Levels<V> {
    std::vector<LevelSummary> summary;
    bool is_symmetric = false;  ///< A is, to the bit, so the cycle is a symmetric operator

    std::int64_t entries() const;                    ///< of all matrices but A
    std::uint64_t hash(const Device& device) const;  ///< of all bits; for any number of threads the same
};

/// Throws InvalidArgument that names the row where a diagonal entry is missing or zero or an entry not finite, and
/// ResourceLimit where the hierarchy would take more than options.memory_limit.
template <class V, class T>
Hierarchy<V> make_hierarchy(const CsrView<T>& a, const PreconditionerOptions& options, const Device& device);

}  // namespace solver::amg
