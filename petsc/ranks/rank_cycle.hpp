#pragma once

/// The V-cycle over ranks.

#include "core/multigrid/level.hpp"
#include "preconditioner/amg/cycle.hpp"
#include "ranks/rank_place.hpp"
#include "solver/accuracy.hpp"
#include "solver/spmv.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace petscsolver {

/// amg::Cycle for levels that ranks share out, followed by levels that every rank has as a whole, if there are such. Every
/// element is rounded as it is there. Collective.
template <class V>
class RankCycle {
public:
    /// The levels must outlive it unchanged. `finest`: how ranks share out the rows of A.
    RankCycle(const Ranks& ranks, const Layout& finest, const solver::amg::Levels<V, OnRanks>& shared,
              const solver::amg::Levels<V>& whole)
        : ranks_(ranks), first_row_(static_cast<std::size_t>(finest.begin())) {
        for (const auto& level : shared.levels) levels_.push_back(std::make_unique<Work>(level));
        if (!whole.levels.empty()) whole_.emplace(whole, solver::Device::cpu(1));
        if (whole_) all_x_.resize(static_cast<std::size_t>(whole.levels.front().a.rows));
    }

    /// This rank's part of x = M^-1 b, until the next call.
    std::span<const V> apply(std::span<const V> b, solver::Accuracy accuracy) {
        if (levels_.empty()) return all_of(b, accuracy).subspan(first_row_, b.size());
        descend(0, b, accuracy);
        return levels_.front()->own_x();
    }

private:
    using Step = solver::amg::SmootherStep<V>;

    /// Products have vectors for all columns of a rank's rows, with the numbers of the columns' halo.
    struct Work {
        explicit Work(const solver::amg::Level<V, OnRanks>& l)
            : level(l),
              a(l.a.own, solver::Device::cpu(1), {.expected_products = solver::products_of_a_solve}),
              prolongation(l.prolongation.own, solver::Device::cpu(1)),
              restriction(l.restriction.own, solver::Device::cpu(1)),
              x(static_cast<std::size_t>(l.a.halo->size())),
              residual(static_cast<std::size_t>(has_next() ? l.restriction.halo->size() : l.a.halo->own())),
              direction(static_cast<std::size_t>(l.a.halo->own())),
              coarse_b(static_cast<std::size_t>(l.restriction.own.rows)),
              coarse_x(static_cast<std::size_t>(l.prolongation.own.columns)) {}

        bool has_next() const { return level.prolongation.halo != nullptr; }
        std::span<V> own_x() { return level.a.halo->own_part(x); }
        std::span<V> own_residual() { return has_next() ? level.restriction.halo->own_part(residual) : std::span(residual); }

        const solver::amg::Level<V, OnRanks>& level;
        solver::SpmvPlan<V> a;
        solver::SpmvPlan<V> prolongation;
        solver::SpmvPlan<V> restriction;
        std::vector<V> x;
        std::vector<V> residual;
        std::vector<V> direction;
        std::vector<V> coarse_b;
        std::vector<V> coarse_x;
    };

    void descend(std::size_t l, std::span<const V> b, solver::Accuracy accuracy) {
        Work& work = *levels_[l];
        const std::vector<Step>& steps = work.level.steps;
        begin_at_zero(work, steps.front(), b);
        for (std::size_t k = 1; k < steps.size(); ++k) step(work, steps[k], b, accuracy);
        if (work.has_next()) {
            compute_residual(work, b, accuracy);
            work.level.restriction.halo->fill(work.residual);
            work.restriction.multiply(V(1), work.residual, V(0), work.coarse_b, accuracy);
            take_correction(l, work, accuracy);
            work.prolongation.multiply(V(1), work.coarse_x, V(1), work.own_x(), accuracy);
        }
        for (const Step& next : steps) step(work, next, b, accuracy);
    }

    void begin_at_zero(Work& work, const Step& first, std::span<const V> b) {
        const std::span<V> x = work.own_x();
        for (std::size_t i = 0; i < x.size(); ++i)
            x[i] = work.direction[i] = solver::amg::first_direction(first.alpha, work.level.inverse_diagonal[i], b[i]);
    }

    void compute_residual(Work& work, std::span<const V> b, solver::Accuracy accuracy) {
        work.level.a.halo->fill(work.x);
        work.a.residual(b, work.x, {}, work.own_residual(), accuracy);
    }

    void step(Work& work, const Step& now, std::span<const V> b, solver::Accuracy accuracy) {
        compute_residual(work, b, accuracy);
        const std::span<V> x = work.own_x();
        const std::span<const V> r = work.own_residual();
        for (std::size_t i = 0; i < x.size(); ++i) {
            work.direction[i] = solver::amg::next_direction(now, work.direction[i], work.level.inverse_diagonal[i], r[i]);
            x[i] = solver::add_rn(x[i], work.direction[i]);
        }
    }

    /// The next level's x for all columns of P.
    void take_correction(std::size_t l, Work& work, solver::Accuracy accuracy) {
        const Halo& columns = *work.level.prolongation.halo;
        if (l + 1 == levels_.size()) {
            all_of(work.coarse_b, accuracy);
            for (std::int64_t i = 0; i < columns.size(); ++i) work.coarse_x[i] = all_x_[columns.global(i)];
            return;
        }
        descend(l + 1, work.coarse_b, accuracy);
        const std::span<const V> x = levels_[l + 1]->own_x();
        std::copy(x.begin(), x.end(), columns.own_part(work.coarse_x).begin());
        columns.fill(work.coarse_x);
    }

    /// x of all ranks, by every rank for itself.
    std::span<const V> all_of(std::span<const V> b, solver::Accuracy accuracy) {
        const std::vector<V> all = ranks_.gathered(b);
        whole_->apply(all, all_x_, accuracy);
        return all_x_;
    }

    const Ranks& ranks_;
    std::size_t first_row_;  ///< of this rank
    std::vector<std::unique_ptr<Work>> levels_;
    std::optional<solver::amg::Cycle<V>> whole_;
    std::vector<V> all_x_;
};

}  // namespace petscsolver
