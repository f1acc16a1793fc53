#pragma once

/// The right-hand sides and where their solutions have got to.

#include "core/column_norms.hpp"
#include "krylov/run.hpp"
#include "solver/numeric/rounding.hpp"
#include "solver/reduce.hpp"
#include "solver/spmv.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace solver {

template <class T>
class Iterates {
public:
    /// Of the options only the tolerances are looked at.
    Iterates(const SpmvPlan<T>& a, std::vector<Unknown<T>> unknowns, const KrylovOptions& options)
        : a_(a), unknowns_(std::move(unknowns)), best_(unknowns_.size()) {
        for (const Unknown<T>& unknown : unknowns_) {
            initial_.emplace_back(unknown.x.begin(), unknown.x.end());
            const double size = options.absolute_tolerance > 0 ? static_cast<double>(norm(unknown.b)) : 0;
            tolerances_.push_back(size > 0 ? std::max(options.tolerance, options.absolute_tolerance / size)
                                           : options.tolerance);
        }
    }

    std::size_t columns() const { return unknowns_.size(); }

    /// On ||b - A x|| / ||b||, what the relative and the absolute tolerance come to for a column.
    double tolerance(std::int64_t column) const { return tolerances_[column]; }

    /// Of the column that asks most.
    double least_tolerance() const {
        return tolerances_.empty() ? 1 : *std::min_element(tolerances_.begin(), tolerances_.end());
    }

    std::vector<Unknown<T>> chosen(std::span<const std::int64_t> columns) const {
        std::vector<Unknown<T>> some;
        for (const std::int64_t column : columns) some.push_back(unknowns_[column]);
        return some;
    }

    /// The rounding of x alone changes b - A x by about u || |A| |x| ||, estimated by the norm of (w_j x_j), w_j the 1-norm of
    /// column j (as for the drift of the residual, bicgstab/drift.hpp). Where that is above the tolerance, an x that came out
    /// of nearly singular factors, the initial guess is the better place to go on from.
    void start_over_if_too_large(std::int64_t column, double residual) {
        Unknown<T>& unknown = unknowns_[column];
        if (!unknown.x_low.empty()) return;
        if (column_norms_.empty()) column_norms_ = one_norms_of_columns(a_);
        std::vector<T> terms(unknown.x.size());
        for (std::size_t j = 0; j < terms.size(); ++j) terms[j] = mul_rn(column_norms_[j], unknown.x[j]);
        const double rounding = unit_roundoff<T> * static_cast<double>(norm(terms));
        if (!(rounding > tolerances_[column] * static_cast<double>(norm(unknown.b)))) return;
        Best& best = best_[column];
        if (best.x.empty() || residual < best.residual) best = {{unknown.x.begin(), unknown.x.end()}, residual};
        std::copy(initial_[column].begin(), initial_[column].end(), unknown.x.begin());
    }

    /// Given the residual of the present x, returns that of the better one.
    double restore_best(std::int64_t column, double residual) {
        const Best& best = best_[column];
        if (best.x.empty() || !(best.residual < residual)) return residual;
        std::copy(best.x.begin(), best.x.end(), unknowns_[column].x.begin());
        return best.residual;
    }

private:
    /// An x that was given up, and its residual.
    struct Best {
        std::vector<T> x;
        double residual = 0;
    };

    T norm(std::span<const T> x) const { return norm2(x, Accuracy::exact, a_.device()); }

    const SpmvPlan<T>& a_;
    std::vector<Unknown<T>> unknowns_;
    std::vector<double> tolerances_;
    std::vector<std::vector<T>> initial_;
    std::vector<Best> best_;
    std::vector<T> column_norms_;
};

}  // namespace solver
