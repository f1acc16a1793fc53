#pragma once

/// Several solves of one system, one a line.

#include "options.hpp"
#include "outcome.hpp"

#include <string>

namespace solver::command {

/// Empty unless accuracies or references were to be compared.
std::string comparison(const Options& options, const Outcome& outcome, bool coloured);

}  // namespace solver::command
