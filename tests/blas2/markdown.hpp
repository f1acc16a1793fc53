#pragma once

/// Verdicts as tables for a document.

#include "options.hpp"
#include "verdict.hpp"

#include <span>
#include <string>

namespace solver::blas2 {

/// Two tables of Markdown: the largest error of A x for each matrix, and what all matrices together give for each operation.
std::string to_markdown(std::span<const Verdict> verdicts, const Options& options);

}  // namespace solver::blas2
