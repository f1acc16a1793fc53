#pragma once

/// Memory that runs out once, at the request that a test names: malloc and its kin of this whole program, zlib's and
/// SuiteSparse's calls included.

#include <cstdint>

namespace solver::faults {

/// The n-th request from now on (counted from 1, of all threads together) is refused, and none after it; 0: none is.
void refuse_request(std::int64_t n);

/// Requests since then.
std::int64_t requests();

/// Pieces of memory that were taken since then and are not given back yet.
std::int64_t pieces_kept();

}  // namespace solver::faults
