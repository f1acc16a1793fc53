#pragma once

/// Which preconditioner is tried next, and for how long.

#include "solver/preparation.hpp"
#include "solver/solve.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace solver {

/// One attempt to make: at most `share` iterations.
struct Rung {
    PreconditionerKind preconditioner;
    std::int64_t share;
};

/// What the choice depends on: counts, never a clock.
struct LadderFacts {
    std::int64_t rows = 0;
    std::int64_t nonzeros = 0;
    bool zeros_on_diagonal = false;
    bool is_finite = true;                            ///< no Inf or NaN in A
    double fill_factor = 0;                           ///< ILUT's
    std::function<const Preparation&()> preparation;  ///< with Ordering::amd; asked for only where needed
};

/// The rungs of solve(); see there for the rule.
class Ladder {
public:
    /// A single rung, without limit.
    explicit Ladder(PreconditionerKind only);

    /// Automatic.
    explicit Ladder(LadderFacts facts) : facts_(std::move(facts)) {}

    /// After these attempts; nothing where no more is to be tried.
    std::optional<Rung> next(std::span<const Attempt> attempts);

private:
    void choose();
    double cost_of_iteration(PreconditionerKind kind) const;
    std::optional<Rung> best_so_far(std::span<const Attempt> attempts) const;

    LadderFacts facts_;
    std::vector<Rung> rungs_;
    bool chosen_ = false;
    bool automatic_ = true;
};

}  // namespace solver
