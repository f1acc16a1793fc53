#pragma once

/// The library's whole solve of a system.

#include "solver/csr_matrix.hpp"
#include "solver/device.hpp"
#include "solver/preconditioner.hpp"
#include "solver/proof.hpp"
#include "solver/solve.hpp"

#include <cstdint>
#include <memory>

namespace petscsolver {

struct WholeSolveOptions {
    double tolerance = 1e-10;                               ///< on ||r - A z|| / ||r||
    solver::Guarantee guarantee = solver::Guarantee::none;  ///< what is to be proven of z
    std::int64_t gathered_rows = 0;                         ///< RankMultigridOptions
};

solver::SolveOptions options_of_solve(const WholeSolveOptions& given, solver::Accuracy accuracy);

/// z = A^-1 r to a tolerance, with what was asked for proven, or Inf: of a matrix on one rank, which is solved on the device.
/// Of complex numbers it is the real form.
std::unique_ptr<solver::Preconditioner<double>> make_solve(solver::CsrMatrix<double> a, const WholeSolveOptions& options,
                                                           const solver::Device& device);

}  // namespace petscsolver
