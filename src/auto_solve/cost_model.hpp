#pragma once

/// What preconditioners and iterations with them are expected to cost: counts of memory traffic and operations, never a clock.

#include "auto_solve/matrix_facts.hpp"
#include "solver/preparation.hpp"
#include "solver/solve.hpp"

#include <cstdint>

namespace solver {

/// In units of one matrix entry in a product on the host: an operation and an entry of complete factors of a matrix that is
/// nearly full, which is eliminated by blocks in vector lanes. Measured for dense matrices of 300 to 6000 rows, on two x86-64
/// cores.
constexpr double full_factor_flop = 0.05, full_factor_entry = 5;

/// Costs in units of one matrix entry in a product, where the iteration runs, for so many right-hand sides together.
class CostModel {
public:
    CostModel(CostProfile profile, const MatrixFacts& facts, double fill_factor, std::int64_t columns = 1);

    /// One step: a product, the vectors' updates and dots that go with it, and an application of the preconditioner. An
    /// iteration of conjugate gradients is one step, one of BiCGStab two.
    double step(PreconditionerKind kind) const;

    double preparation() const;  ///< scaling, transversal, order
    /// KLU's, and what solving by them takes for columns after the first.
    double complete_factors(const FillPrediction& fill) const;

    double incomplete_factors() const;  ///< ILUT's
    double hierarchy() const;           ///< the setup of multigrid
    double multigrid() const;           ///< with the steps that it is expected to take
    double schur() const;               ///< setup of the Schur complement's block and of multigrid, and the steps

private:
    struct Constants;
    static const Constants& constants_of(CostProfile profile);
    const Constants& constants_;
    double rows_;
    double nonzeros_;
    double fill_factor_;
    double columns_;
    bool is_full_;  ///< nearly
};

}  // namespace solver
