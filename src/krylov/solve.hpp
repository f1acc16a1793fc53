#pragma once

/// The outer loop of the Krylov methods: verifies, replaces, restarts, ends.

#include "core/krylov/stretch.hpp"
#include "krylov/any_recurrence.hpp"
#include "krylov/backend.hpp"
#include "krylov/pauses.hpp"
#include "krylov/task.hpp"
#include "solver/krylov.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

namespace solver {

/// The outer loop around a recurrence on a backend. x is changed only here, in groups: x += z / scale, where the recurrence
/// runs on scale * residual, a power of two that brings its norm near 1, so that no dot product over- or underflows. Where b
/// and b - A x are small, residuals and all norms are multiplied by another power of two, the unit, before they are rounded.
///
/// Every decision is taken in the step that gives rise to it, on norms that are exact in exact. "Verify" means: add z to x,
/// compute b - A x anew, keep x if it is the best so far. It happens where
///  - the recurrence claims convergence (||r|| small enough, in BiCGStab also after half a step),
///  - compensated and exact: r has drifted too far (ResidualDrift),
///  - it has gained a factor `progress_factor` on the best x, so that this stays known whatever comes,
///  - a cycle of it is over, after which it begins anew in any case,
///  - it broke down, became non-finite or showed that A or M is not definite,
///  - it was the last step.
/// Then r is replaced by the true residual (in fast only after a claim) and the recurrence goes on in its directions; one that
/// cannot keep them begins anew there, but not for mere progress. Where r
/// was wrong by more than `restart_factor` or the step stopped half-way, and after a breakdown, it begins anew from the best x;
/// if it has begun there before, with another seed, or, where a seed makes no difference, not at all. A verification is
/// fruitless if the recurrence had broken down or promised half the residual of the last success, and the best true residual
/// has not halved since; or if it diverges. More than `max_fruitless` of these in a row end the solve.
///
/// Divergence: where a norm of r falls in every step (CG: (r'A^-1 r)^(1/2); MINRES: (r'M^-1 r)^(1/2); GMRES: ||r||) ||r|| never
/// exceeds cond(A)^(1/2), cond(M)^(1/2) or 1 times an earlier one. `divergence_factor` = 2^32 times the best one takes a
/// condition of 2^64, which no matrix that is regular in double has: it is rounding, as along a null vector, that has grown.
/// BiCGStab, IDR and COCG bound nothing.
template <SolverBackend B>
class KrylovSolve : private Iterate {
public:
    using Vector = typename B::Vector;
    using Solution = typename B::Solution;
    using Wide = typename B::Wide;

    static constexpr double restart_factor = 10;
    static constexpr double progress_factor = 32;
    static constexpr double divergence_factor = 0x1p32;
    static constexpr int max_fruitless = 12;

    /// The backend and the recurrence must outlive the solve. `column` only marks the records.
    KrylovSolve(B& backend, AnyRecurrence<Vector>& recurrence, const KrylovOptions& options, const Pauses& pauses,
                std::int64_t column)
        : backend_(backend),
          recurrence_(recurrence),
          options_(options),
          pauses_(pauses),
          column_(column),
          replaces_(options.accuracy != Accuracy::fast || holds_x_wider),
          weights_(replaces_ ? &backend.column_norms() : nullptr),
          residual_(backend.residual_vector()),
          x_(backend.solution()),
          best_(backend.solution()) {
        recurrence_.start(weights_);
    }

    /// From the initial guess to the best x found.
    Task<SolveResult> run(std::span<const Wide> initial) {
        backend_.load(initial, x_);
        b_norm_ = backend_.right_hand_side_norm();
        if (b_norm_ == 0) backend_.set_zero(x_);
        co_await backend_.residual(unit_, x_, residual_);
        best_norm_ = backend_.true_norm(residual_);
        if (b_norm_ < smallest_plain<Wide> && best_norm_ >= smallest_plain<Wide> && std::isfinite(best_norm_)) begin_at_zero();
        if (std::max(b_norm_, best_norm_) < smallest_plain<Wide>) co_await measure_in(1 / smallest_plain<Wide>);
        if (b_norm_ > std::numeric_limits<double>::max()) co_await measure_in(smallest_plain<Wide>);
        reference_norm_ = best_norm_;
        keep_as_best(best_norm_);
        result_.recursive_residual = relative(best_norm_);
        if (!std::isfinite(b_norm_) || !std::isfinite(best_norm_) || !backend_.is_finite(x_))
            co_return finish(SolveStatus::non_finite);
        const bool wanted = report({0, relative(best_norm_), relative(best_norm_), false, column_, this}, options_, result_);
        if (meets_tolerance(best_norm_)) co_return finish(SolveStatus::converged);
        begin();
        co_return co_await iterate(wanted);
    }

    /// The best x found.
    const Solution& solution() const { return best_; }

private:
    static constexpr bool holds_x_wider = !std::is_same_v<typename B::Value, Wide>;

    Task<SolveResult> iterate(bool wanted) {
        std::int64_t pause = wanted ? pauses_(0) : 0;
        while (result_.iterations < options_.max_iterations && (wanted || result_.iterations < pause)) {
            const std::int64_t steps = std::min(pause, options_.max_iterations) - result_.iterations;
            const double progress = scale_ * best_norm_ / progress_factor;
            const Stretch stretch = co_await recurrence_.advance({target(), progress, steps});
            verified_ = false;
            const std::span<const double> norms = recurrence_.norms();
            for (const double norm : norms.first(norms.size() - 1))
                wanted = report(next_record(norm), options_, result_) && wanted;
            Iteration record = next_record(norms.back());
            const std::optional<SolveStatus> status = co_await decide(stretch, record);
            record.iterate = this;
            wanted = report(record, options_, result_) && wanted;
            if (status) co_return finish(*status);
            if (result_.iterations == pause && wanted) pause = pauses_(pause);
        }
        if (!verified_) co_await verify();
        co_return finish(meets_tolerance(best_norm_) ? SolveStatus::converged : SolveStatus::iteration_limit);
    }

    Iteration next_record(double r_norm) {
        result_.recursive_residual = relative(r_norm / scale_);
        return {++result_.iterations, result_.recursive_residual, -1, false, column_};
    }

    Task<std::optional<SolveStatus>> decide(const Stretch& stretch, Iteration& record) {
        const Reason reason = or_last(stretch.reason);
        if (reason == Reason::none) co_return std::nullopt;
        const double norm = co_await verify();
        record.true_residual = relative(norm);
        if (meets_tolerance(norm)) co_return SolveStatus::converged;
        if (reason == Reason::last) co_return std::nullopt;
        if (reason == Reason::indefinite) co_return SolveStatus::indefinite;
        if (reason == Reason::orthogonal) co_return end_where_nothing_is_gained();
        const bool broke = reason == Reason::breakdown || reason == Reason::non_finite;
        const bool gained = !broke && stretch.end != StepEnd::stalled;
        const double promised = gained ? recurrence_.norms().back() / scale_ : 0;
        const bool begins = broke || stretch.end == StepEnd::half || !(norm <= restart_factor * promised);
        const bool diverges = recurrence_.has_bounded_residuals() && norm > divergence_factor * best_norm_;
        const bool is_vain = promised <= reference_norm_ / 2 || diverges;
        if (!fruitful(is_vain) || (begins && would_repeat_itself())) co_return broke ? broken(reason) : SolveStatus::stagnated;
        record.replaced = !broke && (begins || replaces_r(reason));
        result_.restarts += broke;
        result_.replacements += record.replaced;
        if (begins)
            co_await restart_from_best(norm);
        else if (record.replaced)
            replace(norm);
        co_return std::nullopt;
    }

    /// An r that is orthogonal to the range of A may be no more than a look at an eigenvalue near zero: then the next steps
    /// solve for that. It is the least where r becomes orthogonal again and nothing has been gained meanwhile.
    std::optional<SolveStatus> end_where_nothing_is_gained() {
        constexpr double nothing = 1 - 0x1p-10;
        const double before = std::exchange(orthogonal_norm_, best_norm_);
        return best_norm_ > nothing * before ? std::optional(SolveStatus::stagnated) : std::nullopt;
    }

    bool replaces_r(Reason reason) const {
        return recurrence_.keeps_directions() ? replaces_ || reason == Reason::claim : reason != Reason::progress;
    }

    /// The last step is verified in any case, and nothing follows from it.
    Reason or_last(Reason reason) const {
        const bool last = result_.iterations == options_.max_iterations;
        return last && (reason == Reason::none || reason == Reason::progress) ? Reason::last : reason;
    }

    /// Which leaves less than the guess, that needs residuals of another size than b: those of b's would round to 0.
    void begin_at_zero() {
        backend_.set_zero(x_);
        best_norm_ = b_norm_;
    }

    /// Has residuals in another unit from now on, b among them: best_ is 0 yet.
    Task<bool> measure_in(double unit) {
        unit_ = unit;
        co_await backend_.residual(unit_, best_, residual_);
        b_norm_ = backend_.true_norm(residual_);
        co_await backend_.residual(unit_, x_, residual_);
        best_norm_ = backend_.true_norm(residual_);
        co_return true;
    }

    /// x = x + z / scale. Returns ||b - A x|| in units, Inf where x is not finite; the residual itself is left in residual_.
    Task<double> verify() {
        recurrence_.update_z();
        backend_.add_to_solution(1 / scale_ / unit_, recurrence_.z(), x_);
        backend_.set_zero(recurrence_.z());
        co_await backend_.residual(unit_, x_, residual_);
        verified_ = true;
        if (!backend_.is_finite(x_)) co_return std::numeric_limits<double>::infinity();
        const double norm = backend_.true_norm(residual_);
        if (norm < best_norm_) keep_as_best(norm);
        co_return norm;
    }

    void keep_as_best(double norm) {
        best_norm_ = norm;
        best_is_new_ = true;
        backend_.copy(x_, best_);
    }

    /// Counts a verification, which was in vain unless the best residual has halved; false once too many in a row were
    /// fruitless.
    bool fruitful(bool is_vain) {
        if (best_norm_ <= reference_norm_ / 2) {
            reference_norm_ = best_norm_;
            fruitless_ = 0;
        } else {
            fruitless_ += is_vain;
        }
        return fruitless_ <= max_fruitless;
    }

    /// Whether the recurrence has begun at the best x before and a seed makes no difference.
    bool would_repeat_itself() const { return !best_is_new_ && !recurrence_.has_random_starts(); }

    static SolveStatus broken(Reason reason) {
        return reason == Reason::non_finite ? SolveStatus::non_finite : SolveStatus::breakdown;
    }

    Task<bool> restart_from_best(double norm) {
        if (norm != best_norm_) {
            backend_.copy(best_, x_);
            co_await backend_.residual(unit_, x_, residual_);
        }
        begin();
        co_return true;
    }

    /// From the best x, whose residual is in residual_.
    void begin() {
        constexpr int limit = std::numeric_limits<Wide>::max_exponent - 4;
        const int of_unit = std::ilogb(unit_);  // scale_ and 1 / scale_ / unit_ are to be numbers
        const int exponent = std::clamp(std::ilogb(best_norm_), std::max(of_unit, 0) - limit, limit + std::min(of_unit, 0));
        scale_ = std::ldexp(1.0, -exponent);
        const double r_norm = take_residual(best_norm_);
        recurrence_.begin(r_norm, best_is_new_ ? 0 : static_cast<std::uint64_t>(fruitless_));
        best_is_new_ = false;
    }

    void replace(double norm) { recurrence_.continue_from_replaced(take_residual(norm)); }

    /// r = scale * residual_, whose norm is given. Returns ||r||.
    double take_residual(double norm) {
        backend_.take(scale_, residual_, recurrence_.r());
        if (replaces_) recurrence_.reset_drift(scale_ * norm, scale_ * (unit_ * backend_.rounding_terms(*weights_, x_)));
        return scale_ * norm;
    }

    /// The larger of both tolerances, for ||r||.
    double target() const { return std::max(options_.tolerance * (b_norm_ * scale_), absolute_tolerance() * scale_); }
    double absolute_tolerance() const { return options_.absolute_tolerance * unit_; }
    double relative(double norm) const { return norm == 0 ? 0 : norm / b_norm_; }
    bool meets_tolerance(double norm) const { return relative(norm) <= options_.tolerance || norm <= absolute_tolerance(); }

    /// For a callback, right after a step: what verify() would make of x, in a vector of its own.
    void copy_to(std::span<double> x) const override {
        if (verified_) return backend_.read(x_, x);
        recurrence_.update_z();
        Solution now = backend_.solution();
        backend_.copy(x_, now);
        backend_.add_to_solution(1 / scale_ / unit_, recurrence_.z(), now);
        backend_.read(now, x);
    }

    SolveResult finish(SolveStatus status) {
        result_.status = status;
        result_.relative_residual = relative(best_norm_);
        return result_;
    }

    B& backend_;
    AnyRecurrence<Vector>& recurrence_;
    const KrylovOptions& options_;
    const Pauses& pauses_;
    std::int64_t column_;
    bool replaces_;          ///< r, where it has drifted
    const Vector* weights_;  ///< where it replaces: the 1-norms of the columns of A
    typename B::Residual residual_;
    Solution x_;
    Solution best_;
    SolveResult result_;
    double unit_ = 1;  ///< of residuals: a power of two, by which they and their norms are multiplied
    double b_norm_ = 0;
    double best_norm_ = 0;
    double reference_norm_ = 0;                                         ///< the best true residual when it last halved
    double orthogonal_norm_ = std::numeric_limits<double>::infinity();  ///< ... when r last became orthogonal to the range
    double scale_ = 1;
    int fruitless_ = 0;
    bool best_is_new_ = true;
    bool verified_ = true;
};

}  // namespace solver
