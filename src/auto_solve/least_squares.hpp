#pragma once

/// Least squares by what costs no more than it may.

#include "solver/dense_matrix.hpp"
#include "solver/least_squares.hpp"
#include "solver/spmv.hpp"

#include <vector>

namespace solver {

/// least_squares, with factors that cost at most so many steps of LSMR; there it is 10^5.
template <class T>
std::vector<LeastSquaresResult> least_squares_within(double most_steps, const SpmvPlan<T>& a, const SpmvPlan<T>& transposed,
                                                     const DenseMatrix<T>& b, DenseMatrix<T>& x,
                                                     const LeastSquaresOptions& options);

}  // namespace solver
