#pragma once

/// Which preconditioner is tried next, and for how long.

#include "auto_solve/convergence_monitor.hpp"
#include "auto_solve/cost_model.hpp"
#include "auto_solve/matrix_facts.hpp"
#include "preparation/fill_estimate.hpp"
#include "solver/preparation.hpp"
#include "solver/solve.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace solver {

/// One attempt to make.
struct Candidate {
    PreconditionerKind preconditioner;
    std::int64_t share;  ///< iterations, at most
    GiveUp give_up = GiveUp::never;
    std::function<bool()> is_out_of_reach = {};  ///< of its share (ConvergenceMonitor)

    static constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();
    bool is_last() const { return share == no_limit; }
};

/// What the choice depends on: counts, never a clock.
struct ScheduleFacts {
    MatrixFacts matrix;
    double tolerance = 1e-10;
    std::int64_t columns = 1;         ///< right-hand sides that are solved together
    double fill_factor = 0;           ///< ILUT's
    bool one_product_a_step = false;  ///< of the method that is taken where the preconditioner is symmetric as A is
    bool definite_only = false;       ///< whether that one needs a positive definite preconditioner
    CostProfile profile = CostProfile::processor;
    double least_pivot_ratio = 0;  ///< of complete factors; below it A is singular as far as its precision can tell
    std::function<bool(std::int64_t steps)> has_rows_beyond;                    ///< see reach.hpp
    std::function<bool()> begins_at_zero;                                       ///< every x is zero and no b is
    std::function<FillPrediction(const preparation::IsEnough&)> fill_estimate;  ///< cheap (preparation/fill_estimate.hpp)
    std::function<const Preparation&()> preparation;  ///< with Ordering::amd; asked for only where needed
};

/// The candidates of solve(); see there for the rule.
class FallbackSchedule {
public:
    /// A single candidate, without limit; klu pauses once.
    explicit FallbackSchedule(PreconditionerKind only);

    /// Chosen by these facts, as an automatic solve does.
    explicit FallbackSchedule(ScheduleFacts facts);

    /// After these attempts; nothing where no more is to be tried.
    std::optional<Candidate> next(std::span<const Attempt> attempts);

    /// Whether A is singular, as far as its structure, once the next one depends on that, or its complete factors tell.
    bool has_solution_for_some_b_only(std::span<const Attempt> attempts) const;

    /// Whether complete factors are estimated to cost no more than the largest share of plain iterations.
    bool may_afford_complete_factors();

private:
    /// What the candidates known so far were chosen by.
    enum class Stage { trial, estimate, complete };

    void extend(std::span<const Attempt> attempts);
    void choose_by_estimate(std::span<const Attempt> attempts);
    void choose_by_analysis(std::span<const Attempt> attempts);
    void add(PreconditionerKind kind, std::int64_t share, GiveUp give_up = GiveUp::never);
    void add_schur_if_it_pays(double complete);
    bool is_ilut_dearer_for_several(double complete) const;
    void add_plain_if_promising(std::span<const Attempt> attempts, double budget);
    double cost_of(std::span<const Attempt> attempts) const;

    double alternative_to_trial();
    std::int64_t least_share_of_multigrid(double complete) const;
    double estimated_complete();
    bool multigrid_is_cheaper(double complete) const;
    PreconditionerKind plain() const;
    bool is_in_vain(std::int64_t plain_iterations) const;
    std::int64_t steps_of(std::int64_t plain_iterations) const;
    std::int64_t share_of(PreconditionerKind kind, double budget) const;
    double steps_an_iteration(PreconditionerKind kind) const;
    double cost_of_iteration(PreconditionerKind kind) const;
    std::optional<Candidate> best_so_far(std::span<const Attempt> attempts) const;

    ScheduleFacts facts_;
    CostModel costs_;
    std::optional<double> complete_;  ///< what complete factors are estimated to cost
    std::vector<Candidate> candidates_;
    Stage stage_ = Stage::complete;
    bool automatic_ = false;
    bool has_no_trial_ = false;        ///< since that would be in vain
    bool is_trial_too_short_ = false;  ///< for several right-hand sides
    bool is_structurally_singular_ = false;
};

}  // namespace solver
