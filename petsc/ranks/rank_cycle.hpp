#pragma once

/// The V-cycle over ranks.

#include "apply.hpp"
#include "core/multigrid/level.hpp"
#include "multigrid.hpp"
#include "place.hpp"
#include "preconditioner/amg/cycle.hpp"
#include "ranks/overlapped_rows.hpp"
#include "ranks/rank_place.hpp"
#include "solver/accuracy.hpp"
#include "solver/cuda/preconditioner.hpp"
#include "solver/spmv.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace petscsolver {

/// The cycle of levels that every rank has as a whole, on right-hand sides that ranks share out. Collective.
template <class V>
class GatheredCycle {
public:
    /// `rows`: this rank's. On the processor the levels must outlive it unchanged.
    GatheredCycle(const Ranks& ranks, const solver::amg::Levels<V>& levels, std::int64_t rows, const Place& place)
        : ranks_(ranks),
          part_(static_cast<std::size_t>(rows)),
          b_(place, static_cast<std::size_t>(levels.levels.front().a.rows), "a gathered right-hand side"),
          x_(place, static_cast<std::size_t>(levels.levels.front().a.rows), "a gathered correction") {
        if (place.on_device())
            there_ = solver::cuda::make_multigrid<V, V>(place.device, solver::cuda::copy_to_device(place.device, levels));
        else
            here_.emplace(levels, one_thread());
    }

    /// x of all ranks, by every rank for itself, until the next call.
    const V* apply(const Place& place, const V* b, solver::Accuracy accuracy) {
        copy_to_host(place, b, std::span(part_));
        b_.copy_from(place, ranks_.gathered(std::span<const V>(part_)));
        if (there_)
            there_->apply(b_.data(), x_.data(), accuracy, place.stream);
        else
            here_->apply({b_.data(), b_.size()}, {x_.data(), x_.size()}, accuracy);
        return x_.data();
    }

private:
    const Ranks& ranks_;
    std::vector<V> part_;
    PlacedArray<V> b_, x_;
    std::optional<solver::amg::Cycle<V>> here_;
    std::unique_ptr<solver::cuda::DevicePreconditioner<V>> there_;
};

/// amg::Cycle for levels that ranks share out, followed by levels that every rank has as a whole, if there are such; on this
/// rank's processor or its device. Every element is rounded as it is there. Collective.
template <class V>
class RankCycle {
public:
    /// The levels must outlive it unchanged. `finest`: how ranks share out the rows of A.
    RankCycle(const Ranks& ranks, const Layout& finest, const solver::amg::Levels<V, OnRanks>& shared,
              const solver::amg::Levels<V>& whole, const Place& place)
        : place_(place), first_row_(finest.begin()) {
        for (const auto& level : shared.levels) levels_.push_back(std::make_unique<Work>(level, place));
        const std::int64_t rows = shared.levels.empty() ? finest.own() : shared.levels.back().restriction.own.rows;
        if (!whole.levels.empty()) whole_.emplace(ranks, whole, rows, place);
    }

    /// This rank's part of x = M^-1 b, at the place, until the next call.
    const V* apply(const V* b, solver::Accuracy accuracy, solver::cuda::Stream stream) {
        place_.stream = stream;
        if (levels_.empty()) return whole_->apply(place_, b, accuracy) + first_row_;
        descend(0, b, accuracy);
        return levels_.front()->own_x();
    }

private:
    using Step = solver::amg::SmootherStep<V>;

    /// Products have vectors for all columns of a rank's rows, with the numbers of the columns' halo.
    struct Work {
        Work(const solver::amg::Level<V, OnRanks>& l, const Place& place)
            : level(l),
              a(l.a, place, solver::products_of_a_solve),
              x(place, l.a.halo->size(), "a level's x"),
              residual(place, has_next() ? l.restriction.halo->size() : rows(), "a level's residual"),
              direction(place, static_cast<std::size_t>(rows()), "a level's direction"),
              inverse_diagonal(place, l.inverse_diagonal, "a level's diagonal") {
            if (!has_next()) return;
            prolongation.emplace(l.prolongation, place);
            restriction.emplace(l.restriction, place);
            coarse_b = {place, static_cast<std::size_t>(l.restriction.own.rows), "a level's right-hand side"};
            coarse_x = {place, l.prolongation.own.columns, "a level's correction"};
            coarse_columns = {place, l.prolongation.halo->globals(), "numbers of columns"};
        }

        bool has_next() const { return level.prolongation.halo != nullptr; }
        std::int64_t rows() const { return level.a.halo->own(); }
        V* own_x() { return x.data() + level.a.halo->first_own(); }
        V* own_residual() { return residual.data() + (has_next() ? level.restriction.halo->first_own() : 0); }

        const solver::amg::Level<V, OnRanks>& level;
        OverlappedRows<V> a;
        std::optional<OverlappedRows<V>> prolongation;
        std::optional<OverlappedRows<V>> restriction;
        HaloArray<V> x;
        HaloArray<V> residual;
        PlacedArray<V> direction;
        PlacedArray<V> inverse_diagonal;
        PlacedArray<V> coarse_b;
        HaloArray<V> coarse_x;
        PlacedArray<std::int32_t> coarse_columns;  ///< with all ranks' numbers
    };

    void descend(std::size_t l, const V* b, solver::Accuracy accuracy) {
        Work& work = *levels_[l];
        const std::vector<Step>& steps = work.level.steps;
        petscsolver::apply(place_, work.rows(),
                           solver::amg::BeginAtZero<V>{steps.front().alpha, work.inverse_diagonal.data(), b,
                                                       work.direction.data(), work.own_x()});
        for (std::size_t k = 1; k < steps.size(); ++k) step(work, steps[k], b, accuracy);
        if (work.has_next()) {
            compute_residual(work, b, accuracy);
            V* const coarse_b = work.coarse_b.data();
            work.restriction->fill_and_multiply(place_, V(1), work.residual, V(0), coarse_b, coarse_b, accuracy);
            add_correction(l, work, accuracy);
        }
        for (const Step& next : steps) step(work, next, b, accuracy);
    }

    void compute_residual(Work& work, const V* b, solver::Accuracy accuracy) {
        work.a.fill_and_multiply(place_, V(-1), work.x, V(1), b, work.own_residual(), accuracy);
    }

    void step(Work& work, const Step& now, const V* b, solver::Accuracy accuracy) {
        compute_residual(work, b, accuracy);
        petscsolver::apply(place_, work.rows(),
                           solver::amg::Smooth<V>{now, work.inverse_diagonal.data(), work.own_residual(), work.direction.data(),
                                                  work.own_x()});
    }

    /// x += P times the next level's x.
    void add_correction(std::size_t l, Work& work, solver::Accuracy accuracy) {
        const Halo& columns = *work.level.prolongation.halo;
        V* const x = work.own_x();
        if (l + 1 == levels_.size()) {
            const V* const all = whole_->apply(place_, work.coarse_b.data(), accuracy);
            petscsolver::apply(place_, columns.size(), Gather<V>{work.coarse_columns.data(), all, work.coarse_x.data()});
            return work.prolongation->multiply(place_, V(1), work.coarse_x.data(), V(1), x, x, accuracy);
        }
        descend(l + 1, work.coarse_b.data(), accuracy);
        petscsolver::apply(place_, columns.own(), Copy<V>{levels_[l + 1]->own_x(), work.coarse_x.data() + columns.first_own()});
        work.prolongation->fill_and_multiply(place_, V(1), work.coarse_x, V(1), x, x, accuracy);
    }

    Place place_;
    std::int64_t first_row_;  ///< of this rank
    std::vector<std::unique_ptr<Work>> levels_;
    std::optional<GatheredCycle<V>> whole_;
};

}  // namespace petscsolver
