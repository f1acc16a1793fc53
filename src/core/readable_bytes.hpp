#pragma once

/// Amounts of memory, for messages.

#include <cstddef>
#include <string>

namespace solver {

/// "12 MiB" below a gibibyte, rounded up, else "3.25 GiB", rounded to nearest.
inline std::string readable_bytes(std::size_t bytes) {
    if (bytes < std::size_t{1} << 30) return std::to_string((bytes + (1 << 20) - 1) >> 20) + " MiB";
    const std::size_t rest = bytes & ((std::size_t{1} << 30) - 1);
    const std::size_t hundredths = (bytes >> 30) * 100 + ((rest * 25 + (1 << 27)) >> 28);
    const std::string digits = std::to_string(hundredths % 100);
    return std::to_string(hundredths / 100) + (digits.size() == 1 ? ".0" : ".") + digits + " GiB";
}

}  // namespace solver
