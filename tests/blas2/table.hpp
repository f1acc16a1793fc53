#pragma once

/// Verdicts as lines of text.

#include "verdict.hpp"

#include <span>
#include <string>

namespace solver::blas2 {

/// "dc2_like: 116835 x 116835, 766396 nonzeros"
std::string heading_of(const Verdict& verdict);

/// All verdicts on one operation in one precision, a line each, under headings that say what was computed.
std::string detailed_table(std::span<const Verdict> verdicts);

std::string summary_heading();

/// The verdicts on one matrix in one precision as one line: errors of A x, and whatever promise any operation breaks.
std::string summary_line(std::span<const Verdict> verdicts);

}  // namespace solver::blas2
