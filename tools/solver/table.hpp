#pragma once

/// The outcome for a person.

#include "options.hpp"
#include "outcome.hpp"

#include <string>
#include <string_view>

namespace solver::command {

/// A dozen lines of two columns, the fingerprint among them; colours by ANSI escapes where asked for, else plain text.
std::string table(const Options& options, const Outcome& outcome, bool coloured);

/// Whether standard output is a terminal and NO_COLOR (no-color.org) is not set.
bool wants_colour();

}  // namespace solver::command
