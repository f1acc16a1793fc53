#pragma once

/// The library's Krylov methods over ranks.

#include "core/krylov/updates.hpp"
#include "krylov/cpu_backend.hpp"
#include "krylov/shared_products.hpp"
#include "ranks/rank_matrix.hpp"
#include "reductions.hpp"
#include "settings.hpp"
#include "solver/accuracy.hpp"
#include "solver/numeric/rounding.hpp"
#include "solver/preconditioner.hpp"
#include "solver/spmv.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace petscsolver {

/// Products of a matrix with vectors that ranks share out. Collective.
class RankProducts final : public solver::SharedProducts<double> {
public:
    RankProducts(const Ranks& ranks, const RankMatrix<double>& a)
        : ranks_(ranks),
          a_(a),
          plan_(a.own, device_, {.storage = settings().storage, .expected_products = solver::products_of_a_solve}),
          x_(static_cast<std::size_t>(a.halo->size())) {}

    /// x of the task is not a pair.
    void add(const solver::SpmvTask<double>& task, solver::Accuracy accuracy) override { tasks_.emplace_back(task, accuracy); }

    void run() override {
        for (auto& [task, accuracy] : tasks_) {
            std::copy(task.x.begin(), task.x.end(), a_.halo->own_part(x_).begin());
            a_.halo->fill(x_);
            task.x = x_;
            plan_.multiply({&task, 1}, accuracy);
        }
        tasks_.clear();
    }

    void drop() override { tasks_.clear(); }

    const Ranks& ranks() const { return ranks_; }
    const Layout& layout() const { return a_.layout; }
    std::int64_t rows() const override { return a_.layout.own(); }
    const solver::Device& device() const override { return device_; }
    const solver::SpmvPlan<double>& plan() const { return plan_; }

    /// Of this rank's columns: the transpose has their entries in the order of the rows.
    const std::vector<double>& column_norms() override {
        if (norms_) return *norms_;  // on all ranks or on none
        const RankMatrix<double> transpose = transposed(ranks_, a_);
        std::vector<double>& norms = norms_.emplace(static_cast<std::size_t>(rows()));
        for (std::int64_t i = 0; i < rows(); ++i)
            for (std::int64_t k = transpose.own.row_offsets[i]; k < transpose.own.row_offsets[i + 1]; ++k)
                norms[i] = solver::add_rn(norms[i], solver::magnitude(transpose.own.values[k]));
        return norms;
    }

private:
    const Ranks& ranks_;
    const RankMatrix<double>& a_;
    solver::Device device_ = solver::Device::cpu(1);
    solver::SpmvPlan<double> plan_;
    std::vector<double> x_;  ///< with the elements of others
    std::optional<std::vector<double>> norms_;
    std::vector<std::pair<solver::SpmvTask<double>, solver::Accuracy>> tasks_;
};

/// The processor's backend for this rank's elements, with reductions over all ranks.
class RankBackend : public solver::CpuSolverBackend<double> {
    using Base = solver::CpuSolverBackend<double>;

public:
    RankBackend(RankProducts& products, const solver::Preconditioner<double>& m, std::span<const double> b,
                solver::Accuracy accuracy)
        : Base(products, m, b, false, accuracy), products_(products), b_(b) {}

    double dot(const Vector& x, const Vector& y) const { return reduced(x, y, Rounding::sum, accuracy_); }
    double norm2(const Vector& x) const { return reduced(x, x, Rounding::square_root, accuracy_); }
    void dots(std::span<const Vector> xs, const Vector& y, std::span<double> to) const {
        std::ranges::transform(xs, to.begin(), [&](const Vector& x) { return dot(x, y); });
    }
    double dot_uncertainty() const { return solver::dot_uncertainty<double>(accuracy_, products_.layout().all()); }
    void fill_random(std::uint64_t seed, Vector& out) const {
        for (std::int64_t i = 0; i < rows(); ++i) out[i] = solver::random_element<double>(seed, products_.layout().begin() + i);
    }

    double right_hand_side_norm() const { return reduced(b_, b_, Rounding::square_root, solver::Accuracy::exact); }
    double true_norm(const Residual& x) const { return reduced(x, x, Rounding::square_root, solver::Accuracy::exact); }
    bool is_finite(const Solution& x) const { return std::isfinite(norm2(x.x)); }
    double rounding_terms(const Vector& weights, const Solution& x) const {
        Vector terms = vector();
        multiply_elements(weights, x.x, terms);
        return norm2(terms);
    }

private:
    double reduced(std::span<const double> x, std::span<const double> y, Rounding rounding, solver::Accuracy accuracy) const {
        return reduced_dot(products_.ranks().comm(), x, y, rounding, accuracy);
    }

    const RankProducts& products_;
    std::span<const double> b_;
};

}  // namespace petscsolver
