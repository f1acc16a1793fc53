#pragma once

/// The outcome for a program.

#include "options.hpp"
#include "outcome.hpp"

#include <string>

namespace solver::command {

/// report.json. A number that is not finite, and what is unknown, is null.
std::string report_json(const Options& options, const Outcome& outcome);

/// One line per run, right-hand side and iteration under a header; iterations are counted over all attempts. Numbers read back
/// to the same bits; nothing in it depends on the clock.
std::string history_csv(const std::vector<Run>& runs);

}  // namespace solver::command
