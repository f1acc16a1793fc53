#pragma once

/// The system of a solve, solved by others in double precision.

#include "live_line.hpp"
#include "options.hpp"
#include "outcome.hpp"
#include "solver/dense_matrix.hpp"
#include "solver/spmv.hpp"

#include <vector>

namespace solver::command {

/// Eigen's BiCGSTAB with the preconditioner that `ours` ended with, and a direct solution (KLU's factors) refined with exactly
/// rounded residuals until they stop falling; of the first right-hand side, from zero. True residuals are exactly rounded.
/// Where one cannot be had, its claim says why and its residual is NaN.
std::vector<ReferenceRun> reference_runs(const Options& options, const SpmvPlan<double>& a, const DenseMatrix<double>& rhs,
                                         const Run& ours, bool is_complex, LiveLine& live);

}  // namespace solver::command
