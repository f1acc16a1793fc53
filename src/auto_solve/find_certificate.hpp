#pragma once

/// The search for a proof that A is regular, or singular.

#include "auto_solve/system_solver.hpp"
#include "solver/guarantee.hpp"

#include <functional>
#include <span>

namespace solver {

/// Whether A is singular, or not finite, as far as this shows without a solve; else unproven without a reason.
template <class T>
Certificate certificate_at_sight(const SpmvPlan<T>& a);

struct FoundCertificate {
    Certificate certificate;

    /// d + d_low ~ A^-1 r by what proved it, near enough for refinement whatever the scales of rows; empty where there is
    /// nothing better than the solver. Complete factors that the solver had are looked at.
    std::function<void(std::span<const double> r, std::span<double> d, std::span<double> d_low)> correct;
};

/// What certify does with a matrix that shows nothing at sight. `solver` has solved a system with A, and is asked for another
/// one where <A> is A itself; complete factors that it has are used.
template <class T>
FoundCertificate find_certificate(const SpmvPlan<T>& a, SystemSolver<T>& solver, const SolveOptions& options);

}  // namespace solver
