#pragma once

/// The entries of a full row that a search for a matching cannot pass over, found in vector lanes.

#include <cstdint>

namespace solver::preparation {

/// The first k from `begin` on with row + v_k - w_k below both `nearest` and distance_k; `end` where there is none.
std::int64_t first_nearer(std::int64_t row, const std::int64_t* v, const std::int32_t* w, const std::int64_t* distance,
                          std::int64_t nearest, std::int64_t begin, std::int64_t end);

}  // namespace solver::preparation
