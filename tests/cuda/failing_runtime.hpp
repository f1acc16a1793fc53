#pragma once

/// A CUDA runtime that refuses once, at the request that a test names. The program's calls come here by the linker's --wrap
/// (tests/CMakeLists.txt).

#include <cstdint>
#include <string>

namespace solver::faults {

enum class Request {
    memory,  ///< of a device, or pinned
    work,    ///< launches, copies, streams, events, graphs
};

/// The n-th request of a kind from now on (counted from 1, of all threads together) is refused as if there was too little
/// memory, and none after it; 0: none is.
void refuse_request(Request kind, std::int64_t n);

/// Requests of that kind since then.
std::int64_t requests();

/// Pieces of memory, streams, events and graphs that this program has.
std::int64_t pieces_held();

/// The error that the next launch would be blamed for, or "". It is gone afterwards.
std::string last_error();

}  // namespace solver::faults
