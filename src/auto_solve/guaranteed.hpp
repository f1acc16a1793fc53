#pragma once

/// Solutions with a guarantee.

#include "auto_solve/system_solver.hpp"
#include "solver/guarantee.hpp"

#include <span>

namespace solver {

/// What certify does. `solver` has solved a system with A, and is asked for another one where <A> is A itself.
template <class T>
Certificate find_certificate(const SpmvPlan<T>& a, SystemSolver<T>& solver, const SolveOptions& options);

/// Gives every solution that `report` tells of the proof that options.guarantee asks for: bounds its error, or rounds it. The
/// certificate goes into the report as well.
template <class T>
void add_guarantees(const SpmvPlan<T>& a, SystemSolver<T>& solver, std::span<const Unknown<T>> unknowns,
                    const SolveOptions& options, SolveReport& report);

}  // namespace solver
