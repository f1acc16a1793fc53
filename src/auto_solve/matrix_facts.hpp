#pragma once

/// What the automatic choice wants to know of a matrix, found in one pass over its entries and one over its pattern.

#include "solver/spmv.hpp"

#include <cstdint>

namespace solver {

struct MatrixFacts {
    std::int64_t rows = 0;
    std::int64_t nonzeros = 0;
    bool is_finite = true;           ///< no Inf or NaN
    bool zeros_on_diagonal = false;  ///< or missing entries
    bool positive_diagonal = true;   ///< every diagonal entry above zero
    std::int64_t balanced_rows = 0;  ///< those with sum_{j != i} |a_ij| <= 4 |a_ii|
    bool is_symmetric = false;       ///< to the bit, pattern and values; looked for only where the diagonal is positive

    bool may_be_positive_definite() const { return is_symmetric && positive_diagonal; }

    /// Whether multigrid by aggregation of strong neighbours has a chance: discretised elliptic operators, graphs, weak
    /// couplings; nine of ten rows balanced, the diagonal of one sign.
    bool suits_multigrid() const { return is_finite && positive_diagonal && 10 * balanced_rows >= 9 * rows; }
};

/// Of a sparse or a dense matrix, by the processor's threads. Depends on counts and comparisons alone.
template <class T>
MatrixFacts facts_of(const SpmvPlan<T>& a);

}  // namespace solver
