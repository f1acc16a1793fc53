#pragma once

/// Solutions with a guarantee.

#include "auto_solve/system_solver.hpp"
#include "solver/solve.hpp"

#include <span>

namespace solver {

/// Solves and gives every solution the proof that options.guarantee asks for: bounds its error, or rounds it. Where A shows at
/// sight that it is singular nothing is solved.
template <class T>
SolveReport solve_with_guarantee(const SpmvPlan<T>& a, std::span<const Unknown<T>> unknowns, const SolveOptions& options);

}  // namespace solver
