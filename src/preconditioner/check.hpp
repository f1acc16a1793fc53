#pragma once

/// What preconditioners share.

#include "core/check.hpp"
#include "solver/device.hpp"
#include "solver/error.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <span>

namespace solver {

/// Throws DimensionMismatch unless r and z have n elements, InvalidArgument where they overlap.
template <class T>
void check_vectors(const char* name, std::size_t n, std::span<const T> r, std::span<const T> z) {
    if (r.size() != n || z.size() != n)
        throw DimensionMismatch(fmt::format("preconditioner {}: r has {} elements, z {}; A has {} rows, and both need as many",
                                            name, r.size(), z.size(), n));
    if (overlap(z, r)) require_apart(fmt::format("preconditioner {}", name), "z", z, "r", r);
}

/// Where factors are made and applied to vectors of the host: for a CUDA device, all processors (make_preconditioner).
inline Device host_of(const Device& device) { return Device::cpu(device.threads()); }

}  // namespace solver
