#pragma once

/// Which Krylov method an attempt takes.

#include "solver/krylov.hpp"

#include <optional>

namespace solver {

/// Of preconditioners.
inline bool needs_definite(KrylovMethod method) { return method == KrylovMethod::cg || method == KrylovMethod::minres; }

class MethodChoice {
public:
    /// `given` is the caller's wish, if any; without one the choice is by what is known of A.
    MethodChoice(std::optional<KrylovMethod> given, bool is_symmetric, bool has_positive_diagonal)
        : given_(given),
          of_symmetric_(!is_symmetric           ? KrylovMethod::bicgstab
                        : has_positive_diagonal ? KrylovMethod::cg
                                                : KrylovMethod::minres) {}

    KrylovMethod with(bool symmetric_preconditioner) const {
        if (given_) return *given_;
        return symmetric_preconditioner ? of_symmetric_ : KrylovMethod::bicgstab;
    }

    /// Told how a solve by a method ended. Whether it is to be repeated with another one: after cg MINRES, which does without a
    /// definite A, and then what does without a definite M.
    bool is_refuted_by(KrylovMethod method, SolveStatus status) {
        if (given_ || status != SolveStatus::indefinite) return false;
        of_symmetric_ = method == KrylovMethod::cg ? KrylovMethod::minres : KrylovMethod::bicgstab;
        return true;
    }

private:
    std::optional<KrylovMethod> given_;
    KrylovMethod of_symmetric_;  ///< where the preconditioner is symmetric, too
};

}  // namespace solver
