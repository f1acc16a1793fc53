#pragma once

/// The tests: one for each matrix, operation, precision, kernel and mode.

#include "matrix_source.hpp"
#include "options.hpp"
#include "report.hpp"

namespace solver::blas2 {

/// Registers them with GoogleTest, matrix by matrix. All arguments must outlive the run.
void register_trials(const MatrixSources& sources, const Options& options, Report& report);

}  // namespace solver::blas2
