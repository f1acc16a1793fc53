#pragma once

/// What came of one solver on one system, and the process of its own that it ran in.

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>

namespace solver::bench {

/// One solver on one matrix.
struct Trial {
    std::string solver;
    bool ours = false;
    bool automatic = false;  ///< chose its preconditioner itself
    std::string status;      ///< what the solver says, or "timed out", "crashed", "failed", "not built"
    std::string remark;      ///< why it failed; what automatic choice tried
    bool claimed = false;    ///< that it converged
    std::int64_t iterations = 0;
    double residual = std::numeric_limits<double>::quiet_NaN();  ///< ||b - A x|| / ||b||, from the exact residual
    double setup_seconds = 0, solve_seconds = 0;
    double memory_bytes = 0;  ///< by how much the memory in use grew at its peak; 0 where it is not known

    double seconds() const { return setup_seconds + solve_seconds; }
    bool reached(double tolerance) const { return residual <= tolerance; }
    bool false_claim(double tolerance) const { return claimed && !reached(tolerance); }
};

/// That came to nothing.
Trial failed(std::string status, std::string remark);

/// What `work` returns from a process of its own; where it throws, hangs or crashes, that is the status.
Trial tried_apart(const std::function<Trial()>& work, double time_limit);

}  // namespace solver::bench
