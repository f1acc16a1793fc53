#pragma once

/// Reads, prepares and solves what the options ask for.

#include "live_line.hpp"
#include "matrices/find_matrix.hpp"
#include "options.hpp"
#include "outcome.hpp"

namespace solver::command {

/// Ctrl-C ends the iteration early. Throws what reading, the preconditioner and the solver throw.
Outcome solve(const Options& options, const matrices::FoundMatrix& found, LiveLine& live);

}  // namespace solver::command
