#include "ranks/rank_solve.hpp"

#include "auto_solve/attempts.hpp"
#include "auto_solve/fallback_schedule.hpp"
#include "auto_solve/iterates.hpp"
#include "auto_solve/matrix_facts.hpp"
#include "auto_solve/method_choice.hpp"
#include "auto_solve/profile.hpp"
#include "auto_solve/row_scaling.hpp"
#include "core/floating_point_guard.hpp"
#include "krylov/columns.hpp"
#include "krylov/methods.hpp"
#include "numbers.hpp"
#include "preconditioner/identity.hpp"
#include "preconditioner/jacobi.hpp"
#include "preparation/fill_estimate.hpp"
#include "ranks/rank_backend.hpp"
#include "ranks/rank_multigrid.hpp"
#include "ranks/rank_place.hpp"
#include "solver/solve.hpp"

#include <algorithm>
#include <cstdint>
#include <future>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace petscsolver {
namespace {

using solver::CsrMatrix;
using solver::OwnTranspose;
using solver::PreconditionerKind;
using Preconditioner = solver::Preconditioner<double>;
using Span = std::span<const double>;

/// What cannot be done with a part of the matrix.
struct NeedsWholeMatrix {};

solver::MatrixFacts facts_of(const Ranks& ranks, const RankMatrix<double>& a) {
    solver::RowWatch<double> watch;
    const CsrMatrix<double>& own = a.own;
    for (std::int64_t i = 0; i < own.rows; ++i) {
        watch.begin_row();
        for (std::int64_t k = own.row_offsets[i]; k < own.row_offsets[i + 1]; ++k)
            watch.see(own.column_indices[k] == a.halo->first_own() + i, own.values[k]);
        watch.end_row();
    }
    solver::MatrixFacts facts{watch.facts(), a.rows};
    facts.nonzeros = a.entries;
    facts.balanced_rows = ranks.sum(facts.balanced_rows);
    facts.zero_sums = ranks.sum(facts.zero_sums);
    facts.positive_sums = ranks.sum(facts.positive_sums);
    facts.negative_sums = ranks.sum(facts.negative_sums);
    facts.is_finite = ranks.all(facts.is_finite);
    facts.zeros_on_diagonal = !ranks.all(!facts.zeros_on_diagonal);
    facts.positive_diagonal = ranks.all(facts.positive_diagonal);
    facts.empty_rows = ranks.sum(facts.empty_rows);
    facts.largest_row = ranks.largest(facts.largest_row);
    // Where a rank has none but zeros it says the largest of all.
    facts.smallest_row = ranks.least(facts.smallest_row > 0 ? facts.smallest_row : facts.largest_row);
    facts.count_empty_rows_as_zeros();
    facts.is_symmetric = facts.is_finite && RankPlace(ranks).is_symmetric(a.view(), OwnTranspose::of_reals);
    facts.is_nearly_symmetric =
        facts.is_symmetric || (facts.is_finite && RankPlace(ranks).is_symmetric(a.view(), OwnTranspose::of_rounded_reals));
    facts.is_complex_symmetric =
        numbers_are_complex && facts.is_finite && RankPlace(ranks).is_symmetric(a.view(), OwnTranspose::of_complex_numbers);
    return facts;
}

/// solver::has_rows_beyond: rings around row 0. A rank tells the owners of the rows that its own lead to.
bool has_rows_beyond(const Ranks& ranks, const RankMatrix<double>& a, std::int64_t steps) {
    const Halo& halo = *a.halo;
    std::vector<bool> met(static_cast<std::size_t>(halo.size()));
    std::vector<std::int32_t> ring, next;
    const auto meet = [&](std::int32_t i, auto& list, std::int32_t number) {
        if (!met[i]) list.push_back(number);
        met[i] = true;
    };
    if (a.layout.owns(0)) meet(halo.local(0), ring, halo.local(0));
    for (std::int64_t distance = 0; !ranks.all(ring.empty()); ++distance) {
        if (distance > steps) return true;
        auto to_owners = ranks.lists<std::int32_t>();
        next.clear();
        for (const std::int32_t row : ring) {
            const std::int64_t i = row - halo.first_own();
            for (std::int64_t k = a.own.row_offsets[i]; k < a.own.row_offsets[i + 1]; ++k) {
                const std::int32_t j = a.own.column_indices[k], global = halo.global(j);
                if (a.layout.owns(global))
                    meet(j, next, j);
                else
                    meet(j, to_owners[a.layout.owner(global)], global);
            }
        }
        for (const auto& rows : ranks.exchanged(to_owners))
            for (const std::int32_t row : rows) meet(halo.local(row), next, halo.local(row));
        std::swap(ring, next);
    }
    return false;
}

/// Brings blocks of rows to every rank when they are first asked for, and keeps them. All ranks ask alike.
class FetchedRows final : public solver::preparation::PatternRows {
public:
    FetchedRows(const Ranks& ranks, const RankMatrix<double>& a) : ranks_(ranks), a_(a) {}

    std::int64_t rows() const override { return a_.rows; }

    std::int64_t row_length(std::int64_t row) override { return std::ssize(columns_of(row)); }

    std::span<const std::int32_t> columns_of(std::int64_t row) override {
        const auto [block, is_new] = blocks_.try_emplace(row / rows_a_block);
        const std::int64_t first = block->first * rows_a_block;
        if (is_new) block->second = fetched(first);
        const CsrMatrix<double>& rows = block->second;
        const std::int64_t begin = rows.row_offsets[row - first], end = rows.row_offsets[row - first + 1];
        return std::span(rows.column_indices).subspan(begin, end - begin);
    }

private:
    static constexpr std::int64_t rows_a_block = 8192;

    CsrMatrix<double> fetched(std::int64_t first) const {
        std::vector<std::int32_t> rows(static_cast<std::size_t>(std::min(rows_a_block, a_.rows - first)));
        std::iota(rows.begin(), rows.end(), static_cast<std::int32_t>(first));
        return rows_of(ranks_, a_, rows);
    }

    const Ranks& ranks_;
    const RankMatrix<double>& a_;
    std::map<std::int64_t, CsrMatrix<double>> blocks_;
};

/// Where the solution of one right-hand side has got to, with norms over all ranks.
class RankIterates final : public solver::Iterates<double> {
public:
    RankIterates(RankProducts& products, const solver::Unknown<double>& unknown, const solver::KrylovOptions& options)
        : Iterates(products.plan(), {unknown}, options), products_(products) {}

private:
    double norm_of(Span b, bool) override {
        return reduced_dot(products_.ranks().comm(), b, b, Rounding::square_root, solver::Accuracy::exact);
    }
    double norm_of_terms(Span x) override {
        const std::vector<double>& weights = products_.column_norms();
        std::vector<double> terms(x.begin(), x.end());
        for (std::size_t i = 0; i < terms.size(); ++i) terms[i] = solver::mul_rn(weights[i], x[i]);
        return norm_of(terms, false);
    }

    RankProducts& products_;
};

/// solver::System for Jacobi's preconditioner and multigrid.
class RankSystem {
public:
    static constexpr bool is_mixed = false;

    RankSystem(const Ranks& ranks, const RankMatrix<double>& a, std::int64_t gathered_rows)
        : ranks_(ranks), a_(a), products_(ranks, a), gathered_rows_(gathered_rows) {}

    RankProducts& products() { return products_; }
    const Preconditioner& preconditioner() const { return *m_; }

    /// Found when it is asked for: ranks find it together, between iterations.
    std::future<std::uint64_t> factor_hash() const {
        return std::async(std::launch::deferred, [this] { return m_->factor_hash(); });
    }

    /// What was made is kept for the next system.
    void precondition(PreconditionerKind kind) {
        std::unique_ptr<Preconditioner>& made = made_[kind];
        if (!made) made = make(kind);
        m_ = made.get();
    }

    std::vector<solver::SolveResult> run(std::span<const solver::Unknown<double>> unknowns,
                                         const solver::KrylovOptions& options, const solver::Pauses& pauses,
                                         solver::KrylovMethod method) {
        const solver::KrylovCall<double> call{unknowns, options, pauses};
        return solver::solve_together<RankBackend>(
            call,
            [&](const solver::Unknown<double>& unknown, std::int64_t) {
                return RankBackend(products_, *m_, unknown.b, options.accuracy);
            },
            [&](RankBackend& backend) { return solver::make_recurrence(method, backend, options); }, [&] { products_.run(); });
    }

private:
    std::unique_ptr<Preconditioner> make(PreconditionerKind kind) const {
        switch (kind) {
            case PreconditionerKind::none:
                return std::make_unique<solver::Identity<double>>(a_.own.rows);
            case PreconditionerKind::jacobi:
                return make_jacobi();
            case PreconditionerKind::amg:
                return make_rank_multigrid(ranks_, a_, {.gathered_rows = gathered_rows_});
            default:
                throw NeedsWholeMatrix();
        }
    }

    /// Of complex numbers where a rank has one, for all to have the same method.
    std::unique_ptr<Preconditioner> make_jacobi() const {
        const CsrMatrix<double> own = diagonal();
        bool is_real = true;
        for (std::int64_t i = 0; i < own.rows; ++i)
            for (std::int64_t k = own.row_offsets[i]; k < own.row_offsets[i + 1]; ++k)
                is_real = is_real && (own.column_indices[k] == i || own.values[k] == 0);
        if (ranks_.all(is_real)) return std::make_unique<solver::Jacobi<double>>(own.view(), products_.device());
        return std::make_unique<solver::ComplexJacobi<double>>(solver::nonzero_complex_diagonal(own.view(), products_.device()),
                                                               products_.device());
    }

    /// Of this rank's rows, the real form of complex numbers; has no zeros where the schedule asks for it.
    CsrMatrix<double> diagonal() const {
        CsrMatrix<double> diagonal{a_.own.rows, a_.own.rows, {0}, {}, {}};
        for (std::int64_t i = 0; i < a_.own.rows; ++i) {
            const std::int64_t first = i / real_parts * real_parts;  // of this number
            for (std::int64_t k = a_.own.row_offsets[i]; k < a_.own.row_offsets[i + 1]; ++k) {
                const std::int64_t column = a_.own.column_indices[k] - a_.halo->first_own();
                if (column < first || column >= first + real_parts) continue;
                diagonal.column_indices.push_back(static_cast<std::int32_t>(column));
                diagonal.values.push_back(a_.own.values[k]);
            }
            diagonal.row_offsets.push_back(diagonal.nonzeros());
        }
        return diagonal;
    }

    const Ranks& ranks_;
    const RankMatrix<double>& a_;
    RankProducts products_;
    std::int64_t gathered_rows_;
    std::map<PreconditionerKind, std::unique_ptr<Preconditioner>> made_;
    const Preconditioner* m_ = nullptr;
};

/// Of factors in the arithmetic of the matrix's numbers.
solver::FillPrediction fill_of_factors(FetchedRows& rows, const solver::preparation::IsEnough& is_enough) {
    const auto in_numbers = [](const solver::FillPrediction& fill) {
        return numbers_are_complex ? solver::preparation::in_complex_arithmetic(fill) : fill;
    };
    return in_numbers(
        solver::preparation::estimate_fill(rows, [&](const auto& least) { return is_enough && is_enough(in_numbers(least)); }));
}

class RankSolve final : public WholeSolve {
public:
    RankSolve(MPI_Comm comm, RankMatrix<double> a, const WholeSolveOptions& options)
        : ranks_(comm), a_(std::move(a)), options_(options) {
        const solver::cpu::FloatingPointGuard guard;
        if (options.guarantee != solver::Guarantee::none) {
            take_whole();
            return;
        }
        system_.emplace(ranks_, a_, options.gathered_rows);
        facts_ = facts_of(ranks_, a_);
    }

    void apply(Span r, std::span<double> z, solver::Accuracy accuracy) const override {
        const solver::cpu::FloatingPointGuard guard;
        if (whole_) return apply_whole(r, z, accuracy);
        try {
            std::ranges::fill(z, 0.0);
            const solver::SolveReport report = solved(r, z, accuracy);
            if (leaves_small_rows(r, z, report.result())) throw NeedsWholeMatrix();
            outcome_ = outcome_of(report, options_);
            if (!outcome_.is_solved) std::ranges::fill(z, std::numeric_limits<double>::infinity());
        } catch (const NeedsWholeMatrix&) {
            take_whole();
            apply_whole(r, z, accuracy);
        }
    }

    const Outcome& outcome() const override { return outcome_; }

private:
    void take_whole() const {
        system_.reset();
        whole_ = make_solve(gathered(ranks_, a_), options_, one_thread());
    }

    void apply_whole(Span r, std::span<double> z, solver::Accuracy accuracy) const {
        const std::vector<double> all = ranks_.gathered(r);
        std::vector<double> all_z(all.size());
        whole_->apply(all, all_z, accuracy);
        outcome_ = whole_->outcome();
        std::copy_n(all_z.begin() + a_.layout.begin(), z.size(), z.begin());
    }

    /// Rows of A far smaller than others (auto_solve/row_equilibration.hpp).
    bool leaves_small_rows(Span r, Span z, const solver::SolveResult& result) const {
        const bool is_solved = result.status == solver::SolveStatus::converged;
        if (!is_solved || !solver::may_leave_small_rows(facts_, result.relative_residual, options_.tolerance)) return false;
        std::vector<double> rest(r.size());
        system_->products().add({.alpha = -1, .x = z, .beta = 1, .y_in = r, .y = rest}, solver::Accuracy::exact);
        system_->products().run();
        const std::vector<double> largest = solver::largest_of_rows(a_.own.view());
        const solver::RowScaling<double> rows(largest);
        const auto norm = [&](Span v) {
            const std::vector<double> scaled = rows.scaled<double>(v);
            return reduced_dot(ranks_.comm(), scaled, scaled, Rounding::square_root, solver::Accuracy::exact);
        };
        return norm(rest) / norm(r) > solver::unsolved_share(options_.tolerance);
    }

    /// As SystemSolver::solve does.
    solver::SolveReport solved(Span r, std::span<double> z, solver::Accuracy accuracy) const {
        const solver::SolveOptions options = options_of_solve(options_, accuracy);
        RankIterates iterates(system_->products(), {r, z}, options.iteration);
        solver::Attempts<double> attempts(iterates, options);
        solver::MethodChoice method({}, facts_, options.iteration.complex_scalars);
        const auto reach = [this, asked = std::int64_t{-1}, answer = false](std::int64_t steps) mutable {
            if (std::exchange(asked, steps) != steps) answer = has_rows_beyond(ranks_, a_, steps);
            return answer;
        };
        solver::FallbackSchedule schedule({.matrix = facts_,
                                           .tolerance = iterates.least_tolerance(),
                                           .fill_factor = options.factors.fill_factor,
                                           .one_product_a_step = method.best() != solver::KrylovMethod::bicgstab,
                                           .definite_only = solver::needs_definite(method.best()),
                                           .profile = solver::chosen_profile(options, solver::Device::cpu(1)),
                                           .has_rows_beyond = reach,
                                           .begins_at_zero = [&] { return iterates.begin_at_zero(); },
                                           .fill_estimate =
                                               [this](const auto& is_enough) {
                                                   FetchedRows rows(ranks_, a_);
                                                   return fill_of_factors(rows, is_enough);
                                               },
                                           .preparation = []() -> const solver::Preparation& { throw NeedsWholeMatrix(); }});
        attempts.run(*system_, schedule, method, options.iteration.max_iterations);
        return attempts.report();
    }

    Ranks ranks_;
    RankMatrix<double> a_;
    WholeSolveOptions options_;
    solver::MatrixFacts facts_;
    mutable std::optional<RankSystem> system_;
    mutable std::unique_ptr<WholeSolve> whole_;
    mutable Outcome outcome_;
};

}  // namespace

std::unique_ptr<WholeSolve> make_rank_solve(MPI_Comm comm, RankMatrix<double> a, const WholeSolveOptions& options) {
    return std::make_unique<RankSolve>(comm, std::move(a), options);
}

}  // namespace petscsolver
