#pragma once

/// A level of multigrid, and its smoother element by element, on host and device: every multiplication and every addition is
/// rounded once, to nearest, in the nesting given here, so that all backends give the same bits.

#include "solver/csr_matrix.hpp"
#include "solver/numeric/rounding.hpp"

#include <cstdint>
#include <vector>

namespace solver::amg {

/// One step of the smoother with the residual r = b - A x: d = beta d + alpha D^-1 r, x = x + d, D the diagonal of A.
template <class V>
struct SmootherStep {
    V alpha = 0;
    V beta = 0;
};

/// alpha D^-1 r: d after a step whose beta is 0, which reads no d.
template <class V>
SOLVER_HD V first_direction(V alpha, V inverse_diagonal, V r) noexcept {
    return mul_rn(alpha, mul_rn(inverse_diagonal, r));
}

/// d after any step.
template <class V>
SOLVER_HD V next_direction(const SmootherStep<V>& step, V d, V inverse_diagonal, V r) noexcept {
    const V first = first_direction(step.alpha, inverse_diagonal, r);
    return step.beta == 0 ? first : add_rn(mul_rn(step.beta, d), first);
}

/// x = d after a first step from x = 0, for elements i in any order.
template <class V>
struct BeginAtZero {
    V alpha;
    const V* inverse_diagonal;
    const V* b;
    V* direction;
    V* x;
    SOLVER_HD void operator()(std::int64_t i) const { direction[i] = x[i] = first_direction(alpha, inverse_diagonal[i], b[i]); }
};

/// d and x after any step, for elements i in any order.
template <class V>
struct Smooth {
    SmootherStep<V> step;
    const V* inverse_diagonal;
    const V* residual;
    V* direction;
    V* x;
    SOLVER_HD void operator()(std::int64_t i) const {
        const V d = next_direction(step, direction[i], inverse_diagonal[i], residual[i]);
        direction[i] = d;
        x[i] = add_rn(x[i], d);
    }
};

class HostPlace;

/// Matrices and vectors in the memory of the host, and what is done with them there while levels are made.
struct OnHost {
    template <class V>
    using Matrix = CsrMatrix<V>;
    template <class V>
    using Vector = std::vector<V>;
    using Place = HostPlace;
};

/// A_l, its smoother, and how the next level is reached. On the last level P and R have no columns and no rows.
template <class V, class Memory = OnHost>
struct Level {
    using Matrix = typename Memory::template Matrix<V>;
    Matrix a;
    typename Memory::template Vector<V> inverse_diagonal;
    std::vector<SmootherStep<V>> steps;
    Matrix prolongation;  ///< P: values on the next level to corrections on this one
    Matrix restriction;   ///< R: residuals on this level to right-hand sides on the next one
};

/// Where coarsest_inverse has rows, it takes the place of the last level's smoother.
template <class V, class Memory = OnHost>
struct Levels {
    std::vector<Level<V, Memory>> levels;                  ///< the finest first
    typename Memory::template Matrix<V> coarsest_inverse;  ///< dense
};

}  // namespace solver::amg
