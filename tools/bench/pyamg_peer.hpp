#pragma once

/// PyAMG's smoothed aggregation (one thread), by a python3 of the PATH that can import it.

#include "linear_solvers.hpp"

#include <filesystem>
#include <string>

namespace solver::bench::pyamg {

/// "PyAMG 5.4.1"; empty where python3 cannot import it.
std::string description();

enum class Method { cg, bicgstab };

/// Solves by a child process, through files in `scratch`. Memory is the child's, from its reading of the files on. Throws
/// InvalidArgument with the last line of what Python said where it fails.
Answer solve(Method method, const Problem& problem, const Options& options, const std::filesystem::path& scratch);

}  // namespace solver::bench::pyamg
