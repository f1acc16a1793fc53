#pragma once

#include "fuzz/targets.hpp"

#include <string_view>

namespace solver::fuzz {

/// Whether a program takes this command line, or says why not; anything else ends the process.
bool understood_by_solver(int argc, const char* const* argv);
bool understood_by_bench(int argc, const char* const* argv);
bool understood_by_blas2(int argc, const char* const* argv);

}  // namespace solver::fuzz
