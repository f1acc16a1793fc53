#pragma once

/// What a run of the command found.

#include "solver/bicgstab.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace solver::command {

/// How far x is from the solution x* = ones of A x = A * ones. b is A * ones rounded, so even the exact solution of A x = b
/// differs from x*: by ||A^-1 (b - A x*)||, at most about cond(A) u.
struct ForwardError {
    double error;         ///< max_i |x_i - 1|
    double rhs_rounding;  ///< ||b - A * ones||_2 / ||b||_2, the effect of that rounding; 0 where b is exact
    double floor;         ///< rhs_rounding times the amplification ||x - x*|| / ||A (x - x*)|| seen in this solve: an estimate
};

struct Seconds {
    double read;
    double setup;
    double solve;
};

struct Outcome {
    std::string matrix;  ///< the path of the file, or the name of the generator
    bool generated;
    std::int64_t rows;
    std::int64_t columns;
    std::int64_t nonzeros;
    SpmvKernel spmv;
    SolveResult result;
    bool interrupted;  ///< by Ctrl-C; x is the iterate reached
    std::optional<ForwardError> forward_error;
    Seconds seconds;
    std::vector<double> solution;  ///< in single precision with a second part, the sum of both
};

/// "converged", or how else it ended.
std::string status_text(const Outcome& outcome);

}  // namespace solver::command
