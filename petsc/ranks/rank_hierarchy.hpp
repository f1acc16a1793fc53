#pragma once

/// The levels of multigrid as ranks have them.

#include "preconditioner/amg/hierarchy.hpp"
#include "ranks/rank_place.hpp"
#include "solver/preconditioner.hpp"

#include <vector>

namespace petscsolver {

/// Levels that ranks share out, and small ones that every rank has.
template <class V>
struct RankHierarchy {
    solver::amg::Hierarchy<V, OnRanks> shared;
    solver::amg::Hierarchy<V> whole;

    std::vector<solver::LevelSummary> summary() const {
        std::vector<solver::LevelSummary> all = shared.summary;
        all.insert(all.end(), whole.summary.begin(), whole.summary.end());
        return all;
    }
};

}  // namespace petscsolver
