#pragma once

/// One solve of the system in one accuracy.

#include "live_line.hpp"
#include "options.hpp"
#include "outcome.hpp"
#include "solver/dense_matrix.hpp"
#include "solver/spmv.hpp"

namespace solver::command {

/// Ctrl-C ends the iteration early. Throws what the preconditioner and the solver throw.
template <class T>
Run run_solve(const Options& options, Accuracy accuracy, const SpmvPlan<T>& a, const DenseMatrix<T>& rhs,
              const DenseMatrix<T>& initial, bool is_complex, LiveLine& live);

}  // namespace solver::command
