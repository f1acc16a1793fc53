#pragma once

/// What a solver_result is.

#include "solver/solve.hpp"
#include "solver/solver.h"

#include <string>
#include <vector>

struct solver_result {
    std::vector<solver_outcome> outcomes;
    std::vector<std::vector<solver_iteration>> histories;
    std::vector<solver_attempt> attempts;
    std::vector<std::string> refusals;  ///< that the attempts point to
    std::vector<solver_proof> proofs;
    std::vector<std::string> reasons;  ///< that the proofs point to
    std::string obstacle;
    std::string profile;
};

namespace solver::c {

solver_iteration to_c(const Iteration& iteration);

/// `stopped`: the callback asked to, for each column.
solver_result to_c(const SolveReport& report, const std::vector<bool>& stopped);

}  // namespace solver::c
