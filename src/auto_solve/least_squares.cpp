#include "auto_solve/least_squares.hpp"

#include "auto_solve/normal_equations.hpp"
#include "auto_solve/row_scaling.hpp"
#include "auto_solve/scaled_residual.hpp"
#include "auto_solve/shifted_gram.hpp"
#include "core/krylov/updates.hpp"
#include "krylov/lsmr_way.hpp"
#include "krylov/run.hpp"
#include "solver/dense_matrix.hpp"
#include "solver/error.hpp"
#include "solver/numeric/rounding.hpp"
#include "solver/reduce.hpp"
#include "solver/views.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace solver {
namespace {

constexpr double most_steps_of_factors = 100000;

/// Attempt after attempt, each from the x that the one before reached.
template <class T>
class LeastSquaresSolve {
public:
    LeastSquaresSolve(NormalEquations<T>& equations, std::int64_t column, std::span<const T> b, std::span<T> x,
                      const KrylovOptions& options)
        : equations_(equations), column_(column), b_(b), x_(x), guess_(x.begin(), x.end()), options_(options) {}

    LeastSquaresResult run() {
        const bool is_wide = equations_.is_wide(),
                   begins_with_factors = equations_.unit > 0 && equations_.costs.is_cheap(is_wide);
        attempt(begins_with_factors ? 0 : equations_.costs.trial(is_wide));  // at least the guess is looked at
        if (!is_done() && equations_.unit > 0) try_with_factors();
        if (!is_done()) attempt(std::numeric_limits<std::int64_t>::max());
        return std::move(result_);
    }

private:
    using Shift = typename ShiftedGram<T>::Shift;

    bool is_done() const {
        return result_.status == SolveStatus::converged || result_.status == SolveStatus::non_finite || stopped_ ||
               is_at_limit_ || result_.iterations >= options_.max_iterations;
    }

    void attempt(std::int64_t share) { attempt({.unit = equations_.unit, .column_norms = equations_.column_norms}, share); }

    void attempt(const LsmrWay<T>& way, std::int64_t share) { attempt(way, share, options_.tolerance); }

    void attempt(const LsmrWay<T>& way, std::int64_t share, double tolerance) {
        if (share <= 0 && is_looked_at_) return;
        KrylovOptions options = options_;
        options.tolerance = tolerance;
        const std::int64_t before = result_.iterations;
        const bool is_told = std::exchange(is_looked_at_, true);
        options.max_iterations = std::min(share, options.max_iterations - before);
        if (options.callback)
            options.callback = [&, before, is_told](Iteration iteration) {
                if (is_told && iteration.number == 0) return true;
                iteration.number += before;
                iteration.column = column_;
                stopped_ = !options_.callback(iteration);
                return !stopped_;
            };
        add(lsmr_in<T>(way, equations_.a, equations_.transposed, b_, x_, options));
    }

    /// What comes after what was found before.
    void add(LeastSquaresResult part) {
        for (Iteration& iteration : part.history) {
            if (iteration.number == 0 && !result_.history.empty()) continue;
            iteration.number += result_.iterations;
            iteration.column = column_;
            result_.history.push_back(iteration);
        }
        part.history = std::move(result_.history);
        part.iterations += result_.iterations;
        part.restarts += result_.restarts;
        part.preconditioner = result_.preconditioner;
        part.factor_entries = result_.factor_entries;
        result_ = std::move(part);
    }

    /// Of the smaller one of A A' and A'A with a D that suits any units where these have full rank; else of A'A with one that
    /// suits any rank.
    void try_with_factors() {
        const bool is_wide = equations_.is_wide();
        if (iterations_at_this_rate() <= 2 * static_cast<double>(result_.iterations)) attempt(result_.iterations);
        if (is_done() || try_with(is_wide, Shift::by_diagonal)) return;
        attempt(equations_.costs.trial(false) - result_.iterations);
        if (!is_done()) try_with(false, Shift::common);
    }

    /// False where rank may be lost, so that another D is to be tried.
    bool try_with(bool of_rows, Shift shift) {
        auto* const made = equations_.with(of_rows, shift);
        if (made == nullptr) return true;
        if (made->facts_for_multigrid) try_with_multigrid(*made, of_rows);
        if (is_done()) return true;
        const double cost = equations_.cost_of_factors(*made);
        go_on_below(cost);
        if (is_done() || cost > equations_.costs.most()) return true;
        equations_.factor(*made, of_rows, shift);
        if (made->may_have_lost_rank) return false;
        if (!made->factors) return true;
        result_.preconditioner = PreconditionerKind::klu;
        result_.factor_entries = made->factors->factor_entries();
        const bool sees_range = shift == Shift::by_diagonal && !(of_rows && equations_.has_zero_rows());
        attempt(way_with(*made->factors, of_rows, sees_range), share_with_factors);
        is_at_limit_ = result_.status == SolveStatus::stagnated;
        if (made->common_shift > 0 && !stopped_ && (result_.status == SolveStatus::converged || is_at_limit_))
            stay_in_range(*made->factors, made->common_shift);
        return true;
    }

    void try_with_multigrid(typename NormalEquations<T>::Made& made, bool of_rows) {
        go_on_below(equations_.costs.multigrid(*made.facts_for_multigrid));
        const std::int64_t left = options_.max_iterations - result_.iterations;
        if (is_done() || left < NormalEquations<T>::share_with_multigrid) return;
        equations_.make_multigrid(made, of_rows, options_.accuracy);
        if (!made.multigrid) return;
        result_.preconditioner = PreconditionerKind::amg;
        result_.factor_entries = made.multigrid->factor_entries();
        attempt(way_with(*made.multigrid, of_rows, false), NormalEquations<T>::share_with_multigrid);
    }

    LsmrWay<T> way_with(const Preconditioner<T>& inverse, bool of_rows, bool sees_range) const {
        return {.unit = equations_.unit,
                .column_norms = equations_.column_norms,
                .inverse = &inverse,
                .of_rows = of_rows,
                .sees_range = sees_range};
    }

    /// For as long as the rate promises to take less.
    void go_on_below(double cost) {
        const double affordable =
            std::min(cost / equations_.costs.step(), static_cast<double>(options_.max_iterations - result_.iterations) / 2);
        for (double likely = iterations_at_this_rate();  // which may rise meanwhile: in the end it ends this
             !is_done() && result_.status != SolveStatus::stagnated && likely <= affordable; likely = iterations_at_this_rate())
            attempt(static_cast<std::int64_t>(std::min(2 * likely, affordable)));
    }

    /// By the digits that the attempts so far have gained.
    double iterations_at_this_rate() const {
        if (result_.iterations == 0) return std::numeric_limits<double>::infinity();
        const double reached = std::min(result_.normal_residual, result_.relative_residual);
        const double gained = -std::log2(reached), needed = -std::log2(options_.tolerance);
        return gained > 0 ? static_cast<double>(result_.iterations) * needed / gained : std::numeric_limits<double>::infinity();
    }

    /// Takes out of x - x_0 what lies in the null space of A. Of what does not it takes the share D / (s^2 + D) in the
    /// direction of a singular value s, which a second attempt brings back, as near as it was. Where that one falls behind and
    /// misses the tolerance the first one's x stays.
    void stay_in_range(const Preconditioner<T>& inverse, double shift) {
        const std::vector<T> found(x_.begin(), x_.end());
        const LeastSquaresResult before = result_;
        std::vector<T> step(x_.size()), beside(x_.size());
        std::transform(found.begin(), found.end(), guess_.begin(), step.begin(), [](T x, T x0) { return add_rn(x, -x0); });
        inverse.apply(step, beside, options_.accuracy);
        const T taken = static_cast<T>(shift);
        std::transform(found.begin(), found.end(), beside.begin(), x_.begin(),
                       [=](T x, T element) { return subtracted(x, taken, element); });
        constexpr double few = 4;
        const double as_near =
            std::max(few * std::min(before.normal_residual, before.relative_residual), std::numeric_limits<double>::epsilon());
        attempt(way_with(inverse, false, false), share_with_factors, std::min(options_.tolerance, as_near));
        const double reached = std::min(result_.normal_residual, result_.relative_residual);
        if (reached <= options_.tolerance) result_.status = SolveStatus::converged;
        if (result_.status == SolveStatus::converged) return;
        if (before.status != SolveStatus::converged && reached <= as_near) return;
        std::copy(found.begin(), found.end(), x_.begin());
        result_.status = before.status;
        result_.relative_residual = before.relative_residual;
        result_.normal_residual = before.normal_residual;
    }

    static constexpr std::int64_t share_with_factors = 400;

    NormalEquations<T>& equations_;
    std::int64_t column_;
    std::span<const T> b_;
    std::span<T> x_;
    std::vector<T> guess_;
    const KrylovOptions& options_;
    LeastSquaresResult result_;
    bool is_looked_at_ = false;  ///< x as it is
    bool stopped_ = false;
    bool is_at_limit_ = false;  ///< of rounding, which factors leave
};

/// One column, as a user means it: rows that no x changes stand aside, and what heavy rows hide is looked at.
template <class T>
class WeightedLeastSquares {
public:
    WeightedLeastSquares(NormalEquations<T>& equations, std::int64_t column, const KrylovOptions& options)
        : equations_(equations), column_(column), options_(options) {}

    LeastSquaresResult solve(std::span<const T> b, std::span<T> x) {
        const std::vector<T> changeable = without_zero_rows(b);
        LeastSquaresResult result = LeastSquaresSolve<T>(equations_, column_, changeable, x, options_).run();
        const bool is_by_residual = result.status == SolveStatus::converged && result.relative_residual <= options_.tolerance &&
                                    result.normal_residual > options_.tolerance;
        const bool hides_rows = is_by_residual && !(options_.absolute_tolerance > 0) && leaves_small_rows(changeable, x);
        if (hides_rows) solve_rest(changeable, x, result);
        if (hides_rows || !std::ranges::equal(changeable, b)) look_at(b, x, result);
        return result;
    }

private:
    std::vector<T> without_zero_rows(std::span<const T> b) const {
        std::vector<T> rest(b.begin(), b.end());
        for (std::size_t i = 0; i < rest.size(); ++i)
            if (equations_.largest_of_rows()[i] == T(0) && is_finite(rest[i])) rest[i] = 0;
        return rest;
    }

    bool leaves_small_rows(std::span<const T> b, std::span<const T> x) const {
        return share_of_rows<T>(equations_.a, RowScaling<T>(equations_.largest_of_rows()), b, x) >
               unsolved_share(options_.tolerance);
    }

    std::vector<T> residual(std::span<const T> b, std::span<const T> x) const {
        std::vector<T> r(b.size());
        equations_.a.residual(b, x, {}, r, Accuracy::exact);
        return r;
    }

    /// Least squares of r = b - A x, by which its tolerance is.
    void solve_rest(std::span<const T> b, std::span<T> x, LeastSquaresResult& whole) const {
        const std::vector<T> r = residual(b, x);
        std::vector<T> y(x.size());
        KrylovOptions options = options_;
        options.max_iterations -= whole.iterations;
        const auto continued = [before = whole.iterations, scale = whole.relative_residual](Iteration iteration) {
            iteration.number += before;
            iteration.recursive_residual *= scale;
            if (iteration.true_residual >= 0) iteration.true_residual *= scale;
            return iteration;
        };
        if (options.callback)
            options.callback = [&](const Iteration& iteration) {
                return iteration.number == 0 || options_.callback(continued(iteration));
            };
        const LeastSquaresResult rest = LeastSquaresSolve<T>(equations_, column_, r, y, options).run();
        for (const Iteration& iteration : rest.history)
            if (iteration.number > 0) whole.history.push_back(continued(iteration));
        whole.iterations += rest.iterations;
        whole.restarts += rest.restarts;
        if (rest.preconditioner != PreconditionerKind::none) {
            whole.preconditioner = rest.preconditioner;
            whole.factor_entries = rest.factor_entries;
        }
        std::transform(x.begin(), x.end(), y.begin(), y.begin(), [](T a, T b_j) { return add_rn(a, b_j); });
        const bool is_better = norm2(residual(b, y), Accuracy::exact) <= norm2(r, Accuracy::exact);
        if (is_better) std::ranges::copy(y, x.begin());
        whole.status = is_better ? rest.status : SolveStatus::stagnated;
    }

    /// The residuals of x, computed anew in units in which nothing leaves the range of numbers.
    void look_at(std::span<const T> b, std::span<T> x, LeastSquaresResult& result) const {
        result.relative_residual = ScaledResidual<T>(equations_.a, {b, x, {}, false}).relative();
        std::vector<T> r = residual(b, x), products(x.size());
        T largest = 0;
        for (const T element : r) largest = std::max(largest, magnitude(element));
        result.normal_residual = 0;
        if (!(largest > 0)) return;
        for (T& element : r) element = std::ldexp(element, -std::ilogb(largest));
        equations_.transposed.multiply(static_cast<T>(1 / equations_.unit), r, T(0), products, Accuracy::exact);
        const auto size = static_cast<double>(norm2(r, Accuracy::exact));
        for (std::size_t j = 0; j < products.size(); ++j) {
            const double share = static_cast<double>(magnitude(products[j])) / equations_.column_norms[j] / size;
            if (equations_.column_norms[j] > 0) result.normal_residual = std::max(result.normal_residual, share);
        }
    }

    NormalEquations<T>& equations_;
    std::int64_t column_;
    const KrylovOptions& options_;
};

/// Throws where B and X are not as A wants them.
template <class T>
void check_columns(const SpmvPlan<T>& a, const DenseMatrix<T>& b, const DenseMatrix<T>& x) {
    const auto is_whole = [](const DenseMatrix<T>& m) {
        return m.rows >= 0 && m.columns >= 0 && std::ssize(m.values) == m.rows * m.columns;
    };
    if (b.rows != a.rows() || x.rows != a.columns() || b.columns != x.columns || !is_whole(b) || !is_whole(x))
        throw DimensionMismatch(
            fmt::format("least_squares: A is {} x {}, B {} x {} with {} values and X {} x {} with {}; expected a B of {} rows, "
                        "and an X of {} with as many columns as B",
                        a.rows(), a.columns(), b.rows, b.columns, b.values.size(), x.rows, x.columns, x.values.size(), a.rows(),
                        a.columns()));
    check_apart<T>("least_squares", b.values, x.values, {});
}

}  // namespace

template <class T>
LeastSquaresResult least_squares(const SpmvPlan<T>& a, const SpmvPlan<T>& transposed, std::span<const T> b, std::span<T> x,
                                 const LeastSquaresOptions& options) {
    check_transpose(a, transposed);
    NormalEquations<T> equations(a, transposed, options.memory_limit, most_steps_of_factors);
    const bool fits = std::ssize(b) == a.rows() && std::ssize(x) == a.columns();  // else lsmr says what does not
    if (fits) check_apart<T>("least_squares", b, x, {});
    if (!fits || equations.unit == 0) return LeastSquaresSolve<T>(equations, 0, b, x, options.iteration).run();
    return WeightedLeastSquares<T>(equations, 0, options.iteration).solve(b, x);
}

template <class T>
std::vector<LeastSquaresResult> least_squares(NormalEquations<T>& equations, const DenseMatrix<T>& b, DenseMatrix<T>& x,
                                              const KrylovOptions& options) {
    check_columns(equations.a, b, x);
    std::vector<LeastSquaresResult> results;
    for (std::int64_t j = 0; j < b.columns; ++j)
        results.push_back(LeastSquaresSolve<T>(equations, j, b.column(j), x.column(j), options).run());
    return results;
}

template <class T>
std::vector<LeastSquaresResult> least_squares(const SpmvPlan<T>& a, const SpmvPlan<T>& transposed, const DenseMatrix<T>& b,
                                              DenseMatrix<T>& x, const LeastSquaresOptions& options) {
    check_transpose(a, transposed);
    NormalEquations<T> equations(a, transposed, options.memory_limit, most_steps_of_factors);
    if (equations.unit == 0) return least_squares<T>(equations, b, x, options.iteration);
    check_columns(a, b, x);
    std::vector<LeastSquaresResult> results;
    for (std::int64_t j = 0; j < b.columns; ++j)
        results.push_back(WeightedLeastSquares<T>(equations, j, options.iteration).solve(b.column(j), x.column(j)));
    return results;
}

template LeastSquaresResult least_squares(const SpmvPlan<float>&, const SpmvPlan<float>&, std::span<const float>,
                                          std::span<float>, const LeastSquaresOptions&);
template LeastSquaresResult least_squares(const SpmvPlan<double>&, const SpmvPlan<double>&, std::span<const double>,
                                          std::span<double>, const LeastSquaresOptions&);
template std::vector<LeastSquaresResult> least_squares(const SpmvPlan<float>&, const SpmvPlan<float>&,
                                                       const DenseMatrix<float>&, DenseMatrix<float>&,
                                                       const LeastSquaresOptions&);
template std::vector<LeastSquaresResult> least_squares(const SpmvPlan<double>&, const SpmvPlan<double>&,
                                                       const DenseMatrix<double>&, DenseMatrix<double>&,
                                                       const LeastSquaresOptions&);
template std::vector<LeastSquaresResult> least_squares(NormalEquations<float>&, const DenseMatrix<float>&, DenseMatrix<float>&,
                                                       const KrylovOptions&);
template std::vector<LeastSquaresResult> least_squares(NormalEquations<double>&, const DenseMatrix<double>&,
                                                       DenseMatrix<double>&, const KrylovOptions&);

}  // namespace solver
