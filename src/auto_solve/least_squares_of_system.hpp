#pragma once

/// Least squares of square systems, and whether they show that nothing solves these.

#include "auto_solve/least_squares.hpp"
#include "auto_solve/normal_equations.hpp"
#include "auto_solve/scaled_residual.hpp"
#include "auto_solve/vector_copy.hpp"
#include "core/krylov/updates.hpp"
#include "krylov/run.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/dense_matrix.hpp"
#include "solver/krylov.hpp"
#include "solver/least_squares.hpp"
#include "solver/numeric/rounding.hpp"
#include "solver/spmv.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace solver {

/// x by least_squares, and y by it of r = b - A x: y is so small that rounding it does not matter, so that what is left, z = r
/// - A y, stands at right angles to the columns of A but for few unit roundoffs where A is singular. Where all |a_j'z| <= d
/// ||a_j|| ||z|| any x' has ||z|| ||b - A x'|| >= |z'(b - A x')| >= |z'b| - d ||A||_F ||z|| ||x'||, and z'b is about ||z||^2:
/// to leave t ||b|| it has to be (||z|| - t ||b||) / (d ||A||_F) long, and rounding its n elements then changes b - A x' by
/// about u ||A||_F ||x'|| / sqrt(n), where columns are alike. With d = 16 u that is more than t ||b|| where ||z|| is more than
/// 32 sqrt(n) t ||b||: nothing solves the system to the tolerance t, and what comes nearer than x + y is no use.
template <class T>
class LeastSquares {
public:
    LeastSquares(const SpmvPlan<T>& a, std::span<const Unknown<T>> unknowns, DenseMatrix<T> guesses, double most_steps,
                 const KrylovOptions& options, std::int64_t memory_limit)
        : a_(a), b_{a.rows(), std::ssize(unknowns), {}}, x_(std::move(guesses)) {
        for (const Unknown<T>& unknown : unknowns) {
            const std::vector<T> here = fetched(unknown.b, a_.device(), unknown.on_device);
            b_.values.insert(b_.values.end(), here.begin(), here.end());
        }
        if (a.dense() != nullptr) {
            transposed_ = std::make_unique<SpmvPlan<T>>(a.dense()->transposed(), a.device());
        } else {
            rows_of_transpose_ = transpose(a.matrix());
            transposed_ = std::make_unique<SpmvPlan<T>>(rows_of_transpose_, a.device());
        }
        equations_.emplace(a, *transposed_, memory_limit, most_steps);
        results_ = least_squares<T>(*equations_, b_, x_, options);
        look_at_what_is_left(options);
    }

    std::int64_t columns() const { return x_.columns; }
    const LeastSquaresResult& result(std::int64_t j) const { return results_[static_cast<std::size_t>(j)]; }
    std::span<T> x(std::int64_t j) { return x_.column(j); }

    /// Whether nothing comes nearer but an x that rounding leaves nothing of.
    bool is_least(std::int64_t j) const { return is_least_[static_cast<std::size_t>(j)]; }
    bool is_far_from(double tolerance, std::int64_t j) const {
        return result(j).relative_residual > 32 * std::sqrt(static_cast<double>(a_.rows())) * tolerance;
    }

private:
    static constexpr double right_angle = 16 * unit_roundoff<T>;

    /// Of the columns that are least squares by the tolerance, and no solutions: in as many steps again, if need be.
    void look_at_what_is_left(KrylovOptions options) {
        DenseMatrix<T> rest{b_.rows, b_.columns, std::vector<T>(b_.values.size())}, y = rest;
        for (std::int64_t j = 0; j < columns(); ++j)
            if (result(j).status == SolveStatus::converged && result(j).relative_residual > options.tolerance)
                a_.residual(b_.column(j), x_.column(j), {}, rest.column(j), Accuracy::exact);
        options.tolerance = right_angle;
        options.absolute_tolerance = 0;
        if (options.callback)
            options.callback = [this, asked = options.callback](Iteration iteration) {
                return iteration.number == 0 || asked(continued(iteration));
            };
        const std::vector<LeastSquaresResult> found = least_squares<T>(*equations_, rest, y, options);
        for (std::int64_t j = 0; j < columns(); ++j) take(found[static_cast<std::size_t>(j)], rest.column(j), y.column(j), j);
    }

    /// As an iteration for b.
    Iteration continued(Iteration iteration) const {
        const LeastSquaresResult& before = result(iteration.column);
        iteration.number += before.iterations;
        iteration.recursive_residual *= before.relative_residual;
        if (iteration.true_residual >= 0) iteration.true_residual *= before.relative_residual;
        return iteration;
    }

    void take(const LeastSquaresResult& of_rest, std::span<const T> rest, std::span<const T> y, std::int64_t j) {
        const bool is_looked_at = std::ranges::any_of(rest, [](T element) { return element != 0; });
        is_least_.push_back(is_looked_at && of_rest.status == SolveStatus::converged);
        if (!is_looked_at) return;
        LeastSquaresResult& whole = results_[static_cast<std::size_t>(j)];
        for (Iteration iteration : of_rest.history) {
            iteration.column = j;
            if (iteration.number > 0) whole.history.push_back(continued(iteration));
        }
        whole.iterations += of_rest.iterations;
        if (!is_least(j)) return;
        const std::span<T> x = x_.column(j);
        std::transform(x.begin(), x.end(), y.begin(), x.begin(), [](T a, T b) { return add_rn(a, b); });
        whole.relative_residual = ScaledResidual<T>(a_, {b_.column(j), x, {}, false}).relative();
    }

    const SpmvPlan<T>& a_;
    DenseMatrix<T> b_, x_;
    CsrMatrix<T> rows_of_transpose_;
    std::unique_ptr<SpmvPlan<T>> transposed_;
    std::optional<NormalEquations<T>> equations_;
    std::vector<LeastSquaresResult> results_;
    std::vector<bool> is_least_;
};

}  // namespace solver
