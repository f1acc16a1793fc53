#pragma once

/// The 1-norms of the columns of a matrix.

#include "solver/numeric/rounding.hpp"
#include "solver/views.hpp"

#include <cstdint>
#include <vector>

namespace solver {

/// sum_i |a_ij| for each j, added up by rows in order, so that the bits are the same everywhere.
template <class T>
std::vector<T> one_norms_of_columns(const CsrView<T>& a) {
    std::vector<T> norms(static_cast<std::size_t>(a.columns));
    for (std::int64_t k = 0; k < a.nonzeros(); ++k) norms[a.column_indices[k]] += magnitude(a.values[k]);
    return norms;
}

}  // namespace solver
