#pragma once

/// Multigrid of a matrix that ranks share out.

#include "place.hpp"
#include "ranks/rank_matrix.hpp"
#include "solver/preconditioner.hpp"

#include <petscmat.h>

#include <cstdint>
#include <memory>
#include <span>

namespace petscsolver {

struct RankMultigridOptions {
    int unknowns_per_node = 0;                     ///< 0: looked for in the pattern
    int vectors = 0;                               ///< of the near-null space
    std::span<const double> near_null_space = {};  ///< this rank's elements of one vector after another
    std::int64_t gathered_rows = 0;                ///< levels of at most so many rows are kept by every rank
    Place place = {};                              ///< of the vectors on this rank
};

/// This rank's rows of a square MPIAIJ, whose rows and columns are shared out alike; sorted. The real form of complex ones.
RankMatrix<double> read_matrix(const Ranks& ranks, Mat a);

/// The library's multigrid (solver/preconditioner.hpp), to the last bit, of vectors' elements on this rank. Making it and all
/// that it does is collective. Throws what make_preconditioner throws, on all ranks.
std::unique_ptr<solver::Preconditioner<double>> make_rank_multigrid(const Ranks& ranks, RankMatrix<double> a,
                                                                    const RankMultigridOptions& options);

}  // namespace petscsolver
