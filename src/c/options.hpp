#pragma once

/// What a solver_options asks for.

#include "solver/solve.hpp"
#include "solver/solver.h"

#include <vector>

namespace solver::c {

/// NULL stands for the defaults.
solver_options options_or_default(const solver_options* options, const char* function);

/// `stopped` is set for each column whose callback asked to stop; it must outlive the options.
SolveOptions options_from_c(const solver_options& given, std::vector<bool>& stopped, const char* function);

}  // namespace solver::c
