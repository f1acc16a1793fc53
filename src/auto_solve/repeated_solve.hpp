#pragma once

/// One system after another with the same matrix.

#include "auto_solve/system_solver.hpp"
#include "solver/solve.hpp"
#include "solver/spmv.hpp"

#include <span>

namespace solver {

/// What was made for one right-hand side serves the next ones; x and the report are those of `solve`, whatever came before.
/// With a guarantee everything is made anew.
class RepeatedSolve {
public:
    /// A must outlive it.
    RepeatedSolve(const SpmvPlan<double>& a, const SolveOptions& options)
        : a_(a), options_(options), solver_(a, options_, true) {}
    RepeatedSolve(const RepeatedSolve&) = delete;
    RepeatedSolve& operator=(const RepeatedSolve&) = delete;

    /// As `solve` does.
    SolveReport solve(std::span<const double> b, std::span<double> x);

private:
    const SpmvPlan<double>& a_;
    SolveOptions options_;
    SystemSolver<double> solver_;
};

}  // namespace solver
