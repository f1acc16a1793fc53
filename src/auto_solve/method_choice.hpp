#pragma once

/// Which Krylov method an attempt takes.

#include "auto_solve/matrix_facts.hpp"
#include "solver/krylov.hpp"
#include "solver/preconditioner.hpp"

#include <optional>

namespace solver {

/// Whether its preconditioners must be positive definite.
inline bool needs_definite(KrylovMethod method) { return method == KrylovMethod::cg || method == KrylovMethod::minres; }

class MethodChoice {
public:
    /// Always the same method.
    explicit MethodChoice(KrylovMethod only) : given_(only), best_(only) {}

    /// `given` is the caller's wish, if any; without one the choice is by what is known of A.
    MethodChoice(std::optional<KrylovMethod> given, const MatrixFacts& facts, bool complex_scalars)
        : given_(given), best_(best_of(facts, complex_scalars)), is_a_symmetric_(facts.is_nearly_symmetric) {}

    /// Where the preconditioner is symmetric as A is.
    KrylovMethod best() const { return given_.value_or(best_); }

    /// With the Schur complement eigenvalues lie around 1 but for a few small ones, as of a pressure known but for a constant.
    /// IDR(4) is done with them in the fewest products; restarts of GMRES lose them, and BiCGStab stood still on some grids.
    template <class M>
    KrylovMethod with(const M& m, PreconditionerKind kind) const {
        if (given_) return *given_;
        if (kind == PreconditionerKind::schur) return KrylovMethod::idr;
        const bool suits = best_ == KrylovMethod::cocg ? m.is_complex_symmetric() : m.is_symmetric();
        return suits ? best_ : KrylovMethod::bicgstab;
    }

    /// Whether M is symmetric, or complete factors of an A that is, but for rounding: definite they are where A is, as shows.
    template <class M>
    bool may_take_for_symmetric(const M& m, PreconditionerKind kind) const {
        return m.is_symmetric() || (kind == PreconditionerKind::klu && is_a_symmetric_);
    }

    /// Told how a solve by a method ended. Whether it is to be repeated with another one: after cg MINRES, which does without a
    /// definite A, and then what does without a definite M; after a breakdown of cocg what does not use the symmetry.
    bool is_refuted_by(KrylovMethod method, SolveStatus status) {
        const SolveStatus refutation = method == KrylovMethod::cocg ? SolveStatus::breakdown : SolveStatus::indefinite;
        if (given_ || status != refutation || method == KrylovMethod::bicgstab) return false;
        best_ = method == KrylovMethod::cg ? KrylovMethod::minres : KrylovMethod::bicgstab;
        return true;
    }

private:
    static KrylovMethod best_of(const MatrixFacts& facts, bool complex_scalars) {
        if (facts.is_nearly_symmetric) return facts.positive_diagonal ? KrylovMethod::cg : KrylovMethod::minres;
        return complex_scalars && facts.is_complex_symmetric ? KrylovMethod::cocg : KrylovMethod::bicgstab;
    }

    std::optional<KrylovMethod> given_;
    KrylovMethod best_;
    bool is_a_symmetric_ = false;  ///< as far as is known
};

}  // namespace solver
