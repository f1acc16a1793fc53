#pragma once

/// The V-cycle on the processor.

#include "core/huge_pages.hpp"
#include "core/multigrid/level.hpp"
#include "cpu/elementwise.hpp"
#include "solver/accuracy.hpp"
#include "solver/spmv.hpp"

#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace solver::amg {

/// x = M^-1 b by one V-cycle: smoothing, the correction from the next level, smoothing with the same polynomial. Where A is
/// symmetric and R = P^T, so is M^-1. Products are made in the accuracy asked for; everything else is rounded element by
/// element in a fixed nesting.
template <class V>
class Cycle {
public:
    /// The hierarchy must outlive it unchanged.
    Cycle(const Levels<V>& hierarchy, const Device& device) : device_(device) {
        for (const Level<V>& level : hierarchy.levels) levels_.push_back(std::make_unique<Work>(level, device));
        if (hierarchy.coarsest_inverse.rows > 0) inverse_.emplace(hierarchy.coarsest_inverse, device);
    }

    /// One application at a time.
    void apply(std::span<const V> b, std::span<V> x, Accuracy accuracy) { descend(0, b, x, accuracy); }

private:
    struct Work {
        Work(const Level<V>& l, const Device& device)
            : level(l),
              a(l.a, device, {.expected_products = products_of_a_solve}),
              prolongation(l.prolongation, device),
              restriction(l.restriction, device),
              residual(zeros<V>(l.a.rows, device.threads())),
              direction(zeros<V>(l.a.rows, device.threads())),
              coarse_b(l.prolongation.columns),
              coarse_x(l.prolongation.columns) {}

        const Level<V>& level;
        SpmvPlan<V> a;
        SpmvPlan<V> prolongation;
        SpmvPlan<V> restriction;
        std::vector<V> residual;
        std::vector<V> direction;
        std::vector<V> coarse_b;
        std::vector<V> coarse_x;
    };

    void descend(std::size_t l, std::span<const V> b, std::span<V> x, Accuracy accuracy) {
        Work& work = *levels_[l];
        if (l + 1 == levels_.size() && inverse_) return inverse_->multiply(V(1), b, V(0), x, accuracy);
        const std::vector<SmootherStep<V>>& steps = work.level.steps;
        begin_at_zero(work, steps.front(), b, x);
        for (std::size_t k = 1; k < steps.size(); ++k) step(work, steps[k], b, x, accuracy);
        if (l + 1 < levels_.size()) {
            work.a.residual(b, x, {}, work.residual, accuracy);
            work.restriction.multiply(V(1), work.residual, V(0), work.coarse_b, accuracy);
            descend(l + 1, work.coarse_b, work.coarse_x, accuracy);
            work.prolongation.multiply(V(1), work.coarse_x, V(1), x, accuracy);
        }
        for (const SmootherStep<V>& next : steps) step(work, next, b, x, accuracy);
    }

    void begin_at_zero(Work& work, const SmootherStep<V>& first, std::span<const V> b, std::span<V> x) {
        const V* inverse_diagonal = work.level.inverse_diagonal.data();
        V* direction = work.direction.data();
        cpu::update(x, device_, [=](V, std::int64_t i) {
            direction[i] = first_direction(first.alpha, inverse_diagonal[i], b[i]);
            return direction[i];
        });
    }

    void step(Work& work, const SmootherStep<V>& now, std::span<const V> b, std::span<V> x, Accuracy accuracy) {
        work.a.residual(b, x, {}, work.residual, accuracy);
        const V* inverse_diagonal = work.level.inverse_diagonal.data();
        const V* residual = work.residual.data();
        V* direction = work.direction.data();
        cpu::update(x, device_, [=](V element, std::int64_t i) {
            direction[i] = next_direction(now, direction[i], inverse_diagonal[i], residual[i]);
            return add_rn(element, direction[i]);
        });
    }

    Device device_;
    std::vector<std::unique_ptr<Work>> levels_;  // plans look at the hierarchy
    std::optional<SpmvPlan<V>> inverse_;
};

}  // namespace solver::amg
