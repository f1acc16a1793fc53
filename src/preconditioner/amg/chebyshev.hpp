#pragma once

/// The smoother: a polynomial in D^-1 A, D the diagonal of A, of which it needs products and the diagonal alone.

#include "core/multigrid/level.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/device.hpp"
#include "solver/numeric/rounding.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace solver::amg {

/// The steps whose error polynomial is the Chebyshev polynomial of `degree` for the interval [lower, upper], scaled to 1 at 0
/// (Saad, Iterative Methods for Sparse Linear Systems, 2nd ed., algorithm 12.1).
template <class V>
std::vector<SmootherStep<V>> chebyshev_steps(int degree, double lower, double upper);

/// 1 / a_ii, and the first row whose diagonal entry is missing, zero or too small to divide by in V, or that has an entry that
/// is not finite in V; a.rows if there is none.
template <class V, class T>
std::vector<double> inverse_diagonal(const CsrView<T>& a, std::int64_t& first_failure, const Device& device);

/// max_i sum_j |a_ij| / |a_ii|: no eigenvalue of D^-1 A is larger (Gershgorin). inverse_diagonal: 1 / a_ii.
template <class T>
double gershgorin_bound(const CsrView<T>& a, std::span<const double> inverse_diagonal, const Device& device);

/// By what factor the last of some steps with D^-1 A lengthens a vector that was one of fixed random numbers. Norms are exact:
/// the same bits on every machine.
template <class T>
double power_method(const CsrView<T>& a, std::span<const double> inverse_diagonal, int iterations, std::uint64_t seed,
                    const Device& device);

/// A bound or an estimate of the largest eigenvalue of D^-1 A: the bound of Gershgorin's theorem where it is at most 2; else
/// the lower of the bound and 1.1 times what ten steps of the power method find, but at least 1.1 (the mean eigenvalue is 1).
template <class View, class Vector, class Place>
double largest_eigenvalue(const View& a, const Vector& inverse_diagonal, const Place& place) {
    const double bound = place.gershgorin_bound(a, inverse_diagonal);
    constexpr double worth_knowing_better = 2, safety = 1.1;
    constexpr int iterations = 10;
    constexpr std::uint64_t seed = 1;
    if (bound <= worth_knowing_better) return bound;
    return std::min(bound, mul_rn(safety, std::max(1.0, place.power_method(a, inverse_diagonal, iterations, seed))));
}

}  // namespace solver::amg
