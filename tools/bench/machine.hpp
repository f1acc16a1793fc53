#pragma once

/// What the numbers were measured on.

#include <cstdint>
#include <string>

namespace solver::bench {

/// The instruction set that the library's kernels use here (Highway's name for it).
std::string simd_target();

/// Processors this process may use.
int processors();

/// Bytes of the largest cache of a processor; 0 where the system does not say.
std::int64_t last_level_cache();

/// Whether the compiler was asked to optimise; if not, no time means anything.
bool is_optimised();

}  // namespace solver::bench
