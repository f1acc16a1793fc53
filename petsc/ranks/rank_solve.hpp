#pragma once

/// The library's whole solve of a system that ranks share out.

#include "ranks/rank_matrix.hpp"
#include "solver/preconditioner.hpp"

#include <cstdint>
#include <memory>

namespace petscsolver {

/// z = A^-1 r to a tolerance, or Inf, by the attempts that solver::solve would make and with its bits, of vectors' elements on
/// this rank. What is made of Jacobi's preconditioner and of multigrid is shared out; where the schedule comes to another
/// preconditioner, every rank takes the whole matrix and solves by itself, from then on. Collective.
std::unique_ptr<solver::Preconditioner<double>> make_rank_solve(MPI_Comm comm, RankMatrix<double> a, double tolerance,
                                                                std::int64_t gathered_rows);

/// The same of a matrix on one rank.
std::unique_ptr<solver::Preconditioner<double>> make_solve(solver::CsrMatrix<double> a, double tolerance);

}  // namespace petscsolver
