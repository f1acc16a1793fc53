#pragma once

/// The library's factors within blocks of rows that a user names, of a matrix on any number of ranks.

#include "solver/preconditioner.hpp"

#include <petscmat.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace petscsolver {

/// The block of each of this rank's rows: `size` successive rows are one; where that is 0, as the IS says that is composed with
/// A as "samebits_blocks". Nothing, on all ranks, where there is no such IS. Collective.
PetscErrorCode read_blocks(Mat a, PetscInt size, std::optional<std::vector<std::int32_t>>* block_of_row);

/// Factors of a kind with PreconditionerOptions::block_of_row, to the last bit of exact, of vectors' elements on this rank. A
/// block may have rows on several ranks; the rank that has its first row factors it. Making it and applying it is collective.
/// Throws what make_preconditioner throws, on all ranks.
std::unique_ptr<solver::Preconditioner<double>> make_block_factors(solver::PreconditionerKind kind, Mat a,
                                                                   const std::vector<std::int32_t>& block_of_row);

}  // namespace petscsolver
