#include "solver/least_squares.hpp"

#include "auto_solve/gram_factors.hpp"
#include "core/krylov/updates.hpp"
#include "core/sorted_rows.hpp"
#include "krylov/lsmr_way.hpp"
#include "solver/reduce.hpp"
#include "solver/views.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
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

/// Attempt after attempt, each from the x that the one before reached.
template <class T>
class LeastSquaresSolve {
public:
    LeastSquaresSolve(const SpmvPlan<T>& a, const SpmvPlan<T>& transposed, std::span<const T> b, std::span<T> x,
                      const LeastSquaresOptions& options)
        : a_(a), transposed_(transposed), b_(b), x_(x), guess_(x.begin(), x.end()), options_(options), costs_(a, transposed) {
        unit_ = unit_of_columns(a, transposed, column_norms_);
    }

    LeastSquaresResult run() {
        attempt(costs_.trial(is_wide()));
        if (!is_done() && unit_ > 0) try_with_factors();
        if (!is_done()) attempt(std::numeric_limits<std::int64_t>::max());
        return std::move(result_);
    }

private:
    bool is_done() const {
        return result_.status == SolveStatus::converged || result_.status == SolveStatus::non_finite || stopped_ ||
               is_at_limit_ || result_.iterations >= options_.iteration.max_iterations;
    }

    void attempt(std::int64_t share, const Preconditioner<T>* inverse = nullptr, bool of_rows = false) {
        if (share <= 0) return;
        KrylovOptions options = options_.iteration;
        const std::int64_t before = result_.iterations;
        options.max_iterations = std::min(share, options.max_iterations - before);
        if (options.callback)
            options.callback = [&, before](Iteration iteration) {
                if (before > 0 && iteration.number == 0) return true;  // told already
                iteration.number += before;
                stopped_ = !options_.iteration.callback(iteration);
                return !stopped_;
            };
        add(lsmr_in<T>({unit_, column_norms_, inverse, of_rows}, a_, transposed_, b_, x_, options));
    }

    /// What comes after what was found before.
    void add(LeastSquaresResult part) {
        for (Iteration& iteration : part.history) {
            if (iteration.number == 0 && !result_.history.empty()) continue;
            iteration.number += result_.iterations;
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
        if (iterations_at_this_rate() <= 2 * static_cast<double>(result_.iterations)) attempt(result_.iterations);
        if (is_done() || try_with(is_wide(), GramFactors<T>::Shift::by_diagonal)) return;
        if (is_wide()) attempt(costs_.trial(false) - result_.iterations);  // A'A may cost more than they have
        if (!is_done()) try_with(false, GramFactors<T>::Shift::common);
    }

    bool is_wide() const { return a_.rows() < a_.columns(); }

    /// False where rank may be lost, so that another D is to be tried.
    bool try_with(bool of_rows, typename GramFactors<T>::Shift shift) {
        std::optional<GramFactors<T>> gram;
        try {
            gram = GramFactors<T>::of(a_, transposed_, of_rows, shift, unit_, costs_, options_.memory_limit);
        } catch (const std::bad_alloc&) {  // LSMR alone goes on
        }
        if (!gram) return true;
        const double factors = gram->cost_of_factors();
        const double affordable =
            std::min(factors / costs_.step(), static_cast<double>(options_.iteration.max_iterations - result_.iterations) / 4);
        for (double likely = iterations_at_this_rate();  // which may rise meanwhile: in the end it ends this
             !is_done() && result_.status != SolveStatus::stagnated && likely <= affordable; likely = iterations_at_this_rate())
            attempt(static_cast<std::int64_t>(2 * likely));
        if (is_done() || factors > costs_.most()) return true;
        const std::unique_ptr<Preconditioner<T>> inverse = gram->factor();
        if (!inverse) return true;
        if (shift == GramFactors<T>::Shift::by_diagonal && gram->may_have_lost_rank(*inverse)) return false;
        result_.factor_entries = inverse->factor_entries();
        attempt(share_with_factors, inverse.get(), of_rows);
        is_at_limit_ = result_.status == SolveStatus::stagnated;
        if (gram->common_shift() > 0 && result_.status == SolveStatus::converged) stay_in_range(*inverse, gram->common_shift());
        return true;
    }

    /// By the digits that the attempts so far have gained.
    double iterations_at_this_rate() const {
        const double reached = std::min(result_.normal_residual, result_.relative_residual);
        const double gained = -std::log2(reached), needed = -std::log2(options_.iteration.tolerance);
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
        inverse.apply(step, beside, options_.iteration.accuracy);
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

    const SpmvPlan<T>& a_;
    const SpmvPlan<T>& transposed_;
    std::span<const T> b_;
    std::span<T> x_;
    std::vector<T> guess_;
    const LeastSquaresOptions& options_;
    GramCosts costs_;
    LeastSquaresResult result_;
    std::vector<double> column_norms_;
    double unit_ = 0;
    bool stopped_ = false;
    bool is_at_limit_ = false;  ///< of rounding, which factors leave
};

}  // namespace

template <class T>
LeastSquaresResult least_squares(const SpmvPlan<T>& a, const SpmvPlan<T>& transposed, std::span<const T> b, std::span<T> x,
                                 const LeastSquaresOptions& options) {
    check_transpose(a, transposed);
    return LeastSquaresSolve<T>(a, transposed, b, x, options).run();
}

template LeastSquaresResult least_squares(const SpmvPlan<float>&, const SpmvPlan<float>&, std::span<const float>,
                                          std::span<float>, const LeastSquaresOptions&);
template LeastSquaresResult least_squares(const SpmvPlan<double>&, const SpmvPlan<double>&, std::span<const double>,
                                          std::span<double>, const LeastSquaresOptions&);

}  // namespace solver
