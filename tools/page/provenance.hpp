#pragma once

/// When, by what and by which command a page was made.

#include <string>

namespace solver::page {

/// The command line as a shell would take it again.
std::string command_line(int argc, const char* const* argv);

/// "2026-11-21 22:40 UTC"
std::string now();

/// "GCC 12.2.0"
std::string compiler();

}  // namespace solver::page
