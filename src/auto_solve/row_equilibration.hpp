#pragma once

/// Systems whose rows have units far apart.

#include "core/row_facts.hpp"
#include "krylov/run.hpp"
#include "solver/solve.hpp"
#include "solver/spmv.hpp"

#include <span>

namespace solver {

/// After a solve: where rows of A are far larger than others, ||b - A x|| may be below the tolerance though the small rows are
/// not solved, as those inside of a body whose boundary is held by a penalty. Then ||S (b - A x)|| is of the order of ||S b||,
/// S scaling each row by a power of two to a largest |a_ij| between 1 and 2 (solve.hpp says what is done).
template <class T>
void settle_small_rows(const SpmvPlan<T>& a, const RowFacts& facts, std::span<const Unknown<T>> unknowns,
                       const SolveOptions& options, SolveReport& report);

}  // namespace solver
