#pragma once

/// Who watches the recursion of BiCGStab: verifies, replaces, restarts, ends.

#include "bicgstab/drift.hpp"
#include "bicgstab/recursion.hpp"
#include "solver/bicgstab.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

namespace solver {

/// The outer part of BiCGStab on a backend. x (a pair if `pair`) is changed only here, in groups: x += z / scale, where the
/// recursion runs on scale * residual, a power of two that brings its norm near 1, so that no dot product over- or underflows.
///
/// Every decision is taken in the step that gives rise to it, on norms that are exact in exact. "Verify" means: add z to x,
/// compute b - A x anew, keep x if it is the best so far. It happens where
///  - the recursion claims convergence (after s or after the whole step),
///  - compensated and exact: its drift has grown too large (ResidualDrift),
///  - it has gained a factor `progress_factor` on the best x, so that this stays known whatever comes,
///  - it broke down or became non-finite,
///  - it was the last step.
/// Then r is replaced by the true residual (in fast only after a claim) and the recursion goes on in its directions. Where it
/// was wrong by more than `restart_factor` or stopped half-way, and after a breakdown, it begins anew from the best x: with the
/// shadow residual r, or a random one if it has begun there before. A verification is fruitless if the recursion had broken
/// down or promised half the residual of the last success, and the best true residual has not halved since. More than
/// `max_fruitless` of these in a row end the solve.
template <SolverBackend B>
class BicgstabSolve {
public:
    using Value = typename B::Value;
    using Vector = typename B::Vector;

    static constexpr double restart_factor = 10;
    static constexpr double progress_factor = 32;
    static constexpr int max_fruitless = 12;

    BicgstabSolve(B& backend, const BicgstabOptions& options, bool pair)
        : backend_(backend),
          options_(options),
          replaces_(options.accuracy != Accuracy::fast),
          recursion_(backend),
          x_(backend.vector()),
          best_(backend.vector()),
          drift_(unit_roundoff<Value>) {
        if (replaces_) weights_ = backend.column_norms();
        if (pair) {
            x_low_ = backend.vector();
            best_low_ = backend.vector();
        }
    }

    /// From the initial guess to the best x found.
    SolveResult run(std::span<const Value> initial) {
        backend_.load(initial, x_);
        b_norm_ = backend_.right_hand_side_norm();
        if (b_norm_ == 0) backend_.set_zero(x_);
        backend_.residual(x_, x_low_, recursion_.scratch());
        best_norm_ = reference_norm_ = backend_.true_norm(recursion_.scratch());
        keep_as_best(best_norm_);
        result_.recursive_residual = relative(best_norm_);
        if (!std::isfinite(b_norm_) || !std::isfinite(best_norm_) || !solution_is_finite())
            return finish(SolveStatus::non_finite);
        const bool wanted = report({0, relative(best_norm_), relative(best_norm_), false});
        if (meets_tolerance(best_norm_)) return finish(SolveStatus::converged);
        begin();
        return iterate(wanted);
    }

    void store_solution(std::span<Value> x, std::span<Value> x_low) const {
        backend_.store(best_, x);
        if (!x_low.empty()) backend_.store(best_low_, x_low);
    }

private:
    enum class Reason { none, claim, drift, progress, breakdown, non_finite, last };

    SolveResult iterate(bool wanted) {
        while (wanted && result_.iterations < options_.max_iterations) {
            const StepEnd end = recursion_.step(target());
            verified_ = false;
            result_.recursive_residual = relative(recursion_.r_norm() / scale_);
            Iteration record{++result_.iterations, result_.recursive_residual, -1, false};
            const std::optional<SolveStatus> status = decide(end, record);
            wanted = report(record);
            if (status) return finish(*status);
        }
        if (!verified_ && meets_tolerance(verify())) return finish(SolveStatus::converged);
        return finish(SolveStatus::iteration_limit);
    }

    std::optional<SolveStatus> decide(StepEnd end, Iteration& record) {
        const Reason reason = reason_to_verify(end);
        if (reason == Reason::none) return std::nullopt;
        const double norm = verify();
        record.true_residual = relative(norm);
        if (meets_tolerance(norm)) return SolveStatus::converged;
        if (reason == Reason::last) return std::nullopt;
        const bool broke = reason == Reason::breakdown || reason == Reason::non_finite;
        const double promised = broke ? 0 : recursion_.r_norm() / scale_;
        if (!fruitful(promised)) return broke ? broken(reason) : SolveStatus::stagnated;
        const bool begins = broke || end == StepEnd::half || !(norm <= restart_factor * promised);
        record.replaced = !broke && (begins || replaces_ || reason == Reason::claim);
        result_.restarts += broke;
        result_.replacements += record.replaced;
        if (begins)
            restart_from_best(norm);
        else if (record.replaced)
            replace(norm);
        return std::nullopt;
    }

    Reason reason_to_verify(StepEnd end) {
        if (end == StepEnd::breakdown) return Reason::breakdown;
        if (end == StepEnd::non_finite) return Reason::non_finite;
        if (recursion_.r_norm() <= target()) return Reason::claim;
        if (drifted()) return Reason::drift;
        if (result_.iterations == options_.max_iterations) return Reason::last;
        return recursion_.r_norm() <= scale_ * best_norm_ / progress_factor ? Reason::progress : Reason::none;
    }

    bool drifted() {
        return replaces_ &&
               drift_.step(recursion_.weighted_norm(weights_, recursion_.z), recursion_.terms(), recursion_.r_norm());
    }

    /// x = x + z / scale. Returns ||b - A x||, Inf where x is not finite; the residual itself is left in the recursion's
    /// scratch.
    double verify() {
        backend_.add_to_solution(static_cast<Value>(1 / scale_), recursion_.z, x_, x_low_);
        backend_.set_zero(recursion_.z);
        backend_.residual(x_, x_low_, recursion_.scratch());
        verified_ = true;
        if (!solution_is_finite()) return std::numeric_limits<double>::infinity();
        const double norm = backend_.true_norm(recursion_.scratch());
        if (norm < best_norm_) keep_as_best(norm);
        return norm;
    }

    bool solution_is_finite() {
        return std::isfinite(backend_.norm2(x_)) && (x_low_.empty() || std::isfinite(backend_.norm2(x_low_)));
    }

    void keep_as_best(double norm) {
        best_norm_ = norm;
        best_is_new_ = true;
        backend_.copy(x_, best_);
        if (!x_low_.empty()) backend_.copy(x_low_, best_low_);
    }

    /// Counts; false once too many verifications in a row were fruitless.
    bool fruitful(double promised) {
        if (best_norm_ <= reference_norm_ / 2) {
            reference_norm_ = best_norm_;
            fruitless_ = 0;
        } else if (promised <= reference_norm_ / 2) {
            ++fruitless_;
        }
        return fruitless_ <= max_fruitless;
    }

    static SolveStatus broken(Reason reason) {
        return reason == Reason::non_finite ? SolveStatus::non_finite : SolveStatus::breakdown;
    }

    void restart_from_best(double norm) {
        if (norm != best_norm_) {
            backend_.copy(best_, x_);
            if (!x_low_.empty()) backend_.copy(best_low_, x_low_);
            backend_.residual(x_, x_low_, recursion_.scratch());
        }
        begin();
    }

    /// From the best x, whose true residual is in the scratch.
    void begin() {
        constexpr int limit = std::numeric_limits<Value>::max_exponent - 4;
        scale_ = std::ldexp(1.0, -std::clamp(std::ilogb(best_norm_), -limit, limit));
        const double r_norm = take_residual(best_norm_);
        recursion_.begin(r_norm, best_is_new_ ? 0 : static_cast<std::uint64_t>(fruitless_));
        best_is_new_ = false;
    }

    void replace(double norm) { recursion_.continue_from_replaced(take_residual(norm)); }

    /// r = scale * the scratch, whose norm is given. Returns ||r||.
    double take_residual(double norm) {
        backend_.copy(recursion_.scratch(), recursion_.r);
        backend_.scale(static_cast<Value>(scale_), recursion_.r);
        if (replaces_) drift_.reset(scale_ * norm, x_low_.empty() ? scale_ * recursion_.weighted_norm(weights_, x_) : 0);
        return scale_ * norm;
    }

    double target() const { return options_.tolerance * (b_norm_ * scale_); }
    double relative(double norm) const { return norm == 0 ? 0 : norm / b_norm_; }
    bool meets_tolerance(double norm) const { return relative(norm) <= options_.tolerance; }

    bool report(const Iteration& record) {
        if (options_.keep_history) result_.history.push_back(record);
        return !options_.callback || options_.callback(record);
    }

    SolveResult finish(SolveStatus status) {
        result_.status = status;
        result_.relative_residual = relative(best_norm_);
        return result_;
    }

    B& backend_;
    const BicgstabOptions& options_;
    bool replaces_;  ///< r, where it has drifted
    Recursion<B> recursion_;
    Vector x_;
    Vector x_low_;
    Vector weights_;
    Vector best_;
    Vector best_low_;
    ResidualDrift drift_;
    SolveResult result_;
    double b_norm_ = 0;
    double best_norm_ = 0;
    double reference_norm_ = 0;  ///< the best true residual when it last halved
    double scale_ = 1;
    int fruitless_ = 0;
    bool best_is_new_ = true;
    bool verified_ = true;
};

}  // namespace solver
