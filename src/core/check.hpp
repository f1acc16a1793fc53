#pragma once

/// The checks that public functions share.

#include "core/floating_point_guard.hpp"
#include "solver/device.hpp"
#include "solver/error.hpp"

#include <fmt/format.h>

#include <cstdint>

namespace solver {

/// "spmv: x has 7 elements, A is 12 x 8; x needs 8, the columns of A"
template <class Matrix>
void require_length(const char* operation, const char* name, std::size_t length, std::int64_t expected, const char* why,
                    const Matrix& a) {
    if (static_cast<std::int64_t>(length) == expected) return;
    throw DimensionMismatch(fmt::format("{}: {} has {} elements, A is {} x {}; {} needs {}, {}", operation, name, length,
                                        a.rows, a.columns, name, expected, why));
}

/// For what has no kernel on CUDA devices.
inline void require_cpu(const Device& device, const char* operation) {
    if (device.kind() != Device::Kind::cpu)
        throw NotSupported(fmt::format("{}: there is no kernel for CUDA devices, and {} was asked for; use Device::cpu()",
                                       operation, to_string(device)));
}

}  // namespace solver
