#pragma once

/// The peer's BiCGSTAB and conjugate gradients, as its users have them: row-major, 32-bit indices, products by OpenMP.

#include "peer_solve.hpp"

#include <vector>

namespace solver::bench::eigen {

enum class Preconditioner { none, jacobi, ilut };

/// With the defaults of the preconditioner. Entries must fit 32-bit indices. Where half_steps is
/// given, it gets ||s||_2 / ||b||_2 of each iteration, the residual in the middle of it, at some cost in time.
PeerSolve bicgstab(Preconditioner preconditioner, const PeerTask& task, std::vector<double>* half_steps = nullptr);

/// Eigen's conjugate gradients with the diagonal, for symmetric positive definite A.
PeerSolve conjugate_gradients(const PeerTask& task);

}  // namespace solver::bench::eigen
