#pragma once

/// The normal equations of one A, for all the least squares that are solved with it.

#include "auto_solve/matrix_facts.hpp"
#include "auto_solve/shifted_gram.hpp"
#include "core/krylov/updates.hpp"
#include "core/sorted_rows.hpp"
#include "krylov/lsmr_way.hpp"
#include "krylov/run.hpp"
#include "solver/dense_matrix.hpp"
#include "solver/krylov.hpp"
#include "solver/numeric/rounding.hpp"
#include "solver/preconditioner.hpp"
#include "solver/reduce.hpp"
#include "solver/spmv.hpp"
#include "solver/views.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace solver {

/// Calls work(a column's numbers) for each column, repeated entries added up.
template <class T, class Work>
void for_each_column(const SpmvPlan<T>& a, const SpmvPlan<T>& transposed, const Work& work) {
    if (const DenseView<T>* const full = a.dense()) {
        std::vector<T> column(static_cast<std::size_t>(full->rows));
        for (std::int64_t j = 0; j < full->columns; ++j) {
            for (std::int64_t i = 0; i < full->rows; ++i)
                column[i] = full->data[i * full->row_stride + j * full->column_stride];
            work(j, std::span<const T>(column));
        }
        return;
    }
    const auto work_on = [&](const CsrView<T>& rows) {
        for (std::int64_t j = 0; j < rows.rows; ++j) work(j, rows.values.subspan(rows.row_offsets[j], rows.row_length(j)));
    };
    const CsrView<T>& rows = transposed.matrix();
    if (has_sorted_rows(rows, Device::cpu()))
        work_on(rows);
    else
        work_on(with_sorted_rows(rows).view());
}

/// The norms of the columns, divided by a power of two that is near the largest number, which it returns; 0, and no norms,
/// where all are 0 or one is not finite.
template <class T>
double unit_of_columns(const SpmvPlan<T>& a, const SpmvPlan<T>& transposed, std::vector<double>& norms) {
    std::vector<double> found(static_cast<std::size_t>(a.columns()));
    for_each_column(a, transposed, [&](std::int64_t j, std::span<const T> column) {
        found[j] = static_cast<double>(norm2(column, Accuracy::exact, Device::cpu(1)));
    });
    const double largest = found.empty() ? 0 : *std::ranges::max_element(found);
    if (!(largest > 0) || !std::ranges::all_of(found, is_finite<double>)) return 0;
    const double unit = unit_of<T>(largest);
    for (double& norm : found)
        if (norm > 0) norm = std::max(norm / unit, smallest_subnormal<double>);  // a column that is not 0
    norms = std::move(found);
    return unit;
}

/// What the solves with one A share: its norms, costs, and preconditioners made of its normal equations.
template <class T>
class NormalEquations {
public:
    using Shift = typename ShiftedGram<T>::Shift;

    /// Of one G + D.
    struct Made {
        bool is_known = false, is_factored = false, is_multigrid_made = false;
        std::optional<ShiftedGram<T>> gram;              ///< until nothing more is to be made of it
        std::optional<MatrixFacts> facts_for_multigrid;  ///< where that is to be tried
        std::unique_ptr<Preconditioner<T>> multigrid;    ///< null where it cannot be made, or does not suit
        std::optional<double> cost_of_factors;
        std::unique_ptr<Preconditioner<T>> factors;  ///< null where they cannot be made, or D does not suit
        double common_shift = 0;
        bool may_have_lost_rank = false;
    };

    NormalEquations(const SpmvPlan<T>& a, const SpmvPlan<T>& transposed, std::int64_t memory_limit, double most_steps)
        : a(a), transposed(transposed), costs(a, transposed, most_steps), memory_limit_(memory_limit) {
        unit = unit_of_columns(a, transposed, column_norms);
    }

    bool is_wide() const { return a.rows() < a.columns(); }

    /// The largest |a_ij| of each row; found when first asked for.
    const std::vector<T>& largest_of_rows() {
        if (largest_of_rows_.empty())
            for_each_column(transposed, a, [&](std::int64_t, std::span<const T> row) {
                T largest = 0;
                for (const T number : row) largest = std::max(largest, magnitude(number));
                largest_of_rows_.push_back(largest);
            });
        return largest_of_rows_;
    }

    /// Which make r more than what A can change.
    bool has_zero_rows() { return std::ranges::count(largest_of_rows(), T(0)) > 0; }

    /// Made when first asked for. Null where G is too dear.
    Made* with(bool of_rows, Shift shift) {
        Made& made = made_[(of_rows ? 2 : 0) + (shift == Shift::common ? 1 : 0)];
        if (!made.is_known) {
            made.is_known = true;
            try {
                made.gram = ShiftedGram<T>::of(a, transposed, of_rows, shift, unit, costs, memory_limit_);
                if (made.gram && shift == Shift::by_diagonal) made.facts_for_multigrid = made.gram->facts_for_multigrid(costs);
            } catch (const std::bad_alloc&) {  // LSMR goes on with what there is
            }
            if (made.gram) made.common_shift = made.gram->common_shift();
        }
        return made.gram || made.is_factored ? &made : nullptr;
    }

    double cost_of_factors(Made& made) const {
        if (!made.cost_of_factors) made.cost_of_factors = made.gram->cost_of_factors(costs.most());
        return *made.cost_of_factors;
    }

    /// Makes them, unless that was done.
    void factor(Made& made, bool of_rows, Shift shift) const {
        if (made.is_factored) return;
        made.is_factored = true;
        made.factors = made.gram->factor();
        if (made.factors && shift == Shift::by_diagonal) {
            const Rank rank = of_rows ? made.gram->rank_of(transposed, a, unit, *made.factors)
                                      : made.gram->rank_of(a, transposed, unit, *made.factors);
            if (rank != Rank::full) made.factors.reset();
            if (rank == Rank::unclear) made.factors = made.gram->factor_in_pairs(a, transposed, of_rows, unit, costs);
            made.may_have_lost_rank = !made.factors;
        }
        if (!made.facts_for_multigrid || made.is_multigrid_made) made.gram.reset();
    }

    /// Makes it, unless that was done. Of A'A it must let a few steps find what A maps to something: a null space that it does
    /// not know stays unseen otherwise, and x gets parts of it.
    void make_multigrid(Made& made, bool of_rows, Accuracy accuracy) const {
        if (made.is_multigrid_made) return;
        made.is_multigrid_made = true;
        made.multigrid = made.gram->multigrid(a.device());
        if (made.multigrid && !of_rows && !finds_what_it_is_given(*made.multigrid, accuracy)) made.multigrid.reset();
    }

    static constexpr std::int64_t share_with_multigrid = 60;

    const SpmvPlan<T>& a;
    const SpmvPlan<T>& transposed;
    GramCosts costs;
    std::vector<double> column_norms;
    double unit = 0;

private:
    bool finds_what_it_is_given(const Preconditioner<T>& inverse, Accuracy accuracy) const {
        return finds_random(1, inverse, accuracy) && finds_random(2, inverse, accuracy);
    }

    /// Whether steps find a random w from A w. Columns are taken as scaled to norm 1, and so w to elements in [-1, 1]. Where A
    /// has lost rank, what w has along a vector of the null space stays, a normal deviate for one vector; below the bound with
    /// a probability of 1 in 500. Else, with singular values from 2^-18 on, at most 2^-43 2^18 sqrt(n) is left.
    bool finds_random(std::uint64_t seed, const Preconditioner<T>& inverse, Accuracy accuracy) const {
        constexpr double tolerance = 0x1p-43, bound = 0x1p-10;
        std::vector<T> w(column_norms.size()), x(w.size()), b(static_cast<std::size_t>(a.rows()));
        for (std::size_t j = 0; j < w.size(); ++j)
            if (column_norms[j] > 0)
                w[j] = static_cast<T>(random_element<double>(seed, static_cast<std::int64_t>(j)) / column_norms[j]);
        a.multiply(T(1), w, T(0), b, accuracy);
        KrylovOptions options;
        options.accuracy = accuracy;
        options.tolerance = tolerance;
        options.max_iterations = share_with_multigrid;
        const LsmrWay<T> way{unit, column_norms, &inverse, false};
        if (lsmr_in<T>(way, a, transposed, b, x, options).status != SolveStatus::converged) return false;
        std::vector<double> left(w.size());
        for (std::size_t j = 0; j < w.size(); ++j)
            left[j] = mul_rn(add_rn(static_cast<double>(w[j]), -static_cast<double>(x[j])), column_norms[j]);
        return norm2(std::span<const double>(left), Accuracy::exact, Device::cpu(1)) <= bound;
    }

    std::int64_t memory_limit_;
    std::vector<T> largest_of_rows_;
    std::array<Made, 4> made_;
};

}  // namespace solver
