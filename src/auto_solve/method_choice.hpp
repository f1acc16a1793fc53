#pragma once

/// Which Krylov method an attempt takes.

#include "solver/krylov.hpp"

#include <optional>

namespace solver {

class MethodChoice {
public:
    /// `given` is the caller's wish, if any; without one the choice is by what is known of A.
    MethodChoice(std::optional<KrylovMethod> given, bool may_be_positive_definite)
        : given_(given), may_be_positive_definite_(may_be_positive_definite) {}

    KrylovMethod with(bool symmetric_preconditioner) const {
        if (given_) return *given_;
        return may_be_positive_definite_ && symmetric_preconditioner ? KrylovMethod::cg : KrylovMethod::bicgstab;
    }

    /// Told how a solve ended. Whether it is to be repeated with another method.
    bool is_refuted_by(SolveStatus status) {
        if (given_ || status != SolveStatus::indefinite) return false;
        may_be_positive_definite_ = false;
        return true;
    }

private:
    std::optional<KrylovMethod> given_;
    bool may_be_positive_definite_;
};

}  // namespace solver
