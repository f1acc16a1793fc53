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

/// One attempt to make.
struct Rung {
    PreconditionerKind preconditioner;
    std::int64_t share;     ///< iterations, at most
    bool on_track = false;  ///< given up early where its pace so far will not do it within the share
};

/// What the choice depends on: counts, never a clock.
struct LadderFacts {
    std::int64_t rows = 0;
    std::int64_t nonzeros = 0;
    bool zeros_on_diagonal = false;
    bool is_finite = true;  ///< no Inf or NaN in A
    double tolerance = 1e-10;
    double fill_factor = 0;                           ///< ILUT's
    std::function<const Preparation&()> preparation;  ///< with Ordering::amd; asked for only where needed
};

/// The rungs of solve(); see there for the rule.
class Ladder {
public:
    /// A single rung, without limit.
    explicit Ladder(PreconditionerKind only);

    /// Automatic.
    explicit Ladder(LadderFacts facts);

    /// After these attempts; nothing where no more is to be tried.
    std::optional<Rung> next(std::span<const Attempt> attempts);

private:
    void analyse(std::span<const Attempt> attempts);
    double cost_of_iteration(PreconditionerKind kind) const;
    std::optional<Rung> best_so_far(std::span<const Attempt> attempts) const;

    LadderFacts facts_;
    std::vector<Rung> rungs_;
    bool analysed_ = true;
    bool automatic_ = false;
};

}  // namespace solver
