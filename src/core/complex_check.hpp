#pragma once

#include "solver/error.hpp"

#include <cstdint>
#include <limits>
#include <string>

namespace solver {

/// Throws InvalidArgument for a complex matrix whose real form (complex.hpp) has more rows or columns than 32 bits count.
template <class Matrix>
void require_room_for_real_form(const Matrix& a) {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max() / 2;
    if (a.rows > most || a.columns > most)
        throw InvalidArgument("complex matrix: it is " + std::to_string(a.rows) + " x " + std::to_string(a.columns) +
                              "; at most " + std::to_string(most) + " rows and columns are supported");
}

}  // namespace solver
