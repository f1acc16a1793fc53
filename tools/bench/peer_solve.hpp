#pragma once

#include <cstdint>

namespace solver::bench {

/// What a peer says of its solve. The copy of A that it needs is made before its clock starts.
struct PeerSolve {
    bool converged = false;
    std::int64_t iterations = 0;
    double setup_seconds = 0;
    double solve_seconds = 0;
};

}  // namespace solver::bench
