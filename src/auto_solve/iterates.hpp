#pragma once

/// The right-hand sides and where their solutions have got to.

#include "auto_solve/vector_copy.hpp"
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
            initial_.emplace_back(unknown.x, a.device(), unknown.on_device);
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
    /// column j (as for the drift of the residual, core/krylov/drift.hpp). Where that is above the tolerance, an x that came
    /// out of nearly singular factors, the initial guess is the better place to go on from.
    void start_over_if_too_large(std::int64_t column, double residual) {
        Unknown<T>& unknown = unknowns_[column];
        if (!unknown.x_low.empty()) return;
        if (column_norms_.empty()) column_norms_ = one_norms_of_columns(a_);
        std::vector<T> terms(unknown.x.size());
        const std::vector<T> x = fetched<T>(unknown.x, a_.device(), unknown.on_device);
        for (std::size_t j = 0; j < terms.size(); ++j) terms[j] = mul_rn(column_norms_[j], x[j]);
        const double rounding = unit_roundoff<T> * static_cast<double>(norm(terms));
        if (!(rounding > tolerances_[column] * static_cast<double>(norm(unknown.b)))) return;
        Best& best = best_[column];
        if (best.x.empty() || residual < best.residual)
            best = {VectorCopy<T>(unknown.x, a_.device(), unknown.on_device), residual};
        initial_[column].restore(unknown.x);
    }

    /// Given the residual of the present x, returns that of the better one.
    double restore_best(std::int64_t column, double residual) {
        const Best& best = best_[column];
        if (best.x.empty() || !(best.residual < residual)) return residual;
        best.x.restore(unknowns_[column].x);
        return best.residual;
    }

private:
    /// An x that was given up, and its residual.
    struct Best {
        VectorCopy<T> x;
        double residual = 0;
    };

    T norm(std::span<const T> x) const { return norm2(x, Accuracy::exact, a_.device()); }

    const SpmvPlan<T>& a_;
    std::vector<Unknown<T>> unknowns_;
    std::vector<double> tolerances_;
    std::vector<VectorCopy<T>> initial_;
    std::vector<Best> best_;
    std::vector<T> column_norms_;
};

}  // namespace solver
