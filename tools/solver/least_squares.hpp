#pragma once

/// Rectangular matrices: least squares.

#include "live_line.hpp"
#include "options.hpp"
#include "outcome.hpp"
#include "solver/dense_matrix.hpp"
#include "solver/spmv.hpp"

namespace solver::command {

/// Throws UsageError where the options ask for what only square systems have.
void check_least_squares(const Options& options, std::int64_t rows, std::int64_t columns);

/// One solve in one accuracy, one right-hand side after another, from this x on. Ctrl-C ends it early.
template <class T>
Run run_least_squares(const Options& options, Accuracy accuracy, const SpmvPlan<T>& a, const DenseMatrix<T>& rhs,
                      DenseMatrix<T> x, LiveLine& live);

}  // namespace solver::command
