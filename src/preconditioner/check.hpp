#pragma once

/// What preconditioners share.

#include "solver/device.hpp"
#include "solver/error.hpp"

#include <fmt/format.h>

#include <cstddef>

namespace solver {

/// Throws DimensionMismatch unless r and z have n elements.
inline void check_lengths(const char* name, std::size_t n, std::size_t r, std::size_t z) {
    if (r != n || z != n)
        throw DimensionMismatch(
            fmt::format("preconditioner {}: r has {} elements, z {}; A has {} rows, and both need as many", name, r, z, n));
}

/// Where factors are made and applied to vectors of the host: for a CUDA device, all processors (make_preconditioner).
inline Device host_of(const Device& device) { return Device::cpu(device.threads()); }

}  // namespace solver
