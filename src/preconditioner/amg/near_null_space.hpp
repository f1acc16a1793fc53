#pragma once

/// What the smoother of a level does not see.

#include <vector>

namespace solver::amg {

/// Vectors that A maps to nearly nothing, which the next level is to represent.
struct NearNullSpace {
    int unknowns_per_node = 1;         ///< successive rows that are aggregated together
    int dimension = 0;                 ///< how many vectors; 0 stands for the constants of each unknown of a node apart
    std::vector<double> vectors = {};  ///< one after another, as many elements as A has rows
};

}  // namespace solver::amg
