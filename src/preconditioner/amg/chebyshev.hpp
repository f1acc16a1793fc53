#pragma once

/// The smoother: a polynomial in D^-1 A, D the diagonal of A, of which it needs products and the diagonal alone.

#include "core/multigrid/level.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/device.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace solver::amg {

/// The steps whose error polynomial is the Chebyshev polynomial of `degree` for the interval [lower, upper], scaled to 1 at 0
/// (Saad, Iterative Methods for Sparse Linear Systems, 2nd ed., algorithm 12.1).
template <class V>
std::vector<SmootherStep<V>> chebyshev_steps(int degree, double lower, double upper);

/// A bound or an estimate of the largest eigenvalue of D^-1 A: the bound max_i sum_j |a_ij| / |a_ii| by Gershgorin's theorem
/// where it is at most 2; else the lower of the bound and 1.1 times what ten steps of the power method find, which begin with a
/// vector of fixed random numbers and use exact norms, but at least 1.1 (the mean eigenvalue is 1). The same bits on every
/// machine. inverse_diagonal: 1 / a_ii.
template <class T>
double largest_eigenvalue(const CsrView<T>& a, std::span<const double> inverse_diagonal, const Device& device);

}  // namespace solver::amg
