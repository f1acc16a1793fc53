#pragma once

/// Verdicts for programs to read.

#include "matrix_source.hpp"
#include "options.hpp"
#include "verdict.hpp"

#include <span>
#include <string>

namespace solver::blas2 {

/// One verdict on one line. Inf and NaN are null.
std::string to_json(const Verdict& verdict);

/// One object: program, version, machine, command, verdicts (as to_json gives them), left_out.
std::string to_json(std::span<const std::string> verdicts, std::span<const LeftOut> left_out, const Options& options);

}  // namespace solver::blas2
