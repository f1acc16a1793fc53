#pragma once

/// The outcome for a program.

#include "options.hpp"
#include "outcome.hpp"

#include <string>

namespace solver::command {

/// report.json. A number that is not finite, and what is unknown, is null.
std::string report_json(const Options& options, const Outcome& outcome, const std::string& solution_sha256);

/// One line per iteration under a header. Numbers read back to the same bits; nothing in it depends on the clock.
std::string history_csv(const std::vector<Iteration>& history);

}  // namespace solver::command
