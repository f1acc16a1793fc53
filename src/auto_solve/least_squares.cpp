#include "solver/least_squares.hpp"

#include "auto_solve/gram_factors.hpp"
#include "core/krylov/updates.hpp"
#include "core/sorted_rows.hpp"
#include "krylov/lsmr_way.hpp"
#include "krylov/run.hpp"
#include "solver/dense_matrix.hpp"
#include "solver/error.hpp"
#include "solver/reduce.hpp"
#include "solver/views.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace solver {
namespace {

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
    double largest = 0;
    for (const double norm : found)
        if (!(norm <= largest)) largest = norm;
    if (!(largest > 0) || !std::isfinite(largest)) return 0;
    const double unit = unit_of<T>(largest);
    for (double& norm : found)
        if (norm > 0) norm = std::max(norm / unit, smallest_subnormal<double>);  // a column that is not 0
    norms = std::move(found);
    return unit;
}

/// What the solves with one A share: its norms, costs, and factors of its normal equations.
template <class T>
class NormalEquations {
public:
    using Shift = typename GramFactors<T>::Shift;

    /// Of one G + D.
    struct Factors {
        bool is_known = false, is_factored = false;
        std::optional<double> cost;  ///< none where G is too dear
        std::optional<GramFactors<T>> gram;
        double common_shift = 0;
        std::unique_ptr<Preconditioner<T>> inverse;  ///< null where it cannot be made, or D does not suit
        bool may_have_lost_rank = false;
    };

    NormalEquations(const SpmvPlan<T>& a, const SpmvPlan<T>& transposed, std::int64_t memory_limit)
        : a(a), transposed(transposed), costs(a, transposed), memory_limit_(memory_limit) {
        unit = unit_of_columns(a, transposed, column_norms);
    }

    bool is_wide() const { return a.rows() < a.columns(); }

    /// Made when first asked for.
    Factors& with(bool of_rows, Shift shift) {
        Factors& found = made_[(of_rows ? 2 : 0) + (shift == Shift::common ? 1 : 0)];
        if (found.is_known) return found;
        found.is_known = true;
        try {
            found.gram = GramFactors<T>::of(a, transposed, of_rows, shift, unit, costs, memory_limit_);
        } catch (const std::bad_alloc&) {  // LSMR alone goes on
        }
        if (!found.gram) return found;
        found.cost = found.gram->cost_of_factors();
        found.common_shift = found.gram->common_shift();
        return found;
    }

    /// Makes them, unless that was done.
    void factor(Factors& factors, Shift shift) const {
        if (factors.is_factored) return;
        factors.is_factored = true;
        factors.inverse = factors.gram->factor();
        factors.may_have_lost_rank =
            factors.inverse && shift == Shift::by_diagonal && factors.gram->may_have_lost_rank(*factors.inverse);
        if (factors.may_have_lost_rank) factors.inverse.reset();
        factors.gram.reset();
    }

    const SpmvPlan<T>& a;
    const SpmvPlan<T>& transposed;
    GramCosts costs;
    std::vector<double> column_norms;
    double unit = 0;

private:
    std::int64_t memory_limit_;
    std::array<Factors, 4> made_;
};

/// Attempt after attempt, each from the x that the one before reached.
template <class T>
class LeastSquaresSolve {
public:
    LeastSquaresSolve(NormalEquations<T>& equations, std::int64_t column, std::span<const T> b, std::span<T> x,
                      const KrylovOptions& options)
        : equations_(equations), column_(column), b_(b), x_(x), guess_(x.begin(), x.end()), options_(options) {}

    LeastSquaresResult run() {
        attempt(equations_.costs.trial(equations_.is_wide()));
        if (!is_done() && equations_.unit > 0) try_with_factors();
        if (!is_done()) attempt(std::numeric_limits<std::int64_t>::max());
        return std::move(result_);
    }

private:
    using Shift = typename GramFactors<T>::Shift;

    bool is_done() const {
        return result_.status == SolveStatus::converged || result_.status == SolveStatus::non_finite || stopped_ ||
               is_at_limit_ || result_.iterations >= options_.max_iterations;
    }

    void attempt(std::int64_t share, const Preconditioner<T>* inverse = nullptr, bool of_rows = false) {
        if (share <= 0) return;
        KrylovOptions options = options_;
        const std::int64_t before = result_.iterations;
        options.max_iterations = std::min(share, options.max_iterations - before);
        if (options.callback)
            options.callback = [&, before](Iteration iteration) {
                if (before > 0 && iteration.number == 0) return true;  // told already
                iteration.number += before;
                iteration.column = column_;
                stopped_ = !options_.callback(iteration);
                return !stopped_;
            };
        const LsmrWay<T> way{equations_.unit, equations_.column_norms, inverse, of_rows};
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
        part.factor_entries = result_.factor_entries;
        result_ = std::move(part);
    }

    /// Of the smaller one of A A' and A'A with a D that suits any units where these have full rank; else of A'A with one that
    /// suits any rank.
    void try_with_factors() {
        const bool is_wide = equations_.is_wide();
        if (iterations_at_this_rate() <= 2 * static_cast<double>(result_.iterations)) attempt(result_.iterations);
        if (is_done() || try_with(is_wide, Shift::by_diagonal)) return;
        if (is_wide) attempt(equations_.costs.trial(false) - result_.iterations);  // A'A may cost more than they have
        if (!is_done()) try_with(false, Shift::common);
    }

    /// False where rank may be lost, so that another D is to be tried.
    bool try_with(bool of_rows, Shift shift) {
        auto& factors = equations_.with(of_rows, shift);
        if (!factors.cost) return true;
        const double affordable = std::min(*factors.cost / equations_.costs.step(),
                                           static_cast<double>(options_.max_iterations - result_.iterations) / 4);
        for (double likely = iterations_at_this_rate();  // which may rise meanwhile: in the end it ends this
             !is_done() && result_.status != SolveStatus::stagnated && likely <= affordable; likely = iterations_at_this_rate())
            attempt(static_cast<std::int64_t>(2 * likely));
        if (is_done() || *factors.cost > equations_.costs.most()) return true;
        equations_.factor(factors, shift);
        if (factors.may_have_lost_rank) return false;
        if (!factors.inverse) return true;
        result_.factor_entries = factors.inverse->factor_entries();
        attempt(share_with_factors, factors.inverse.get(), of_rows);
        is_at_limit_ = result_.status == SolveStatus::stagnated;
        if (factors.common_shift > 0 && result_.status == SolveStatus::converged)
            stay_in_range(*factors.inverse, factors.common_shift);
        return true;
    }

    /// By the digits that the attempts so far have gained.
    double iterations_at_this_rate() const {
        const double reached = std::min(result_.normal_residual, result_.relative_residual);
        const double gained = -std::log2(reached), needed = -std::log2(options_.tolerance);
        return gained > 0 ? static_cast<double>(result_.iterations) * needed / gained : std::numeric_limits<double>::infinity();
    }

    /// Takes out of x - x_0 what lies in the null space of A. Of what does not it takes the share D / (s^2 + D) in the
    /// direction of a singular value s, which a second attempt brings back. Where that one does not converge the first one's x
    /// stays.
    void stay_in_range(const Preconditioner<T>& inverse, double shift) {
        const std::vector<T> found(x_.begin(), x_.end());
        const LeastSquaresResult before = result_;
        std::vector<T> step(x_.size()), beside(x_.size());
        std::transform(found.begin(), found.end(), guess_.begin(), step.begin(), [](T x, T x0) { return add_rn(x, -x0); });
        inverse.apply(step, beside, options_.accuracy);
        const T taken = static_cast<T>(shift);
        std::transform(found.begin(), found.end(), beside.begin(), x_.begin(),
                       [=](T x, T element) { return subtracted(x, taken, element); });
        attempt(share_with_factors, &inverse);
        if (result_.status == SolveStatus::converged) return;
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
    bool stopped_ = false;
    bool is_at_limit_ = false;  ///< of rounding, which factors leave
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
    NormalEquations<T> equations(a, transposed, options.memory_limit);
    return LeastSquaresSolve<T>(equations, 0, b, x, options.iteration).run();
}

template <class T>
std::vector<LeastSquaresResult> least_squares(const SpmvPlan<T>& a, const SpmvPlan<T>& transposed, const DenseMatrix<T>& b,
                                              DenseMatrix<T>& x, const LeastSquaresOptions& options) {
    check_transpose(a, transposed);
    check_columns(a, b, x);
    NormalEquations<T> equations(a, transposed, options.memory_limit);
    std::vector<LeastSquaresResult> results;
    for (std::int64_t j = 0; j < b.columns; ++j)
        results.push_back(LeastSquaresSolve<T>(equations, j, b.column(j), x.column(j), options.iteration).run());
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

}  // namespace solver
