#pragma once

/// Verdicts for programs to read.

#include "matrix_source.hpp"
#include "options.hpp"
#include "verdict.hpp"

#include <span>
#include <string>

namespace solver::blas2 {

/// One object: program, version, machine, command, verdicts, left_out. Inf and NaN are null.
std::string to_json(std::span<const Verdict> verdicts, std::span<const LeftOut> left_out, const Options& options);

}  // namespace solver::blas2
