#pragma once

/// Looked at before a long solve, so that its result is not lost for want of a folder.

#include "matrices/find_matrix.hpp"
#include "options.hpp"

namespace solver::command {

/// Throws cli::UsageError where --solution, --report or --history cannot be written, would replace an input (the matrix, --rhs,
/// --initial), or name the same file.
void check_outputs(const Options& options, const matrices::FoundMatrix& found);

}  // namespace solver::command
