#pragma once

/// Least squares by normal equations that are at hand.

#include "auto_solve/normal_equations.hpp"
#include "solver/dense_matrix.hpp"
#include "solver/krylov.hpp"
#include "solver/least_squares.hpp"

#include <vector>

namespace solver {

/// Of each column of B, as least_squares of an A and its transpose. What is made of the normal equations stays for further
/// calls.
template <class T>
std::vector<LeastSquaresResult> least_squares(NormalEquations<T>& equations, const DenseMatrix<T>& b, DenseMatrix<T>& x,
                                              const KrylovOptions& options);

}  // namespace solver
