#pragma once

/// The library's whole solve of a system that ranks share out.

#include "ranks/rank_matrix.hpp"
#include "solver/preconditioner.hpp"
#include "solver/proof.hpp"

#include <cstdint>
#include <memory>

namespace petscsolver {

struct WholeSolveOptions {
    double tolerance = 1e-10;                               ///< on ||r - A z|| / ||r||
    solver::Guarantee guarantee = solver::Guarantee::none;  ///< what is to be proven of z
    std::int64_t gathered_rows = 0;                         ///< RankMultigridOptions
};

/// z = A^-1 r to a tolerance, or Inf, by the attempts that solver::solve would make and with its bits, of vectors' elements on
/// this rank. What is made of Jacobi's preconditioner and of multigrid is shared out; where the schedule comes to another
/// preconditioner, and where a guarantee is asked for, every rank takes the whole matrix and solves by itself, from then on.
/// Collective.
std::unique_ptr<solver::Preconditioner<double>> make_rank_solve(MPI_Comm comm, RankMatrix<double> a,
                                                                const WholeSolveOptions& options);

/// z = A^-1 r to a tolerance, with what was asked for proven, or Inf: of a matrix on one rank.
std::unique_ptr<solver::Preconditioner<double>> make_solve(solver::CsrMatrix<double> a, const WholeSolveOptions& options);

}  // namespace petscsolver
