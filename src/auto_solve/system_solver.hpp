#pragma once

/// One matrix and what has been made to solve systems with it.

#include "auto_solve/matrix_facts.hpp"
#include "auto_solve/system.hpp"
#include "krylov/run.hpp"
#include "solver/preparation.hpp"
#include "solver/solve.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace solver {

template <class T>
class Attempts;
template <class T>
class Iterates;

template <class T>
class SystemSolver {
public:
    /// Both must outlive it. What `keeps` makes no preconditioner twice, whatever the right-hand sides are.
    SystemSolver(const SpmvPlan<T>& a, const SolveOptions& options, bool keeps = false)
        : a_(a), options_(options), keeps_(keeps) {}

    /// Attempts along the schedule.
    SolveReport solve(std::vector<Unknown<T>> unknowns) { return attempt_all(std::move(unknowns), false); }

    /// solve, of the compatible part of each b that has another one (compatible_part.hpp), with least squares of what nothing
    /// solves.
    SolveReport solve_compatible_parts(std::vector<Unknown<T>> unknowns);

    /// What has converged, where rows of A are far smaller than others (row_equilibration.hpp).
    void settle_small_rows(std::span<const Unknown<T>> unknowns, SolveReport& report) const;

    /// Whether the last attempt of `solve` made iterations.
    bool can_solve_again() const {
        return (mixed_ && mixed_->has_preconditioner()) || (system_ && system_->has_preconditioner());
    }

    /// The last attempt of `solve`.
    PreconditionerKind preconditioner() const { return preconditioner_; }
    std::int64_t iterations() const { return iterations_; }  ///< of the column that took most

    /// Those of A that the last attempt of `solve` iterated with; null where it did not, or in a lower precision.
    const KluPreconditioner<T>* complete_factors() const {
        if (mixed_ || !system_ || !system_->has_preconditioner() || !system_->is_preconditioner_of_a()) return nullptr;
        return dynamic_cast<const KluPreconditioner<T>*>(&system_->preconditioner());
    }

    /// A further system, by the preconditioner and method of the last attempt, which made iterations.
    SolveResult solve_again(const Unknown<T>& unknown, double tolerance, std::int64_t max_iterations);

private:
    /// Attempts with the iteration in V, for at most so many iterations. The schedule is that of the least relative tolerance.
    template <class V>
    void attempt_in(std::unique_ptr<System<T, V>>& system, Attempts<T>& attempts, Iterates<T>& iterates,
                    std::int64_t max_iterations);

    /// Of A; none where method and preconditioner are named.
    const MatrixFacts& facts();

    SolveReport attempt_all(std::vector<Unknown<T>> unknowns, bool wants_least_squares);

    void remember(std::span<const Attempt> attempts);

    const SpmvPlan<T>& a_;
    const SolveOptions& options_;
    bool keeps_;
    std::optional<MatrixFacts> facts_;
    std::optional<Preparation> preparation_;
    std::unique_ptr<System<T, T>> system_;
    std::unique_ptr<System<T, float>> mixed_;  ///< where the last attempt was mixed
    KrylovMethod method_ = KrylovMethod::bicgstab;
    PreconditionerKind preconditioner_ = PreconditionerKind::none;
    std::int64_t iterations_ = 0;
};

}  // namespace solver
