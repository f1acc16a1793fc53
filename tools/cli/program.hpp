#pragma once

#include <string_view>

namespace solver::cli {

/// What `main` of every program is: the status that `run` returns, or 1 after a line on stderr where it throws, or
/// where what it printed does not arrive. A file that may not grow any more is an error to be told of like others; signals that
/// end the program leave nothing half-written behind.
int run_program(std::string_view name, int argc, char** argv, int (*run)(int argc, char** argv));

}  // namespace solver::cli
