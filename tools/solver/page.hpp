#pragma once

/// The outcome as a page to read, to print and to show around.

#include "options.hpp"
#include "outcome.hpp"

#include <string>

namespace solver::command {

/// HTML that stands alone: the residuals that each run and Eigen believed beside the true ones, all solves in one table, the
/// errors of one product, the machine, the versions and the command.
std::string page_html(const Options& options, const Outcome& outcome);

}  // namespace solver::command
