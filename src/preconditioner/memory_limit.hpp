#pragma once

/// What factors may take of the machine's memory.

#include "core/machine.hpp"
#include "solver/error.hpp"

#include <fmt/format.h>

#include <cstdint>

namespace solver {

/// PreconditionerOptions::memory_limit in bytes, its default filled in.
inline double memory_limit_in_bytes(std::int64_t memory_limit) {
    if (memory_limit > 0) return static_cast<double>(memory_limit);
    return 0.5 * static_cast<double>(available_memory());
}

/// Throws ResourceLimit where `needed` bytes are more than the limit; `help` says what makes them fewer.
inline void require_memory(const char* name, double needed, std::int64_t memory_limit, const char* help) {
    constexpr double gigabyte = 1e9;
    const double limit = memory_limit_in_bytes(memory_limit);
    if (needed > limit)
        throw ResourceLimit(fmt::format(
            "preconditioner {}: the factors may take {:.3g} GB and the limit is {:.3g} GB; {}, or raise the memory limit", name,
            needed / gigabyte, limit / gigabyte, help));
}

}  // namespace solver
