#pragma once

/// The search for a proof that A is regular, or singular.

#include "auto_solve/system_solver.hpp"
#include "guarantee/inverse_in_pairs.hpp"
#include "solver/guarantee.hpp"

#include <memory>

namespace solver {

/// Whether A is singular, or not finite, as far as this shows without a solve; else unproven without a reason.
template <class T>
Certificate certificate_at_sight(const SpmvPlan<T>& a);

struct FoundCertificate {
    Certificate certificate;
    std::shared_ptr<const guarantee::InverseInPairs> inverse;  ///< of A, where nothing less precise served
};

/// What certify does with a matrix that shows nothing at sight. `solver` has solved a system with A, and is asked for another
/// one where <A> is A itself; complete factors that it has are used.
template <class T>
FoundCertificate find_certificate(const SpmvPlan<T>& a, SystemSolver<T>& solver, const SolveOptions& options);

}  // namespace solver
