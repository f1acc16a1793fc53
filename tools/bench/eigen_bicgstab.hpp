#pragma once

/// The peer's BiCGSTAB, as its users have it: row-major, 32-bit indices, products by OpenMP.

#include "solver/csr_matrix.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace solver::bench::eigen {

enum class Preconditioner { none, jacobi, ilut };

/// What BiCGSTAB says of itself.
struct Solve {
    bool converged = false;  ///< info() == Success
    std::int64_t iterations = 0;
    double setup_seconds = 0;
    double solve_seconds = 0;
};

/// Solves A x = b from x = 0, with the defaults of the preconditioner. Entries must fit 32-bit indices. Where half_steps is
/// given, it gets ||s||_2 / ||b||_2 of each iteration, the residual in the middle of it, at some cost in time.
Solve bicgstab(Preconditioner preconditioner, const CsrView<double>& a, std::span<const double> b, std::span<double> x,
               double tolerance, std::int64_t max_iterations, int threads, std::vector<double>* half_steps = nullptr);

}  // namespace solver::bench::eigen
