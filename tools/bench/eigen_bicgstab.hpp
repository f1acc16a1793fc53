#pragma once

/// The peer's BiCGSTAB and conjugate gradients, as its users have them: row-major, 32-bit indices, products by OpenMP.

#include "peer_solve.hpp"
#include "solver/csr_matrix.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace solver::bench::eigen {

enum class Preconditioner { none, jacobi, ilut };

using Solve = PeerSolve;

/// Solves A x = b from x = 0, with the defaults of the preconditioner. Entries must fit 32-bit indices. Where half_steps is
/// given, it gets ||s||_2 / ||b||_2 of each iteration, the residual in the middle of it, at some cost in time.
Solve bicgstab(Preconditioner preconditioner, const CsrView<double>& a, std::span<const double> b, std::span<double> x,
               double tolerance, std::int64_t max_iterations, int threads, std::vector<double>* half_steps = nullptr);

/// Eigen's conjugate gradients with the diagonal, for symmetric positive definite A.
Solve conjugate_gradients(const CsrView<double>& a, std::span<const double> b, std::span<double> x, double tolerance,
                          std::int64_t max_iterations, int threads);

}  // namespace solver::bench::eigen
