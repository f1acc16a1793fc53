#pragma once

/// The right-hand sides and where their solutions have got to.

#include "auto_solve/vector_copy.hpp"
#include "krylov/run.hpp"
#include "solver/accuracy.hpp"
#include "solver/cuda/memory.hpp"
#include "solver/dense_matrix.hpp"
#include "solver/device.hpp"
#include "solver/numeric/rounding.hpp"
#include "solver/preconditioner.hpp"
#include "solver/reduce.hpp"
#include "solver/spmv.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace solver {

/// What complete factors make of b.
template <class T>
struct Refined {
    std::vector<T> x;
    double residual = 0;  ///< ||b - A x|| / ||b||
    double error = 0;     ///< ||M^-1 (b - A x)|| / ||x||
};

template <class T>
class Iterates {
public:
    /// Of the options only the tolerances are looked at. Norms are those of whoever overrides norm_of and norm_of_terms, in
    /// whose constructor absolute_tolerance is 0.
    Iterates(const SpmvPlan<T>& a, std::vector<Unknown<T>> unknowns, const KrylovOptions& options)
        : a_(a), unknowns_(std::move(unknowns)), b_norms_(unknowns_.size()), best_(unknowns_.size()) {
        for (std::size_t j = 0; j < unknowns_.size(); ++j) {
            initial_.emplace_back(unknowns_[j].x, a.device(), unknowns_[j].on_device);
            const double size = options.absolute_tolerance > 0 ? b_norm(j) : 0;
            tolerances_.push_back(size > 0 ? std::max(options.tolerance, options.absolute_tolerance / size)
                                           : options.tolerance);
        }
    }

    virtual ~Iterates() = default;

    std::int64_t rows() const { return a_.rows(); }
    std::size_t columns() const { return unknowns_.size(); }
    bool holds_pair(std::int64_t column) const { return !unknowns_[column].x_low.empty(); }
    bool holds_pairs() const {
        return std::ranges::any_of(unknowns_, [](const auto& u) { return !u.x_low.empty(); });
    }

    /// On ||b - A x|| / ||b||, what the relative and the absolute tolerance come to for a column.
    double tolerance(std::int64_t column) const { return tolerances_[column]; }

    /// Of the column that asks most.
    double least_tolerance() const {
        return tolerances_.empty() ? 1 : *std::min_element(tolerances_.begin(), tolerances_.end());
    }

    /// Whether every x is zero and no b is: there is something to do, and nothing is known of the solution.
    bool begin_at_zero() {
        for (std::size_t j = 0; j < unknowns_.size(); ++j)
            if (norm_of(unknowns_[j].x, unknowns_[j].on_device) != T(0) || b_norm(j) == 0) return false;
        return true;
    }

    std::vector<Unknown<T>> chosen(std::span<const std::int64_t> columns) const {
        std::vector<Unknown<T>> some;
        for (const std::int64_t column : columns) some.push_back(unknowns_[column]);
        return some;
    }

    /// What the rounding of x alone changes b - A x by, relative to b: about u || |A| |x| ||, estimated by the norm of (w_j
    /// x_j), w_j the 1-norm of column j (as for the drift of the residual, core/krylov/drift.hpp). 0 of a pair, whose low part
    /// has room for it.
    double rounding(std::int64_t column) {
        if (holds_pair(column)) return 0;
        return unit_roundoff<T> * static_cast<double>(norm_of_terms(unknowns_[column].x)) /
               b_norm(static_cast<std::size_t>(column));
    }

    /// Where that is above the tolerance, an x that came out of nearly singular factors, the initial guess is the better place
    /// to go on from.
    void start_over_if_too_large(std::int64_t column, double residual) {
        if (rounding(column) > tolerances_[column]) start_over(column, residual);
    }

    /// ||M^-1 (b - A x)|| / ||x||: of an M that is nearly A the relative error of x.
    double estimated_error(std::int64_t column, const Preconditioner<T>& m, Accuracy accuracy) {
        const Unknown<T>& unknown = unknowns_[column];
        const std::vector<T> b = fetched(unknown.b, a_.device(), unknown.on_device);
        const std::vector<T> x = fetched(std::span<const T>(unknown.x), a_.device(), unknown.on_device);
        std::vector<T> r(b.size()), correction(x.size());
        a_.residual(b, x, {}, r, accuracy);
        m.apply(r, correction, accuracy);
        const Device host = Device::cpu(a_.device().threads());
        return static_cast<double>(norm2(std::span<const T>(correction), accuracy, host)) /
               static_cast<double>(norm2(std::span<const T>(x), accuracy, host));
    }

    /// M^-1 b, of an M that is nearly A, and three steps of iterative refinement by exact residuals, and more as long as each
    /// halves the correction, 30 at most; applications of M are as accurate as asked for. x stays as it is.
    Refined<T> refined(std::int64_t column, const Preconditioner<T>& m, Accuracy accuracy) {
        constexpr int least_steps = 3, most_steps = 30;
        const Unknown<T>& unknown = unknowns_[column];
        const Device host = Device::cpu(a_.device().threads());
        const std::vector<T> b = fetched(unknown.b, a_.device(), unknown.on_device);
        std::vector<T> x(unknown.x.size()), r = b, correction(x.size());
        const auto norm = [&](const std::vector<T>& v) {
            return static_cast<double>(norm2(std::span<const T>(v), Accuracy::exact, host));
        };
        m.apply(r, correction, accuracy);
        double size = norm(correction);
        for (int step = 0; step <= most_steps; ++step) {
            for (std::size_t j = 0; j < x.size(); ++j) x[j] = add_rn(x[j], correction[j]);
            a_.residual(b, x, {}, r, Accuracy::exact);
            m.apply(r, correction, accuracy);
            const double before = std::exchange(size, norm(correction));
            if (step >= least_steps && !(size <= before / 2)) break;
        }
        return {x, norm(r) / b_norm(static_cast<std::size_t>(column)), size / norm(x)};
    }

    /// From the initial guess, unless x is a pair, with this x kept where it is the best.
    void start_over(std::int64_t column, double residual) {
        if (holds_pair(column)) return;
        keep_if_best(column, residual);
        initial_[column].restore(unknowns_[column].x);
    }

    /// The initial guesses of these, in the host's memory.
    DenseMatrix<T> guesses(std::span<const std::int64_t> columns) const {
        DenseMatrix<T> x{a_.rows(), std::ssize(columns), {}};
        x.values.resize(static_cast<std::size_t>(x.rows * x.columns));
        for (std::int64_t j = 0; j < x.columns; ++j) initial_[columns[j]].restore(x.column(j));
        return x;
    }

    /// The x of a column, in the host's memory.
    std::vector<T> x(std::int64_t column) const {
        return fetched(std::span<const T>(unknowns_[column].x), a_.device(), unknowns_[column].on_device);
    }

    /// The x of a column and another one, in the host's memory.
    void exchange(std::int64_t column, std::span<T> other) {
        const Unknown<T>& unknown = unknowns_[column];
        const std::vector<T> before = fetched(std::span<const T>(unknown.x), a_.device(), unknown.on_device);
        if (unknown.on_device)
            cuda::detail::copy_to_device(a_.device().index(), unknown.x.data(), other.data(),
                                         static_cast<std::int64_t>(other.size_bytes()), nullptr);
        else
            std::copy(other.begin(), other.end(), unknown.x.begin());
        std::copy(before.begin(), before.end(), other.begin());
    }

    /// Keeps a pair where it is the best: the next attempt goes on from x without x_low, which may be much worse.
    void keep_pair(std::int64_t column, double residual) {
        if (holds_pair(column)) keep_if_best(column, residual);
    }

    /// x as it is now. What has no residual, for overflow, is never the best.
    void keep_if_best(std::int64_t column, double residual) {
        Best& best = best_[column];
        if (!std::isfinite(residual) || (!best.x.empty() && !(residual < best.residual))) return;
        const Unknown<T>& unknown = unknowns_[column];
        const auto copy_of = [&](std::span<const T> v) { return VectorCopy<T>(v, a_.device(), unknown.on_device); };
        best = {copy_of(unknown.x), holds_pair(column) ? copy_of(unknown.x_low) : VectorCopy<T>(), residual};
    }

    /// Given the residual of the last x, which may be the one given up last, returns that of the best one, which is there then.
    double restore_best(std::int64_t column, double residual) {
        const Best& best = best_[column];
        if (best.x.empty() || residual < best.residual || (holds_pair(column) && residual == best.residual)) return residual;
        best.x.restore(unknowns_[column].x);
        if (holds_pair(column)) best.x_low.restore(unknowns_[column].x_low);
        return best.residual;
    }

protected:
    /// Of what lies in the host's memory, by the processor; exact.
    virtual T norm_of(std::span<const T> b, bool on_device) {
        return norm2(b, Accuracy::exact, on_device ? a_.device() : Device::cpu(a_.device().threads()));
    }
    virtual T norm_of_terms(std::span<const T> x);  ///< ||(w_j x_j)||

private:
    /// An x that was given up, and its residual.
    struct Best {
        VectorCopy<T> x;
        VectorCopy<T> x_low;  ///< of a pair
        double residual = 0;
    };

    double b_norm(std::size_t column) {
        const Unknown<T>& unknown = unknowns_[column];
        std::optional<T>& known = b_norms_[column];
        if (!known) known = norm_of(unknown.b, unknown.on_device);
        return static_cast<double>(*known);
    }

    const SpmvPlan<T>& a_;
    std::vector<Unknown<T>> unknowns_;
    std::vector<std::optional<T>> b_norms_;  ///< computed when first asked for
    std::vector<double> tolerances_;
    std::vector<VectorCopy<T>> initial_;
    std::vector<Best> best_;
    std::vector<T> column_norms_;
};

}  // namespace solver
