#pragma once

/// The library's whole solve of a system that ranks share out.

#include "ranks/rank_matrix.hpp"
#include "whole_solve.hpp"

#include <memory>

namespace petscsolver {

/// z = A^-1 r to a tolerance, or Inf, by the attempts that solver::solve would make and with its bits, of vectors' elements on
/// this rank. What is made of Jacobi's preconditioner and of multigrid is shared out; where the schedule comes to another
/// preconditioner, and where a guarantee is asked for, every rank takes the whole matrix and solves by itself, from then on.
/// Collective.
std::unique_ptr<WholeSolve> make_rank_solve(MPI_Comm comm, RankMatrix<double> a, const WholeSolveOptions& options);

}  // namespace petscsolver
