#pragma once

/// The 1-norms of the columns of a matrix.

#include "core/huge_pages.hpp"
#include "solver/numeric/rounding.hpp"
#include "solver/spmv.hpp"
#include "solver/views.hpp"

#include <cstdint>
#include <vector>

namespace solver {

/// sum_i |a_ij| for each j, added up by rows in order, so that the bits are the same everywhere.
template <class T>
std::vector<T> one_norms_of_columns(const CsrView<T>& a) {
    auto norms = zeros<T>(a.columns);
    for (std::int64_t k = 0; k < a.nonzeros(); ++k) norms[a.column_indices[k]] += magnitude(a.values[k]);
    return norms;
}
template <class T>
std::vector<T> one_norms_of_columns(const DenseView<T>& a) {
    std::vector<T> norms(static_cast<std::size_t>(a.columns));
    for (std::int64_t i = 0; i < a.rows; ++i)
        for (std::int64_t j = 0; j < a.columns; ++j) norms[j] += magnitude(a.data[i * a.row_stride + j * a.column_stride]);
    return norms;
}
template <class T>
std::vector<T> one_norms_of_columns(const SpmvPlan<T>& a) {
    return a.dense() != nullptr ? one_norms_of_columns(*a.dense()) : one_norms_of_columns(a.matrix());
}

}  // namespace solver
