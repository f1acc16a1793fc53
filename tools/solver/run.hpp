#pragma once

/// One solve of the system in one accuracy.

#include "live_line.hpp"
#include "options.hpp"
#include "outcome.hpp"
#include "solver/dense_matrix.hpp"
#include "solver/spmv.hpp"

namespace solver::command {

/// From this x on. Ctrl-C ends the iteration early. Throws what the preconditioner and the solver throw.
template <class T>
Run run_solve(const Options& options, Accuracy accuracy, const SpmvPlan<T>& a, const DenseMatrix<T>& rhs, DenseMatrix<T> x,
              bool is_complex, LiveLine& live);

}  // namespace solver::command
