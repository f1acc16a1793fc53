#pragma once

/// Every option of the command with its help, once.

#include <boost/program_options/options_description.hpp>
#include <string>

namespace solver::command {

boost::program_options::options_description option_table();

/// What --help prints: usage, the table, examples, exit status.
std::string help_text();

}  // namespace solver::command
