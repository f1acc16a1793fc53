#pragma once

/// How steps end, and why b - A x is to be computed anew after one: the same for every method, on host and device.

#include "core/krylov/drift.hpp"
#include "solver/numeric/rounding.hpp"

#include <cstdint>

namespace solver {

/// How a step ended.
enum class StepEnd {
    none,        ///< it has not
    full,        ///< all of it was made
    half,        ///< BiCGStab: s was small enough: x gained alpha M^-1 p only
    cycle,       ///< GMRES: all of it was made, and with it a cycle
    stalled,     ///< GMRES: with it a cycle that gained next to nothing
    orthogonal,  ///< MINRES: all of it was made; r is orthogonal to the range of A, nearly, as where ||r|| is least
    breakdown,   ///< a scalar by which the method divides is zero to working precision
    indefinite,  ///< CG: p'Ap or r'M^-1 r is not positive; MINRES: r'M^-1 r
    non_finite,  ///< a norm or a scalar is Inf or NaN
};

/// Why b - A x is to be computed anew after a step.
enum class Reason { none, claim, cycle, drift, progress, orthogonal, breakdown, indefinite, non_finite, last };

/// What a stretch of steps looks out for.
struct StepLimits {
    double target = 0;           ///< of ||r||
    double progress = 0;         ///< the first ||r|| that is worth a true residual
    std::int64_t max_steps = 0;  ///< in the stretch, at least 1
};

/// A stretch: steps of which only the last gave a reason, if any.
struct Stretch {
    StepEnd end = StepEnd::none;  ///< of the last step
    Reason reason = Reason::none;
};

/// Whether to go on after a step. `scalars` tell ||r||, what was added to r, and how many steps z_terms() counts for, which
/// estimates || |A| |z| || and is asked for only where it counts.
template <class Scalars, class Terms>
SOLVER_HD Reason reason_to_verify(StepEnd end, const Scalars& scalars, const StepLimits& limits, ResidualDrift* drift,
                                  const Terms& z_terms) {
    if (end == StepEnd::breakdown) return Reason::breakdown;
    if (end == StepEnd::indefinite) return Reason::indefinite;
    if (end == StepEnd::non_finite) return Reason::non_finite;
    if (scalars.r_norm() <= limits.target) return Reason::claim;
    if (end == StepEnd::orthogonal) return Reason::orthogonal;
    if (drift != nullptr) {
        const double weight = scalars.z_weight();
        const double z = weight == 0 ? 0 : mul_rn(weight, z_terms());
        if (drift->step(z, scalars.terms(), scalars.r_norm())) return Reason::drift;
    }
    return scalars.r_norm() <= limits.progress ? Reason::progress : Reason::none;
}

}  // namespace solver
