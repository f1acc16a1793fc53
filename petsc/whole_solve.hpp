#pragma once

/// The library's whole solve of a system.

#include "solver/csr_matrix.hpp"
#include "solver/device.hpp"
#include "solver/preconditioner.hpp"
#include "solver/proof.hpp"
#include "solver/solve.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace petscsolver {

struct WholeSolveOptions {
    double tolerance = 1e-10;                               ///< on ||r - A z|| / ||r||
    solver::Guarantee guarantee = solver::Guarantee::none;  ///< what is to be proven of z
    std::int64_t gathered_rows = 0;                         ///< RankMultigridOptions
};

solver::SolveOptions options_of_solve(const WholeSolveOptions& given, solver::Accuracy accuracy);

/// What came of one.
struct Outcome {
    bool is_solved = false;
    std::string words;  ///< how it ended, by what, and what stands in the way where it failed; empty before the first
};

/// What was asked for has to be proven, too.
Outcome outcome_of(const solver::SolveReport& report, const WholeSolveOptions& options);

/// z = A^-1 r to a tolerance, or Inf.
class WholeSolve : public solver::Preconditioner<double> {
public:
    /// Of the last application.
    virtual const Outcome& outcome() const = 0;
};

/// Of a matrix on one rank, which is solved on the device. Of complex numbers it is the real form.
std::unique_ptr<WholeSolve> make_solve(solver::CsrMatrix<double> a, const WholeSolveOptions& options,
                                       const solver::Device& device);

}  // namespace petscsolver
