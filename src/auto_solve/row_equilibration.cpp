#include "auto_solve/row_equilibration.hpp"

#include "auto_solve/row_scaling.hpp"
#include "auto_solve/scaled_residual.hpp"
#include "auto_solve/system_solver.hpp"
#include "auto_solve/vector_copy.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/cuda/memory.hpp"
#include "solver/error.hpp"
#include "solver/numeric/rounding.hpp"
#include "solver/reduce.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <new>
#include <optional>
#include <utility>
#include <vector>

namespace solver {
namespace {

/// A column in the host's memory.
template <class T>
struct Column {
    std::int64_t number;
    std::vector<T> b, x, x_low;  ///< x_low empty where none is wanted
    double tolerance;            ///< of ||b - A x|| / ||b||
    double share = 0;            ///< ||S (b - A x)|| / ||S b|| of what is the solution so far
    bool is_taken = false;       ///< x, for that

    bool is_unsolved() const { return share > unsolved_share(tolerance); }
};

/// What both tolerances come to, infinite for b = 0.
template <class T>
double relative_tolerance(const KrylovOptions& options, std::span<const T> b) {
    if (!(options.absolute_tolerance > 0)) return options.tolerance;
    return std::max(options.tolerance, options.absolute_tolerance / static_cast<double>(norm2(b, Accuracy::exact)));
}

/// That have converged and may have unsolved rows.
template <class T>
std::vector<Column<T>> doubtful_columns(const SpmvPlan<T>& a, const RowFacts& facts, std::span<const Unknown<T>> unknowns,
                                        const KrylovOptions& options, const SolveReport& report) {
    std::vector<Column<T>> found;
    for (std::size_t j = 0; j < unknowns.size(); ++j) {
        const Unknown<T>& unknown = unknowns[j];
        const SolveResult& result = report.results[j];
        const bool has_converged = result.status == SolveStatus::converged;
        if (!has_converged || !may_leave_small_rows(facts, result.relative_residual, options.tolerance)) continue;
        const auto copy = [&](std::span<const T> v) { return fetched(v, a.device(), unknown.on_device); };
        std::vector<T> b = copy(unknown.b);
        const double tolerance = relative_tolerance<T>(options, b);
        found.push_back({static_cast<std::int64_t>(j), std::move(b), copy(unknown.x), copy(unknown.x_low), tolerance});
    }
    return found;
}

template <class T>
void write(std::span<const T> from, std::span<T> to, bool on_device, const Device& device) {
    if (on_device)
        cuda::detail::copy_to_device(device.index(), to.data(), from.data(), static_cast<std::int64_t>(from.size_bytes()),
                                     nullptr);
    else
        std::ranges::copy(from, to.begin());
}

/// What comes after the iterations of before.
void add(SolveResult& whole, const SolveResult& part, std::int64_t column) {
    for (Iteration iteration : part.history) {
        if (iteration.number == 0) continue;
        iteration.number += whole.iterations;
        iteration.column = column;
        whole.history.push_back(iteration);
    }
    whole.iterations += part.iterations;
    whole.replacements += part.replacements;
    whole.restarts += part.restarts;
}

/// S A x = S b for the columns that have unsolved rows.
template <class T>
class EquilibratedSystem {
public:
    EquilibratedSystem(const SpmvPlan<T>& a, const SolveOptions& options, std::vector<Column<T>> columns, SolveReport& report)
        : a_(a), options_(options), rows_(largest_of_rows(a.matrix())), columns_(std::move(columns)), report_(report) {
        for (Column<T>& column : columns_) column.share = share_of_rows<T>(a, rows_, column.b, column.x, column.x_low);
        std::erase_if(columns_, [](const Column<T>& column) { return !column.is_unsolved(); });
    }

    /// To the tolerance of S A x = S b, and where x then misses that of A x = b to one that does not let it.
    void solve(std::span<const Unknown<T>> unknowns) {
        if (columns_.empty()) return;
        const CsrMatrix<T> scaled = rows_.scaled(a_.matrix());
        const SpmvPlan<T> plan(scaled, a_.device());
        for (const bool is_tight : {false, true}) {
            std::vector<std::size_t> open;
            for (std::size_t k = 0; k < columns_.size(); ++k)
                if (!columns_[k].is_taken) open.push_back(k);
            if (!open.empty()) solve_some(plan, open, is_tight);
        }
        for (const Column<T>& column : columns_) {
            if (!column.is_taken) continue;
            const Unknown<T>& unknown = unknowns[column.number];
            write<T>(column.x, unknown.x, unknown.on_device, a_.device());
            write<T>(column.x_low, unknown.x_low, unknown.on_device, a_.device());
        }
    }

    /// 0 where all are solved.
    double worst_share() const {
        double worst = 0;
        for (const Column<T>& column : columns_)
            if (column.is_unsolved()) worst = std::max(worst, column.share);
        return worst;
    }

    bool is_callers_turn() const { return is_callers_turn_; }

private:
    void solve_some(const SpmvPlan<T>& plan, std::span<const std::size_t> open, bool is_tight) {
        constexpr double least_tolerance = 16 * static_cast<double>(unit_roundoff<T>);
        SolveOptions options = options_;
        options.iteration.absolute_tolerance = 0;
        options.iteration.tolerance = std::numeric_limits<double>::max();
        std::int64_t used = 0;
        std::vector<Column<T>> trials;
        for (const std::size_t k : open) {
            const Column<T>& column = columns_[k];
            used = std::max(used, report_.results[column.number].iterations);
            trials.push_back(column);
            trials.back().b = rows_.template scaled<T>(column.b);
            double tolerance = column.tolerance;
            if (is_tight)
                tolerance = std::min(tolerance, std::max(tolerance * rows_.share_of_tolerance(column.b), least_tolerance));
            options.iteration.tolerance = std::min(options.iteration.tolerance, tolerance);
        }
        const bool are_numbers =
            std::ranges::all_of(trials, [](const Column<T>& trial) { return std::ranges::all_of(trial.b, is_finite<T>); });
        if (!are_numbers || is_stopped_ || used >= options_.iteration.max_iterations) return;
        options.iteration.max_iterations -= used;
        if (options.iteration.callback)
            options.iteration.callback = [&](const Iteration& step) { return step.number == 0 || ask_caller(open, step); };
        std::vector<Unknown<T>> unknowns;
        for (Column<T>& trial : trials) unknowns.push_back({trial.b, trial.x, trial.x_low});
        SolveReport found = SystemSolver<T>(plan, options).solve(unknowns);
        for (std::size_t k = 0; k < open.size(); ++k) {
            Column<T>& column = columns_[open[k]];
            add(report_.results[column.number], found.results[k], column.number);
            look_at(trials[k], column);
        }
        for (Attempt& attempt : found.attempts) {
            for (std::int64_t& column : attempt.columns) column = columns_[open[column]].number;
            report_.attempts.push_back(std::move(attempt));
        }
    }

    bool ask_caller(std::span<const std::size_t> open, Iteration step) {
        step.column = columns_[open[step.column]].number;
        step.number += report_.results[step.column].iterations;
        is_callers_turn_ = true;
        const bool goes_on = options_.iteration.callback(step);
        is_callers_turn_ = false;
        is_stopped_ = is_stopped_ || !goes_on;
        return goes_on;
    }

    /// x goes on from there, or is it.
    void look_at(Column<T>& trial, Column<T>& column) {
        const double share = share_of_rows<T>(a_, rows_, column.b, trial.x, trial.x_low);
        if (!(share < column.share)) return;
        column.x = std::move(trial.x);
        column.x_low = std::move(trial.x_low);
        const ScaledResidual<T> residual(a_, {column.b, column.x, column.x_low});
        if (!residual.meets_tolerance(options_.iteration)) return;
        SolveResult& result = report_.results[column.number];
        result.relative_residual = result.recursive_residual = residual.relative();
        column.share = share;
        column.is_taken = true;
    }

    const SpmvPlan<T>& a_;
    const SolveOptions& options_;
    RowScaling<T> rows_;
    std::vector<Column<T>> columns_;
    SolveReport& report_;
    bool is_callers_turn_ = false;
    bool is_stopped_ = false;
};

}  // namespace

template <class T>
void settle_small_rows(const SpmvPlan<T>& a, const RowFacts& facts, std::span<const Unknown<T>> unknowns,
                       const SolveOptions& options, SolveReport& report) {
    if (a.rows() != a.columns()) return;
    std::optional<EquilibratedSystem<T>> system;
    try {
        std::vector<Column<T>> columns = doubtful_columns(a, facts, unknowns, options.iteration, report);
        if (columns.empty()) return;
        system.emplace(a, options, std::move(columns), report);
        if (!options.preconditioner && !options.method) system->solve(unknowns);
    } catch (const Error&) {  // what cannot be made is passed over; what the caller's callback throws is not
        if (system && system->is_callers_turn()) throw;
    } catch (const std::bad_alloc&) {
        if (system && system->is_callers_turn()) throw;
    }
    const double share = system ? system->worst_share() : 0;
    if (share > 0 && report.obstacle.empty())
        report.obstacle = fmt::format(
            "the rows of A are of sizes from {:.0e} to {:.0e}, and the small ones are not solved: scaled to one size they "
            "leave {:.1e} of b",
            facts.smallest_row, facts.largest_row, share);
}

template void settle_small_rows(const SpmvPlan<float>&, const RowFacts&, std::span<const Unknown<float>>, const SolveOptions&,
                                SolveReport&);
template void settle_small_rows(const SpmvPlan<double>&, const RowFacts&, std::span<const Unknown<double>>, const SolveOptions&,
                                SolveReport&);

}  // namespace solver
